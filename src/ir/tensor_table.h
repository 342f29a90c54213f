// Tensors by the hash of their contents: texts name large ones "#0123456789abcdef" and leave their elements out.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ir/tensor.h"

namespace cameo::ir {

class TensorTable {
 public:
  // The tensor's hash, 16 hex digits. Empty when another tensor with that hash is in the table: then it is not added.
  std::string add(const Tensor& t);
  const Tensor* find(std::string_view hash) const;
  size_t size() const { return tensors_.size(); }

 private:
  std::map<std::string, Tensor, std::less<>> tensors_;
};

std::string content_hash(const Tensor& t);  // of element type, shape and elements; the same on every machine

}  // namespace cameo::ir
