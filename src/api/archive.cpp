// include/cameo/archive.h.
#include "backends/onnx/writer.h"
#include "frontends/pt2/program.h"
#include "frontends/torchscript/program.h"

#include "api/archive_info.h"
#include "api/state.h"
#include "cameo/json.h"

namespace cameo {

namespace {

const ModelState& archive_of(const Model& m, Model::Kind wanted, std::string_view name) {
  const ModelState& s = ModelState::of(m);
  if (m.kind() != wanted)
    throw error("use.archive", cat(s.path.empty() ? "this" : s.path, " is not a ", name, " archive"));
  return s;
}
torchscript::Program script_of(const Model& m) {
  const ModelState& s = archive_of(m, Model::Kind::torchscript, "TorchScript");
  return torchscript::read_torchscript(s.archive, s.path);
}
pt2::Program program_of(const Model& m, const std::string& method) {
  const ModelState& s = archive_of(m, Model::Kind::torch_export, "torch.export");
  return pt2::read_pt2(s.archive, s.path, method);
}

void write(json::Writer& w, std::string_view key, const std::vector<std::string>& texts) {
  w.key(key).array();
  for (const std::string& t : texts) w.value(t);
  w.end();
}
void write(json::Writer& w, std::string_view key, const std::vector<ValueInfo>& values) {
  w.key(key).array();
  for (const ValueInfo& v : values) w.object().key("name").value(v.name).key("type").value(v.type).end();
  w.end();
}
void write(json::Writer& w, std::string_view key, const std::vector<ArchiveSize>& sizes) {
  const auto number = [&](std::string_view name, const std::optional<int64_t>& v) {
    w.key(name);
    v ? w.value(*v) : w.null();
  };
  w.key(key).array();
  for (const ArchiveSize& s : sizes) {
    w.object().key("symbol").value(s.symbol);
    number("min", s.lo);
    number("max", s.hi);
    w.key("where").value(s.place).end();
  }
  w.end();
}
void write(json::Writer& w, const ArchiveContents& c) {
  w.key("operators").array();
  for (const ArchiveOperator& o : c.operators)
    w.object().key("name").value(o.name).key("count").value(uint64_t{o.count}).key("lowers").value(o.lowers).end();
  w.end().key("tensors").value(uint64_t{c.tensors}).key("parameters").value(c.parameters);
  w.key("weight_bytes").value(c.weight_bytes);
}

}  // namespace

TorchScriptInfo torchscript_info(const Model& archive) {
  auto program = script_of(archive);
  return api::archive_info(program);
}

TorchExportInfo torch_export_info(const Model& archive, const std::string& method) {
  auto program = program_of(archive, method);
  return api::pt2_info(program);
}

std::string archive_text(const Model& archive, const std::string& method) {
  if (archive.kind() == Model::Kind::torch_export) return api::pt2_text(program_of(archive, method));
  auto program = script_of(archive);
  return torchscript::dump(program);
}

std::string to_json(const TorchScriptInfo& info, const std::string& file) {
  json::Writer w;
  w.object().key("file").value(file).key("kind").value("torchscript").key("archive_version").value(info.version);
  w.key("class").value(info.class_name).key("methods").array();
  for (const ArchiveMethod& m : info.methods) {
    w.object().key("name").value(m.name).key("signature").value(m.signature);
    write(w, "example", m.example);
    w.end();
  }
  w.end();
  write(w, info);
  return w.end().text();
}

std::string to_json(const TorchExportInfo& info, const std::string& file) {
  json::Writer w;
  w.object().key("file").value(file).key("kind").value("torch.export").key("model").value(info.program);
  write(w, "models", info.programs);
  w.key("torch_version").value(info.torch_version).key("schema_version").value(info.schema);
  w.key("training_ir").value(info.training_ir);
  write(w, "inputs", info.inputs);
  write(w, "outputs", info.outputs);
  write(w, "written", info.written);
  write(w, "dynamic_dims", info.sizes);
  write(w, info);
  return w.end().text();
}

}  // namespace cameo
