#include <algorithm>
#include <map>

#include "ops/on.h"
#include "ops/operands.h"
#include "ops/revision.h"
#include "support/error.h"

namespace cameo::ops {

namespace {
template <class T>
std::optional<T> take_as(NamedAttrs& attrs, std::string_view name) {
  const auto it = std::find_if(attrs.begin(), attrs.end(), [&](const NamedAttr& a) { return a.name == name; });
  if (it == attrs.end()) return std::nullopt;
  T* value = std::get_if<T>(&it->value);
  if (!value)
    throw error("model.attribute", cat("attribute '", name, "' has the wrong kind ", ir::name(kind_of(it->value))));
  std::optional<T> out(std::move(*value));
  attrs.erase(it);
  return out;
}
}  // namespace

std::optional<int64_t> EncodedNode::take_int(std::string_view a) { return take_as<int64_t>(attrs, a); }
std::optional<float> EncodedNode::take_float(std::string_view a) { return take_as<float>(attrs, a); }
std::optional<std::string> EncodedNode::take_string(std::string_view a) { return take_as<std::string>(attrs, a); }
std::optional<std::vector<int64_t>> EncodedNode::take_ints(std::string_view a) {
  return take_as<std::vector<int64_t>>(attrs, a);
}
std::optional<std::vector<float>> EncodedNode::take_floats(std::string_view a) {
  return take_as<std::vector<float>>(attrs, a);
}

void EncodedNode::drop(std::string_view name) {
  std::erase_if(attrs, [&](const NamedAttr& a) { return a.name == name; });
}

void EncodedNode::set(std::string_view name, AttrValue value) {
  for (auto& a : attrs)
    if (a.name == name) {
      a.value = std::move(value);
      return;
    }
  attrs.push_back({std::string(name), std::move(value)});
}

void EncodedNode::set_input(size_t i, ValueId v) {
  if (inputs.size() <= i) inputs.resize(i + 1);
  inputs[i] = v;
}

void EncodedNode::trim_inputs() {
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
}

ValueId Upgrade::constant(const Tensor& t) {
  const ValueId v = on.graph().add_constant(t, "", on.region());
  on.graph().label(v).synthetic = true;
  return v;
}

std::optional<Tensor> Upgrade::contents(size_t i) const {
  if (!input(i)) return std::nullopt;
  fact(input(i));
  return on.graph().constant(input(i));
}

const Fact& Upgrade::fact(ValueId v) const {
  static const Fact absent;
  if (v && know) know(v);
  return v ? on.fact(v) : absent;
}

void Upgrade::attr_to_input(std::string_view attr, size_t i) {
  const AttrValue* value = find_attr(attrs, attr);
  if (!value) return;
  if (const auto* v = std::get_if<std::vector<int64_t>>(value)) set_input(i, constant(Tensor::ints(*v)));
  else if (const auto* n = std::get_if<int64_t>(value)) set_input(i, constant(Tensor::int_scalar(*n)));
  else if (const auto* f = std::get_if<float>(value)) set_input(i, constant(Tensor::float_scalar(*f)));
  else throw error("model.attribute", cat("attribute '", attr, "' has the wrong kind"));
  drop(attr);
}

std::optional<Tensor> Downgrade::constant(size_t i) {
  if (!input(i)) return std::nullopt;
  auto t = graph.constant(input(i));
  if (!t) refuse(cat("input ", i, " must be a constant there, and is computed by the model"));
  return t;
}

void Downgrade::input_to_ints(size_t i, std::string_view attr) {
  if (const auto t = constant(i)) {
    set(attr, t->to_ints());
    set_input(i, {});
    trim_inputs();
  }
}

void Downgrade::input_to_int(size_t i, std::string_view attr) {
  if (const auto t = constant(i)) {
    if (t->count() != 1) return refuse(cat("input ", i, " must have one element there"));
    set(attr, t->int_at(0));
    set_input(i, {});
    trim_inputs();
  }
}

void Downgrade::input_to_float(size_t i, std::string_view attr) {
  if (const auto t = constant(i)) {
    if (t->count() != 1) return refuse(cat("input ", i, " must have one element there"));
    set(attr, static_cast<float>(t->double_at(0)));
    set_input(i, {});
    trim_inputs();
  }
}

void Downgrade::nonnegative_axes(std::string_view attr, int64_t extra_rank) {
  const AttrValue* held = find_attr(attrs, attr);
  if (!held) return;
  std::vector<int64_t> axes;
  if (const auto* one = std::get_if<int64_t>(held)) axes = {*one};
  else if (const auto* list = std::get_if<std::vector<int64_t>>(held)) axes = *list;
  if (std::none_of(axes.begin(), axes.end(), [](int64_t a) { return a < 0; })) return;
  if (!input(0) || !fact(input(0)).has_rank())
    return refuse("an axis counts from the back of a tensor of unknown rank");
  for (int64_t& a : axes)
    if (a < 0) a += fact(input(0)).rank() + extra_rank;
  if (std::holds_alternative<int64_t>(*held)) set(attr, axes[0]);
  else set(attr, axes);
}

void Downgrade::drop_default(std::string_view attr, const AttrValue& meaning_of_old) {
  if (const AttrValue* v = find_attr(attrs, attr); v && !(*v == meaning_of_old))
    refuse(cat("attribute '", attr, "' has a value that did not exist there"));
  drop(attr);
}

const Fact& Expand::fact(size_t i) const {
  const Fact& known = input_fact(graph, node, i);
  if (judged || !known.type.is_tensor()) return known;
  static const std::map<DType, Fact> shapeless = [] {
    std::map<DType, Fact> out;
    for (const DTypeInfo& t : all_dtypes()) out[t.dtype].type = Type::tensor(t.dtype);
    return out;
  }();
  return shapeless.at(known.type.elem);
}

bool Expand::wants(size_t output) const { return output < outputs() && graph.used(graph[node].outputs[output]); }

}  // namespace cameo::ops
