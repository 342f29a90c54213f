#include "api/model_file.h"
#include "support/file_bytes.h"

#include <algorithm>

#include "backends/text/text_file.h"
#include "cameo/version.h"
#include "formats/file_handle.h"
#include "formats/mapped_file.h"
#include "frontends/onnx/reader.h"
#include "frontends/recognise.h"
#include "frontends/text/parse.h"
#include "support/extension.h"
#include "support/sha256.h"

namespace cameo::api {

namespace {

constexpr size_t most_hashed = size_t{1} << 18, end_bytes = size_t{1} << 17;  // see provenance

// By its name; what comes through standard input has none, and no ONNX file begins with these.
bool is_text(const std::string& path, const Bytes& file) {
  if (path != "-") return path.ends_with(".onnxtxt");
  const auto text = file.text().substr(0, 4096);
  const size_t first = text.find_first_not_of(" \n\r\t");
  return text.find('\0') == std::string_view::npos && first != std::string_view::npos &&
         (text[first] == '<' || text[first] == '#');
}

}  // namespace

Model load_model(const Bytes& file, const std::string& path, DiagSink& diags) {
  if (is_text(path, file)) return parse_text(file.text(), path, diags);
  const Recognised what = recognise(file, path);
  if (what.kind == FileKind::torchscript)
    throw error("use.archive", cat(path, " is a TorchScript archive; an ONNX model is needed"))
        .help(cat("cameo export ", path, " makes one"));
  if (what.kind != FileKind::unknown) throw wrong_kind(what, path);
  return read_onnx(file, path, diags);
}

Model load_model(const std::string& path, DiagSink& diags) {
  constexpr int attempts = 10;
  for (int attempt = 1;; ++attempt) {
    const std::string before = path == "-" ? "" : FileHandle::identity(path);
    const size_t findings = diags.all().size();
    try {
      Model m = load_model(map_file(path), path, diags);
      require_whole_files();
      return m;
    } catch (const Error& e) {
      require_whole_files();
      // Between our look at the model and at its data file a writer may have published the next version of both.
      if (e.diag().code != "file.missing" || attempt == attempts || before.empty() ||
          FileHandle::identity(path) == before)
        throw;
      diags.all().resize(findings);
    }
  }
}

namespace {
void save_text(const Model& m, Publication& files, const std::string& path, WriteOptions options, DiagSink* diags) {
  if (options.weights == WeightMode::external || options.weights == WeightMode::in_place)
    throw error("use.weights", "a text file holds its weights itself").help("write .onnx for weights in another file");
  options.weights = WeightMode::embed;
  const std::string text = onnx_to_text(Bytes::own(write_onnx(m, options, diags)), path);
  files.open(path, Publication::Turn::model).append(text);
}
}  // namespace

std::vector<std::pair<std::string, std::string>> provenance(const Bytes& file, const std::string& command) {
  std::vector<std::pair<std::string, std::string>> out{{"cameo.version", std::string(version)}};
  if (const uint64_t size = length_of(file); size > most_hashed) {
    const Bytes first = file.slice(0, end_bytes), last = file.slice(size - end_bytes, end_bytes);
    out.emplace_back("cameo.source.ends.sha256", sha256_hex(first.span(), last.span()));
  } else if (!file.empty()) out.emplace_back("cameo.source.sha256", sha256_hex(file.span()));
  out.emplace_back("cameo.command", command);
  return out;
}

void save_model(const Model& m, const std::string& path, const WriteOptions& options, DiagSink* diags) {
  Publication files;
  save_model(m, files, path, options, diags);
  files.commit(options.durable);
}

void save_model(const Model& m, Publication& files, const std::string& path, const WriteOptions& options,
                DiagSink* diags) {
  need_extension(path, {".onnx", ".onnxtxt", ".pb"});
  if (path.ends_with(".onnxtxt")) return save_text(m, files, path, options, diags);
  if (path != "-") return write_onnx(m, files, path, options, diags);
  files.open(path, Publication::Turn::model).append(write_onnx(m, options, diags));
}

Bytes load_onnx_bytes(const std::string& path) {
  DiagSink diags;
  if (path.ends_with(".onnxtxt")) return Bytes::own(write_onnx(load_model(path, diags)));
  const Bytes file = map_file(path);
  if (recognise(file, path).kind != FileKind::unknown) load_model(path, diags);  // says what it is instead
  return file;
}

}  // namespace cameo::api
