// Tensor cells, views over them, and tensors of which sizes decide whether they are views.
#include "staging/memory/storage.h"

#include <algorithm>

#include "staging/joins/staged_list.h"
#include "staging/memory/views.h"
#include "support/budget.h"

namespace cameo::staging {

Value Machine::tensor(V v, std::string name, Layout layout) {
  TensorCell cell;
  cell.value = v;
  cell.name = std::move(name);
  cell.layout = std::move(layout);
  return Value(TensorRef{heap.add(std::move(cell)), nullptr, false});
}

uint64_t Machine::version_of(CellId id) const {
  const auto& cell = heap.get<TensorCell>(id);
  uint64_t all = cell.version;
  for (const auto& tie : cell.ties) all += version_of(tie.maybe->step->parent.cell);
  return all;
}

void Machine::doubt(CellId id, std::shared_ptr<const Doubt> why) {
  auto& cell = heap.write<TensorCell>(id);
  cell.stale = std::move(why);
  ++cell.version;
}

void Machine::trust(CellId id) {
  for (auto& source : heap.write<TensorCell>(id).sources) source.version = version_of(source.cell);
}

const Doubt* Machine::doubt_about(CellId id) const {
  const auto& cell = heap.get<TensorCell>(id);
  if (cell.stale) return cell.stale.get();
  const auto written = [&](const TensorCell::Source& s) {
    return s.version != s.any && version_of(s.cell) != s.version;
  };
  if (std::any_of(cell.sources.begin(), cell.sources.end(), written)) return cell.shares.get();
  for (const auto& tie : cell.ties)
    if (const Doubt* d = doubt_about(tie.maybe->step->parent.cell)) return d;
  return nullptr;
}

std::vector<TensorCell::Source> Machine::origins(CellId id) const {
  std::vector<TensorCell::Source> out;
  std::set<uint32_t> seen;  // branches in branches lead to one cell by many ways
  const std::function<void(CellId)> look = [&](CellId at) {
    const auto& cell = heap.get<TensorCell>(at);
    const auto add = [&](CellId from) {
      if (!seen.insert(from.index).second) return;
      out.push_back({from, version_of(from)});
      look(from);
    };
    for (const auto& tie : cell.ties) add(tie.maybe->step->parent.cell);
    for (const auto& s : cell.sources) add(s.cell);
  };
  look(id);
  return out;
}

namespace {
// The tensors in a value: in tuples, optional values, lists of known length and dicts.
class EachTensor {
 public:
  EachTensor(const Heap& heap, const std::function<void(const TensorRef&)>& found) : heap_(heap), found_(found) {}

  void visit(const Value& v, size_t level = 1) {
    check_value_depth(level);
    if (++visits_ > most_visits)
      throw over_budget("steps", cat("a value of more than ", most_visits, " parts is looked through"), "");
    if (const auto* t = v.as<TensorRef>()) return found_(*t);
    if (const auto* m = v.as<Maybe>()) return visit(*m->value, level + 1);
    if (const auto* parts = v.as<Tuple>())
      for (const Value& part : *parts->items) visit(part, level + 1);
    if (const auto* l = v.as<ListRef>())
      for (const Value& part : std::vector(heap_.get<ListCell>(l->cell).items)) visit(part, level + 1);
    if (const auto* d = v.as<DictRef>())
      for (const auto& [key, part] : std::vector(heap_.get<DictCell>(d->cell).entries)) visit(part, level + 1);
  }

 private:
  static constexpr size_t most_visits = 1'000'000;
  const Heap& heap_;
  const std::function<void(const TensorRef&)>& found_;
  size_t visits_ = 0;
};
void each_tensor(const Heap& heap, const Value& v, const std::function<void(const TensorRef&)>& found) {
  EachTensor(heap, found).visit(v);
}
}  // namespace

std::vector<TensorCell::Source> Machine::memory_of(const Value& v) const {
  if (const auto* l = v.as<ListRef>(); l && heap.get<ListCell>(l->cell).staged)
    return heap.get<ListCell>(l->cell).staged->sources;
  std::vector<TensorCell::Source> out;
  each_tensor(heap, v, [&](const TensorRef& t) {
    for (const auto& origin : origins(t.cell)) out.push_back(origin);
    out.push_back({t.cell, version_of(t.cell)});
  });
  return out;
}

V Machine::value_of(CellId id) {
  if (const Doubt* d = doubt_about(id)) fail(d->code, d->why, "add .clone() before the write");
  const auto& cell = heap.get<TensorCell>(id);
  V value = cell.value;
  for (const TensorCell::Tie& tie : std::vector(cell.ties)) {
    if (version_of(tie.maybe->step->parent.cell) == tie.seen) continue;
    MaybeView& m = *tie.maybe;
    const uint64_t version = version_of(id);
    if (!m.value.valid() || m.version != version || !is_visible(m.value, m.generation)) {
      m.value = where_tied(
          m,
          [&] {
            return read(TensorRef{m.step->parent.cell, m.step, false});
          },
          value);
      m.version = version;
      m.generation = generation_.now();
    }
    value = m.value;
  }
  return value;
}

namespace {
// Views of views are read, written through and destroyed by recursion.
size_t depth_of_next(const Heap& heap, const TensorRef& base) {
  constexpr size_t most = 2000;
  size_t depth = base.view ? base.view->depth : 0;
  for (const auto& tie : heap.get<TensorCell>(base.cell).ties) depth = std::max(depth, tie.maybe->step->depth);
  if (depth >= most) throw over_budget("depth", cat("a tensor is a view of a view, more than ", most, " deep"), "");
  return depth + 1;
}
}  // namespace

std::shared_ptr<ViewStep> Machine::seen(const TensorRef& t) {
  if (t.view) return t.view;
  auto whole = std::make_shared<ViewStep>();
  whole->parent = t;
  whole->op = "aten::alias";
  whole->layout = layout_of(t);
  whole->value = read(t);
  whole->version = whole->made = version_of(t.cell);
  whole->generation = generation_.now();
  return whole;
}

TensorCell::Tie Machine::tied(std::shared_ptr<ViewStep> step, V if_so, V own) {
  const CellId cell = step->parent.cell;
  const V there = read(TensorRef{cell, step, false});
  const bool fits = on.has_rank(there) && on.has_rank(own) && on.shape(there) == on.shape(own);
  return {std::make_shared<MaybeView>(MaybeView{std::move(step), {}, if_so, fits}), version_of(cell)};
}

V Machine::where_tied(const MaybeView& m, const std::function<V()>& seen_there, V otherwise) {
  const V tied = m.condition.empty() ? m.decided : holds(m.condition);
  return m.fits ? chosen(on, tied, seen_there(), otherwise) : if_of(tied, seen_there, otherwise);
}

V Machine::read(const TensorRef& t) {
  const V whole = value_of(t.cell);
  if (!t.view) return whole;
  ViewStep& step = *t.view;
  if (heap.get<TensorCell>(t.cell).reshaped > step.made)
    fail("stage.write-through", cat("a view made by ", step.op, " is read after its tensor got another shape in place"),
         "use the form without underscore (x = x.t())");
  const uint64_t version = version_of(t.cell);
  if (step.version == version && is_visible(step.value, step.generation)) return step.value;
  step.value = derive(*this, step, read(step.parent));
  step.version = version;
  step.generation = generation_.now();
  return step.value;
}

void Machine::may_share_with(const Value& v, std::vector<TensorCell::Source> sources, std::string_view code,
                             std::string why) {
  if (sources.empty()) return;
  const auto doubt = std::make_shared<const Doubt>(Doubt{code, std::move(why)});
  each_tensor(heap, v, [&](const TensorRef& t) {
    if (std::any_of(sources.begin(), sources.end(), [&](const auto& s) { return s.cell == t.cell; }))
      return;  // one of them, on every way
    auto& cell = heap.write<TensorCell>(t.cell);
    cell.sources.insert(cell.sources.end(), sources.begin(), sources.end());
    if (!cell.shares) cell.shares = doubt;
  });
}

void Machine::same_where(V condition, const Value& a, const Value& b, bool whole, std::string_view who) {
  if (const auto x = container_of(a), y = container_of(b); x && y) twin(*x, *y);
  const auto *to = a.as<TensorRef>(), *from = b.as<TensorRef>();
  if (whole && to && from && condition.valid()) {
    auto tie = tied(seen(*from), condition, read(*to));
    heap.write<TensorCell>(to->cell).ties.push_back(std::move(tie));
    return;
  }
  may_share_with(a, memory_of(b), "stage.write-joined", another_name(who));
}

std::string Machine::another_name(std::string_view who) const {
  return cat("a tensor is read that may have another name, which ", who, " (", here().describe(),
             "), and one of the two was written since");
}

std::set<uint32_t> Machine::made_since(const HeapMark& mark, const Value& v) const {
  std::set<uint32_t> out;
  for (const auto& source : memory_of(v))
    if (source.cell.index >= mark.cells) out.insert(source.cell.index);
  if (const auto cell = container_of(v); cell && cell->index >= mark.cells) out.insert(cell->index);
  return out;
}

void Machine::write(const TensorRef& t, V value, const Schema& by, bool always) {
  if (t.view) {
    const ViewStep& step = *t.view;
    // Where it is only maybe written it is contiguous then, and nothing in it overlaps.
    if (always && step.layout.overlaps)
      fail("stage.write-through",
           cat("a write through ", step.op,
               ": several elements of this view, or of what it is a part of, lie at one place in memory"),
           "add .clone() before the write; PyTorch itself refuses most such writes");
    return write(step.parent, put_through(*this, step, read(step.parent), value), by, always);
  }
  for (const TensorCell::Tie& tie : std::vector(heap.get<TensorCell>(t.cell).ties)) {
    const TensorRef parent = tie.maybe->step->parent;
    const V before = read(parent);
    write(parent,
          where_tied(
              *tie.maybe, [&] { return put_through(*this, *tie.maybe->step, before, value); }, before),
          by, false);
  }
  auto& cell = heap.write<TensorCell>(t.cell);
  cell.value = value;
  ++cell.version;
  for (auto& tie : cell.ties) tie.seen = version_of(tie.maybe->step->parent.cell);
  if (cell.sources.empty()) return;
  const auto why =
      std::make_shared<const Doubt>(Doubt{cell.shares->code, cat(cell.shares->why, ", and that one is written by ",
                                                                 by.full_name(), " (", here().describe(), ")")});
  std::set<uint32_t> shared;
  for (const auto& source : std::vector(cell.sources)) {
    shared.insert(source.cell.index);
    for (const auto& origin : origins(source.cell)) shared.insert(origin.cell.index);
  }
  shared.erase(t.cell.index);
  for (const uint32_t other : shared) doubt(CellId(other), why);
  trust(t.cell);
}

V Machine::holds(const SizeCondition& condition) {
  V all;
  for (const SizeClause& clause : condition) {
    V any;
    for (const SizeTest& test : clause) {
      if (!on.available(test.a) || !on.available(test.b))
        fail("stage.write-through-copy",
             cat("whether a tensor is a view depends on ", test.a.text(), " and ", test.b.text(),
                 ", which are not known here"),
             "add .clone() before the write");
      const V same = on.Equal(on.int_scalar(test.a), on.int_scalar(test.b));
      const V is = test.equal ? same : V(on.Not(same));
      any = any.valid() ? V(on.Or(any, is)) : is;
    }
    all = all.valid() ? V(on.And(all, any)) : any;
  }
  return all;
}

V chosen(Lower& on, V condition, V a, V b) {
  if (a.id == b.id) return a;
  if (!on.is_bool(a)) return on.Where(condition, a, b);
  const auto known = [&](V v) -> std::optional<bool> {
    const Tensor* t = on.fact(v).tensor();
    return t && t->shape().empty() ? std::optional<bool>(t->int_at(0) != 0) : std::nullopt;
  };
  const auto x = known(a), y = known(b);
  if (x && y) return *x ? condition : V(on.Not(condition));
  if (y) return *y ? V(on.Or(on.Not(condition), a)) : V(on.And(condition, a));
  if (x) return *x ? V(on.Or(condition, b)) : V(on.And(on.Not(condition), b));
  return on.Where(condition, a, b);
}

void Machine::by_memory(const Schema& s, std::vector<Value>& args) {
  const auto* t = args.empty() ? nullptr : args[0].as<TensorRef>();
  if (!t) return;
  const TensorRef base{t->cell, nullptr, false};
  const Dims shape = on.shape(read(base));
  const auto order = dense_order(shape, layout_of(base));
  const auto offset = layout_of(*t).offset;
  const bool scatter = s.name == "aten::as_strided_scatter";  // gives a tensor of the first argument's shape
  if (!order || !offset || layout_of(*t).is(Layout::Kind::unknown) || (scatter && t->view))
    fail("stage.layout", cat(s.full_name(), " of a tensor whose memory layout is unknown"),
         "call .clone(memory_format=torch.contiguous_format) on it first, or index instead");
  if (args.back().is_none()) args.back() = *offset;
  const bool plain = std::is_sorted(order->begin(), order->end());
  if (!plain && (scatter || turned_.find(Name(base.cell.index, nullptr))))
    fail("stage.layout", cat(s.full_name(), " of a tensor that is not contiguous"), "call .contiguous() on it first");
  if (plain) {
    args[0] = base;
    return;
  }
  std::vector<Value> axes;
  for (const int64_t axis : *order) axes.emplace_back(Dim(axis));
  args[0] = call_op("aten", "permute", {{Value(base), list(std::move(axes))}, {}})[0];
}

// A result that may be a view of the first argument remembers how it was derived.
Value Machine::wrap_result(const Schema& s, size_t i, const Arg& a, const std::vector<Value>& args, V first_input) {
  if (args.empty() || !args[0].is<TensorRef>() || !may_share(s, i)) return fresh_result(s, a, args);
  if (const auto* v = a.as<V>()) return shared_result(s, *v, {}, args, first_input);
  const auto* parts = a.as<ArgList>();
  if (!parts) return from_arg(a);
  std::vector<Value> views;
  const auto count = static_cast<int64_t>((*parts)->size());
  for (size_t k = 0; k < (*parts)->size(); ++k)
    views.push_back((**parts)[k].as<V>() ? shared_result(s, *(**parts)[k].as<V>(), {k, count}, args, first_input)
                                         : from_arg((**parts)[k]));
  return list(std::move(views));
}

Value Machine::shared_result(const Schema& s, V value, Piece piece, const std::vector<Value>& args, V first_input) {
  const TensorRef base = args[0].need<TensorRef>();
  const bool ranked = on.has_rank(first_input) && on.has_rank(value);
  const SharingCall call{*this,
                         s,
                         args,
                         first_input,
                         value,
                         ranked ? Dims(on.shape(first_input)) : Dims(),
                         ranked ? layout_of(base) : Layout()};
  Verdict verdict =
      ranked ? sharing(call) : Verdict{first_input.id == value.id ? Answer::yes : Answer::unknown, {}, {}};
  if (verdict.view == Answer::yes && value.id == first_input.id) {
    const Name name(base.cell.index, base.view);
    if (!gives_itself(s) && !named_twice_.find(name)) named_twice_.set(name, true);
    return Value(TensorRef{base.cell, base.view, base.literal});
  }
  if (verdict.view == Answer::no) return tensor(value, "", std::move(verdict.layout));
  auto step = std::make_shared<ViewStep>();
  step->parent = base;
  step->depth = depth_of_next(heap, base);
  step->op = s.full_name();
  for (size_t k = 1; k < args.size(); ++k) step->args.push_back(to_arg(args[k], s.params[k].type));
  step->index = piece.index;
  step->pieces = piece.of;
  step->value = value;
  step->version = step->made = version_of(base.cell);
  step->generation = generation_.now();
  step->layout =
      verdict.view == Answer::yes && ranked ? view_layout(*this, *step, call.layout, call.shape) : verdict.layout;
  if (verdict.view == Answer::yes) return Value(TensorRef{base.cell, std::move(step), false});
  // A view or a copy: the sizes decide, or it is unknown.
  Value out = tensor(value, "", step->layout);
  if (verdict.condition.empty()) {
    may_share_with(out, {{base.cell, version_of(base.cell)}}, "stage.write-through-copy",
                   cat(s.full_name(), " (", here().describe(),
                       ") gives a copy or a view of its tensor, and it is not known which"));
    return out;
  }
  auto& cell = heap.write<TensorCell>(out.need<TensorRef>().cell);
  cell.ties = {
      {std::make_shared<MaybeView>(MaybeView{std::move(step), std::move(verdict.condition)}), version_of(base.cell)}};
  return out;
}

Value Machine::fresh_result(const Schema& s, const Arg& a, const std::vector<Value>& args) {
  if (const auto* parts = a.as<ArgList>()) {
    std::vector<Value> all;
    for (const Arg& p : **parts) all.push_back(fresh_result(s, p, args));
    return list(std::move(all));
  }
  const auto* v = a.as<V>();
  if (!v) return from_arg(a);
  if (!may_share_any(*this, s, args)) return tensor(*v, "", fresh_layout(*this, s, args, *v));
  std::vector<TensorCell::Source> sources;
  for (const Value& arg : args)
    each_tensor(heap, arg, [&](const TensorRef& t) { sources.push_back({t.cell, version_of(t.cell)}); });
  Value out = tensor(*v);
  may_share_with(out, std::move(sources), "stage.write-through-copy",
                 cat(s.full_name(), " (", here().describe(), ") may give views of its tensors"));
  return out;
}

}  // namespace cameo::staging
