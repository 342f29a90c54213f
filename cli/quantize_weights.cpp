// cameo quantize --bits: weights in few bits.
#include <cmath>

#include "cameo/weights.h"
#include "cli/quantize_flags.h"

namespace cameo::cli {

namespace {

constexpr const char* of_activations[] = {"target",          "percentile",     "undo",
                                          "min-db",          "max-float-macs", "metric",
                                          "max-drop",        "check-samples",  "no-bias-correction",
                                          "no-equalization", "no-simplify"};

WeightSettings settings_of(const Args& args) {
  for (const char* flag : of_activations)
    if (args.has(flag)) throw error("use.flag", cat("--", flag, " does not go with --bits"));
  if (args.has("symmetric") && args.has("asymmetric"))
    throw error("use.flag", "--symmetric and --asymmetric exclude each other");
  WeightSettings s;
  s.bits = static_cast<int>(args.integer("bits", s.bits, 0, 64));
  s.block = args.integer("block", s.block);
  s.symmetric = !args.has("asymmetric");
  s.method = args.text("method", s.method);
  s.form = args.text("form", s.form);
  s.embeddings = !args.has("no-embeddings");
  s.keep = args.list("keep");
  s.opset = static_cast<int>(args.integer("opset", 0, 0, 1000));
  s.threads = static_cast<int>(args.integer("threads", 0, 0, 4096));
  return s;
}

void tell(const WeightReport& r, Out& out) {
  size_t quantized = 0;
  for (const auto& w : r.weights) quantized += w.quantized;
  constexpr double mib = 1 << 20;
  const auto size = [](uint64_t bytes) { return cat(std::round(static_cast<double>(bytes) / mib * 10) / 10, " MiB"); };
  out.say(cat(plural(quantized, "weight"), " of ", r.weights.size(), ": ", size(r.bytes_before), " to ",
              size(r.bytes_after)));
  for (const auto& w : r.weights) {
    if (!w.quantized) out.say(cat("as it is: ", w.name, ": ", w.why));
    else if (out.verbose && w.db) out.say(cat(w.name, ": ", w.method, ", ", *w.db, " dB; rtn ", *w.rtn_db, " dB"));
  }
}

}  // namespace

bool is_weight_only(const Args& args) { return args.has("bits") || args.has("form"); }

int quantize_weights_main(const Verb& verb, const Args& args, Out& out) {
  const SaveSettings save = save_settings(verb, args);
  Publication files;
  std::vector<Publication::File> reports;
  for (const std::string& path : args.values("report")) reports.push_back(files.open(path, {".json"}));
  const Model m = opened(args.operands[0], out);
  const bool quantizes = args.has("bits");
  WeightSettings settings = quantizes ? settings_of(args) : WeightSettings();
  settings.progress = out.bar();
  const SampleSource samples =
      args.has("calibrate") ? samples_from(m, *args.value("calibrate"), args.text("image", "")) : SampleSource();
  const WeightQuantized q =
      quantizes ? quantize_weights(m, settings, samples) : convert_weights(m, args.text("form", ""));
  out.diags(q.findings);
  for (auto& file : reports) file.append(to_json(q.report) + "\n");
  out.diags(q.model.save(files, args.operands[1], save));
  publish(files, save.durable, out);
  if (out.json) out.line(to_json(q.report));
  else tell(q.report, out);
  return 0;
}

}  // namespace cameo::cli
