// ONNX's protobuf messages as views of the file, one struct per message, fields in the file's own terms. What they mean
// (scopes, versions, operators) is up to the reader; `check` judges a file in these terms, before any upgrade.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/protobuf.h"

namespace cameo::onnx {

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;  // StringStringEntryProto: key, value

struct TensorProto {
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  std::string_view name, doc;
  std::optional<std::string_view> raw_data;
  bool external = false;
  bool segmented = false;
  Pairs external_data;
  bool has_typed_data = false;  // float_data, int32_data, ... : decoded from `whole` when asked for
  std::string_view whole;       // the message's bytes
};
TensorProto read_tensor(pb::Reader in);

struct SparseTensorProto {
  TensorProto values, indices;
  std::vector<int64_t> dims;
};
SparseTensorProto read_sparse_tensor(pb::Reader in);

struct DimProto {
  std::optional<int64_t> value;
  std::optional<std::string_view> param;
};

struct TypeProto {
  enum class Kind : uint8_t { none, tensor, sparse_tensor, sequence, optional, map, opaque };
  Kind kind = Kind::none;
  int64_t elem = 0;                            // of a (sparse) tensor; the key's type of a map
  std::optional<std::vector<DimProto>> shape;  // of a (sparse) tensor
  std::vector<TypeProto> inner;                // one for sequence, optional and map, where the file has it
  std::string_view denotation;
};
TypeProto read_type(pb::Reader in);

struct ValueInfoProto {
  std::string_view name, doc;
  TypeProto type;
  Pairs metadata;
  std::string_view whole;
};
ValueInfoProto read_value_info(pb::Reader in);

// A GraphProto, taken apart into its fields; nodes and tensors are read one by one while it is walked.
struct GraphProto {
  explicit GraphProto(pb::Reader reader);
  GraphProto(const GraphProto&) = delete;
  GraphProto& operator=(const GraphProto&) = delete;

  pb::Reader in;
  std::string_view whole;
  std::vector<pb::Field> nodes, initializers, sparse_initializers, inputs, outputs, value_info, annotations;
  std::string_view name, doc;
  Pairs metadata;
};

struct AttributeProto {
  std::string_view name, doc, ref;
  int64_t type = 0;  // AttributeType as stored; 0 in files before IR version 2
  std::optional<float> f;
  std::optional<int64_t> i;
  std::optional<std::string_view> s;
  std::vector<pb::Field> tensors, graphs, sparse_tensors, types;  // one for `t`, `g`, ...; several for the list kinds
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  bool list = false;  // `tensors`, `graphs`, `sparse_tensors` or `type_protos` came from the list field
  bool has_floats = false, has_ints = false, has_strings = false;
};

struct NodeProto {
  NodeProto() = default;
  explicit NodeProto(pb::Reader in) { read(std::move(in)); }
  NodeProto(const NodeProto&) = delete;
  NodeProto& operator=(const NodeProto&) = delete;
  void read(pb::Reader in);  // replaces the old contents and reuses the memory

  std::string_view whole;
  std::vector<std::string_view> inputs, outputs;
  std::string_view name, op_type, domain, overload, doc;
  Pairs metadata;
  std::vector<AttributeProto> attributes;
  uint64_t offset = 0;  // in the file
};

struct OpsetProto {
  std::string_view domain;
  int64_t version = 0;
};

struct FunctionProto {
  explicit FunctionProto(pb::Reader reader);
  FunctionProto(const FunctionProto&) = delete;
  FunctionProto& operator=(const FunctionProto&) = delete;

  pb::Reader in;
  std::string_view whole;
  std::string_view name, domain, overload, doc;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<pb::Field> attribute_defaults, nodes, value_info;
  std::vector<OpsetProto> opsets;
  Pairs metadata;
};

struct ModelProto {
  explicit ModelProto(pb::Reader reader);
  ModelProto(const ModelProto&) = delete;
  ModelProto& operator=(const ModelProto&) = delete;

  pb::Reader in;
  int64_t ir_version = 0;
  bool has_ir_version = false;
  std::vector<OpsetProto> opsets;
  std::string_view producer_name, producer_version, domain, doc;
  int64_t model_version = 0;
  std::vector<pb::Field>
      graphs;  // more than one is merged by protobuf's rules; no writer does that, the last one counts
  std::vector<pb::Field> functions, training_info, configurations;
  Pairs metadata;
};

AttributeProto read_attribute(pb::Reader in);
OpsetProto read_opset(pb::Reader in);
void read_pair(pb::Reader in, Pairs& out);

}  // namespace cameo::onnx
