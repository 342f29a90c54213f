// cameo extract: a part of a model as a model.
#include "cameo/edit.h"
#include "cli/common.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {
constexpr Flag flags[] = {
    {"from", 0, "a,b", "values that become the inputs; default: the model's own"},
    {"to", 0, "c,d", "values that become the outputs; default: the model's own"},
    weights_flag,
    no_provenance,
    durable_flag,
};
constexpr Verb verb{"extract",
                    "IN OUT",
                    "a part of a model as a model",
                    "cameo extract net.onnx head.onnx --from features --to scores",
                    flags,
                    2,
                    2};
}  // namespace

int extract_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  Model m = opened(args->operands[0], out);
  const size_t before = m.node_count();
  const Model part = extract(std::move(m), args->list("from"), args->list("to"));
  save(part, args->operands[1], save_settings(verb, *args), out);
  out.say(cat(part.node_count(), " of ", plural(before, "node")));
  return 0;
}

}  // namespace cameo::cli
