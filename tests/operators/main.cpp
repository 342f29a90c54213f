// Prints which ONNX operators lowerings emit: overload, oldest opset, operators; tab-separated, a line for each call
// that worked. tools/operators.py makes the table behind `cameo ops` of it. Every call is made in a process of its own,
// since made-up arguments may be worse than any program's; those that end badly are named on standard error.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <set>
#include <string>

#include "operators/probe.h"

using namespace cameo;
using namespace cameo::tests;

namespace {

constexpr int worked = 0, refused = 9, enough = 4;

// All calls that the lowering takes, each once.
int print_calls(std::string_view name, size_t) {
  std::set<std::string> seen;
  for (size_t plan = 0; plan < plan_count(); ++plan)
    if (const auto text = call_that_works(*find_row(name), *find_schema(name), plan); text && seen.insert(*text).second)
      std::printf("%s\n", text->c_str());
  std::fflush(stdout);
  return worked;
}

int print(std::string_view name, const std::optional<Probe>& probe) {
  if (!probe) return refused;
  std::string operators;
  for (const std::string& op : probe->onnx) operators += (operators.empty() ? "" : " ") + op;
  std::printf("%s\t%d\t%s\n", std::string(name).c_str(), static_cast<int>(probe->from_opset), operators.c_str());
  std::fflush(stdout);
  return worked;
}

int call(std::string_view name, size_t plan) {
  return print(name, probe_lowering(*find_row(name), *find_schema(name), plan));
}

// The calls that standard input has, one on a line.
void print_given() {
  for (std::string line; std::getline(std::cin, line);) print(line.substr(0, line.find('(')), probe_call(line));
}

int in_a_process(std::string_view name, size_t plan, int (*what)(std::string_view, size_t) = call) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(what(name, plan));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

// `--count`: no lines, and a count at the end of the lowerings that no arguments made crash. `--calls [NAME]`: the
// calls that each lowering takes, as tests/text/lower has them; some make no sense. `--given`: only the calls on
// standard input.
int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--calls") {
    for (const std::string_view name : all_row_names())
      if (argc < 3 || name == argv[2]) in_a_process(name, 0, print_calls);
    return 0;
  }
  if (argc > 1 && std::string_view(argv[1]) == "--given") return print_given(), 0;
  const bool counting = argc > 1 && std::string_view(argv[1]) == "--count";
  size_t survived = 0, crashed = 0;
  if (counting && !std::freopen("/dev/null", "w", stdout)) return 1;
  for (const std::string_view name : all_row_names()) {
    int good = 0;
    bool bad = false;
    for (size_t plan = 0; plan < plan_count() && good < enough; ++plan) {
      const int ended = in_a_process(name, plan);
      good += ended == worked;
      const bool crash = ended != worked && ended != refused;  // sanitizers end a process with a status
      if (crash && !bad) std::fprintf(stderr, "%s: made-up arguments crash it\n", std::string(name).c_str());
      bad |= crash;
    }
    ++(bad ? crashed : survived);
  }
  if (counting) std::fprintf(stderr, "%zu passed, %zu failed, 0 skipped\n", survived, crashed);
  return crashed ? 1 : 0;
}
