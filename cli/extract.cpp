// cameo extract: a part of a model as a model.
#include "passes/extract.h"

#include "cli/common.h"
#include "cli/verbs.h"
#include "support/error.h"

namespace cameo::cli {

namespace {
constexpr Flag flags[] = {
    {"from", 0, "a,b", "values that become the inputs; the model's own unless said"},
    {"to", 0, "c,d", "values that become the outputs; the model's own unless said"},
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
  Model m = open_model(args->operands[0], out);
  const size_t before = m.graph.node_count();
  extract(m, args->list("from"), args->list("to"));
  write_model(m, args->operands[0], args->operands[1], verb, *args, write_options(*args), out);
  out.say(cat(m.graph.node_count(), " of ", plural(before, "node")));
  return 0;
}

}  // namespace cameo::cli
