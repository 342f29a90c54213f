#include "frontends/onnx/proto.h"

#include "support/budget.h"
#include "support/error.h"

namespace cameo::onnx {

void read_pair(pb::Reader in, Pairs& out) {
  auto& [key, value] = out.emplace_back();
  while (auto f = in.next()) switch (f.number) {
      case 1: key = f.text(); break;
      case 2: value = f.text(); break;
    }
}

// Messages of which a file may have millions are where a reader is stopped.
TensorProto read_tensor(pb::Reader in) {
  support::checkpoint();
  TensorProto t;
  t.whole = in.rest();
  while (auto f = in.next()) switch (f.number) {
      case 1: f.append_to(t.dims); break;
      case 2: t.data_type = f.int32(); break;
      case 3: t.segmented = true; break;
      case 4:
      case 5:
      case 6:
      case 7:
      case 10:
      case 11: t.has_typed_data = true; break;
      case 8: t.name = f.text(); break;
      case 9: t.raw_data = f.bytes(); break;
      case 12: t.doc = f.text(); break;
      case 13: read_pair(f.message(), t.external_data); break;
      case 14: t.external = f.int32() == 1; break;
    }
  return t;
}

SparseTensorProto read_sparse_tensor(pb::Reader in) {
  SparseTensorProto t;
  while (auto f = in.next()) switch (f.number) {
      case 1: t.values = read_tensor(f.message()); break;
      case 2: t.indices = read_tensor(f.message()); break;
      case 3: f.append_to(t.dims); break;
    }
  return t;
}

namespace {

DimProto read_dim(pb::Reader in) {
  DimProto d;
  while (auto f = in.next()) switch (f.number) {  // a oneof: the last one counts
      case 1: d = {.value = f.int64()}; break;
      case 2: d = {.param = f.text()}; break;
    }
  return d;
}

void read_tensor_type(pb::Reader in, TypeProto& t) {
  while (auto f = in.next()) switch (f.number) {
      case 1: t.elem = f.int32(); break;
      case 2: {
        t.shape.emplace();
        auto shape = f.message();
        while (auto d = shape.next())
          if (d.number == 1) t.shape->push_back(read_dim(d.message()));
        break;
      }
    }
}

void read_wrapped_type(pb::Reader in, TypeProto& t) {
  while (auto f = in.next())
    if (f.number == 1) t.inner.assign(1, read_type(f.message()));
}

void read_map_type(pb::Reader in, TypeProto& t) {
  while (auto f = in.next()) switch (f.number) {
      case 1: t.elem = f.int32(); break;
      case 2: t.inner.assign(1, read_type(f.message())); break;
    }
}

}  // namespace

TypeProto read_type(pb::Reader in) {
  using enum TypeProto::Kind;
  TypeProto t;
  const auto begin = [&](TypeProto::Kind kind) { t = TypeProto{.kind = kind, .denotation = t.denotation}; };
  while (auto f = in.next()) switch (f.number) {
      case 1: begin(tensor), read_tensor_type(f.message(), t); break;
      case 4: begin(sequence), read_wrapped_type(f.message(), t); break;
      case 5: begin(map), read_map_type(f.message(), t); break;
      case 6: t.denotation = f.text(); break;
      case 7: begin(opaque); break;
      case 8: begin(sparse_tensor), read_tensor_type(f.message(), t); break;
      case 9: begin(optional), read_wrapped_type(f.message(), t); break;
    }
  return t;
}

ValueInfoProto read_value_info(pb::Reader in) {
  support::checkpoint();
  ValueInfoProto v;
  v.whole = in.rest();
  while (auto f = in.next()) switch (f.number) {
      case 1: v.name = f.text(); break;
      case 2: v.type = read_type(f.message()); break;
      case 3: v.doc = f.text(); break;
      case 4: read_pair(f.message(), v.metadata); break;
    }
  return v;
}

OpsetProto read_opset(pb::Reader in) {
  OpsetProto o;
  while (auto f = in.next()) switch (f.number) {
      case 1: o.domain = f.text(); break;
      case 2: o.version = f.int64(); break;
    }
  return o;
}

GraphProto::GraphProto(pb::Reader reader) : in(std::move(reader)), whole(in.rest()) {
  size_t count = 0;
  for (pb::Reader ahead = in; auto f = ahead.next();) count += f.number == 1;
  nodes.reserve(count);
  while (auto f = in.next()) switch (f.number) {
      case 1: nodes.push_back(f); break;
      case 2: name = f.text(); break;
      case 5: initializers.push_back(f); break;
      case 10: doc = f.text(); break;
      case 11: inputs.push_back(f); break;
      case 12: outputs.push_back(f); break;
      case 13: value_info.push_back(f); break;
      case 14: annotations.push_back(f); break;
      case 15: sparse_initializers.push_back(f); break;
      case 16: read_pair(f.message(), metadata); break;
    }
}

AttributeProto read_attribute(pb::Reader in) {
  AttributeProto a;
  while (auto f = in.next()) switch (f.number) {
      case 1: a.name = f.text(); break;
      case 2: a.f = f.float32(); break;
      case 3: a.i = f.int64(); break;
      case 4: a.s = f.bytes(); break;
      case 5: a.tensors.push_back(f); break;
      case 6: a.graphs.push_back(f); break;
      case 7: a.has_floats = true, f.append_to(a.floats); break;
      case 8: a.has_ints = true, f.append_to(a.ints); break;
      case 9: a.has_strings = true, a.strings.push_back(f.bytes()); break;
      case 10: a.list = true, a.tensors.push_back(f); break;
      case 11: a.list = true, a.graphs.push_back(f); break;
      case 13: a.doc = f.text(); break;
      case 14: a.types.push_back(f); break;
      case 15: a.list = true, a.types.push_back(f); break;
      case 20: a.type = f.int32(); break;
      case 21: a.ref = f.text(); break;
      case 22: a.sparse_tensors.push_back(f); break;
      case 23: a.list = true, a.sparse_tensors.push_back(f); break;
    }
  return a;
}

void NodeProto::read(pb::Reader in) {
  support::checkpoint();
  whole = in.rest();
  inputs.clear();
  outputs.clear();
  metadata.clear();
  attributes.clear();
  name = op_type = domain = overload = doc = {};
  while (auto f = in.next()) switch (f.number) {
      case 1: inputs.push_back(f.text()); break;
      case 2: outputs.push_back(f.text()); break;
      case 3: name = f.text(); break;
      case 4: op_type = f.text(); break;
      case 5: attributes.push_back(read_attribute(f.message())); break;
      case 6: doc = f.text(); break;
      case 7: domain = f.text(); break;
      case 8: overload = f.text(); break;
      case 9: read_pair(f.message(), metadata); break;
    }
}

FunctionProto::FunctionProto(pb::Reader reader) : in(std::move(reader)), whole(in.rest()) {
  while (auto f = in.next()) switch (f.number) {
      case 1: name = f.text(); break;
      case 4: inputs.push_back(f.text()); break;
      case 5: outputs.push_back(f.text()); break;
      case 6: attributes.push_back(f.text()); break;
      case 7: nodes.push_back(f); break;
      case 8: doc = f.text(); break;
      case 9: opsets.push_back(read_opset(f.message())); break;
      case 10: domain = f.text(); break;
      case 11: attribute_defaults.push_back(f); break;
      case 12: value_info.push_back(f); break;
      case 13: overload = f.text(); break;
      case 14: read_pair(f.message(), metadata); break;
    }
}

ModelProto::ModelProto(pb::Reader reader) : in(std::move(reader)) {
  while (auto f = in.next()) switch (f.number) {
      case 1: ir_version = f.int64(), has_ir_version = true; break;
      case 2: producer_name = f.text(); break;
      case 3: producer_version = f.text(); break;
      case 4: domain = f.text(); break;
      case 5: model_version = f.int64(); break;
      case 6: doc = f.text(); break;
      case 7: graphs.push_back(f); break;
      case 8: opsets.push_back(read_opset(f.message())); break;
      case 14: read_pair(f.message(), metadata); break;
      case 20: training_info.push_back(f); break;
      case 25: functions.push_back(f); break;
      case 26: configurations.push_back(f); break;
    }
}

}  // namespace cameo::onnx
