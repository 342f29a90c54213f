// TypeProto to Type.
#pragma once

#include <map>
#include <string>

#include "frontends/onnx/proto.h"
#include "ir/type.h"
#include "support/name_table.h"

namespace cameo::onnx {

class TypeReader {
 public:
  explicit TypeReader(DimContext& dims) : dims_(dims) {}

  // Sizes the file leaves open become fresh symbols, with `hint` in their names.
  Type type(const TypeProto& t, std::string_view hint);
  // Claims the names a type mentions, so that no fresh symbol made later takes one of them.
  void reserve(const TypeProto& t);
  // A name that reads as one of our printed expressions is that expression; any other is a symbol of that name.
  // The name must outlive the reader: it is part of the file.
  Dim param(std::string_view name);

 private:
  Dim dim(const DimProto& d, std::string_view hint);
  Dim read_param(std::string_view name);

  DimContext& dims_;
  NameTable<Dim> known_;                              // names of the file that were asked for before
  size_t long_names_ = 0;                             // their characters, together
  std::map<std::string, Dim, std::less<>> clashing_;  // names of the file that a fresh symbol had already
};

}  // namespace cameo::onnx
