// cameo diff: how two models differ, whatever their names.
#include "passes/diff.h"

#include "cli/common.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "ops/infer.h"
#include "support/error.h"

namespace cameo::cli {

namespace {
constexpr Flag flags[] = {
    {"limit", 0, "N", "differences to list; 100 unless said"},
};
constexpr Verb verb{"diff", "A B", "structure, attributes and weights, not dependent on names; exit 1 when the models differ", "cameo diff before.onnx after.onnx", flags, 2, 2};
}  // namespace

int diff_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const auto limit = static_cast<size_t>(args->integer("limit", 100, 1, 1'000'000));
  const Model a = open_model(args->operands[0], out), b = open_model(args->operands[1], out);
  const auto found = diff(a, b, {.limit = limit});
  if (out.json) {
    json::Writer w;
    w.object().key("same").value(found.empty()).key("differences").array();
    for (const Difference& d : found) w.object().key("what").value(d.what).key("first").value(d.first).key("second").value(d.second).end();
    w.end().end();
    out.line(w.text());
    return found.empty() ? 0 : 1;
  }
  for (const Difference& d : found) {
    std::string place;
    if (!d.first.empty() || !d.second.empty()) place = cat("  (", d.first.empty() ? "" : cat("'", d.first, "'"), d.first.empty() || d.second.empty() ? "" : ", ", d.second.empty() ? "" : cat("'", d.second, "'"), ")");
    out.line(cat(d.what, place));
  }
  if (found.size() == limit) out.say(cat("only the first ", limit, " differences are listed"));
  if (found.empty()) out.line("the models are the same but for names");
  return found.empty() ? 0 : 1;
}

}  // namespace cameo::cli
