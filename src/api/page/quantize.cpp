// The methods `quantize`, whose samples come with the call, as inputs of a run do, `quantize_dynamic` and
// `quantize_weights`.
#include <deque>

#include "quant/samples/samples.h"
#include "runtime/inputs.h"

#include "api/state.h"

#include "api/page/call.h"
#include "api/page/command.h"
#include "api/samples.h"
#include "api/settings_json.h"
#include "cameo/quantize.h"

namespace cameo::page {

namespace {

using Sample = std::vector<NamedValue>;

// Rows beyond the model's first axis are samples of their own.
void add_rows(const Model& model, Sample given, std::deque<Sample>& out) {
  const ir::Graph& g = ModelState::onnx(model).graph;
  std::vector<kernels::Datum> inputs;
  const SampleSource one = [&](Sample& s) {
    s = std::move(given);
    return true;
  };
  positional(g, one)(inputs);
  const auto params = runtime::run_inputs(g);
  quant::Rows rows(g, std::move(inputs));
  for (std::vector<kernels::Datum> row; rows.next(row);) {
    Sample& s = out.emplace_back();
    for (size_t i = 0; i < row.size(); ++i)
      if (row[i].kind != kernels::Datum::Kind::none) s.emplace_back(g[params[i]].name, run_value_of(row[i]));
  }
}

// {"samples": [[inputs of one], ...], "npz": [blobs]}
std::deque<Sample> samples_of(Call& call, const Model& model) {
  std::deque<Sample> out;
  if (const json::Value list = call.value("samples"))
    for (const json::Value one : list.elements()) add_rows(model, given_inputs(call, one), out);
  for (const int64_t blob : call.integers("npz")) {
    Sample all;
    add_archive(call, model, call.given(blob), all);
    add_rows(model, std::move(all), out);
  }
  return out;
}

}  // namespace

void quantize_model(Call& call) {
  QuantizeSettings settings = faces::quantize_settings(call.json_text("settings"));
  settings.threads = call.desk.settings.threads;
  settings.progress = [&](const char* what, uint64_t done, uint64_t all) { return call.progress(what, done, all); };
  Opened& from = call.model();
  const std::deque<Sample> samples = samples_of(call, from.with_types());
  const SampleSource source = [&, next = size_t{0}](Sample& inputs) mutable {
    if (next == samples.size()) return false;
    inputs = samples[next++];
    return true;
  };
  Quantized q = quantize(from.model, source, settings);
  const Files files{from.file, file_after(from.file, "int8")};
  const SampleFiles given{call.text("file", "samples"), call.flag("pictures")};
  Opened made = made_of(call, std::move(q.model), "quantize", files, quantize_command(files, given, settings));
  made.report = to_json(q.report);
  put_down(call, std::move(made), q.findings);
}

// 8-bit weights, data rounded while the model runs.
void quantize_dynamically(Call& call) {
  const DynamicSettings settings = faces::dynamic_settings(call.json_text("settings"));
  const std::string& file = call.model().file;
  const Files files{file, file_after(file, "dynamic")};
  DynamicQuantized q = quantize_dynamic(call.model().model, settings);
  const std::vector<Diag> findings = q.model.findings();
  put_down(call, made_of(call, std::move(q.model), "quantize_dynamic", files, dynamic_command(files, settings)),
           findings);
}

// Weights in few bits, without samples.
void quantize_only_weights(Call& call) {
  WeightSettings settings = faces::weight_settings(call.json_text("settings"));
  const std::string& file = call.model().file;
  const Files files{file, file_after(file, cat("int", settings.bits))};
  settings.threads = call.desk.settings.threads;
  settings.progress = [&](const char* what, uint64_t done, uint64_t all) { return call.progress(what, done, all); };
  WeightQuantized q = quantize_weights(call.model().model, settings);
  put_down(call, made_of(call, std::move(q.model), "quantize_weights", files, weights_command(files, settings)),
           q.findings);
}

}  // namespace cameo::page
