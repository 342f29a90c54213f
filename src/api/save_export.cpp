// include/cameo/export.h: saving an export with a check, and running what was saved.
#include <algorithm>

#include "api/model_file.h"
#include "frontends/onnx/check.h"
#include "frontends/onnx/reader.h"
#include "ops/inline.h"
#include "ops/schema_check.h"
#include "runtime/arrays.h"
#include "runtime/compare.h"
#include "runtime/inputs.h"
#include "runtime/reference.h"
#include "support/progress.h"

#include "api/compared.h"
#include "api/export_state.h"
#include "api/publication_state.h"

namespace cameo {

namespace {

const ExportState& state_of(const Exported& e) {
  if (!e.state) throw error("use.export", "this was not made by export_model");
  return *e.state;
}

// An example of the wrong type gives operators operands that they do not accept: reported before anything is written.
void check_recorded(const ir::Model& m) {
  std::vector<Diag> found = ops::schema_findings(m);
  const ir::Graph& g = m.graph;
  for (const support::ValueId v : g[g.main()].outputs)
    if (g[v].fact.type.is_tensor() && !g[v].fact.has_rank())
      found.push_back(error("export.check",
                            cat("the output '", g[v].name, "' may have different numbers of axes, and ONNX needs one"))
                          .help("let all branches give it the same number of axes")
                          .diag());
  if (found.empty()) return;
  found.back().notes.push_back(
      {"nothing was written: the model would break ONNX's rules; --no-check writes it anyway", {}});
  throw Error(std::move(found));
}

// The file, before it gets its name. Returns what is no error; throws where there is one, and nothing is left behind.
std::vector<Diag> check_written(const support::Bytes& written, const std::string& path, bool has_foreign) {
  std::vector<Diag> notes, errors;
  for (Diag& d : frontends::check_onnx(written, path)) {
    if (has_foreign && d.severity == Severity::error) d.severity = Severity::warning;
    (d.severity == Severity::error ? errors : notes).push_back(std::move(d));
  }
  if (errors.empty()) return notes;
  errors.insert(errors.begin(),
                error("export.check", "the exported model breaks ONNX's rules, and was not written")
                    .help("the archive holds sizes that do not fit, or this is a bug in Cameo: please report it. "
                          "--no-check writes the file anyway")
                    .diag());
  throw Error(std::move(errors));
}

// The examples in the order of the model's inputs; weights that are inputs have none.
std::vector<kernels::Datum> example_values(const ExportState& e, const ir::Graph& g,
                                           const std::vector<support::ValueId>& params) {
  std::vector<kernels::Datum> out;
  for (size_t i = 0; i < params.size(); ++i) {
    const bool has_name = i < e.input_names.size();
    const auto it = std::find_if(e.examples.begin(), e.examples.end(),
                                 [&](const runtime::NamedDatum& n) { return has_name && n.name == e.input_names[i]; });
    if (it == e.examples.end() && !g[params[i]].weight)
      throw error("verify.inputs", cat("there is no example for input '", g[params[i]].name, "'"));
    out.push_back(it == e.examples.end() ? kernels::Datum() : it->value);
  }
  return out;
}

// The example inputs and the outputs that belong to them, as the model takes them.
struct RecordedRun {
  std::vector<kernels::Datum> inputs, outputs;
};

RecordedRun recorded_run(const Exported& e, const ir::Graph& g, const std::string& expected) {
  if (state_of(e).examples.empty())
    throw error("use.verify", "outputs can be compared only on known inputs").help("--inputs FILE.npz gives them");
  const auto params = runtime::run_inputs(g);
  RecordedRun run{example_values(*e.state, g, params),
                  runtime::load_values(expected, g, g[g.main()].outputs, "output")};
  runtime::check_inputs(g, params, run.inputs);
  if (std::none_of(run.outputs.begin(), run.outputs.end(),
                   [](const kernels::Datum& d) { return d.kind != kernels::Datum::Kind::none; }))
    throw error("verify.outputs", cat(expected, " has none of the model's outputs"));
  return run;
}

// `has_foreign`: nodes whose result types are not known; what that breaks is a warning.
std::vector<Diag> save_with_check(const Model& m, bool has_foreign, const std::string& path,
                                  const SaveSettings& settings) {
  const support::ProgressScope told(settings.progress);
  if (!has_foreign) check_recorded(ModelState::onnx(m));
  Publication files;
  std::vector<Diag> notes = m.save(files, path, settings);
  const bool is_checked = path != "-" && !path.ends_with(".onnxtxt");
  if (is_checked)
    PublicationState::files_of(files).look_at_model([&](const support::Bytes& written) {
      for (Diag& d : check_written(written, path, has_foreign)) notes.push_back(std::move(d));
    });
  files.commit(settings.durable);
  return notes;
}

}  // namespace

std::vector<Diag> save_checked(const Exported& e, const std::string& path, const SaveSettings& settings) {
  return save_with_check(e.model, state_of(e).has_foreign, path, settings);
}
std::vector<Diag> save_checked(const Model& m, const std::string& path, const SaveSettings& settings) {
  return save_with_check(m, false, path, settings);
}

void require_comparable(const Exported& e, const std::string& expected) {
  const ir::Graph& g = ModelState::onnx(e.model).graph;
  recorded_run(e, g, expected);
}

Verified verify_saved(const Exported& e, const std::string& path, const std::string& expected,
                      const VerifySettings& settings) {
  support::DiagSink diags;
  ir::Model m = path == "-" ? frontends::read_onnx(support::Bytes::own(e.model.bytes()), "", diags)
                            : api::load_model(path, diags);
  ops::inline_functions(m);
  const RecordedRun run = recorded_run(e, m.graph, expected);
  const auto got = runtime::run_reference(m, run.inputs);
  Verified out = compared(m, got, run.outputs, {settings.rtol, settings.atol});
  out.recorded = expected;
  return out;
}

}  // namespace cameo
