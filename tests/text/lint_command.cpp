// The command `lint` of text tests, over the public function.
#include <algorithm>

#include "support/error.h"
#include "text/commands.h"

#include "cameo/lint.h"

namespace cameo::tests {

namespace {

std::string target_of(const std::string& rule, const Arguments& arguments) {
  for (const std::string& a : arguments)
    if (a.starts_with("--target=")) return a.substr(9);
  const std::string target = rule.substr(0, rule.find('.'));
  return target == "any" ? "onnxruntime" : target;
}

}  // namespace

// lint --only=RULE [--target=NAME:VERSION]: a line per finding of the rule; "any" stands for one of the targets.
Outcome run_lint(const std::string& before, const Arguments& arguments) {
  Outcome out{.text = ""};
  for (const std::string& a : arguments) {
    if (!a.starts_with("--only=")) continue;
    const std::string rule = a.substr(7), name = rule.substr(rule.find('.'));
    const auto text = std::make_shared<const std::string>(before);
    const auto report = lint(load_buffer({text, text->data(), text->size()}, "case.onnxtxt"),
                             {.targets = {target_of(rule, arguments)}, .ignore = {}});
    for (const auto& f : report.findings)
      if (f.rule.ends_with(name))
        *out.text += support::cat(out.text->empty() ? "" : "\n", f.rule, f.op.empty() ? "" : " ", f.op,
                                  f.node.empty() ? "" : " ", f.node);
  }
  if (out.text->empty()) out.text = "nothing";
  return out;
}

std::vector<std::string> all_lint_rows() {
  std::vector<std::string> out;
  for (const auto& r : lint_rules()) out.push_back(r.rule);
  return out;
}

}  // namespace cameo::tests
