// The command's own main, under another name: what the fork server calls in each child is what users run.
#define main command_main
#include "cli/main.cpp"
