#include <cstdio>

int main() { std::puts("cameo"); }
