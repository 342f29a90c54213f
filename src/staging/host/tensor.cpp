// Questions about tensors that are answered while staging, and effects that inference has no use for.
#include <algorithm>

#include "kernels/carrier.h"
#include "staging/host/tables.h"
#include "staging/joins/staged_list.h"
#include "staging/machine/machine.h"
#include "staging/joins/truth.h"

namespace cameo::staging {

namespace {

Results nothing(HostCall&) { return std::vector<Value>{Value()}; }

bool on_tensor(const HostCall& c) { return c.size() > 0 && c[0].is<TensorRef>(); }
V value(HostCall& c) { return c.s.read(c[0].need<TensorRef>()); }

Results size(HostCall& c) {
  if (!on_tensor(c)) return std::nullopt;
  const V x = value(c);
  if (c.size() == 1) {
    std::vector<Value> dims;
    for (const Dim d : c.s.on.shape(x)) dims.emplace_back(d);
    return one(c.s.list(std::move(dims)));
  }
  const Dim axis = c.s.int_from(c[1]);
  if (!axis.is_literal()) c.s.fail("stage.axis", "a dimension number depends on the inputs");
  return one(c.s.on.dim(x, axis.literal()));
}
const Layout& layout(HostCall& c, std::string_view what) {
  const Layout& l = c.s.layout_of(c[0].need<TensorRef>());
  if (l.is(Layout::Kind::unknown))
    c.s.fail("stage.layout", cat(what, " of a tensor whose memory layout is unknown"),
             "call .clone(memory_format=torch.contiguous_format) on it first");
  return l;
}
Results stride(HostCall& c) {
  if (!on_tensor(c)) return std::nullopt;
  const Dims strides = strides_of(layout(c, "the strides"), c.s.on.shape(value(c)));
  std::vector<Value> out(strides.begin(), strides.end());
  if (c.size() == 1) return one(c.s.list(std::move(out)));
  const Dim axis = c.s.int_from(c[1]);
  if (!axis.is_literal() || out.empty())
    c.s.fail("stage.axis", "a dimension number depends on the inputs, or there is none");
  return one(out[static_cast<size_t>(c.s.on.axis(value(c), axis.literal()))]);
}
Results storage_offset(HostCall& c) {
  if (!on_tensor(c)) return std::nullopt;
  const auto offset = layout(c, "the offset").offset;
  if (!offset) c.s.fail("stage.layout", "the offset of a view that is not followed up", "index its base instead");
  return one(*offset);
}
// Of tensors with elements: one without any is contiguous in PyTorch, whatever its strides.
Results is_contiguous(HostCall& c) {
  if (!on_tensor(c)) return std::nullopt;
  const Dims shape = c.s.on.shape(value(c));
  const Value* format = c.keyword("memory_format");
  if (!format && c.size() > 1) format = &c.args[1];
  const int64_t asked = format && !format->is_none() ? c.s.known_int(*format) : 0;
  const Ints order = asked == 2 && shape.size() == 4   ? Ints{0, 2, 3, 1}
                     : asked == 3 && shape.size() == 5 ? Ints{0, 2, 3, 4, 1}
                                                       : Ints();
  if (asked > 1 && order.empty()) return one(false);
  const Verdict v = contiguity(c.s.graph.facts, shape, c.s.layout_of(c[0].need<TensorRef>()), order);
  const auto or_empty = [&](const Value& otherwise) {
    const Dim all = element_count(shape);
    return c.s.graph.facts.less(Dim(0), all) == Answer::yes
               ? otherwise
               : either(c.s, otherwise, c.s.compare_ints("eq", all, Dim(0)));
  };
  if (v.view == Answer::yes) return one(true);
  if (v.view == Answer::no) return one(or_empty(false));
  if (!v.condition.empty()) return one(or_empty(Value(StagedBool{c.s.holds(v.condition)})));
  c.s.fail("stage.layout", "whether this tensor is contiguous depends on the branch that made it",
           "call contiguous() on it first, or leave the question out");
}
// x.data: another name for the same memory.
Results same_tensor(HostCall& c) { return on_tensor(c) ? one(c[0]) : std::nullopt; }
Results rank(HostCall& c) { return on_tensor(c) ? one(Dim(c.s.on.rank(value(c)))) : std::nullopt; }
Results count(HostCall& c) { return on_tensor(c) ? one(element_count(c.s.on.shape(value(c)))) : std::nullopt; }
Results dtype(HostCall& c) { return on_tensor(c) ? one(Dim(torch_from_dtype(c.s.on.dtype(value(c))))) : std::nullopt; }
Results device(HostCall& c) { return c.size() && c[0].is<Poison>() ? std::nullopt : one(Value(Device{"cpu"})); }
Results make_device(HostCall& c) {
  return c.size() && c[0].is<std::string>() ? one(Value(Device{c[0].need<std::string>()})) : std::nullopt;
}
Results device_type(HostCall& c) {
  const auto* d = c.size() ? c[0].as<Device>() : nullptr;
  return d ? one(Value(d->name.substr(0, d->name.find(':')))) : std::nullopt;
}
Results promoted_type(HostCall& c) {
  const Dim *a = c.size() == 2 ? c[0].as<Dim>() : nullptr, *b = a ? c[1].as<Dim>() : nullptr;
  if (!b || !a->is_literal() || !b->is_literal()) return std::nullopt;
  const auto x = dtype_from_torch(a->literal()), y = dtype_from_torch(b->literal());
  return x && y ? one(Dim(torch_from_dtype(lowering::promote_types(*x, *y)))) : std::nullopt;
}
Results is_floating(HostCall& c) { return on_tensor(c) ? one(c.s.on.is_float(value(c))) : std::nullopt; }
Results is_complex_tensor(HostCall& c) { return on_tensor(c) ? one(is_complex(c.s.on.dtype(value(c)))) : std::nullopt; }
Results is_signed(HostCall& c) {
  return on_tensor(c) ? one(!is_unsigned_int(c.s.on.dtype(value(c))) && !c.s.on.is_bool(value(c))) : std::nullopt;
}
Results element_size(HostCall& c) { return on_tensor(c) ? one(Dim(bits(c.s.on.dtype(value(c))) / 8)) : std::nullopt; }
template <bool B>
Results always(HostCall& c) {
  return c.size() && c[0].is<Poison>() ? std::nullopt : one(B);
}
template <int64_t N>
Results number(HostCall&) {
  return one(Dim(N));
}

Results num_to_tensor(HostCall& c) {
  if (c.size() != 1 || !c[0].is_number()) return std::nullopt;
  const Value& v = c[0];
  const DType t = v.is<Dim>() ? DType::i64 : v.is<bool>() || v.is<StagedBool>() ? DType::boolean : DType::f64;
  Value out = c.s.tensor(c.s.on.scalar(Num(c.s.to_arg(v)), t));
  if (v.is<double>() || v.is<Dim>()) std::get<TensorRef>(out.data).literal = true;
  return one(std::move(out));
}

// torch._assert: what the if of an assert statement does.
Results assertion(HostCall& c) {
  if (c.size() < 1 || c[0].is<Poison>()) return std::nullopt;
  const auto* message = c.size() > 1 ? c[1].as<std::string>() : nullptr;
  c.s.check(c.s.bool_from(c[0]), message ? *message : "an assertion");
  return std::vector<Value>{};
}

Results raise_exception(HostCall& c) {
  const auto* message = c.size() ? c[0].as<std::string>() : nullptr;
  const auto* partly = c.size() ? c[0].as<Poison>() : nullptr;
  c.s.raise(message ? *message : partly && partly->text ? *partly->text : "an exception");
}

Results to_list(HostCall& c) {
  if (!on_tensor(c)) return std::nullopt;
  const V x = value(c);
  const auto known = c.s.on.fact(x).ints();
  const Tensor* floats = c.s.on.fact(x).tensor();
  if (!known && !floats) return std::nullopt;
  std::vector<Value> flat;
  if (known) flat.assign(known->begin(), known->end());
  else
    for (int64_t i = 0; i < floats->count(); ++i) flat.emplace_back(floats->double_at(i));
  const auto shape = c.s.on.shape(x);
  if (shape.empty() && flat.size() == 1) return one(flat[0]);
  for (size_t axis = shape.size(); axis-- > 1;) {
    const auto width = static_cast<size_t>(shape[axis].literal());
    std::vector<Value> rows;
    for (size_t i = 0; width && i + width <= flat.size(); i += width)
      rows.push_back(c.s.list(std::vector<Value>(flat.begin() + static_cast<std::ptrdiff_t>(i),
                                                 flat.begin() + static_cast<std::ptrdiff_t>(i + width))));
    flat = std::move(rows);
  }
  return one(c.s.list(std::move(flat)));
}

// torch.tensor([[1, 2], [3, n]]): nested lists of numbers.
bool flatten(HostCall& c, const Value& v, std::vector<Value>& out, std::vector<int64_t>& shape, size_t depth) {
  const Machine::Part part_of(c.s);
  if (v.is<ListRef>() || v.is<Tuple>()) {
    const auto parts = c.s.items(v);
    if (shape.size() == depth) shape.push_back(static_cast<int64_t>(parts.size()));
    for (const Value& p : parts)
      if (!flatten(c, p, out, shape, depth + 1)) return false;
    return true;
  }
  if (!v.is_number() && !v.is<TensorRef>()) return false;
  out.push_back(v);
  return true;
}
// A list of unknown length of pairs, triples ... of numbers: a column for each place. nullopt: other elements.
std::optional<V> tensor_of_rows(HostCall& c, const StagedList& l, std::optional<DType> want) {
  auto& on = c.s.on;
  const auto is = [](Form::Kind k) { return [k](const Form& f) { return f.is(k); }; };
  const auto& parts = l.element.parts;
  if (!(l.element.is(Form::Kind::tuple) || l.element.is(Form::Kind::list)) || parts.size() != l.arrays.size() ||
      l.sequence)
    return std::nullopt;
  const bool floats = std::any_of(parts.begin(), parts.end(), is(Form::Kind::floating));
  const bool bools = std::all_of(parts.begin(), parts.end(), is(Form::Kind::boolean));
  for (const Form& f : parts)
    if (!f.is(Form::Kind::integer) && !f.is(Form::Kind::boolean) && !f.is(Form::Kind::floating)) return std::nullopt;
  const DType t = want.value_or(floats ? default_float : bools ? DType::boolean : DType::i64);
  Vs columns;
  for (const V column : l.arrays) columns.push_back(on.unsqueeze(on.to(column, t), {1}));
  return on.concat(columns, 1);
}
Results make_tensor(HostCall& c) {
  if (c.size() < 1 || c[0].is<Poison>() || c[0].is<std::string>()) return std::nullopt;
  auto& on = c.s.on;
  const Value* asked = c.keyword("dtype");
  if (!asked && c.size() > 1) asked = &c.args[1];
  std::optional<DType> want;
  if (asked && !asked->is_none()) want = dtype_from_torch(c.s.int_from(*asked).known().value_or(-1));
  if (c[0].is<TensorRef>()) return one(c.s.tensor(on.to(value(c), want.value_or(on.dtype(value(c))))));
  if (const StagedList* l = staged_of(c.s, c[0])) {
    if (const auto rows = tensor_of_rows(c, StagedList(*l), want)) return one(c.s.tensor(*rows));
    if (l->sequence || l->arrays.size() != 1) return std::nullopt;
    const DType own = l->element.is(Form::Kind::floating) ? default_float : on.dtype(l->arrays[0]);
    return one(c.s.tensor(on.to(l->arrays[0], want.value_or(own))));
  }
  std::vector<Value> flat;
  std::vector<int64_t> shape;
  if (!flatten(c, c[0], flat, shape, 0)) return std::nullopt;
  std::vector<Arg> args;
  for (const Value& v : flat) args.push_back(c.s.to_arg(v));
  const auto* list = c[0].as<ListRef>();
  const DType empty = list && c.s.heap.get<ListCell>(list->cell).of != DType::undefined
                          ? c.s.heap.get<ListCell>(list->cell).of
                          : default_float;
  const DType t = want ? *want : flat.empty() ? empty : result_type(on, args);
  const bool ints = std::all_of(flat.begin(), flat.end(), [](const Value& v) { return v.is<Dim>(); });
  V out;
  if (flat.empty()) out = on.constant(zeros(t, shape));
  else if (ints) {
    Dims dims;
    for (const Value& v : flat) dims.push_back(v.need<Dim>());
    out = on.to(on.reshape(on.int_vector(dims), Dims(shape.begin(), shape.end())), t);
  } else {
    Vs parts;
    for (const Arg& a : args)
      parts.push_back(on.unsqueeze(a.as<V>() ? on.to(*a.as<V>(), t) : on.scalar(Num(a), t), {0}));
    out = on.reshape(on.concat(parts, 0), Dims(shape.begin(), shape.end()));
  }
  return one(c.s.tensor(out, "", Layout::contiguous()));
}
// A tensor whose type stays is given back itself.
Results as_tensor(HostCall& c) {
  Results made = make_tensor(c);
  const auto* given = c.size() ? c[0].as<TensorRef>() : nullptr;
  const bool same = given && made && c.s.read((*made)[0].need<TensorRef>()).id == c.s.read(*given).id;
  return same ? one(c[0]) : made;
}

constexpr HostRow table[] = {
    {"aten::size", size},
    {"prim::shape", size},
    {"aten::stride", stride},
    {"aten::dim", rank},
    {"aten::ndim", rank},
    {"aten::numel", count},
    {"prim::dtype", dtype},
    {"aten::promote_types", promoted_type},
    {"prim::device", device},
    {"prim::type", device_type},
    {"aten::device", make_device},
    {"aten::is_floating_point", is_floating},
    {"aten::is_complex", is_complex_tensor},
    {"aten::is_signed", is_signed},
    {"aten::element_size", element_size},
    {"prim::itemsize", element_size},
    {"prim::layout", number<0>},
    {"aten::storage_offset", storage_offset},
    {"aten::get_device", number<-1>},
    {"prim::is_cuda", always<false>},
    {"prim::is_cpu", always<true>},
    {"prim::is_quantized", always<false>},
    {"prim::is_sparse", always<false>},
    {"prim::is_mkldnn", always<false>},
    {"prim::is_meta", always<false>},
    {"prim::is_nested", always<false>},
    {"prim::requires_grad", always<false>},
    {"prim::is_xpu", always<false>},
    {"prim::is_mps", always<false>},
    {"prim::is_vulkan", always<false>},
    {"prim::is_leaf", always<true>},
    {"aten::is_contiguous", is_contiguous},
    {"prim::data", same_tensor},
    {"aten::data", same_tensor},
    {"aten::is_grad_enabled", always<false>},
    {"aten::is_scripting", always<true>},
    {"aten::_get_tracing_state", always<false>},
    {"aten::is_autocast_enabled", always<false>},
    {"aten::is_autocast_cpu_enabled", always<false>},
    {"prim::AutocastToReducedPrecision", nothing},
    {"aten::set_grad_enabled", nothing},
    {"prim::Print", nothing},
    {"aten::warn", nothing},
    {"aten::manual_seed", nothing},
    {"aten::_assert", assertion},
    {"aten::_assert_int_or_pair", nothing},
    {"profiler::_record_function_enter", nothing},
    {"profiler::_record_function_enter_new", nothing},
    {"profiler::_record_function_exit", nothing},
    {"prim::NumToTensor", num_to_tensor},
    {"prim::RaiseException", raise_exception},
    {"prim::tolist", to_list},
    {"aten::tensor", make_tensor},
    {"aten::as_tensor", as_tensor},
};

}  // namespace

std::span<const HostRow> host_tensor_rows() { return table; }

}  // namespace cameo::staging
