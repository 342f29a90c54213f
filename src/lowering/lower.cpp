#include "lowering/lower.h"

#include <algorithm>
#include <numeric>

#include "kernels/carrier.h"
#include "kernels/move.h"
#include "lowering/complex.h"
#include "lowering/emptiness.h"

namespace cameo::lowering {

std::vector<ValueId> Lower::emit(const OpDef& op, std::shared_ptr<const void> attrs, std::vector<ValueId> inputs,
                                 size_t outputs) {
  const auto* cast = op.name == "Cast" ? static_cast<const op::Cast*>(attrs.get()) : nullptr;
  const bool to_complex = cast && is_complex(dtype_from_number(cast->to).value_or(DType::undefined));
  if (to_complex || std::any_of(inputs.begin(), inputs.end(), [&](ValueId v) { return v && is_complex(dtype(v)); }))
    return emit_complex(*this, op, attrs, inputs, outputs);
  const GraphMark before = graph().mark();
  auto out = On::emit(op, std::move(attrs), std::move(inputs), outputs);
  const NodeId n = graph()[out[0]].def;
  const bool known = std::all_of(out.begin(), out.end(), [&](ValueId v) { return fact(v).tensor() != nullptr; });
  if (fold && known && !graph()[n].inputs.empty()) {
    std::vector<Tensor> contents;
    for (const ValueId v : out) contents.push_back(*fact(v).tensor());
    graph().rollback(before);
    out.clear();
    for (const Tensor& t : contents) out.push_back(constant(t));
    return out;
  }
  if (on_node) on_node(n);
  assume_windows(*this, op, out[0]);
  for (const ValueId v : out) {
    if (!fact(v).has_rank()) continue;
    for (int64_t i = 0; i < On::rank(v); ++i)
      if (const Dim d = On::shape(v)[static_cast<size_t>(i)]; !d.is_literal()) bind_axis(d, v, i);
  }
  return out;
}

int64_t Lower::rank(V x) const {
  if (fact(x).has_rank()) return On::rank(x);
  const Error unknown = error("lower.unknown-rank", "the number of dimensions of a tensor must be known here");
  const ir::Value& v = graph()[x.id];
  if (v.kind != ir::Value::Kind::node_output || !graph()[v.def].op->is_opaque())
    throw Error(unknown).help("give all inputs' shapes with --input");
  const OpInfo& kept = *graph()[v.def].op;
  throw Error(unknown)
      .why(cat("it is what ", kept.domain, "::", kept.name, " gives, which is kept as a node"))
      .help(cat("--type declares it: '", kept.domain, "::", kept.name, "=f32[batch,3]'"));
}

void Lower::need_rank(V x, int64_t least, std::string_view what) const {
  if (rank(x) < least) unsupported(cat(what, " of a tensor with ", rank(x), rank(x) == 1 ? " axis" : " axes"));
}

const ir::Shape& Lower::shape(V x) const {
  rank(x);
  return On::shape(x);
}

int64_t Lower::axis(V x, int64_t dim) const {
  const int64_t r = std::max<int64_t>(1, rank(x));
  if (dim < -r || dim >= r)
    throw error("lower.axis", cat("dim ", dim, " is outside a tensor of ", rank(x), " dimensions"));
  return dim < 0 ? dim + r : dim;
}

Ints Lower::axes(V x, const Ints& dims) const {
  Ints out;
  for (const int64_t d : dims) out.push_back(axis(x, d));
  return out;
}

Ints Lower::all_axes(V x) const {
  Ints out(static_cast<size_t>(rank(x)));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Dim Lower::dim(V x, int64_t a) const { return rank(x) == 0 ? Dim(1) : shape(x)[static_cast<size_t>(axis(x, a))]; }

V Lower::scalar(const Num& n, DType t) {
  const Arg& a = n.arg();
  if (const auto* f = a.as<StagedFloat>()) return to(f->value, t);
  if (const auto* b = a.as<StagedBool>()) return to(b->value, t);
  if (const auto* d = a.as<Dim>(); d && !d->is_literal()) return to(int_scalar(*d), t);
  if (const auto* z = a.as<std::complex<double>>()) {
    if (!is_complex(t)) unsupported("a complex number cannot be a constant of a real tensor");
    return complex_number(*this, *z, t);
  }
  if (is_complex(t)) return complex_number(*this, n.to_double(), t);
  if (const auto* d = a.as<Dim>()) {
    const int64_t v = d->literal();
    return constant(convert(Tensor::int_scalar(v), t));
  }
  return number(n.to_double(), t);
}

V Lower::full(Dims sizes, const Num& value, DType t) {
  if (is_complex(t)) return expand(scalar(value, t), sizes);
  const bool all_known = std::all_of(sizes.begin(), sizes.end(), [](Dim d) { return d.is_literal(); });
  constexpr int64_t small = 64;
  if (all_known && value.is_known()) {
    std::vector<int64_t> shape;
    for (const Dim d : sizes) {
      if (d.literal() < 0) throw error("lower.argument", cat("a tensor cannot have a size of ", d.literal()));
      shape.push_back(d.literal());
    }
    if (element_count(shape) <= small) return constant(expand_to(*fact(scalar(value, t)).tensor(), shape));
  }
  const V fill = scalar(value, t);
  if (const Tensor* known = fact(fill).tensor())
    return ConstantOfShape(int_vector(sizes), op::ConstantOfShape{.value = known->reshaped({1})});
  return Expand(fill, int_vector(sizes));
}

V Lower::reshape(V x, Dims sizes) {
  if (fact(x).has_rank() && On::shape(x) == sizes) return x;
  // Zero copies the input's size, one -1 takes what is left: most reshapes need no computed shape.
  const auto& from = shape(x);
  std::vector<int64_t> form;
  Ints unknown;
  bool has_zero = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].is_literal()) {
      has_zero |= sizes[i].is(0);
      form.push_back(sizes[i].literal());
    } else if (i < from.size() && from[i] == sizes[i]) form.push_back(0);
    else {
      unknown.push_back(static_cast<int64_t>(i));
      form.push_back(-1);
    }
  }
  // -1 is ambiguous when the other sizes may multiply to zero: then every size is spelt out.
  const auto may_be_zero = [&](Dim d) { return !d.is_literal() && graph().facts.less(Dim(0), d) != Answer::yes; };
  const bool left_open = unknown.size() == 1;
  const auto zero_beside = [&] {
    for (size_t i = 0; i < sizes.size(); ++i)
      if (static_cast<int64_t>(i) != unknown[0] && may_be_zero(sizes[i])) return true;
    return false;
  };
  V out;
  if (!has_zero && (unknown.empty() || (left_open && !zero_beside()))) out = Reshape(x, ints(form));
  else
    out = Reshape(x, int_vector(sizes),
                  op::Reshape{.allowzero = has_zero || std::any_of(sizes.begin(), sizes.end(), may_be_zero)});
  Fact& f = graph().fact(out);
  f.type.shape = sizes;
  return out;
}

V Lower::expand(V x, Dims sizes) {
  if (shape(x) == sizes) return x;
  // Axes that stay may be written as 1: Expand broadcasts both ways.
  Dims target = sizes;
  if (sizes.size() < On::shape(x).size())
    unsupported(cat("a tensor of ", On::shape(x).size(), " axes expanded to ", sizes.size()));
  const size_t shift = sizes.size() - On::shape(x).size();
  for (size_t i = shift; i < sizes.size(); ++i)
    if (On::shape(x)[i - shift] == sizes[i] && !sizes[i].is_literal()) target[i] = Dim(1);
  const V out = Expand(x, int_vector(target));
  graph().fact(out).type.shape = sizes;
  return out;
}

V Lower::transpose(V x, const Ints& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  if (const auto w = permuted_weight(x, perm)) return *w;
  return Transpose(x, op::Transpose{.perm = perm});
}

V Lower::squeeze(V x, const Ints& axes) { return axes.empty() ? x : V(Squeeze(x, ints(axes))); }
V Lower::unsqueeze(V x, const Ints& axes) { return axes.empty() ? x : V(Unsqueeze(x, ints(axes))); }

V Lower::slice(V x, int64_t axis, Dim start, Dim end, int64_t step) {
  const Dim size = dim(x, axis);
  if (start.is(0) && end == size && step == 1) return x;
  if (step == 1)
    if (const auto w = sliced_weight(x, axis, start, end)) return *w;
  const Dim length = step == 1 ? end - start : ceil_div(end - start, Dim(step));
  const Dim last = end == size ? Dim(INT64_MAX) : end;
  const Dims starts{start}, ends{last};
  const V out = step == 1 ? Slice(x, int_vector(starts), int_vector(ends), ints({axis}))
                          : Slice(x, int_vector(starts), int_vector(ends), ints({axis}), ints({step}));
  graph().fact(out).type.shape->at(static_cast<size_t>(axis)) = length;
  return out;
}

V Lower::concat(const Vs& parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  const std::vector<ValueId> ids(parts.begin(), parts.end());
  return Concat(ids, op::Concat{.axis = axis});
}

V Lower::Where(V condition, V a, V b) {
  // ONNX Runtime has no kernel for this type.
  if (dtype(a) == DType::i16) return to(On::Where(condition, to(a, DType::i32), to(b, DType::i32)), DType::i16);
  if (!is_bool(a)) return On::Where(condition, a, b);
  return Or(And(condition, a), And(Not(condition), b));
}

const Lower::Packed* Lower::packed_of(V data) const {
  const auto it = packed_.find(data.id.index);
  return it == packed_.end() ? nullptr : &it->second;
}

V Lower::copied(V x) {
  const V out = On::emit(op_of<op::Identity>(), nullptr, {x}, 1)[0];
  if (on_node) on_node(graph()[out.id].def);
  return out;
}

V Lower::gather_scalar(V x, int64_t axis, Dim index) { return Gather(x, int_scalar(index), op::Gather{.axis = axis}); }

void Lower::guess_not_equal(Dim a, int64_t b, std::string_view because) {
  const Answer equal = graph().facts.equal(a, Dim(b));
  const SizeRelation condition{SizeRelation::Is::not_equal, a, Dim(b)};
  const auto& all = graph().facts.all();
  const auto said_by = [&](FactSource source, Dim symbol) {
    return std::any_of(all.begin(), all.end(), [&](const DimFact& f) {
      return f.kind == DimFact::Kind::range && f.origin.source == source && f.a == symbol;
    });
  };
  if (equal == Answer::no) return;
  Error refused = error("stage.guess", cat("where ", a.text(), " is ", b, " ", because,
                                           ", and one model cannot do that and the other case"))
                      .at(where);
  if (equal == Answer::yes) throw std::move(refused).why(cat(a.text(), " is ", b, " here"));
  const auto symbols = symbols_of(a);
  if (std::all_of(symbols.begin(), symbols.end(), [&](Dim s) { return said_by(FactSource::user, s); }))
    throw std::move(refused)
        .why(cat("the declared range says that ", a.text(), " may be ", b))
        .help(cat("leave ", b, " out of the range, or give the axis a number"));
  if (!may_guess)
    throw std::move(refused)
        .why("--no-assume")
        .help(cat("--assume '", condition.text(), "' if you know that it is so"));
  graph().facts.assume_not_equal(a, Dim(b), {FactSource::guess, std::string(because), where});
  guesses.push_back({condition, std::string(because), where});
}

void Lower::assume_equal(Dim a, Dim b, std::string_view said) {
  if (a == b) return;
  if (graph().facts.assume_equal(a, b, {FactSource::op, std::string(said), where}) == Answer::no)
    throw error("lower.shape", cat(said, ": sizes ", a.text(), " and ", b.text(), " must be equal"));
}

}  // namespace cameo::lowering
