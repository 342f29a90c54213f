// include/cameo/model.h: loading, saving, what a model says about itself. Nodes and values are in views.cpp.
#include <algorithm>

#include "api/archive_info.h"
#include "api/model_file.h"
#include "api/pt2_info.h"
#include "api/type_text.h"
#include "formats/mapped_file.h"
#include "frontends/onnx/reader.h"
#include "ops/schema.h"
#include "ops/text/print.h"

#include "api/state.h"
#include "cameo/model.h"

namespace cameo {

using frontends::FileKind;

const ModelState& ModelState::of(const Model& m) {
  if (!m.state_)
    throw error("use.moved-from", "the model was moved from").help("keep a copy: copies share what is in it");
  return *m.state_;
}

const ir::Model& ModelState::onnx(const Model& m) {
  const ModelState& s = of(m);
  if (!s.archive.empty())
    throw error("use.archive",
                cat(s.path.empty() ? "this" : s.path, " is a PyTorch archive, and an ONNX model is wanted"))
        .help("export_model makes one");
  return s.model;
}

ModelState ModelState::changed(const Model& m) {
  onnx(m);
  ModelState s = of(m);
  s.findings.clear();
  return s;
}

int64_t opset_of(const ModelState& s) {
  if (s.opset) return s.opset;
  const auto it = s.model.opsets.find("");
  return it == s.model.opsets.end() ? ops::newest_released_opset : it->second;
}

int64_t known_opset(int64_t opset) {
  if (opset < 1 || opset > ops::newest_opset)
    throw error("use.opset", cat("there is no opset ", opset))
        .help(cat("the newest released is ", ops::newest_released_opset));
  return opset;
}

backends::WriteOptions write_options(const ModelState& s, const SaveSettings& settings) {
  using Mode = backends::WeightMode;
  backends::WriteOptions w = s.write;
  if (settings.opset) w.opset = known_opset(settings.opset);
  else if (s.opset) w.opset = s.opset;
  static constexpr Mode modes[] = {Mode::keep, Mode::automatic, Mode::embed, Mode::external, Mode::in_place};
  if (settings.weights != Weights::keep) w.weights = modes[static_cast<size_t>(settings.weights)];
  if (!settings.external_name.empty()) w.external_name = settings.external_name;
  w.lossy |= settings.lossy;
  w.durable = settings.durable;
  return w;
}

std::vector<ValueInfo> infos_of(const ir::Graph& g, const std::vector<support::ValueId>& values) {
  std::vector<ValueInfo> out;
  for (const auto v : values) out.push_back({g[v].name, api::type_text(g[v].fact.type)});
  return out;
}

namespace {

torchscript::Program script_of(const ModelState& s) { return torchscript::read_torchscript(s.archive, s.path); }

bool is_archive_kind(FileKind kind) { return kind == FileKind::torchscript || kind == FileKind::torch_export; }

Model archive_from(support::Bytes file, std::string path, FileKind kind) {
  ModelState s;
  s.archive = std::move(file);
  s.path = std::move(path);
  s.is_script = kind == FileKind::torchscript;
  if (s.is_script) script_of(s);  // throws what is wrong with it
  return ModelState::make(std::move(s));
}

Model read_bytes(support::Bytes file, const std::string& name = "") {
  const auto what = frontends::recognise(file, name);
  if (is_archive_kind(what.kind)) return archive_from(std::move(file), name, what.kind);
  if (what.kind != FileKind::unknown) throw frontends::wrong_kind(what, name.empty() ? "the data" : name);
  support::DiagSink diags;
  ModelState s;
  s.model = frontends::read_onnx(std::move(file), name, diags);
  s.findings = std::move(diags.all());
  return ModelState::make(std::move(s));
}

}  // namespace

bool Model::is_archive() const { return !ModelState::of(*this).archive.empty(); }

std::vector<ValueInfo> Model::inputs() const {
  const ModelState& s = ModelState::of(*this);
  if (!is_archive()) return infos_of(s.model.graph, s.model.graph[s.model.graph.main()].inputs);
  std::vector<ValueInfo> out;
  if (!s.is_script) {
    auto program = pt2::read_pt2(s.archive, s.path);
    for (const api::Pt2Value& v : api::pt2_info(program).inputs) out.push_back({v.name, v.type});
    return out;
  }
  auto program = script_of(s);
  for (const api::ArchiveMethod& m : api::archive_info(program).methods)
    if (m.name == "forward")
      for (size_t i = 0; i < m.example.size(); ++i) out.push_back({cat("x", i), m.example[i]});
  return out;
}

std::vector<ValueInfo> Model::outputs() const {
  const ModelState& s = ModelState::of(*this);
  return is_archive() ? std::vector<ValueInfo>() : infos_of(s.model.graph, s.model.graph[s.model.graph.main()].outputs);
}

size_t Model::node_count() const { return is_archive() ? 0 : ModelState::of(*this).model.graph.node_count(); }

std::string Model::text() const {
  const ModelState& s = ModelState::of(*this);
  if (!is_archive()) return ops::print_text(s.model);
  if (s.is_script) {
    auto program = script_of(s);
    return torchscript::dump(program);
  }
  return api::pt2_text(pt2::read_pt2(s.archive, s.path));
}

int Model::opset(std::string_view domain) const {
  ModelState::onnx(*this);
  if (domain.empty()) return static_cast<int>(opset_of(*state_));
  const auto it = state_->model.opsets.find(std::string(domain));
  return it == state_->model.opsets.end() ? 0 : static_cast<int>(it->second);
}

std::map<std::string, int> Model::opsets() const {
  ModelState::onnx(*this);
  std::map<std::string, int> out;
  for (const auto& [domain, version] : state_->model.opsets) out[domain] = static_cast<int>(version);
  out[""] = opset();
  return out;
}

std::map<std::string, std::string> Model::metadata() const {
  const auto& all = ModelState::onnx(*this).metadata;
  return {all.begin(), all.end()};
}

std::string Model::producer() const {
  const ir::Model& m = ModelState::onnx(*this);
  return m.producer_version.empty() ? m.producer_name : cat(m.producer_name, " ", m.producer_version);
}

const std::vector<Diag>& Model::findings() const { return ModelState::of(*this).findings; }

void Model::save(const std::string& path, const SaveSettings& settings) const {
  const ir::Model& m = ModelState::onnx(*this);
  api::save_model(m, path, write_options(*state_, settings));
}

std::string Model::bytes(const SaveSettings& settings) const {
  const ir::Model& m = ModelState::onnx(*this);
  backends::WriteOptions w = write_options(*state_, settings);
  if (w.weights == backends::WeightMode::keep || w.weights == backends::WeightMode::automatic)
    w.weights = backends::WeightMode::embed;
  return backends::write_onnx(m, w);
}

Model load(const std::string& path) {
  if (path != "-" && !path.ends_with(".onnxtxt")) {
    support::Bytes file = formats::map_file(path);
    if (const FileKind kind = frontends::recognise(file, path).kind; is_archive_kind(kind))
      return archive_from(std::move(file), path, kind);
  }
  support::DiagSink diags;
  ModelState s;
  s.model = api::load_model(path, diags);
  s.path = path;
  s.findings = std::move(diags.all());
  return ModelState::make(std::move(s));
}

Model load_bytes(const void* data, size_t size) {
  return read_bytes(support::Bytes::own(std::string_view(static_cast<const char*>(data), size)));
}

Model load_buffer(Buffer bytes, const std::string& name) { return read_bytes(bytes_of(std::move(bytes)), name); }

Model load_from(uint64_t size, const ReadAt& read) {
  constexpr uint64_t block = uint64_t{1} << 24;
  std::vector<std::byte> all(support::narrow<size_t>(size));
  for (uint64_t done = 0; done < size; done += block)
    read(done, all.data() + done, static_cast<size_t>(std::min(block, size - done)));
  return read_bytes(support::Bytes::own(std::move(all)));
}

}  // namespace cameo
