#include "api/model_file.h"

#include <algorithm>

#include "cameo/version.h"
#include "formats/mapped_file.h"
#include "formats/zip.h"
#include "frontends/onnx/reader.h"
#include "frontends/recognise.h"
#include "support/sha256.h"

namespace cameo {

namespace {

Recognised recognise(const Bytes& file, const std::string& path) {
  if (zip::looks_like_zip(file.text())) return recognise_zip(zip::Archive(file, path));
  return recognise_head(file.text());
}

void set(Model& m, const std::string& key, const std::string& value) {
  for (auto& [k, v] : m.metadata)
    if (k == key) return void(v = value);
  m.metadata.emplace_back(key, value);
}

}  // namespace

Model load_model(const std::string& path, DiagSink& diags) {
  const Bytes file = map_file(path);
  const Recognised what = recognise(file, path);
  if (what.kind == FileKind::torchscript)
    throw error("use.archive", cat(path, " is a TorchScript archive, and an ONNX model is wanted")).help(cat("cameo export ", path, " makes one"));
  if (what.kind != FileKind::unknown) throw wrong_kind(what, path);
  return read_onnx(file, path, diags);
}

void note_provenance(Model& m, const Provenance& p) {
  set(m, "cameo.version", std::string(version));
  if (!p.source_sha256.empty()) set(m, "cameo.source.sha256", p.source_sha256);
  set(m, "cameo.command", p.command);
}

std::string file_sha256(const std::string& path) { return sha256_hex(map_file(path).span()); }

void save_model(const Model& m, const std::string& path, const WriteOptions& options, DiagSink* diags) {
  if (path != "-") return write_onnx(m, path, options, diags);
  AtomicFile file(path);
  file.append(write_onnx(m, options, diags));
  file.commit();
}

}  // namespace cameo
