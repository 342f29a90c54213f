#include "staging/joins/staged_list.h"

#include <algorithm>

#include "lowering/forms.h"
#include "staging/machine/machine.h"

namespace cameo::staging {

namespace {

Form form_of_list(const StagedList& l) {
  Form f;
  f.kind = Form::Kind::staged_list;
  f.sequence = l.sequence;
  f.parts.push_back(l.element);
  for (const auto& source : l.sources) f.memory.push_back(source.cell);
  return f;
}

// Throws where an element was written, or the memory of one, since the list got it.
void require_current(Machine& s, const StagedList& l) {
  for (const auto& source : l.sources)
    if (s.version_of(source.cell) != source.version)
      s.fail("stage.write-joined",
             "a list whose length depends on the inputs is used after one of its tensors, or what they are views of, "
             "was written in place",
             "add .clone() where the list is made");
}

V position(Machine& s, const StagedList& l, Dim at) {
  return s.on.int_scalar(at.is_literal() && at.literal() < 0 ? length_of(s, l) + at : at);
}

V drop_at(Machine& s, V array, Dim at) {
  const Dim n = s.on.dim(array, 0), i = at.is_literal() && at.literal() < 0 ? n + at : at;
  if (i.is(0)) return s.on.slice(array, 0, Dim(1), n);
  const V head = s.on.slice(array, 0, Dim(0), i);
  if (i == n - Dim(1)) return head;
  return s.on.concat({head, s.on.slice(array, 0, i + Dim(1), n)}, 0);
}

V stack_at(Machine& s, V array, const std::optional<Dim>& at, V element) {
  const V one = s.on.unsqueeze(element, {0});
  if (!at) return s.on.concat({array, one}, 0);
  const Dim n = s.on.dim(array, 0);
  const Span span = clamp_span(s.on, n, at, std::nullopt);
  if (span.start.is(0)) return s.on.concat({one, array}, 0);
  return s.on.concat({s.on.slice(array, 0, Dim(0), span.start), one, s.on.slice(array, 0, span.start, n)}, 0);
}

// The list's form when `v` joins it; the list brought to that form.
StagedList widened(Machine& s, const StagedList& l, const Value& v) {
  Form one;
  one.kind = Form::Kind::list;
  one.parts.push_back(form_of(s, v));
  Form f = join(s, form_of_list(l), one);
  if (const auto* p = f.value.as<Poison>()) s.fail("stage.list", *p->why);
  return staged_as(s, make_staged(s, l), f);
}

std::vector<V> leaves(Machine& s, const StagedList& l, const Value& v) {
  std::vector<V> out;
  encode(s, l.element, v, out);
  return out;
}

void add_sources(StagedList& l, std::vector<TensorCell::Source> more) {
  for (const auto& m : more)
    if (std::none_of(l.sources.begin(), l.sources.end(), [&](const auto& k) { return k.cell == m.cell; }))
      l.sources.push_back(m);
}

// A piece of a tensor, as a view of it.
Value piece_at(Machine& s, const StagedList::Pieces& p, Dim index) {
  const auto call = [&](std::string_view op, std::vector<Value> args) {
    return s.call_op("aten", op, {std::move(args), {}})[0];
  };
  if (!p.each) return call("select", {Value(p.of), Dim(p.axis), index});
  const Dim size = s.on.dim(s.read(p.of), p.axis), count = max(ceil_div(size, *p.each), Dim(1));
  const Dim start = (index.is_literal() && index.literal() < 0 ? count + index : index) * *p.each;
  return call("slice", {Value(p.of), Dim(p.axis), start, start + *p.each, Dim(1)});
}

[[noreturn]] void no_sequence(Machine& s, std::string_view what) {
  s.fail("stage.list", cat("a list whose length depends on the inputs, with elements of different sizes, is ", what),
         "append to it, index it, or concatenate it");
}

bool holds_tensor(const Form& f) {
  return f.is(Form::Kind::tensor) || std::any_of(f.parts.begin(), f.parts.end(), holds_tensor);
}

}  // namespace

const StagedList* staged_of(const Machine& s, const Value& v) {
  const auto* l = v.as<ListRef>();
  if (!l) return nullptr;
  const ListCell& cell = s.heap.get<ListCell>(l->cell);
  if (cell.poison) s.fail("stage.unavailable", *cell.poison);
  return cell.staged.get();
}

Value make_staged(Machine& s, StagedList l) {
  if (!l.sources.empty() || holds_tensor(l.element)) {
    const CellId own = s.tensor(l.arrays[0]).need<TensorRef>().cell;
    l.sources.insert(l.sources.begin(), {own, s.version_of(own)});
  }
  ListCell cell;
  cell.staged = std::make_shared<const StagedList>(std::move(l));
  return Value(ListRef{s.heap.add(std::move(cell))});
}

V as_sequence(Machine& s, const StagedList& l, size_t array) {
  require_current(s, l);
  if (l.sequence) return l.arrays[array];
  return s.on.SplitToSequence(l.arrays[array], {}, op::SplitToSequence{.axis = 0, .keepdims = 0});
}

StagedList staged_as(Machine& s, const Value& v, const Form& f) {
  StagedList out{f.parts[0], f.sequence, {}};
  const auto types = graph_types(f.parts[0]);
  if (const StagedList* l = staged_of(s, v)) {
    const StagedList from = *l;
    require_current(s, from);
    out.sources = from.sources;
    if (from.arrays.size() != types.size())
      s.fail("stage.list", "the elements of a list of unknown length change from numbers or tensors to optional ones");
    for (size_t i = 0; i < from.arrays.size(); ++i)
      out.arrays.push_back(f.sequence ? as_sequence(s, from, i) : from.arrays[i]);
    return out;
  }
  std::vector<std::vector<V>> columns(types.size());
  for (const Value& item : std::vector<Value>(s.items(v))) {
    std::vector<V> row;
    encode(s, f.parts[0], item, row);
    add_sources(out, s.memory_of(item));
    for (size_t i = 0; i < row.size(); ++i) columns[i].push_back(row[i]);
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const std::vector<ValueId> ids(columns[i].begin(), columns[i].end());
    if (f.sequence && ids.empty())
      out.arrays.push_back(s.on.SequenceEmpty(op::SequenceEmpty{.dtype = static_cast<int64_t>(types[i].elem)}));
    else if (f.sequence) out.arrays.push_back(s.on.SequenceConstruct(ids));
    else if (!ids.empty()) {
      Vs stacked;
      for (const V x : columns[i]) stacked.push_back(s.on.unsqueeze(x, {0}));
      out.arrays.push_back(s.on.concat(stacked, 0));
    } else {
      Dims sizes{Dim(0)};
      if (!types[i].has_rank()) s.fail("stage.list", "an empty list of tensors whose number of axes is not known");
      for (const Dim d : *types[i].shape) sizes.push_back(s.on.available(d) ? d : Dim(0));
      out.arrays.push_back(s.on.full(sizes, Num(0.0), types[i].elem));
    }
  }
  return out;
}

std::optional<StagedList> staged_from(Machine& s, const Value& v) {
  Form all = form_of(s, v), none;
  if (!all.is(Form::Kind::list) || all.parts.empty()) return std::nullopt;
  none.kind = Form::Kind::list;
  const Form f = join(s, all, none);
  if (!f.is(Form::Kind::staged_list)) return std::nullopt;
  return staged_as(s, v, f);
}

bool holds_numbers(const StagedList& l) {
  using Kind = Form::Kind;
  return !l.sequence && l.arrays.size() == 1 &&
         (l.element.is(Kind::integer) || l.element.is(Kind::floating) || l.element.is(Kind::boolean));
}

Dim length_of(Machine& s, const StagedList& l) {
  if (!l.sequence) return s.on.dim(l.arrays[0], 0);
  const Dim n = s.on.int_of(s.on.SequenceLength(l.arrays[0]));
  s.graph.facts.assume_range(n, 0, std::nullopt, {FactSource::program, "length of a list", s.here()});
  return n;
}

Value element_at(Machine& s, const StagedList& l, Dim index) {
  if (l.pieces) return piece_at(s, *l.pieces, index);
  require_current(s, l);
  std::vector<V> row;
  for (const V array : l.arrays) {
    if (!l.sequence) {
      row.push_back(s.on.gather_scalar(array, 0, index));
      continue;
    }
    const V one = s.on.SequenceAt(array, s.on.int_scalar(index));
    const auto& type = s.on.fact(one).type;
    if (type.has_rank())
      for (int64_t i = 0; i < type.rank(); ++i) s.on.bind_axis((*type.shape)[static_cast<size_t>(i)], one, i);
    row.push_back(one);
  }
  std::span<const V> in = row;
  Value v = decode(s, l.element, in);
  s.may_share_with(
      v, l.sources, "stage.write-joined",
      cat("an element of a list whose length depends on the inputs may be, or be part of, another tensor (",
          s.here().describe(), "), and one of the two was written since"));
  return v;
}

StagedList with_inserted(Machine& s, const StagedList& l, std::optional<Dim> at, const Value& v) {
  StagedList out = widened(s, l, v);
  add_sources(out, s.memory_of(v));
  const auto row = leaves(s, out, v);
  for (size_t i = 0; i < row.size(); ++i) {
    if (!out.sequence) out.arrays[i] = stack_at(s, out.arrays[i], at, row[i]);
    else
      out.arrays[i] = at ? s.on.SequenceInsert(out.arrays[i], row[i], position(s, out, *at))
                         : s.on.SequenceInsert(out.arrays[i], row[i]);
    if (out.sequence) s.graph.fact(out.arrays[i]).type = Type::sequence(graph_types(out.element)[i]);
  }
  return out;
}

StagedList without_element(Machine& s, const StagedList& l, Dim at) {
  require_current(s, l);
  StagedList out = l;
  out.pieces = nullptr;
  for (V& array : out.arrays)
    array = l.sequence ? V(s.on.SequenceErase(array, s.on.int_scalar(at))) : drop_at(s, array, at);
  return out;
}

StagedList with_element(Machine& s, const StagedList& l, Dim at, const Value& v) {
  StagedList out = widened(s, l, v);
  add_sources(out, s.memory_of(v));
  const auto row = leaves(s, out, v);
  for (size_t i = 0; i < row.size(); ++i) {
    if (!out.sequence) {
      out.arrays[i] = put_index(s.on, out.arrays[i], 0, at, row[i]);
      continue;
    }
    const V place = position(s, out, at);
    out.arrays[i] = s.on.SequenceInsert(s.on.SequenceErase(out.arrays[i], place), row[i], place);
  }
  return out;
}

StagedList concatenated(Machine& s, const StagedList& l, const Value& more) {
  const StagedList* other = staged_of(s, more);
  if (!other) {
    StagedList out = l;
    for (const Value& v : std::vector<Value>(s.items(more))) out = with_inserted(s, out, std::nullopt, v);
    return out;
  }
  require_current(s, l);
  require_current(s, *other);
  const Form f = join(s, form_of_list(l), form_of_list(*other));
  if (!f.is(Form::Kind::staged_list)) s.fail("stage.list", "two lists of unknown length hold different things");
  if (f.sequence) no_sequence(s, "joined with another");
  StagedList out = l;
  out.pieces = nullptr;
  add_sources(out, other->sources);
  for (size_t i = 0; i < out.arrays.size(); ++i) out.arrays[i] = s.on.concat({l.arrays[i], other->arrays[i]}, 0);
  return out;
}

StagedList sliced(Machine& s, const StagedList& l, std::optional<Dim> start, std::optional<Dim> end, int64_t step) {
  if (l.sequence) no_sequence(s, "cut or reversed");
  require_current(s, l);
  StagedList out = l;
  out.pieces = nullptr;
  for (V& array : out.arrays) {
    const Dim n = s.on.dim(array, 0);
    if (step < 0) {
      if (start || end || step != -1) s.fail("stage.list", "a list of unknown length is cut with a negative step");
      const V back = s.on.Slice(array, s.on.ints({-1}), s.on.ints({INT64_MIN}), s.on.ints({0}), s.on.ints({-1}));
      s.graph.fact(back).type = s.on.fact(array).type;
      array = back;
      continue;
    }
    const Span span = clamp_span(s.on, n, start, end);
    array = s.on.slice(array, 0, span.start, span.end, step);
  }
  return out;
}

V joined_along(Machine& s, const StagedList& l, int64_t dim, bool new_axis) {
  require_current(s, l);
  if (!l.element.is(Form::Kind::tensor)) s.fail("stage.list", "a list that is not a list of tensors is concatenated");
  if (!l.element.type.has_rank())
    s.fail("stage.list", "a list of tensors is concatenated whose number of axes is not known");
  const int64_t rank = l.element.type.rank() + new_axis;
  if (rank == 0) s.fail("stage.axis", "tensors without axes cannot be concatenated", "torch.stack gives them one");
  if (dim < -rank || dim >= std::max<int64_t>(rank, 1))
    s.fail("stage.axis", cat("dim ", dim, " is outside tensors of ", rank, " dimensions"));
  const int64_t axis = dim < 0 ? dim + rank : dim;
  const V array = l.arrays[0];
  if (l.sequence) {
    const V out = s.on.ConcatFromSequence(array, op::ConcatFromSequence{.axis = axis, .new_axis = new_axis});
    return out;
  }
  if (new_axis) return moved(s.on, array, {0}, {axis});
  // The list's axis goes before the one it is concatenated along, and both become one.
  const V before = moved(s.on, array, {0}, {axis});
  Dims sizes = s.on.shape(before);
  const auto at = static_cast<size_t>(axis);
  sizes[at] = sizes[at] * sizes[at + 1];
  sizes.erase(sizes.begin() + axis + 1);
  return s.on.reshape(before, sizes);
}

}  // namespace cameo::staging
