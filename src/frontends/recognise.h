// What kind of file this is, judged only by its contents, and hints for the wrong kinds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/zip.h"
#include "support/bytes.h"
#include "support/error.h"

namespace cameo::frontends {

enum class FileKind : uint8_t {
  // torch.jit.save, PyTorch 1.3 and later; lite-interpreter files that keep their code; torch.package archives that
  // hold such programs (the detail says so)
  torchscript,
  torch_export,   // .pt2
  bytecode_only,  // lite interpreter without code
  state_dict,
  checkpoint,
  lone_tensor,
  pickled_module,
  other_torch_save,
  legacy_torch_save,   // before the zip format: the pickle stream
  legacy_tar,          // PyTorch 0.1
  legacy_torchscript,  // 1.0 to 1.2: model.json; and the preview before it
  torch_package,
  flatbuffer,
  executorch,
  plain_pickle,
  safetensors,
  hdf5,
  gguf,
  npz,
  git_lfs_pointer,
  web_page,
  tflite,
  tensorrt,
  compressed,  // gzip, xz, bzip2, zstd, 7z, rar
  picture,
  xml,
  text,
  empty,
  other_zip,
  unknown,  // ONNX files among others: protobuf has no magic number
};

struct Recognised {
  FileKind kind = FileKind::unknown;
  std::string detail;  // e.g. the class of a pickled module
};

// As much of a file as recognise_head may look at.
Bytes head_of(const Bytes& file);
// Looks only at the file's head; zips are distinguished by recognise_zip.
Recognised recognise_head(std::string_view file);
// Which of the zip-based formats. Reads small entries; never fails.
Recognised recognise_zip(const zip::Archive& archive);
// Either of them, as the file asks for; a zip that is damaged is an error.
Recognised recognise(const Bytes& file, const std::string& path);

// Why a file of this kind is not a model that can be read, with what to do instead. The codes: file.state-dict,
// file.checkpoint, file.tensor, file.pickled-module, file.torch-save, file.legacy, file.bytecode-only,
// file.torch-package, file.flatbuffer, file.executorch, file.pickle, file.pt2, file.not-an-archive, ...
Error wrong_kind(const Recognised& what, const std::string& path);

}  // namespace cameo::frontends
