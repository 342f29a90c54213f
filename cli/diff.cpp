// cameo diff: how two models differ, whatever their names.
#include "cameo/edit.h"
#include "cli/opened.h"
#include "cli/verb.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {
constexpr Flag flags[] = {
    {"limit", 0, "N", "differences to list; default: 100"},
};
constexpr Verb verb{"diff",
                    "A B",
                    "structure, attributes and weights, not dependent on names; exit 1 when the models differ",
                    "cameo diff before.onnx after.onnx",
                    flags,
                    2,
                    2};

std::string place(const Difference& d) {
  if (d.first.empty() && d.second.empty()) return "";
  const auto quoted = [](const std::string& name) { return name.empty() ? "" : cat("'", name, "'"); };
  return cat("  (", quoted(d.first), d.first.empty() || d.second.empty() ? "" : ", ", quoted(d.second), ")");
}
}  // namespace

int diff_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const auto limit = static_cast<size_t>(args->integer("limit", 100, 1, 1'000'000));
  const auto found = diff(opened(args->operands[0], out), opened(args->operands[1], out), limit);
  if (out.json) {
    out.line(to_json(found));
    return found.empty() ? 0 : 1;
  }
  for (const Difference& d : found) out.line(cat(d.what, place(d)));
  if (found.size() == limit) out.say(cat("only the first ", limit, " differences are listed"));
  if (found.empty()) out.line("the models are the same except for names");
  return found.empty() ? 0 : 1;
}

}  // namespace cameo::cli
