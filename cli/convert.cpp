// cameo convert: another opset, up or down; half precision; text and back.
#include "cameo/convert.h"

#include "cameo/opset.h"
#include "cli/common.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {
constexpr Flag flags[] = {
    {"opset", 0, "N", "of ai.onnx, from 7 up; default: the file's own"},
    {"float", 0, "f16|bf16", "half precision: every f32 value and weight, with casts around what takes f32 only"},
    {"keep-io", 0, "", "with --float: inputs and outputs stay f32"},
    {"keep", 0, "OP,...", "with --float: these operators still compute in f32"},
    {"inline", 0, "", "calls of the model's own functions become their nodes, for engines that refuse functions"},
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

ConvertSettings settings_of(const Args& args) {
  ConvertSettings s;
  if (!args.has("float") && (args.has("keep-io") || args.has("keep")))
    throw error("use.flag", "--keep-io and --keep go with --float");
  constexpr FloatType types[] = {FloatType::f16, FloatType::bf16};
  if (args.has("float")) s.float_type = types[args.choice("float", {"f16", "bf16"})];
  s.keep_io = args.has("keep-io");
  s.inline_functions = args.has("inline");
  if (args.has("keep")) s.keep = split(args.text("keep", ""), ',');
  return s;
}
}  // namespace

int convert_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  SaveSettings target = save_settings(verb, *args);  // the opset is the file's: it is written once
  target.opset = static_cast<int>(
      args->integer("opset", 0, opsets::oldest, args->has("experimental") ? opsets::in_development : opsets::newest));
  target.lossy = args->has("lossy");
  const ConvertSettings settings = settings_of(*args);
  Model m = opened(args->operands[0], out);
  const size_t before = m.node_count();
  const auto own = m.opsets();
  const Converted made = convert(std::move(m), settings);
  out.diags(made.findings);
  if (settings.float_type != FloatType::keep)
    out.say(cat(plural(made.values, "value"), " and ", plural(made.weights, "weight"), " to ", args->text("float", ""),
                ", ", plural(made.casts, "cast")));
  save(made.model, args->operands[1], target, out);
  out.say(cat("opset ", own.count("") ? cat(own.at("")) : "none", " to ", target.opset ? cat(target.opset) : "the same",
              ", ", plural(before, "node"), " read"));
  return 0;
}

}  // namespace cameo::cli
