// Modules, parameters and constants of the archive as staged values. Weights stay views of the mapped file.
#include <algorithm>

#include "staging/machine/stager.h"

namespace cameo::staging {

void Stager::name_parameters(const ts::StoredObject& o, const std::string& path) {
  if (!object_paths_.emplace(&o, path).second) return;
  for (const auto& a : o.attributes) {
    const std::string full = path.empty() ? std::string(a.name) : cat(path, ".", a.name);
    if (a.value->kind == ts::StoredKind::tensor) parameter_names_.emplace(a.value->tensor, full);
    else if (a.value->kind == ts::StoredKind::object) name_parameters(*a.value->object, full);
  }
}

Value Stager::from_stored_object(const ts::StoredObject& o) {
  if (const Value* made = objects_.find(&o)) return *made;
  ObjectCell cell;
  cell.cls = o.cls;
  cell.type = o.type;
  if (const auto it = object_paths_.find(&o); it != object_paths_.end()) cell.path = it->second;
  const Value v(ObjectRef{heap.add(std::move(cell))});
  objects_.set(&o, v);
  if (o.state && o.cls && o.cls->method("__setstate__")) {
    try {
      call_method(v, "__setstate__", {from_stored(*o.state)});
    } catch (const Raised& r) {
      fail_as_raised(r);  // no block of the program is around it
    }
    return v;
  }
  std::vector<std::pair<std::string_view, Value>> attributes;
  for (const auto& a : o.attributes) attributes.emplace_back(a.name, from_stored(*a.value));
  if (o.state) attributes.emplace_back("__state__", from_packed_state(o));
  heap.write<ObjectCell>(v.need<ObjectRef>().cell).attributes = std::move(attributes);
  return v;
}

Value Stager::from_stored(const ts::StoredValue& v) {
  const auto parts = [&] {
    std::vector<Value> out;
    for (const auto* i : v.items) out.push_back(from_stored(*i));
    return out;
  };
  switch (v.kind) {
    case ts::StoredKind::none: return Value();
    case ts::StoredKind::boolean: return v.boolean;
    case ts::StoredKind::integer: return Dim(v.integer);
    case ts::StoredKind::floating: return v.floating;
    case ts::StoredKind::complex: return std::complex<double>(v.floating, v.imaginary);
    case ts::StoredKind::string:
      heap.charge(v.text.size());  // one string of the archive may stand in many places
      return std::string(v.text);
    case ts::StoredKind::device: return Value(Device{std::string(v.text)});
    case ts::StoredKind::tensor: return from_stored_tensor(*v.tensor);
    case ts::StoredKind::object: return from_stored_object(*v.object);
    case ts::StoredKind::tuple: {
      if (const Value* made = stored_.find(&v)) return *made;
      return stored_.set(&v, Value::tuple(parts()));
    }
    case ts::StoredKind::enumeration: {
      const auto* cls = v.type ? program.class_of(*v.type) : nullptr;
      const Value wanted = from_stored(*v.items[0]);
      if (cls)
        for (const auto& item : cls->items)
          if (same(eval(*item.value), wanted)) return Value(Enum{cls, &item});
      return wanted;
    }
    case ts::StoredKind::list: {
      if (const Value* made = stored_.find(&v)) return *made;
      return stored_.set(&v, list(parts()));
    }
    case ts::StoredKind::dict: {
      if (const Value* made = stored_.find(&v)) return *made;
      std::vector<std::pair<Value, Value>> entries;
      for (size_t i = 0; i + 1 < v.items.size(); i += 2)
        entries.emplace_back(from_stored(*v.items[i]), from_stored(*v.items[i + 1]));
      return stored_.set(&v, dict(std::move(entries)));
    }
  }
  return Value();
}

namespace {
bool same_view(const ts::StoredTensor& a, const ts::StoredTensor& b) {
  return a.storage == b.storage && a.offset == b.offset && a.dtype == b.dtype &&
         std::equal(a.sizes.begin(), a.sizes.end(), b.sizes.begin(), b.sizes.end()) &&
         std::equal(a.strides.begin(), a.strides.end(), b.strides.begin(), b.strides.end());
}
}  // namespace

namespace {
bool is_dense(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (sizes[i] == 0) return true;
    if (strides[i] != expected) return std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    expected *= sizes[i];
  }
  return true;
}
}  // namespace

Value Stager::weight(const Stored& t, const std::string& name) {
  auto w = std::make_shared<Weight>();
  w->dtype = w->source_dtype = t.dtype;
  w->shape.assign(t.sizes.begin(), t.sizes.end());
  if (is_dense(t.sizes, t.strides)) {
    const size_t width = static_cast<size_t>(bits(t.dtype)) / 8;
    const auto start = static_cast<size_t>(t.offset) * width,
               length = static_cast<size_t>(packed_bytes(t.dtype, element_count(w->shape)));
    if (start > t.storage.size() || length > t.storage.size() - start)
      fail("file.tensor-bounds", cat("the tensor ", name, " reaches outside its storage"));
    w->source = t.storage.slice(start, length);
  } else {
    w->source = t.storage;
    w->start = t.offset;
    w->strides.assign(t.strides.begin(), t.strides.end());
  }
  const Layout layout =
      strided(Shape(t.sizes.begin(), t.sizes.end()), Shape(t.strides.begin(), t.strides.end()), Dim(0), false);
  if (options.weights_as_inputs && !name.empty())
    return tensor(graph.add_input(graph.main(), name, Type::tensor(t.dtype, Shape(w->shape.begin(), w->shape.end()))),
                  name, layout);
  const ValueId id = graph.add_initializer(graph.main(), name, w);
  constexpr uint64_t small = 4096;
  if (w->byte_size() <= small) graph.fact(id).contents = std::make_shared<const Contents>(w->dense());
  return tensor(id, name, layout);
}

namespace {
// Placeholders may share a storage, each at its own offset: a file of few entries is written sooner.
const LentWeights::Lent* lent_at(const LentWeights& all, const Bytes& storage, const ts::StoredTensor& t) {
  const auto width = static_cast<uint64_t>(item_size(t.dtype));
  const uint64_t start = static_cast<uint64_t>(t.offset) * width;
  return storage.size() >= 16 && start <= storage.size() - 16
             ? all.find(storage.slice(static_cast<size_t>(start), 16), static_cast<int64_t>(width))
             : nullptr;
}
}  // namespace

Value Stager::from_stored_tensor(const ts::StoredTensor& t) {
  if (const Value* made = stored_.find(&t)) return *made;
  for (const auto& [other, value] : tensors_.all())
    if (t.storage && same_view(*other, t)) return stored_.set(&t, value);
  const auto dtype = dtype_from_torch(static_cast<int64_t>(t.dtype));
  const auto named = parameter_names_.find(&t);
  const std::string name = named == parameter_names_.end() ? "" : named->second;
  if (!t.storage || !dtype || t.conjugate || t.negative || !t.storage->has_data) {
    Value p = poison(cat("the tensor ", name.empty() ? "constant" : name,
                         " has a layout or dtype, which ONNX cannot hold as it is"));
    return stored_.set(&t, p);
  }
  const Bytes storage = program.bytes(*t.storage);
  const LentWeights::Lent* lent = options.lent ? lent_at(*options.lent, storage, t) : nullptr;
  const Value plain = lent ? weight({*dtype, lent->sizes, lent->strides, lent->offset, lent->storage}, name)
                           : weight({*dtype, t.sizes, t.strides, t.offset, storage}, name);
  const Value v = t.quantizer ? from_quantized_tensor(t, read(plain.need<TensorRef>()), *dtype) : plain;
  tensors_.push({&t, v});
  return stored_.set(&t, v);
}

bool Stager::is_parameter(CellId cell) const {
  const auto of = [&](const auto& entry) {
    const auto* t = entry.second.template as<TensorRef>();
    return t && t->cell == cell;
  };
  return !heap.get<TensorCell>(cell).name.empty() && std::any_of(tensors_.all().begin(), tensors_.all().end(), of);
}

bool Stager::is_module(CellId cell) const {
  const auto of = [&](const auto& entry) {
    const auto* o = entry.second.template as<ObjectRef>();
    return o && o->cell == cell;
  };
  return std::any_of(objects_.all().begin(), objects_.all().end(), of);
}

}  // namespace cameo::staging
