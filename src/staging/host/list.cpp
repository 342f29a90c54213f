// Tensor operators on lists of unknown length, and those that give such lists.
#include "lowering/forms.h"
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
  const V pieces = on.SplitToSequence(x, on.int_scalar(each), op::SplitToSequence{.axis = axis, .keepdims = 1});
  Type element = on.fact(x).type;
  const bool even = each.is_literal() && c.s.graph.facts.divisible(size, each.literal()) == Answer::yes;
  (*element.shape)[static_cast<size_t>(axis)] = even ? each : c.s.graph.dims().fresh("piece");
  StagedList l = list_of_tensors(c.s, std::move(element), pieces, true);
  l.sources = c.s.memory_of(c[0]);
  l.pieces = std::make_shared<const StagedList::Pieces>(StagedList::Pieces{*t, axis, each});
  return one(make_staged(c.s, std::move(l)));
}

constexpr HostRow table[] = {
    {"aten::cat", join_list<false>},  {"aten::concat", join_list<false>}, {"aten::concatenate", join_list<false>},
    {"aten::stack", join_list<true>}, {"aten::unbind", unbind},           {"aten::split", split<false>},
    {"aten::chunk", split<true>},
};

}  // namespace

std::span<const HostRow> host_list_rows() { return table; }

}  // namespace cameo::staging
