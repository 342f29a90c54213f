// cameo infer: every value's type and shape, written into the model.
#include "cameo/check.h"
#include "cameo/json.h"
#include "cli/common.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"strict", 0, "", "a node that cannot be inferred is an error"},
    weights_flag,
    no_provenance,
    durable_flag,
};
constexpr Verb verb{"infer",
                    "IN OUT",
                    "symbolic shape and type inference; says where and why it had to stop",
                    "cameo infer net.onnx typed.onnx",
                    flags,
                    2,
                    2};

void print_json(const Model& m, const ShapeCoverage& c, Out& out) {
  json::Writer w;
  w.object().key("nodes").value(uint64_t{c.nodes}).key("values").value(uint64_t{c.values});
  w.key("values_with_shape").value(uint64_t{c.values_with_shape}).key("dims").value(uint64_t{c.dims});
  w.key("known_dims").value(uint64_t{c.known_dims}).key("symbolic_dims").value(uint64_t{c.symbolic_dims});
  w.key("findings").value(uint64_t{m.findings().size()}).end();
  out.line(w.text());
}

}  // namespace

int infer_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  // The model stays until the process ends: taking it apart again would cost as much as inferring it.
  static const Model& m = *new Model(infer(opened(args->operands[0], out), {.strict = args->has("strict")}));
  out.diags(m.findings());
  save(m, args->operands[1], save_settings(verb, *args), out);
  const ShapeCoverage c = shape_coverage(m);
  if (out.json && args->operands[1] != "-") print_json(m, c, out);
  out.say(cat("shapes of ", c.values_with_shape, " of ", plural(c.values, "value"), ": ", c.known_dims,
              " sizes known, ", c.symbolic_dims, " symbolic, ", c.dims - c.known_dims - c.symbolic_dims,
              " depend on data"));
  return 0;
}

}  // namespace cameo::cli
