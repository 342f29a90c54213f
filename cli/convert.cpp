// cameo convert: another opset, up or down; half precision; text and back.
#include "cameo/convert.h"

#include "cameo/opset.h"
#include "cli/common.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {
constexpr Flag flags[] = {
    {"opset", 0, "N", "of ai.onnx, from 7 up; default: the file's own"},
    {"float", 0, "f16|bf16|mixed",
     "half precision, with casts around what must stay f32; mixed: only products in f16, as PyTorch's autocast"},
    {"keep-io", 0, "", "with --float: inputs and outputs stay f32"},
    {"keep", 0, "NODE,...", "with --float: keep these in f32; operators, or node names with * and ?"},
    {"calibrate", 0, "DATA", "with --float: samples to measure on, as for quantize; default: made-up inputs"},
    {"image", 0, "size=...,mean=...", "how pictures become the input, as for quantize"},
    {"max-error", 0, "X",
     "with --float: the largest error of an output, relative to its largest number; default: 0.01, bf16 0.05"},
    {"no-check", 0, "", "with --float: do not run the models; rules choose what stays f32"},
    {"target", 0, "tensorrt", "with --float: a strongly typed model for TensorRT; sums of squares must fit in f16"},
    {"threads", 0, "N", "with --float: threads for measuring; default: all"},
    {"report", 0, "FILE.json", "with --float: what stays f32, and why"},
    {"to-qdq", 0, "",
     "replace linger's operators by QuantizeLinear, DequantizeLinear and standard operators between them"},
    {"exact-rounding", 0, "",
     "with --to-qdq: round halves up, as linger does; default: to even, as QuantizeLinear does"},
    {"quantized", 0, "qdq|qoperator",
     "write 8-bit nodes as float operators between Q and DQ, or as QLinearConv and similar operators"},
    {"inline", 0, "", "calls of the model's own functions become their nodes, for engines that refuse functions"},
    {"lossy", 0, "", "allow conversions that are wrong on inf, NaN or overflow, or approximate; each is listed"},
    {"experimental", 0, "", "allow the opset in development"},
    weights_flag,
    no_provenance,
    durable_flag,
};
constexpr Verb verb{
    "convert",
    "IN OUT",
    "another opset, half precision, or text (.onnxtxt); where it cannot be done, the reason for each node",
    "cameo convert net.onnx net13.onnx --opset 13\ncameo convert net.onnx half.onnx --float f16 --keep-io --keep "
    "Softmax,LayerNormalization\ncameo convert linger.onnx anywhere.onnx --to-qdq",
    flags,
    2,
    2};

ConvertSettings settings_of(const Args& args) {
  ConvertSettings s;
  for (const char* flag : {"keep-io", "keep", "calibrate", "max-error", "no-check", "target", "report"})
    if (!args.has("float") && args.has(flag)) throw error("use.flag", cat("--", flag, " goes with --float"));
  constexpr FloatType types[] = {FloatType::f16, FloatType::bf16, FloatType::mixed};
  if (args.has("float")) s.float_type = types[args.choice("float", {"f16", "bf16", "mixed"})];
  s.keep_io = args.has("keep-io");
  s.calibrate = args.text("calibrate", "");
  s.image = args.text("image", "");
  s.max_error = args.number("max-error");
  s.check = !args.has("no-check");
  s.target = args.text("target", "");
  s.threads = static_cast<int>(args.integer("threads", 0, 0, 4096));
  s.inline_functions = args.has("inline");
  if (args.has("exact-rounding") && !args.has("to-qdq")) throw error("use.flag", "--exact-rounding goes with --to-qdq");
  s.to_qdq = args.has("to-qdq");
  s.exact_rounding = args.has("exact-rounding");
  s.quantized = args.text("quantized", "");
  if (args.has("keep")) s.keep = split(args.text("keep", ""), ',');
  return s;
}
void tell(const HalfReport& r, const std::string& type, Out& out) {
  if (out.json) return out.line(to_json(r));
  out.say(cat(plural(r.values, "value"), " and ", plural(r.weights, "weight"), " to ", type, ", ",
              plural(r.casts, "cast"), r.error ? cat("; largest error ", *r.error) : ""));
  for (const HalfReport::Kept& k : r.kept)
    if (out.verbose) out.say(cat("f32: ", k.name, " (", k.op.empty() ? "input or output" : k.op, "): ", k.why));
}
}  // namespace

int convert_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  SaveSettings target = save_settings(verb, *args);  // the opset is the file's: it is written once
  target.opset = static_cast<int>(
      args->integer("opset", 0, opsets::oldest, args->has("experimental") ? opsets::in_development : opsets::newest));
  target.lossy = args->has("lossy");
  ConvertSettings settings = settings_of(*args);
  if (settings.float_type != FloatType::keep) settings.opset = target.opset, settings.lossy = target.lossy;
  settings.progress = out.bar();
  Model m = opened(args->operands[0], out);
  const size_t before = m.node_count();
  const auto own = m.opsets();
  const Converted made = convert(std::move(m), settings);
  out.diags(made.findings);
  if (settings.float_type != FloatType::keep) tell(made.half, args->text("float", ""), out);
  if (settings.to_qdq) out.say(cat(plural(made.replaced, "node"), " of linger replaced"));
  Publication files;
  if (args->has("report")) files.open(args->text("report", ""), {".json"}).append(to_json(made.half) + "\n");
  out.diags(made.model.save(files, args->operands[1], target));
  publish(files, target.durable, out);
  const int written = target.opset ? target.opset : made.model.opset();
  out.say(cat("opset ", own.count("") ? cat(own.at("")) : "none", " to ", written ? cat(written) : "none", ", ",
              plural(before, "node"), " read"));
  return 0;
}

}  // namespace cameo::cli
