// TensorProto to weights and tensors.
#pragma once

#include "frontends/onnx/external_data.h"
#include "frontends/onnx/outline.h"
#include "frontends/onnx/proto.h"
#include "ir/attribute.h"

namespace cameo::onnx {

// What tensors of one file need: its bytes, to share, and the files beside it.
struct TensorSource {
  Bytes file;
  std::string path;
  ExternalData external;
  const Outline* outline = nullptr;  // `file` is its text then, and `whole` the file
  Bytes whole;

  TensorSource(Bytes bytes, std::string model_path)
      : file(std::move(bytes)), path(model_path), external(std::move(model_path)) {}
};

// Raw and external data stay views; typed fields are decoded. Throws file.tensor when data and shape do not agree.
Weight to_weight(const TensorProto& t, TensorSource& source);
Tensor to_tensor(const TensorProto& t, TensorSource& source);
SparseTensor to_sparse_tensor(const SparseTensorProto& t, TensorSource& source);

}  // namespace cameo::onnx
