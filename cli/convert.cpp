// cameo convert: another opset, up or down; text and back.
#include "cli/common.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "ops/schema.h"
#include "ops/soundness.h"
#include "passes/half.h"
#include "support/error.h"

namespace cameo::cli {

namespace {
constexpr Flag flags[] = {
    {"opset", 0, "N", "of ai.onnx, from 7 up; the file's own unless said"},
    {"float", 0, "f16|bf16", "half precision: every f32 value and weight, with casts around what takes f32 alone"},
    {"keep-io", 0, "", "with --float: inputs and outputs stay f32"},
    {"keep", 0, "OP,...", "with --float: these operators go on computing in f32"},
    {"lossy", 0, "", "allow what is wrong on inf, NaN or overflow, or only approximate; each is listed"},
    {"experimental", 0, "", "allow the opset in development"},
    weights_flag,
    no_provenance,
    durable_flag,
};
constexpr Verb verb{
    "convert",
    "IN OUT",
    "another opset, up or down, with a verdict per node where it cannot be done; .onnx and .onnxtxt by extension",
    "cameo convert net.onnx net13.onnx --opset 13\ncameo convert net.onnx half.onnx --float f16 --keep-io --keep "
    "Softmax,LayerNormalization",
    flags,
    2,
    2};

std::optional<HalfOptions> half_options(const Args& args) {
  if (!args.has("float")) {
    if (args.has("keep-io") || args.has("keep")) throw error("use.flag", "--keep-io and --keep go with --float");
    return std::nullopt;
  }
  HalfOptions out;
  const std::string to = args.text("float", "");
  if (to != "f16" && to != "bf16") throw error("use.value", cat("--float is f16 or bf16, not '", to, "'"));
  out.to = to == "f16" ? DType::f16 : DType::bf16;
  out.keep_io = args.has("keep-io");
  if (args.has("keep")) out.keep = split(args.text("keep", ""), ',');
  return out;
}
}  // namespace

int convert_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  WriteOptions options = write_options(*args);
  if (args->has("opset"))
    options.opset = args->integer("opset", 0, 7, args->has("experimental") ? newest_opset : newest_released_opset);
  options.lossy = args->has("lossy");
  const auto half = half_options(*args);
  Model m = open_model(args->operands[0], out);
  const size_t before = m.graph.node_count();
  // Expansions look at types and known contents.
  out.diags(admit(m));
  if (half) {
    const HalfResult made = to_half(m, *half);
    out.diags(made.notes);
    out.say(cat(plural(made.values, "value"), " and ", plural(made.weights, "weight"), " to ", name(half->to), ", ",
                plural(made.casts, "cast")));
  }
  write_model(m, args->operands[0], args->operands[1], verb, *args, options, out);
  const auto own = m.opsets.find("");
  out.say(cat("opset ", own == m.opsets.end() ? "none" : cat(own->second), " to ",
              options.opset ? cat(*options.opset) : "the same", ", ", plural(before, "node"), " read"));
  return 0;
}

}  // namespace cameo::cli
