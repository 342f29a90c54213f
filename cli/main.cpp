// The `cameo` command: finds the verb, runs it, turns what goes wrong into words and an exit code.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cameo/face.h"
#include "cameo/publication.h"
#include "cameo/version.h"
#include "cli/budgets.h"
#include "cli/stop.h"
#include "cli/verbs.h"

namespace cameo::cli {

static_assert(version == CAMEO_PROJECT_VERSION, "include/cameo/version.h and CMakeLists.txt disagree");

namespace {

// The flags that every verb honours, taken out wherever they stand before `--`.
struct Common {
  std::vector<std::string_view> rest;
  std::vector<std::string_view> budgets;  // "--max-time=5", or the flag and its value one after the other
};

Common take_common(std::span<char*> argv, Out& out) {
  Common c;
  bool literal = false;
  for (size_t i = 0; i < argv.size(); ++i) {
    const std::string_view a = argv[i];
    literal |= a == "--";
    const bool budget = !literal && std::any_of(std::begin(budget_flags), std::end(budget_flags), [&](const Flag& f) {
      return a.starts_with("--") && a.substr(2, a.find('=') - 2) == f.name;
    });
    if (!literal && a == "--json") out.json = true;
    else if (!literal && a == "-q") out.quiet = true;
    else if (!literal && a == "-v") out.verbose = true;
    else if (budget) {
      c.budgets.push_back(a);
      if (a.find('=') == a.npos && i + 1 < argv.size()) c.budgets.push_back(argv[++i]);
    } else c.rest.push_back(a);
  }
  return c;
}

// Returns the exit code. Findings about a file that changed meanwhile are not valid.
int tell(const Error& found, Out& out) {
  try {
    if (!out.published) require_unchanged_files();
  } catch (const Error& changed) {
    out.diags(changed.diags());
    return changed.exit_code();
  }
  out.diags(found.diags());
  return found.diag().code == "budget.interrupted" ? interrupted_code() : found.exit_code();
}

int guarded(const Common& common, Out& out) {
  std::optional<Error> found;
  try {
    const LimitScope within(limits_of(common.budgets, out));
    try {
      const int code = run_command(common.rest, out);
      if (!out.published) require_unchanged_files();
      out.flush();
      return code;
    } catch (...) {
      found = caught();  // what is missing is told with the limit that is still set
    }
  } catch (...) {
    found = caught();
  }
  return tell(*found, out);
}

}  // namespace

}  // namespace cameo::cli

int main(int argc, char** argv) {
  cameo::cli::Out out;
  cameo::cli::stop_on_signals();
  const auto args = cameo::cli::take_common({argv + 1, argv + std::max(argc, 1)}, out);
  const int code = cameo::cli::guarded(args, out);
  if (code == 4) {
    std::string line = "to reproduce: cameo";
    for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
    std::fprintf(stderr, "%s\n", cameo::printable_text(line).c_str());
  }
  return code;
}
