// include/cameo/model.h, export.h and arrays.h, made of the layers below.
#include <algorithm>

#include "api/archive_info.h"
#include "api/export_archive.h"
#include "api/model_file.h"
#include "api/type_text.h"
#include "backends/onnx/legalise.h"
#include "cameo/arrays.h"
#include "cameo/export.h"
#include "formats/mapped_file.h"
#include "frontends/onnx/check.h"
#include "frontends/recognise.h"
#include "ops/infer.h"
#include "ops/schema.h"
#include "ops/soundness.h"
#include "ops/text/print.h"
#include "runtime/arrays.h"

namespace cameo {

using namespace api;

struct NetState {
  std::string archive;     // its path; empty: `model` holds an ONNX model
  bool is_script = false;  // a TorchScript archive
  Model model;
  int64_t opset = 0;  // to write in unless said; 0: the model's own
  bool all_types = false;
  std::vector<Diag> findings;

  static const NetState& of(const Net& net) { return *net.state_; }
  static const Model& onnx(const Net& net) {
    const NetState& s = *net.state_;
    if (!s.archive.empty()) throw error("use.archive", cat(s.archive, " is a PyTorch archive, and an ONNX model is wanted")).help("export_onnx makes one");
    return s.model;
  }
  static Net make(NetState s) { return Net(std::make_shared<const NetState>(std::move(s))); }
};

namespace {

WriteOptions write_options(const NetState& s, const SaveSettings& settings) {
  WriteOptions w;
  if (settings.opset) w.opset = settings.opset;
  else if (s.opset) w.opset = s.opset;
  if (w.opset && (*w.opset < 1 || *w.opset > newest_opset)) throw error("use.value", cat("there is no opset ", *w.opset)).help(cat("the newest released is ", newest_released_opset));
  static constexpr WeightMode modes[] = {WeightMode::keep, WeightMode::embed, WeightMode::external, WeightMode::in_place};
  w.weights = modes[static_cast<size_t>(settings.weights)];
  w.lossy = settings.lossy;
  w.durable = settings.durable;
  if (s.all_types) w.value_info = WriteOptions::ValueInfo::all;
  return w;
}

std::vector<ValueInfo> infos(const Graph& g, const std::vector<ValueId>& values) {
  std::vector<ValueInfo> out;
  for (const ValueId v : values) out.push_back({g[v].name, type_text(g[v].fact.type)});
  return out;
}

FileKind kind_of(const std::string& path) {
  return path == "-" || path.ends_with(".onnxtxt") ? FileKind::unknown : recognise(map_file(path), path).kind;
}

Tensor tensor_of(const NamedArray& named) {
  const Array& a = named.array;
  const auto dtype = dtype_from_name(a.dtype);
  if (!dtype || *dtype == DType::string) throw error("use.array", cat("the array '", named.name, "' has the dtype '", a.dtype, "', which is none of ours")).help("f32, f64, i64, bool, ...");
  if (packed_bytes(*dtype, element_count(a.shape)) != a.bytes.size())
    throw error("use.array", cat("the array '", named.name, "' has ", a.bytes.size(), " bytes, and its shape takes ", packed_bytes(*dtype, element_count(a.shape))));
  return Tensor(*dtype, a.shape, Bytes::own(a.bytes));
}

Array array_of(const Tensor& t) {
  const auto span = t.bytes().span();
  return {std::string(name(t.dtype())), t.shape(), std::vector<std::byte>(span.begin(), span.end())};
}

}  // namespace

bool Net::is_archive() const { return !state_->archive.empty(); }

std::vector<ValueInfo> Net::inputs() const {
  if (!is_archive()) return infos(state_->model.graph, state_->model.graph[state_->model.graph.main()].inputs);
  std::vector<ValueInfo> out;
  if (!state_->is_script) return out;
  auto program = torchscript::read_torchscript(state_->archive);
  for (const ArchiveMethod& m : archive_info(program).methods)
    if (m.name == "forward")
      for (size_t i = 0; i < m.example.size(); ++i) out.push_back({cat("x", i), m.example[i]});
  return out;
}

std::vector<ValueInfo> Net::outputs() const {
  return is_archive() ? std::vector<ValueInfo>() : infos(state_->model.graph, state_->model.graph[state_->model.graph.main()].outputs);
}

size_t Net::node_count() const { return is_archive() ? 0 : state_->model.graph.node_count(); }

std::string Net::text() const {
  if (!is_archive()) return print_text(state_->model);
  if (!state_->is_script) throw error("use.archive", "a torch.export archive has no text; export it first");
  auto program = torchscript::read_torchscript(state_->archive);
  return torchscript::dump(program);
}

const std::vector<Diag>& Net::findings() const { return state_->findings; }

void Net::save(const std::string& path, const SaveSettings& settings) const { save_model(NetState::onnx(*this), path, write_options(*state_, settings)); }

std::string Net::bytes(const SaveSettings& settings) const {
  const Model& m = NetState::onnx(*this);
  WriteOptions w = write_options(*state_, settings);
  if (w.weights == WeightMode::keep) w.weights = WeightMode::embed;
  return write_onnx(m, w);
}

Net load(const std::string& path) {
  NetState s;
  if (const FileKind kind = kind_of(path); kind == FileKind::torchscript || kind == FileKind::torch_export) {
    s.archive = path;
    s.is_script = kind == FileKind::torchscript;
    if (s.is_script) torchscript::read_torchscript(path);  // throws what is wrong with it
    return NetState::make(std::move(s));
  }
  DiagSink diags;
  s.model = load_model(path, diags);
  s.findings = std::move(diags.all());
  return NetState::make(std::move(s));
}

std::vector<Diag> check(const std::string& path) { return check_onnx(load_onnx_bytes(path), path); }
std::vector<Diag> check(const Net& net) { return check_onnx(Bytes::own(net.bytes()), ""); }

Net infer(const Net& net) {
  NetState s = NetState::of(net);
  s.model = NetState::onnx(net);
  auto result = infer(s.model.graph, s.model.functions);
  for (Diag& d : result.findings) d.severity = Severity::warning;
  s.findings = std::move(result.findings);
  s.all_types = true;
  return NetState::make(std::move(s));
}

Net convert(const Net& net, int opset, bool lossy) {
  NetState s = NetState::of(net);
  s.model = NetState::onnx(net);
  admit(s.model);
  Model trial = s.model;
  onnx::LegaliseOptions how;
  how.lossy = lossy;
  auto result = onnx::legalise(trial, opset, how);
  if (!result.refusals.empty()) throw Error(std::move(result.refusals));
  if (lossy) s.model = std::move(trial);
  s.findings = std::move(result.notes);
  s.opset = opset;
  return NetState::make(std::move(s));
}

Net export_onnx(const Net& archive, const ExportSettings& settings) {
  const NetState& from = NetState::of(archive);
  if (from.archive.empty()) throw error("use.archive", "an ONNX model is given, and a PyTorch archive is wanted");
  ArchiveExport how;
  for (const std::string& text : settings.inputs) how.options.inputs.push_back(parse_input_spec(text));
  how.options.input_names = settings.input_names;
  how.options.output_names = settings.output_names;
  how.options.method = settings.method;
  how.options.allow_frozen = settings.allow_frozen;
  how.options.state_outputs = settings.state_outputs;
  how.options.stage.assume = settings.assume;
  how.options.stage.asserts = settings.asserts;
  how.options.stage.assumptions = settings.assumptions;
  if (settings.training != ExportSettings::Training::preserve) how.options.stage.training = settings.training == ExportSettings::Training::train;
  how.options.stage.fold = settings.fold && settings.params;
  how.options.stage.weights_as_inputs = !settings.params;
  how.options.stage.unroll = settings.unroll;
  how.simplify = settings.simplify;
  how.write.opset = settings.opset;
  how.doc_strings = settings.doc_strings;
  how.keep_outputs = settings.keep_outputs;
  DiagSink sink;
  NetState s;
  s.model = export_archive(from.archive, how, sink).model;
  s.opset = settings.opset;
  s.findings = std::move(sink.all());
  return NetState::make(std::move(s));
}

std::vector<NamedArray> load_arrays(const std::string& path) {
  std::vector<NamedArray> out;
  for (const auto& [name, d] : load_named(path)) {
    if (d.kind != Datum::Kind::tensor || d.tensor.dtype() == DType::string) throw error("use.array", cat("'", name, "' is no array of numbers"));
    out.push_back({name, array_of(d.tensor)});
  }
  return out;
}

void save_arrays(const std::string& path, const std::vector<NamedArray>& arrays) {
  std::vector<NamedDatum> out;
  for (const NamedArray& a : arrays) out.push_back({a.name, tensor_of(a)});
  save_npz(path, out);
}

}  // namespace cameo
