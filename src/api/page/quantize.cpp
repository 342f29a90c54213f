// The method `quantize`: samples come with the call, as inputs of a run do.
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
  put_down(call,
           {.model = std::move(q.model),
            .file = files.out,
            .from = call.handle(),
            .verb = "quantize",
            .settings = call.json_text("settings"),
            .command = quantize_command(files, settings),
            .report = to_json(q.report)},
           q.findings);
}

}  // namespace cameo::page
