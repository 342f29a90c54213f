// Models in files, whatever their form: .onnx, and what each face needs around reading and writing them.
#pragma once

#include <string>
#include <vector>

#include "backends/onnx/writer.h"
#include "ir/graph.h"
#include "support/error.h"

namespace cameo::api {

// An ONNX model, or one as text (.onnxtxt). "-" is standard input. A file of another kind (an archive, a checkpoint, a
// web page) is refused with what to do instead. Throws what read_onnx throws; warnings go to `diags`.
ir::Model load_model(const std::string& path, DiagSink& diags);
// The same of a file that was read already.
ir::Model load_model(const Bytes& file, const std::string& path, DiagSink& diags);

// Who made a file from what, as entries of the model's metadata. `source` is what was read; empty for what came through
// a pipe. `command` is the verb and its flags, no file names: "edit --rename a=b".
// cameo.source.sha256 is that of the whole source up to 256 KiB. Of a larger one, whose digest would take longer than
// the work, it is cameo.source.ends.sha256: of the first and the last 128 KiB, where ONNX files have their nodes and
// archives the directory with the checksum of every entry (`(head -c 128K F; tail -c 128K F) | sha256sum`).
std::vector<std::pair<std::string, std::string>> provenance(const Bytes& source, const std::string& command);

// As .onnx, or as text where the name ends in .onnxtxt; "-" is standard output. IN and OUT may be the same file.
void save_model(const ir::Model& m, const std::string& path, const WriteOptions& options = {},
                DiagSink* diags = nullptr);
// The same, to be published with other files by files.commit(options.durable).
void save_model(const ir::Model& m, Publication& files, const std::string& path, const WriteOptions& options,
                DiagSink* diags);

// The bytes of an .onnx file, for who judges the file itself; other kinds are refused as by load_model.
Bytes load_onnx_bytes(const std::string& path);

}  // namespace cameo::api
