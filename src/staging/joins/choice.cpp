#include "staging/joins/choice.h"

#include <algorithm>

#include "staging/joins/truth.h"

namespace cameo::staging {

namespace {

template <class T>
bool all_are(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(), [](const Value& v) { return v.is<T>(); });
}

size_t place_of(Machine& s, const Value& v, const std::vector<Value>& options) {
  for (size_t i = 0; i < options.size(); ++i)
    if (same(options[i], v)) return i;
  s.fail("stage.join", "a string is not among those that were seen here before");
}

V at(Machine& s, const std::vector<int64_t>& table, V index) {
  return s.on.Gather(s.on.constant(Tensor::ints(table)), index);
}

// Among strings and enums, some of which are chosen themselves.
Value picked_option(Machine& s, V index, const std::vector<Value>& values) {
  std::vector<Value> options;
  const auto add = [&](const Value& v) {
    if (std::none_of(options.begin(), options.end(), [&](const Value& o) { return same(o, v); })) options.push_back(v);
  };
  for (const Value& v : values) {
    if (const auto* c = v.as<Choice>()) std::for_each(c->options->begin(), c->options->end(), add);
    else add(v);
  }
  Vs places;
  for (const Value& v : values) places.push_back(s.on.unsqueeze(choice_index(s, v, options), {0}));
  return Value(Choice{s.on.Gather(s.on.concat(places, 0), index),
                      std::make_shared<const std::vector<Value>>(std::move(options))});
}

// Tensors of one type and size: stacked, and one taken.
std::optional<Value> picked_tensor(Machine& s, V index, const std::vector<Value>& values) {
  Vs rows;
  const V first = s.read(values[0].need<TensorRef>());
  for (const Value& v : values) {
    const V x = s.read(v.need<TensorRef>());
    if (s.on.dtype(x) != s.on.dtype(first) || s.on.shape(x) != s.on.shape(first)) return std::nullopt;
    rows.push_back(s.on.unsqueeze(x, {0}));
  }
  return s.tensor(s.on.gather_scalar(s.on.concat(rows, 0), 0, s.on.int_of(index)));
}

}  // namespace

bool may_be_chosen(const Value& v) { return v.is<std::string>() || v.is<Enum>(); }

std::optional<Value> picked(Machine& s, V index, const std::vector<Value>& values) {
  if (std::all_of(values.begin(), values.end(), [&](const Value& v) { return same(v, values[0]); })) return values[0];
  if (std::all_of(values.begin(), values.end(), [](const Value& v) { return may_be_chosen(v) || v.is<Choice>(); }))
    return picked_option(s, index, values);
  if (all_are<TensorRef>(values)) return picked_tensor(s, index, values);
  if (all_are<Dim>(values)) {
    Dims sizes;
    for (const Value& v : values) sizes.push_back(v.need<Dim>());
    return s.on.int_of(s.on.Gather(s.on.int_vector(sizes), index));
  }
  const auto is_float = [](const Value& v) { return v.is<double>() || v.is<StagedFloat>(); };
  const bool bools = std::all_of(values.begin(), values.end(), is_truth);
  if (!bools && !std::all_of(values.begin(), values.end(), is_float)) return std::nullopt;
  Vs rows;
  for (const Value& v : values)
    rows.push_back(s.on.unsqueeze(bools ? s.bool_value(v) : s.on.scalar(Num(s.to_arg(v)), DType::f64), {0}));
  const V one = s.on.Gather(s.on.concat(rows, 0), index);
  return bools ? Value(StagedBool{one}) : Value(StagedFloat{one});
}

V choice_index(Machine& s, const Value& v, const std::vector<Value>& options) {
  const auto* c = v.as<Choice>();
  if (!c) return s.on.int_scalar(Dim(static_cast<int64_t>(place_of(s, v, options))));
  std::vector<int64_t> table;
  bool moved = false;
  for (const Value& o : *c->options) {
    table.push_back(static_cast<int64_t>(place_of(s, o, options)));
    moved |= table.back() != static_cast<int64_t>(table.size()) - 1;
  }
  return moved ? at(s, table, c->index) : c->index;
}

std::string options_text(const Choice& c) {
  std::string out;
  for (const Value& v : *c.options)
    out += cat(out.empty() ? "" : ", ",
               v.is<std::string>() ? cat("'", v.need<std::string>(), "'") : std::string(v.need<Enum>().name));
  return out;
}

Value for_each_option(Machine& s, const Choice& c, std::string_view what, const std::function<Value(const Value&)>& f) {
  std::vector<Value> values;
  for (const Value& option : *c.options) values.push_back(f(option));
  if (auto one = picked(s, c.index, values)) return std::move(*one);
  s.fail("stage.choice",
         cat(what, " takes a string or enum that depends on the inputs: one of ", options_text(c),
             ", and its results cannot be picked among in ONNX"),
         "branch on it with if, so that each branch has a constant");
}

}  // namespace cameo::staging
