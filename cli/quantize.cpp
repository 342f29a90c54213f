// cameo quantize: a model in 8-bit integers.
#include "cameo/quantize.h"

#include <cmath>

#include "cli/common.h"
#include "cli/quantize_flags.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Verb verb{"quantize",
                    "IN OUT",
                    "a model in 8-bit integers, from samples of its inputs, or with weights in few bits",
                    "cameo quantize net.onnx int8.onnx --calibrate samples.npz --report report.html\n"
                    "cameo quantize net.onnx int8.onnx --calibrate pictures/ --image size=224,mean=0.5,std=0.5\n"
                    "cameo quantize llm.onnx int4.onnx --bits 4 --block 32",
                    quantize_flags,
                    2,
                    2};

QuantizeSettings settings_of(const Args& args) {
  QuantizeSettings s;
  s.target = args.text("target", s.target);
  s.method = args.text("method", s.method);
  s.percentile = args.number("percentile", s.percentile);
  s.keep = args.list("keep");
  for (const std::string& node : args.list("undo")) s.keep.push_back(node);
  s.min_db = args.number("min-db", s.min_db);
  s.max_float_macs = args.number("max-float-macs", s.max_float_macs);
  s.max_drop = args.number("max-drop", s.max_drop);
  s.check_samples =
      static_cast<uint64_t>(args.integer("check-samples", static_cast<int64_t>(s.check_samples), 1, 1000));
  if (args.has("qoperator")) s.form = "qoperator";
  s.opset = static_cast<int>(args.integer("opset", 0, 0, 1000));
  s.threads = static_cast<int>(args.integer("threads", 0, 0, 4096));
  s.correct_bias = !args.has("no-bias-correction");
  s.equalize = !args.has("no-equalization");
  s.compensate = !args.has("no-compensation");
  s.simplify = !args.has("no-simplify");
  return s;
}

void tell(const Quantized& q, Out& out) {
  const QuantizeReport& r = q.report;
  const auto tenths = [](double v) { return std::round(v * 10) / 10; };
  size_t quantized = 0;
  for (const QuantizedNode& n : r.nodes) quantized += n.quantized;
  out.say(cat("quantized ", plural(quantized, "node"), ", ", tenths(100 * r.int8_macs),
              " % of the multiplications; ranges by ", r.method, " from ", plural(r.samples, "sample")));
  for (const QuantizedOutput& o : r.outputs) {
    out.say(cat("output ", o.name, ": ", tenths(o.db), " dB"));
    for (const auto& [what, db] : o.parts) out.say(cat("  ", what, ": ", tenths(db), " dB"));
  }
  if (r.metric) out.say(cat("metric ", *r.metric, ", float ", *r.float_metric));
  for (const QuantizedNode& n : r.nodes)
    if (!n.quantized && n.macs > 0) out.say(cat("float: ", n.name, " (", n.op, "): ", n.why));
}

}  // namespace

int quantize_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  if (args->has("dynamic")) return quantize_dynamic_main(verb, *args, out);
  if (is_weight_only(*args)) return quantize_weights_main(verb, *args, out);
  const SaveSettings save = save_settings(verb, *args);
  if (!args->has("calibrate"))
    throw error("use.inputs", "--calibrate is missing").help("--calibrate DATA: samples of the model's inputs");
  Publication files;
  std::vector<std::pair<Publication::File, bool>> reports;
  for (const std::string& path : args->values("report"))
    reports.emplace_back(files.open(path, {".html", ".json"}), path.ends_with(".html"));
  const Model m = opened(args->operands[0], out);
  QuantizeSettings settings = settings_of(*args);
  settings.progress = out.bar();
  const Quantized q = quantize(m, samples_from(m, *args->value("calibrate"), args->text("image", "")), settings,
                               args->has("metric") ? metric_of_command(*args->value("metric")) : QuantizeMetric());
  out.diags(q.findings);
  for (auto& [file, html] : reports) file.append(html ? to_html(q.report) : to_json(q.report) + "\n");
  out.diags(q.model.save(files, args->operands[1], save));
  publish(files, save.durable, out);
  if (out.json) out.line(to_json(q.report));
  else tell(q, out);
  return 0;
}

}  // namespace cameo::cli
