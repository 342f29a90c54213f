#include "backends/onnx/messages.h"

#include "ir/dim_name.h"
#include "support/error.h"

namespace cameo::onnx {

namespace {

void write_shape(pb::Writer& w, uint32_t field, const Shape& shape, bool fresh_names) {
  const auto message = w.begin(field);
  for (const Dim d : shape) {
    const auto dim = w.begin(1);
    if (d.is_literal()) w.int64(1, d.literal());
    else if (fresh_names || !mentions_fresh(d)) w.text(2, name_or_text(d));
    w.end(dim);
  }
  w.end(message);
}

void write_wrapped(pb::Writer& w, uint32_t field, uint32_t inner_field, const Type& t, bool fresh_names) {
  const auto message = w.begin(field);
  if (t.kind == Type::Kind::map) w.int64(1, static_cast<int64_t>(t.elem));
  if (t.inner) {
    const auto inner = w.begin(inner_field);
    write_type(w, *t.inner, fresh_names);
    w.end(inner);
  }
  w.end(message);
}

}  // namespace

void write_type(pb::Writer& w, const Type& t, bool fresh_names) {
  switch (t.kind) {
    case Type::Kind::unknown: return;
    case Type::Kind::tensor:
    case Type::Kind::sparse_tensor: {
      const auto message = w.begin(t.is_tensor() ? 1 : 8);
      if (t.elem != DType::undefined) w.int64(1, static_cast<int64_t>(t.elem));
      if (t.shape) write_shape(w, 2, *t.shape, fresh_names);
      return w.end(message);
    }
    case Type::Kind::sequence: return write_wrapped(w, 4, 1, t, fresh_names);
    case Type::Kind::map: return write_wrapped(w, 5, 2, t, fresh_names);
    case Type::Kind::optional: return write_wrapped(w, 9, 1, t, fresh_names);
  }
}

void write_pairs(pb::Writer& w, uint32_t field, const std::vector<std::pair<std::string, std::string>>& pairs) {
  for (const auto& [key, value] : pairs) {
    const auto entry = w.begin(field);
    w.text(1, key);
    w.text(2, value);
    w.end(entry);
  }
}

void write_value_info(pb::Writer& w, uint32_t field, std::string_view name, const Value& v, const Type& known,
                      bool fresh_names) {
  const auto message = w.begin(field);
  w.text(1, name);
  if (!known.is_unknown()) {
    const auto type = w.begin(2);
    write_type(w, known, fresh_names);
    w.end(type);
  }
  if (!v.doc.empty()) w.text(3, v.doc);
  if (v.metadata) write_pairs(w, 4, *v.metadata);
  w.end(message);
}

namespace {
ChunkedMessage tensor_head(const Weight& w) {
  ChunkedMessage out;
  for (const int64_t d : w.shape) out.small().int64(1, d);
  out.small().int64(2, static_cast<int64_t>(w.dtype));
  return out;
}
}  // namespace

ChunkedMessage tensor_message(std::string_view name, std::shared_ptr<const Weight> w) {
  ChunkedMessage out = tensor_head(*w);
  if (w->strings)
    for (const auto& s : *w->strings) out.small().bytes(6, s);
  if (!name.empty()) out.text(8, name);
  if (!w->strings) out.weight(9, std::move(w));
  return out;
}

ChunkedMessage external_tensor_message(std::string_view name, const Weight& w, const ExternalRange& range) {
  ChunkedMessage out = tensor_head(w);
  if (!name.empty()) out.text(8, name);
  ChunkedMessage location;
  location.text(1, "location");
  location.late_text(2, range.location);
  out.message(13, std::move(location));
  write_pairs(out.small(), 13, {{"offset", cat(range.offset)}, {"length", cat(range.length)}});
  out.small().int64(14, 1);
  return out;
}

ChunkedMessage sparse_tensor_message(std::string_view name, const SparseTensor& t) {
  ChunkedMessage out;
  out.message(1, tensor_message(name, std::make_shared<const Weight>(Weight::of(t.values))));
  out.message(2, tensor_message("", std::make_shared<const Weight>(Weight::of(t.indices))));
  for (const int64_t d : t.shape) out.small().int64(3, d);
  return out;
}

namespace {

ChunkedMessage dense_message(const Tensor& t) {
  return tensor_message("", std::make_shared<const Weight>(Weight::of(t)));
}

void write_type_field(ChunkedMessage& out, uint32_t field, const Type& t) {
  const auto message = out.small().begin(field);
  write_type(out.small(), t, false);
  out.small().end(message);
}

struct ValueWriter {
  ChunkedMessage& out;
  void operator()(std::monostate) const {}
  void operator()(float v) const { out.small().float32(2, v); }
  void operator()(int64_t v) const { out.small().int64(3, v); }
  void operator()(const std::string& v) const { out.small().bytes(4, v); }
  void operator()(const Tensor& v) const { out.message(5, dense_message(v)); }
  void operator()(const std::vector<float>& v) const {
    for (const float x : v) out.small().float32(7, x);
  }
  void operator()(const std::vector<int64_t>& v) const {
    for (const int64_t x : v) out.small().int64(8, x);
  }
  void operator()(const std::vector<std::string>& v) const {
    for (const auto& x : v) out.small().bytes(9, x);
  }
  void operator()(const std::vector<Tensor>& v) const {
    for (const auto& x : v) out.message(10, dense_message(x));
  }
  void operator()(const SparseTensor& v) const { out.message(22, sparse_tensor_message("", v)); }
  void operator()(const Type& v) const { write_type_field(out, 14, v); }
  void operator()(const std::vector<Type>& v) const {
    for (const auto& x : v) write_type_field(out, 15, x);
  }
  void operator()(const AttrRef&) const {}
};

}  // namespace

ChunkedMessage attribute_message(const NamedAttr& a) {
  ChunkedMessage out;
  out.text(1, a.name);
  std::visit(ValueWriter{out}, a.value);
  out.small().int64(20, static_cast<int64_t>(kind_of(a.value)));
  if (const auto* ref = std::get_if<AttrRef>(&a.value)) out.text(21, ref->name);
  return out;
}

ChunkedMessage graph_attribute_message(std::string_view name, std::vector<ChunkedMessage> graphs, bool list) {
  ChunkedMessage out;
  out.text(1, name);
  for (ChunkedMessage& g : graphs) out.message(list ? 11 : 6, std::move(g));
  out.small().int64(20, static_cast<int64_t>(list ? AttrKind::graphs : AttrKind::graph));
  return out;
}

}  // namespace cameo::onnx
