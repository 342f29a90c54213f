// include/cameo/export.h.
#include <set>

#include "staging/export/input_sizes.h"
#include "api/export_report.h"
#include "ir/dtype_words.h"
#include "support/progress.h"

#include "api/export_state.h"
#include "api/lowerings.h"

namespace cameo {

namespace {

void set_stage(const ExportSettings& s, staging::StageOptions& o) {
  if (s.training != Training::preserve) o.training = s.training == Training::train;
  o.change_literals = s.change_literals;
  o.fold = s.fold && s.simplify && s.params && !s.initializers_as_inputs;
  o.weights_as_inputs = !s.params;
  o.unroll = s.unroll;
  o.assume = s.assume;
  o.asserts = s.asserts;
  o.assumptions = s.assumptions;
  static constexpr staging::Fallback modes[] = {staging::Fallback::none, staging::Fallback::aten,
                                                staging::Fallback::all_aten, staging::Fallback::custom};
  o.fallback = modes[static_cast<size_t>(s.fallback)];
}

std::shared_ptr<const staging::LentWeights> lent_weights(const BorrowedWeights& all) {
  if (all.tensors.empty()) return nullptr;
  auto out = std::make_shared<staging::LentWeights>();
  out->stamp = all.stamp;
  for (const auto& t : all.tensors) out->tensors.push_back({t.sizes, t.strides, 0, bytes_of(t.memory)});
  return out;
}

std::vector<staging::ExampleInput> examples_of(const std::vector<ExampleInput>& all) {
  std::vector<staging::ExampleInput> out;
  for (const ExampleInput& x : all) {
    const auto dtype = ir::dtype_from_name(x.dtype);
    const std::string_view ours = ir::dtype_in_our_words(x.dtype);
    if (!dtype)
      throw error("use.input", cat("'", x.dtype, "', the type of '", x.name, "', is not an element type"))
          .help(ours.empty() ? "" : cat("write ", ours));
    for (const int64_t size : x.sizes)
      if (size < 0) throw error("use.input", cat("the example '", x.name, "' has a size of ", size));
    out.push_back({x.name, *dtype, x.sizes, x.number});
  }
  return out;
}

void need_different(const std::vector<std::string>& names, std::string_view code, std::string_view what) {
  std::set<std::string_view> seen;
  for (const std::string& n : names)
    if (!seen.insert(n).second) throw error(code, cat("two ", what, " are called '", n, "'"));
}

void need_different_names(const ExportSettings& s, const std::vector<staging::InputSpec>& inputs) {
  std::vector<std::string> names;
  for (const staging::InputSpec& i : inputs) names.push_back(i.name);
  need_different(names, "use.input", "inputs");
  need_different(s.input_names, "use.input-names", "inputs");
  need_different(s.output_names, "use.output-names", "outputs");
}

api::ArchiveExport request_of(const ExportSettings& s) {
  api::ArchiveExport how;
  for (const std::string& text : s.inputs) how.options.inputs.push_back(staging::parse_input_spec(text));
  need_different_names(s, how.options.inputs);
  for (const DynamicAxis& a : s.dynamic_axes) how.options.dynamic_axes.push_back({a.value, a.axis, a.name});
  std::vector<std::string*> sizes;
  for (staging::InputSpec& i : how.options.inputs)
    for (std::string& size : i.dims) sizes.push_back(&size);
  for (staging::DynamicAxis& a : how.options.dynamic_axes) sizes.push_back(&a.name);
  staging::share_ranges(sizes);
  how.options.input_names = s.input_names;
  how.options.output_names = s.output_names;
  how.options.rename_dims = s.rename_dims;
  how.options.method = s.method;
  how.options.allow_frozen = s.allow_frozen;
  how.options.state_outputs = s.state_outputs;
  how.options.examples = examples_of(s.examples);
  set_stage(s, how.options.stage);
  for (const std::string& text : s.types) how.options.stage.types.push_back(staging::parse_foreign_type(text));
  how.options.stage.host = host_lowerings(s.lowerings);
  how.options.stage.lent = lent_weights(s.borrowed);
  how.inputs = s.example_inputs;
  how.rules = s.rules;
  how.functions = s.functions;
  how.keep_outputs = s.keep_outputs;
  for (const auto& [domain, version] : s.custom_opsets)
    if (domain.empty() || domain == "ai.onnx")
      throw error("use.custom-opset", "ai.onnx is no custom domain").help("its version is the opset of the export");
  how.custom_opsets = s.custom_opsets;
  how.linger = s.linger;
  how.simplify = s.simplify && !s.initializers_as_inputs;
  how.doc_strings = s.doc_strings;
  how.number_weights = s.number_params;
  how.write.opset = known_opset(s.opset);
  how.write.initializers_as_inputs = s.initializers_as_inputs;
  how.write.lossy = s.lossy;
  how.write.weights = weight_mode(s.weights == Weights::keep ? Weights::automatic : s.weights);
  how.trace = s.trace;
  return how;
}

}  // namespace

Exported export_model(const Model& archive, const ExportSettings& settings) {
  const ModelState& from = ModelState::of(archive);
  if (from.archive.empty())
    throw error("use.archive", "this is an ONNX model; a PyTorch archive is needed")
        .help("it is exported already: cameo simplify, convert and edit work on it");
  const support::ProgressScope told(settings.progress);
  const api::ArchiveExport how = request_of(settings);
  support::DiagSink sink;
  const auto tell = [&] {
    if (settings.on_finding)
      for (const Diag& d : sink.all()) settings.on_finding(d);
  };
  api::Exported made;
  try {
    made = api::export_archive(from.archive, from.path, how, sink);
  } catch (...) {
    tell();  // what led to it
    throw;
  }
  tell();
  ModelState s;
  s.model = std::move(made.model);
  s.source = from.archive;
  s.opset = settings.opset;
  s.write = how.write;
  s.findings = sink.all();
  auto state = std::make_shared<ExportState>();
  state->examples = std::move(made.examples);
  state->input_names = std::move(made.trace.input_names);
  state->has_foreign = settings.fallback != Fallback::none;
  return {ModelState::make(std::move(s)), std::move(sink.all()), std::move(made.recorded), std::move(made.lowered),
          std::move(state)};
}

namespace {
api::ExportReport report_of(const Exported& e, const ExportReport& r) {
  api::ExportReport out{r.source, r.target, r.command, e.model.opset(), r.seconds, r.findings, {}};
  if (r.verified) out.verified = {r.verified->outputs.size(), r.verified->worst()};
  return out;
}
}  // namespace

std::string report_json(const Exported& e, const ExportReport& r) {
  return api::report_json(ModelState::onnx(e.model), e.lowered, report_of(e, r));
}
std::string report_html(const Exported& e, const ExportReport& r) {
  return api::report_html(ModelState::onnx(e.model), e.lowered, e.recorded, report_of(e, r));
}

}  // namespace cameo
