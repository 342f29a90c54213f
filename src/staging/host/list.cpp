// Tensor operators on lists of unknown length, and those that give such lists.
#include "kernels/carrier.h"
#include "lowering/emptiness.h"
#include "lowering/forms.h"
#include "lowering/loop.h"
#include "staging/host/tables.h"
#include "staging/joins/staged_list.h"
#include "staging/machine/machine.h"

namespace cameo::staging {

namespace {

const Value* argument(HostCall& c, size_t i, std::string_view name) { return i < c.size() ? &c[i] : c.keyword(name); }
int64_t known_int(HostCall& c, size_t i, std::string_view name, int64_t otherwise) {
  const Value* v = argument(c, i, name);
  if (!v || v->is_none()) return otherwise;
  const Dim d = c.s.int_from(*v);
  if (!d.is_literal()) c.s.fail("stage.axis", "a dimension number depends on the inputs");
  return d.literal();
}

template <bool NewAxis>
Results join_list(HostCall& c) {
  const StagedList* l = c.size() ? staged_of(c.s, c[0]) : nullptr;
  if (!l) return std::nullopt;
  return one(c.s.tensor(joined_along(c.s, StagedList(*l), known_int(c, 1, "dim", 0), NewAxis)));
}

StagedList list_of_tensors(Machine& s, Type element, V array, bool sequence) {
  Form f;
  f.kind = Form::Kind::tensor;
  f.type = std::move(element);
  StagedList l{std::move(f), sequence, {array}};
  if (sequence) s.graph.fact(array).type = Type::sequence(l.element.type);
  return l;
}

// Along an axis of unknown size: the axis itself is the list.
Results unbind(HostCall& c) {
  const auto* t = c.size() ? c[0].as<TensorRef>() : nullptr;
  if (!t) return std::nullopt;
  auto& on = c.s.on;
  const V x = c.s.read(*t);
  const int64_t axis = on.axis(x, known_int(c, 1, "dim", 0));
  if (on.dim(x, axis).is_literal()) return std::nullopt;
  const V first = moved(on, x, {axis}, {0});
  Type element = on.fact(first).type;
  element.shape->erase(element.shape->begin());
  StagedList l = list_of_tensors(c.s, std::move(element), first, false);
  l.sources = c.s.memory_of(c[0]);
  l.pieces = std::make_shared<const StagedList::Pieces>(StagedList::Pieces{*t, axis, std::nullopt});
  return one(make_staged(c.s, std::move(l)));
}

// The lengths of the pieces of an axis that may be empty: split() makes one piece of nothing, chunk() as many as it is
// asked for.
V lengths(Machine& s, Dim size, Dim each, Dim chunks) {
  auto& on = s.on;
  const V whole = on.int_scalar(size), nothing = on.Equal(whole, on.On::int_scalar(0));
  const V usual = on.int_scalar(ceil_div(size, max(each, Dim(1))));
  const V count = on.Where(nothing, on.int_scalar(chunks), usual);
  const V length = on.int_scalar(each);
  const V starts = on.Mul(on.Range(on.On::int_scalar(0), count, on.On::int_scalar(1)), length);
  return on.Min(std::vector<ValueId>{length, on.Sub(whole, starts)});
}

// Pieces of one size, or a number of them at most, along an axis of unknown size: how many there are only a run can
// tell.
template <bool Chunks>
Results split(HostCall& c) {
  const auto* t = c.size() > 1 ? c[0].as<TensorRef>() : nullptr;
  if (!t || !c[1].is<Dim>()) return std::nullopt;
  auto& on = c.s.on;
  const V x = c.s.read(*t);
  const int64_t axis = on.axis(x, known_int(c, 2, "dim", 0));
  const Dim size = on.dim(x, axis), each = Chunks ? ceil_div(size, c.s.int_from(c[1])) : c.s.int_from(c[1]);
  if (Chunks && (on.unpacked || c.s.graph.facts.divisible(size, c.s.int_from(c[1]).known().value_or(0)) == Answer::yes))
    return std::nullopt;
  if (c.s.graph.facts.simplify(ceil_div(size, each)).is_literal()) return std::nullopt;
  const V parts =
      may_be_empty(on, size) ? lengths(c.s, size, each, Chunks ? c.s.int_from(c[1]) : Dim(1)) : V(on.int_scalar(each));
  const V pieces = on.SplitToSequence(x, parts, op::SplitToSequence{.axis = axis, .keepdims = 1});
  Type element = on.fact(x).type;
  const bool even = each.is_literal() && c.s.graph.facts.divisible(size, each.literal()) == Answer::yes;
  (*element.shape)[static_cast<size_t>(axis)] = even ? each : c.s.graph.dims().fresh("piece");
  StagedList l = list_of_tensors(c.s, std::move(element), pieces, true);
  l.sources = c.s.memory_of(c[0]);
  l.pieces = std::make_shared<const StagedList::Pieces>(StagedList::Pieces{*t, axis, each});
  return one(make_staged(c.s, std::move(l)));
}

// Tensors of unknown lengths and number: the longest is looked for, then each is filled up.
Results pad_sequence(HostCall& c) {
  const StagedList* given = c.size() ? staged_of(c.s, c[0]) : nullptr;
  if (!given || given->arrays.size() != 1 || !given->element.is(Form::Kind::tensor)) return std::nullopt;
  const StagedList list = *given;
  auto& on = c.s.on;
  const auto flag = [&](size_t i, std::string_view name, Value otherwise) {
    const Value* v = argument(c, i, name);
    return v ? *v : otherwise;
  };
  const bool batch_first = flag(1, "batch_first", false).need<bool>();
  const bool left = flag(3, "padding_side", std::string("right")).need<std::string>() == "left";
  const V all = as_sequence(c.s, list, 0), count = on.int_scalar(length_of(c.s, list));
  const int64_t rank = list.element.type.rank();
  const auto size = [&](V x) { return V(on.Gather(on.Shape(x), on.ints({0}), {.axis = 0})); };  // [length]
  LoopWriter longest(on, count, {on.ints({0})});
  const std::vector<ValueId> lengths{longest.state()[0], size(on.SequenceAt(all, longest.turn()))};
  const V most = longest.finish({on.Max(lengths)})[0];
  LoopWriter filled(on, count,
                    {on.SequenceEmpty(op::SequenceEmpty{.dtype = static_cast<int64_t>(list.element.type.elem)})});
  const V x = on.SequenceAt(all, filled.turn()), missing = on.Sub(most, size(x));
  const V before = on.constant(zeros(DType::i64, {left ? 0 : rank})),
          after = on.constant(zeros(DType::i64, {left ? 2 * rank - 1 : rank - 1}));
  const std::vector<ValueId> pads{before, missing, after};
  const V fill = on.scalar(Num(c.s.to_arg(c.s.float_from(flag(2, "padding_value", 0.0)))), list.element.type.elem);
  const V padded = on.Pad(x, on.Concat(pads, {.axis = 0}), fill);
  const V rows = filled.finish({on.SequenceInsert(filled.state()[0], padded)})[0];
  const V out = on.ConcatFromSequence(rows, op::ConcatFromSequence{.axis = batch_first ? 0 : 1, .new_axis = 1});
  Dims shape = *list.element.type.shape;
  shape[0] = c.s.graph.dims().fresh("longest");
  shape.insert(shape.begin() + (batch_first ? 0 : 1), length_of(c.s, list));
  on.graph().fact(out).type = Type::tensor(list.element.type.elem, shape);
  for (int64_t i = 0; i <= rank; ++i) on.bind_axis(shape[static_cast<size_t>(i)], out, i);
  return one(c.s.tensor(out));
}

constexpr HostRow table[] = {
    {"aten::cat", join_list<false>},
    {"aten::concat", join_list<false>},
    {"aten::concatenate", join_list<false>},
    {"aten::stack", join_list<true>},
    {"aten::unbind", unbind},
    {"aten::split", split<false>},
    {"aten::chunk", split<true>},
    {"aten::pad_sequence", pad_sequence},
};

}  // namespace

std::span<const HostRow> host_list_rows() { return table; }

}  // namespace cameo::staging
