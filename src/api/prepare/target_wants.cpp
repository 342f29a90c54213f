#include "api/prepare/target_wants.h"

#include <charconv>

#include "support/error.h"

#include "cameo/lint.h"

namespace cameo::preparing {

namespace {

const std::vector<std::string>& line(const linting::Target& t, const std::string& key, size_t words) {
  const auto it = t.wants.find(key);
  if (it == t.wants.end() || it->second.size() < words)
    throw support::Bug("bug.invariant", support::cat("the lint target ", t.name, " does not say 'wants ", key, "'"));
  return it->second;
}

int64_t number(const std::string& text) {
  int64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

}  // namespace

Wants wants_of(const std::string& target) {
  if (target == "all")
    throw support::error("use.target", "a model is prepared for one target")
        .help("cameo lint --list-targets lists them");
  lint_rules({target});  // throws for what is no target
  const linting::Target& t = linting::all_targets().find(target.substr(0, target.find(':')))->second;
  Wants out;
  out.title = t.title;
  out.fixed_sizes = line(t, "sizes", 1)[0] == "fixed";
  out.oldest_opset = number(line(t, "opset", 2)[0]);
  out.newest_opset = number(line(t, "opset", 2)[1]);
  out.floats = line(t, "float", 1);
  out.nms = line(t, "nms", 1)[0];
  out.resize = line(t, "resize", 1)[0];
  out.bytes = line(t, "bytes", 1)[0] == "yes";
  out.quantize = line(t, "quantize", 1)[0];
  return out;
}

}  // namespace cameo::preparing
