// cameo infer: every value's type and shape, written into the model.
#include "ops/infer.h"

#include "cli/common.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "support/error.h"

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

struct Known {
  size_t values = 0, typed = 0, dims = 0, known_dims = 0, symbolic_dims = 0;
};

Known known(const Graph& g) {
  Known k;
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const Value& v = g[ValueId(i)];
    if (v.kind != Value::Kind::node_output) continue;
    ++k.values;
    if (!v.fact.has_rank()) continue;
    ++k.typed;
    for (const Dim d : v.fact.shape()) {
      ++k.dims;
      if (d.is_literal()) ++k.known_dims;
      else if (!mentions_fresh(d)) ++k.symbolic_dims;
    }
  }
  return k;
}

}  // namespace

int infer_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  Model& m = open_to_stay(args->operands[0], out);
  InferResult result = infer(m.graph, m.functions);
  for (Diag& d : result.findings) {
    if (!args->has("strict")) d.severity = Severity::warning;
    if (d.where.file.empty()) d.where.file = args->operands[0];
  }
  if (args->has("strict") && !result.findings.empty()) throw Error(std::move(result.findings));
  out.diags(result.findings);
  WriteOptions options = write_options(*args);
  options.value_info = WriteOptions::ValueInfo::all;
  write_model(m, args->operands[0], args->operands[1], verb, *args, options, out);
  const Known k = known(m.graph);
  if (out.json && args->operands[1] != "-") {
    json::Writer w;
    w.object()
        .key("nodes")
        .value(uint64_t{result.nodes})
        .key("values")
        .value(uint64_t{k.values})
        .key("values_with_shape")
        .value(uint64_t{k.typed});
    w.key("dims")
        .value(uint64_t{k.dims})
        .key("known_dims")
        .value(uint64_t{k.known_dims})
        .key("symbolic_dims")
        .value(uint64_t{k.symbolic_dims});
    w.key("findings").value(uint64_t{result.findings.size()}).end();
    out.line(w.text());
  }
  out.say(cat("shapes of ", k.typed, " of ", plural(k.values, "value"), ": ", k.known_dims, " sizes known, ",
              k.symbolic_dims, " symbolic, ", k.dims - k.known_dims - k.symbolic_dims, " depend on data"));
  return 0;
}

}  // namespace cameo::cli
