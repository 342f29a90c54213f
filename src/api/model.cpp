// include/cameo/model.h: loading, saving, what a model says about itself. Nodes and values are in views.cpp.
#include <algorithm>
#include <filesystem>

#include "api/model_file.h"
#include "api/type_text.h"
#include "backends/text/text_file.h"
#include "formats/mapped_file.h"
#include "frontends/onnx/reader.h"
#include "frontends/text/parse.h"
#include "frontends/torchscript/program.h"
#include "ops/schema.h"
#include "support/file_bytes.h"
#include "support/progress.h"
#include "backends/text/print.h"

#include "api/publication_state.h"
#include "api/state.h"
#include "cameo/archive.h"
#include "cameo/opset.h"

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
    throw error("use.archive", cat(s.path.empty() ? "this" : s.path, " is a PyTorch archive; an ONNX model is needed"))
        .help("export_model makes one");
  return s.model;
}

ModelState ModelState::changed(Model m) {
  onnx(m);
  ModelState s = m.state_.use_count() == 1 ? std::move(const_cast<ModelState&>(*m.state_)) : *m.state_;
  s.findings.clear();
  return s;
}

int64_t opset_of(const ModelState& s) {
  if (s.opset) return s.opset;
  const auto it = s.model.opsets.find("");
  return it == s.model.opsets.end() ? backends::implied_opset(s.model) : it->second;
}

std::map<std::string, int> opsets_of(const ModelState& s) {
  std::map<std::string, int> out;
  for (const auto& [domain, version] : s.model.opsets) out[domain] = static_cast<int>(version);
  if (s.opset || out.count("")) out[""] = static_cast<int>(opset_of(s));
  return out;
}

// Of what is made anew: the version that came with the opset.
int ir_version_of(const ModelState& s) {
  const auto own = s.model.opsets.find("");
  const bool is_own = s.model.ir_version && (!s.opset || (own != s.model.opsets.end() && own->second == s.opset));
  return static_cast<int>(is_own ? s.model.ir_version : backends::ir_version_for(opset_of(s)));
}

int64_t known_opset(int64_t opset) {
  if (opset < opsets::oldest || opset > ops::newest_opset)
    throw error(
        "use.opset",
        cat(opset >= 1 && opset < opsets::oldest ? "models are not written in opset " : "there is no opset ", opset))
        .help(cat("from ", opsets::oldest, " to ", ops::newest_released_opset));
  return opset;
}

int known_threads(int threads) {
  constexpr int most = 4096;
  if (threads < 0 || threads > most)
    throw error("use.value", cat("the number of threads is ", threads))
        .help(cat("from 1 to ", most, "; 0: all the machine has"));
  return threads;
}

backends::WeightMode weight_mode(Weights weights) {
  using Mode = backends::WeightMode;
  static constexpr Mode modes[] = {Mode::keep, Mode::automatic, Mode::embed, Mode::external, Mode::in_place};
  return modes[static_cast<size_t>(weights)];
}

backends::WriteOptions write_options(const ModelState& s, const SaveSettings& settings) {
  backends::WriteOptions w = s.write;
  if (settings.opset) w.opset = known_opset(settings.opset);
  else if (s.opset) w.opset = s.opset;
  if (settings.weights != Weights::keep) w.weights = weight_mode(settings.weights);
  if (!settings.external_name.empty()) w.external_name = settings.external_name;
  w.lossy |= settings.lossy;
  w.durable = settings.durable;
  if (settings.provenance) {
    const bool is_file = s.source.empty() && !s.path.empty() && s.path != "-";
    w.metadata = api::provenance(is_file ? formats::map_file(s.path) : s.source, *settings.provenance);
  }
  return w;
}

std::vector<ValueInfo> infos_of(const ir::Graph& g, const std::vector<support::ValueId>& values) {
  std::vector<ValueInfo> out;
  for (const auto v : values) out.push_back({g[v].name, api::type_text(g[v].fact.type)});
  return out;
}

namespace {

bool is_archive_kind(FileKind kind) { return kind == FileKind::torchscript || kind == FileKind::torch_export; }

Model archive_from(support::Bytes file, std::string path, FileKind kind) {
  ModelState s;
  s.archive = std::move(file);
  s.path = std::move(path);
  s.is_script = kind == FileKind::torchscript;
  return ModelState::make(std::move(s));
}

Model read_bytes(support::Bytes file, const std::string& name = "") {
  const auto what = frontends::recognise(file, name);
  if (is_archive_kind(what.kind)) return archive_from(std::move(file), name, what.kind);
  if (what.kind != FileKind::unknown && !name.ends_with(".onnxtxt"))
    throw frontends::wrong_kind(what, name.empty() ? "the data" : name);
  support::DiagSink diags;
  ModelState s;
  s.source_bytes = support::length_of(file);
  s.model = api::load_model(file, name, diags);  // text too, by its name
  s.findings = std::move(diags.all());
  return ModelState::make(std::move(s));
}

}  // namespace

Model::Kind Model::kind() const {
  const ModelState& s = ModelState::of(*this);
  return s.archive.empty() ? Kind::onnx : s.is_script ? Kind::torchscript : Kind::torch_export;
}

std::vector<ValueInfo> Model::inputs() const {
  const ModelState& s = ModelState::of(*this);
  if (!is_archive()) return infos_of(s.model.graph, s.model.graph[s.model.graph.main()].inputs);
  if (!s.is_script) return torch_export_info(*this).inputs;
  std::vector<ValueInfo> out;
  for (const ArchiveMethod& m : torchscript_info(*this).methods)
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
  return is_archive() ? archive_text(*this) : backends::print_text(s.model);
}

int Model::opset(std::string_view domain) const {
  ModelState::onnx(*this);
  if (domain.empty()) return static_cast<int>(opset_of(*state_));
  const auto it = state_->model.opsets.find(std::string(domain));
  return it == state_->model.opsets.end() ? 0 : static_cast<int>(it->second);
}

std::map<std::string, int> Model::opsets() const {
  ModelState::onnx(*this);
  return opsets_of(*state_);
}

std::map<std::string, std::string> Model::metadata() const {
  const auto& all = ModelState::onnx(*this).metadata;
  return {all.begin(), all.end()};
}

std::string Model::producer() const {
  const ir::Model& m = ModelState::onnx(*this);
  const bool is_whole = !m.producer_name.empty() && !m.producer_version.empty();
  return is_whole ? cat(m.producer_name, " ", m.producer_version) : m.producer_name;
}

int Model::ir_version() const {
  ModelState::onnx(*this);
  return ir_version_of(*state_);
}

const std::vector<Diag>& Model::findings() const { return ModelState::of(*this).findings; }

std::vector<Diag> Model::save(const std::string& path, const SaveSettings& settings) const {
  const support::ProgressScope told(settings.progress);
  Publication files;
  auto notes = save(files, path, settings);
  files.commit(settings.durable);
  return notes;
}

std::vector<Diag> Model::save(Publication& files, const std::string& path, const SaveSettings& settings) const {
  const support::ProgressScope told(settings.progress);
  const ir::Model& m = ModelState::onnx(*this);
  support::DiagSink notes;
  api::save_model(m, PublicationState::files_of(files), path, write_options(*state_, settings), &notes);
  return std::move(notes.all());
}

std::string Model::bytes(const SaveSettings& settings) const {
  const ir::Model& m = ModelState::onnx(*this);
  backends::WriteOptions w = write_options(*state_, settings);
  if (w.weights == backends::WeightMode::keep || w.weights == backends::WeightMode::automatic)
    w.weights = backends::WeightMode::embed;
  return backends::write_onnx(m, w);
}

Model load(const std::string& path) {
  support::DiagSink diags;
  ModelState s;
  if (path.ends_with(".onnxtxt")) s.model = api::load_model(path, diags);
  else {
    support::Bytes file = formats::map_file(path);
    if (const FileKind kind = frontends::recognise(file, path).kind; is_archive_kind(kind))
      return archive_from(std::move(file), path, kind);
    s.model = path == "-" ? api::load_model(file, path, diags) : api::load_model(path, diags);
  }
  s.path = path;
  std::error_code unknown;
  if (const auto bytes = std::filesystem::file_size(path, unknown); !unknown && path != "-") s.source_bytes = bytes;
  s.findings = std::move(diags.all());
  return ModelState::make(std::move(s));
}

std::string file_text(const std::string& path, int64_t largest) {
  support::Bytes file = formats::map_file(path);
  if (path.ends_with(".onnxtxt")) file = frontends::text_to_onnx(file.text(), path);
  return backends::onnx_to_text(file, path, {.max_elements = largest});
}

Model load_bytes(const void* data, size_t size) {
  const support::Bytes given = bytes_of({nullptr, data, size});
  return read_bytes(support::Bytes::own(given.text()));
}

Model load_buffer(Buffer bytes, const std::string& name) { return read_bytes(bytes_of(std::move(bytes)), name); }

Model load_from(uint64_t size, const ReadAt& read) {
  constexpr uint64_t block = uint64_t{1} << 24;
  if (!read) throw error("use.null", "there is no function to read with");
  if (size > PTRDIFF_MAX) throw error("value.range", cat("no memory holds a model of ", size, " bytes"));
  std::vector<std::byte> all(static_cast<size_t>(size));
  for (uint64_t done = 0; done < size; done += block)
    read(done, all.data() + done, static_cast<size_t>(std::min(block, size - done)));
  return read_bytes(support::Bytes::own(std::move(all)));
}

}  // namespace cameo
