// Tensors whose bytes lie in files beside the model. A model's author chooses these paths, so they are not trusted:
// only plain files in the model's own folder or below are opened, and none through a link.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "frontends/onnx/proto.h"
#include "ir/tensor.h"

namespace cameo::onnx {

class ExternalData {
 public:
  // `model_path` is where the model was read from; empty or "-": it has no folder and external data is refused.
  explicit ExternalData(std::string model_path) : model_path_(std::move(model_path)) {}

  struct Range {
    Bytes bytes;
    std::shared_ptr<const FileRange> file;
  };
  // The bytes that `entries` (location, offset, length) name; each file is mapped once.
  // Throws file.external-path, file.external-range, file.missing and what map_file_below throws.
  Range find(const Pairs& entries, uint64_t wanted_bytes);

 private:
  struct File {
    std::string path;  // as opened
    Bytes bytes;
  };
  const File& file(std::string_view location);

  std::string model_path_;
  std::map<std::string, File, std::less<>> files_;
};

}  // namespace cameo::onnx
