// cameo convert: another opset, up or down; text and back.
#include "cli/common.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "ops/infer.h"
#include "ops/schema.h"
#include "support/error.h"

namespace cameo::cli {

namespace {
constexpr Flag flags[] = {
    {"opset", 0, "N", "of ai.onnx, from 7 up; the file's own unless said"},
    {"lossy", 0, "", "allow what is wrong on inf, NaN or overflow, or only approximate; each is listed"},
    {"experimental", 0, "", "allow the opset in development"},
    weights_flag, no_provenance, durable_flag,
};
constexpr Verb verb{"convert", "IN OUT", "another opset, up or down, with a verdict per node where it cannot be done; .onnx and .onnxtxt by extension",
                    "cameo convert net.onnx net13.onnx --opset 13", flags, 2, 2};
}  // namespace

int convert_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  WriteOptions options = write_options(*args);
  if (args->has("opset")) options.opset = args->integer("opset", 0, 7, args->has("experimental") ? newest_opset : newest_released_opset);
  options.lossy = args->has("lossy");
  Model m = open_model(args->operands[0], out);
  const size_t before = m.graph.node_count();
  // Expansions look at types and known contents.
  const InferResult inferred = infer(m.graph, m.functions);
  if (out.verbose) out.diags(inferred.findings);
  write_model(m, args->operands[0], args->operands[1], verb, *args, options, out);
  const auto own = m.opsets.find("");
  out.say(cat("opset ", own == m.opsets.end() ? "none" : cat(own->second), " to ", options.opset ? cat(*options.opset) : "the same", ", ", plural(before, "node"), " read"));
  return 0;
}

}  // namespace cameo::cli
