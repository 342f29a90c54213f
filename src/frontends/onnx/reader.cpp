#include "frontends/onnx/reader.h"

#include <algorithm>

#include "formats/mapped_file.h"
#include "frontends/onnx/graph_reader.h"
#include "support/file_bytes.h"

namespace cameo::frontends {

namespace {

using namespace onnx;

constexpr int64_t newest_ir_version = 14;

Opsets read_opsets(const ModelProto& proto, DiagSink& diags, const Loc& where) {
  Opsets out;
  for (const OpsetProto& o : proto.opsets) {
    const std::string domain(o.domain == "ai.onnx" ? "" : o.domain);
    // Some converters write the same thing twice.
    if (const auto [it, is_new] = out.emplace(domain, o.version); !is_new && it->second != o.version)
      diags.err("model.opset-twice", cat("the file imports two versions of ", domain.empty() ? "ai.onnx" : domain),
                where);
    if (o.version < 1) diags.err("model.opset", cat("opset ", o.version, " does not exist"), where);
  }
  // Before IR version 3 files did not say.
  if (out.empty() && proto.ir_version < 3) out[""] = 1;
  return out;
}

void read_around(const ModelProto& proto, Model& m, const Bytes& file) {
  m.ir_version = proto.ir_version;
  m.producer_name = proto.producer_name;
  m.producer_version = proto.producer_version;
  m.domain = proto.domain;
  m.doc = proto.doc;
  m.model_version = proto.model_version;
  m.metadata = {proto.metadata.begin(), proto.metadata.end()};
  for (const auto* list : {&proto.training_info, &proto.configurations})
    for (const auto& f : *list) m.kept.push_back(file.view(f.raw()));
}

void read_parts(const ModelProto& proto, Model& m, TensorSource& source, DiagSink& diags, bool sorting) {
  const Loc where{.file = source.path};
  m.opsets = read_opsets(proto, diags, where);
  if (proto.ir_version > newest_ir_version)
    diags.warn("model.ir-newer",
               cat("IR version ", proto.ir_version, " is newer than this Cameo, which knows ", newest_ir_version),
               where);
  GraphReader reader(m.graph, source, diags, sorting);
  std::vector<std::unique_ptr<FunctionProto>> functions;
  for (const auto& f : proto.functions) {
    functions.push_back(std::make_unique<FunctionProto>(f.message()));
    reader.declare_function(functions.back()->domain == "ai.onnx" ? "" : functions.back()->domain,
                            functions.back()->name);
  }
  const GraphProto graph(proto.graphs.back().message());
  reader.read_main(graph, m.opsets);
  for (const auto& f : functions) reader.read_function(*f, m.functions.emplace_back());
  for (const LocalFunction& a : m.functions)
    for (const LocalFunction& b : m.functions)
      if (&a < &b && a.domain == b.domain && a.name == b.name && a.overload == b.overload)
        diags.err("model.duplicate-function", cat("the function ", a.domain, ".", a.name, " is defined twice"), where);
}

}  // namespace

Model read_onnx(const std::string& path, DiagSink& diags) { return read_onnx(map_file(path), path, diags); }

namespace {

// `bytes` are the file's, or of an outline of `whole`.
Model read_file(const Bytes& bytes, const std::string& path, DiagSink& diags, const Outline* outline,
                const Bytes& whole) {
  TensorSource source(bytes, path);
  source.outline = outline;
  source.whole = whole;
  const ModelProto proto{pb::Reader(bytes.text())};
  proto.in.throw_if_fault(path);
  if (proto.graphs.empty() || !proto.has_ir_version)
    throw error("file.not-onnx", cat(path.empty() ? "this" : path, " is not an ONNX model")).at({.file = path});
  const auto read = [&](DiagSink& found, bool sorting) {
    Model m;
    m.path = path;
    read_around(proto, m, bytes);
    read_parts(proto, m, source, found, sorting);
    proto.in.throw_if_fault(path);
    return m;
  };
  DiagSink found;
  Model m = read(found, false);
  if (const auto it = std::find_if(found.all().begin(), found.all().end(),
                                   [](const Diag& d) { return d.code == "model.not-sorted"; });
      it != found.all().end()) {
    const Diag first = *it;
    found = DiagSink();
    m = read(found, true);
    found.warn("model.not-sorted", cat("the nodes were not in order and have been sorted: ", first.what), first.where);
  }
  std::vector<Diag> errors;
  for (const Diag& d : found.all())
    if (d.severity == Severity::error) errors.push_back(d);
  for (Diag& d : found.all()) diags.add(std::move(d));
  if (!errors.empty()) throw Error(std::move(errors));
  return m;
}

}  // namespace

Model read_onnx(Bytes bytes, const std::string& path, DiagSink& diags) {
  constexpr uint64_t large_file = uint64_t{16} << 20, large_weight = uint64_t{1} << 16;
  std::optional<Outline> outline;
  if (!in_memory(bytes) && length_of(bytes) >= large_file) outline = outline_of(bytes, large_weight);
  return outline ? read_file(outline->text, path, diags, &*outline, bytes) : read_file(bytes, path, diags, nullptr, {});
}

}  // namespace cameo::frontends
