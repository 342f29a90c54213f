// Types, tensors and attributes as ONNX's messages. The mirror of frontends/onnx/{types,tensor,attributes}.
#pragma once

#include <functional>

#include "backends/onnx/chunked_message.h"
#include "ir/attribute.h"
#include "ir/graph.h"

namespace cameo::onnx {

// `fresh_names`: sizes that only Cameo knows by name are written too, instead of being left open.
void write_type(pb::Writer& w, const Type& type, bool fresh_names);
// A ValueInfoProto: the value's notes, and a type that may say less than is known of it.
void write_value_info(pb::Writer& w, uint32_t field, std::string_view name, const Value& v, const Type& known,
                      bool fresh_names);
void write_pairs(pb::Writer& w, uint32_t field, const std::vector<std::pair<std::string, std::string>>& pairs);

// A TensorProto with its data inside.
ChunkedMessage tensor_message(std::string_view name, std::shared_ptr<const Weight> w);
// A TensorProto whose data lie in a file beside the model.
struct ExternalRange {
  std::shared_ptr<const std::string>
      location;  // its length is known; it may be settled only before the model is written
  uint64_t offset = 0, length = 0;
};
ChunkedMessage external_tensor_message(std::string_view name, const Weight& w, const ExternalRange& range);
ChunkedMessage sparse_tensor_message(std::string_view name, const SparseTensor& t);

// An AttributeProto; graphs are written by the graph writer.
ChunkedMessage attribute_message(const NamedAttr& a);
ChunkedMessage graph_attribute_message(std::string_view name, std::vector<ChunkedMessage> graphs, bool list);

}  // namespace cameo::onnx
