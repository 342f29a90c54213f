#include "staging/script/stored.h"

#include <algorithm>

#include "kernels/carrier.h"
#include "lowering/narrow.h"
#include "staging/script/interpreter.h"

namespace cameo::staging {

StoredValues::StoredValues(ScriptInterpreter& script)
    : script_(script), s_(script.machine), objects_(s_.journals), made_(s_.journals), tensors_(s_.journals) {
  if (script.program.has_root()) name_parameters(script.program.root(), "");
}

void StoredValues::name_parameters(const ts::StoredObject& o, const std::string& path) {
  if (!object_paths_.emplace(&o, path).second) return;
  for (const auto& a : o.attributes) {
    const std::string full = path.empty() ? std::string(a.name) : cat(path, ".", a.name);
    if (a.value->kind == ts::StoredKind::tensor) parameter_names_.emplace(a.value->tensor, full);
    else if (a.value->kind == ts::StoredKind::object) name_parameters(*a.value->object, full);
  }
}

Value StoredValues::from(const ts::StoredObject& o) {
  if (const Value* made = objects_.find(&o)) return *made;
  ObjectCell cell;
  cell.cls = o.cls;
  if (o.type) cell.class_name = o.type->name;
  if (const auto it = object_paths_.find(&o); it != object_paths_.end()) cell.path = it->second;
  const Value v(ObjectRef{s_.heap.add(std::move(cell))});
  objects_.set(&o, v);
  if (o.state && o.cls && o.cls->method("__setstate__")) {
    try {
      script_.call_method(v, "__setstate__", {from(*o.state)});
    } catch (const Raised& r) {
      s_.fail_as_raised(r);  // no block of the program is around it
    }
    return v;
  }
  std::vector<std::pair<std::string_view, Value>> attributes;
  for (const auto& a : o.attributes) attributes.emplace_back(a.name, from(*a.value));
  if (o.state) attributes.emplace_back("__state__", packed_state(o));
  s_.heap.write<ObjectCell>(v.need<ObjectRef>().cell).attributes = std::move(attributes);
  return v;
}

Value StoredValues::from(const ts::StoredValue& v) {
  const auto parts = [&] {
    std::vector<Value> out;
    for (const auto* i : v.items) out.push_back(from(*i));
    return out;
  };
  switch (v.kind) {
    case ts::StoredKind::none: return Value();
    case ts::StoredKind::boolean: return v.boolean;
    case ts::StoredKind::integer: return Dim(v.integer);
    case ts::StoredKind::floating: return v.floating;
    case ts::StoredKind::complex: return std::complex<double>(v.floating, v.imaginary);
    case ts::StoredKind::string:
      s_.heap.charge(v.text.size());  // one string of the archive may stand in many places
      return std::string(v.text);
    case ts::StoredKind::device: return Value(Device{std::string(v.text)});
    case ts::StoredKind::tensor: return from(*v.tensor);
    case ts::StoredKind::object: return from(*v.object);
    case ts::StoredKind::tuple: {
      if (const Value* made = made_.find(&v)) return *made;
      return made_.set(&v, Value::tuple(parts()));
    }
    case ts::StoredKind::enumeration: return enumeration(v);
    case ts::StoredKind::list: {
      if (const Value* made = made_.find(&v)) return *made;
      return made_.set(&v, s_.list(parts()));
    }
    case ts::StoredKind::dict: {
      if (const Value* made = made_.find(&v)) return *made;
      std::vector<std::pair<Value, Value>> entries;
      for (size_t i = 0; i + 1 < v.items.size(); i += 2) entries.emplace_back(from(*v.items[i]), from(*v.items[i + 1]));
      return made_.set(&v, s_.dict(std::move(entries)));
    }
  }
  return Value();
}

Value StoredValues::enumeration(const ts::StoredValue& v) {
  const auto* cls = v.type ? script_.program.class_of(*v.type) : nullptr;
  Value wanted = from(*v.items[0]);
  if (cls)
    for (const auto& item : cls->items)
      if (same(script_.eval(*item.value), wanted)) return script_.item_of(*cls, item);
  return wanted;
}

namespace {
bool same_view(const ts::StoredTensor& a, const ts::StoredTensor& b) {
  return a.storage == b.storage && a.offset == b.offset && a.dtype == b.dtype &&
         std::equal(a.sizes.begin(), a.sizes.end(), b.sizes.begin(), b.sizes.end()) &&
         std::equal(a.strides.begin(), a.strides.end(), b.strides.begin(), b.strides.end());
}
}  // namespace

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

Value StoredValues::from(const ts::StoredTensor& t) {
  if (const Value* made = made_.find(&t)) return *made;
  for (const auto& [other, value] : tensors_.all())
    if (t.storage && same_view(*other, t)) return made_.set(&t, value);
  const auto dtype = dtype_from_torch(static_cast<int64_t>(t.dtype));
  const auto named = parameter_names_.find(&t);
  const std::string name = named == parameter_names_.end() ? "" : named->second;
  if (!t.storage || !dtype || t.conjugate || t.negative || !t.storage->has_data) {
    Value p = poison(cat("the tensor ", name.empty() ? "constant" : name,
                         " has a layout or dtype, which ONNX cannot hold as it is"));
    return made_.set(&t, p);
  }
  const Bytes storage = script_.program.bytes(*t.storage);
  const LentWeights::Lent* lent = s_.options.lent ? lent_at(*s_.options.lent, storage, t) : nullptr;
  const Value plain = lent ? s_.weight({*dtype, lent->sizes, lent->strides, lent->offset, lent->storage}, name)
                           : s_.weight({*dtype, t.sizes, t.strides, t.offset, storage}, name);
  const Value v = t.quantizer ? quantized(t, s_.read(plain.need<TensorRef>()), *dtype) : plain;
  tensors_.push({&t, v});
  return made_.set(&t, v);
}

bool StoredValues::is_parameter(CellId cell) const {
  const auto of = [&](const auto& entry) {
    const auto* t = entry.second.template as<TensorRef>();
    return t && t->cell == cell;
  };
  return !s_.heap.get<TensorCell>(cell).name.empty() && std::any_of(tensors_.all().begin(), tensors_.all().end(), of);
}

bool StoredValues::is_module(CellId cell) const {
  const auto of = [&](const auto& entry) {
    const auto* o = entry.second.template as<ObjectRef>();
    return o && o->cell == cell;
  };
  return std::any_of(objects_.all().begin(), objects_.all().end(), of);
}

// A linear layer that was packed as f16 has its weight in the archive as f32, of numbers that f16 has.
Value StoredValues::packed_state(const ts::StoredObject& o) {
  const Value state = from(*o.state);
  if (!o.type || !o.type->name.ends_with("LinearPackedParamsBase") || !state.is<Tuple>() || s_.items(state).size() != 2)
    return state;
  const auto* t = s_.items(state)[0].as<TensorRef>();
  const V w = t ? s_.read(*t) : V();
  if (!w.valid() || s_.quantization(w) || !s_.graph[w.id].weight || !s_.graph[w.id].weight->is_dense() ||
      s_.on.dtype(w) != DType::f32)
    return state;
  const InMain here(s_.on);
  const V half = s_.on.constant(convert(s_.graph[w.id].weight->dense(), DType::f16, Overflow::saturate));
  return Value::tuple({s_.tensor(widened(s_.on, {half, {}, {}})), s_.items(state)[1]});
}

// A table whose rows have scales and zero points in floats: the ints minus the zero points, times the scales.
Value StoredValues::quantized_rows(const ts::StoredTensor& t, V ints) {
  Quantization q;
  q.ints = ints;
  q.axis = 0;
  q.scale = s_.on.to(s_.read(from(*t.quantizer->scales).need<TensorRef>()), DType::f32);
  q.zero_point = s_.on.to(s_.read(from(*t.quantizer->zero_points).need<TensorRef>()), DType::f32);
  const V moved = s_.on.Sub(s_.on.to(ints, DType::f32), s_.on.unsqueeze(q.zero_point, {1}));
  const V out = s_.on.Mul(moved, s_.on.unsqueeze(q.scale, {1}));
  s_.mark_quantized(out, q);
  return s_.tensor(out);
}

// The int weights as they are, and a node that makes floats of them.
Value StoredValues::quantized(const ts::StoredTensor& t, V ints, DType dtype) {
  const ts::Quantizer& z = *t.quantizer;
  if (z.float_qparams && (dtype != DType::u8 || z.axis != 0 || s_.on.rank(ints) != 2))
    return poison("a tensor is quantized with float zero points, and is no table of 8-bit rows");
  const InMain here(s_.on);
  if (z.float_qparams) return quantized_rows(t, ints);
  Quantization q;
  q.ints = ints;
  q.dtype = dtype;
  if (z.per_channel) {
    q.axis = z.axis;
    q.scale = s_.on.to(s_.read(from(*z.scales).need<TensorRef>()), DType::f32);
    q.zero_point = s_.on.to(s_.read(from(*z.zero_points).need<TensorRef>()), dtype);
  } else {
    q.scale = s_.on.number(z.scale, DType::f32);
    q.zero_point = s_.on.scalar(Num(z.zero_point), dtype);
  }
  const V out = widened(s_.on, {ints, q.scale, q.zero_point, q.axis});
  s_.mark_quantized(out, q);
  return s_.tensor(out);
}

}  // namespace cameo::staging
