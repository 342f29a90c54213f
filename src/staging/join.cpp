// An `if` on data: both sides are staged into regions, and every cell that either changed is joined.
#include <array>

#include "kernels/carrier.h"
#include "lowering/complex.h"
#include "staging/leaves.h"

namespace cameo::staging {

void Stager::take_back(const HeapMark& h, const GraphMark& g) {
  heap.rewind(h);
  graph.rollback(g);
  on.forget_from(g.values);
  ++generation_;
  const auto gone = [&](const Value& v) {
    if (const auto* t = v.as<TensorRef>()) return t->cell.index >= h.cells;
    if (const auto* o = v.as<ObjectRef>()) return o->cell.index >= h.cells;
    if (const auto* l = v.as<ListRef>()) return l->cell.index >= h.cells;
    if (const auto* d = v.as<DictRef>()) return d->cell.index >= h.cells;
    return false;
  };
  std::erase_if(objects_, [&](const auto& e) { return gone(e.second); });
  std::erase_if(stored_, [&](const auto& e) { return gone(e.second); });
  std::erase_if(tensors_, [&](const auto& e) { return gone(e.second); });
}

namespace {
struct Side {
  RegionId region;
  std::map<uint32_t, std::shared_ptr<const CellData>> after;  // by cell
};
}  // namespace

class Branch {
 public:
  Branch(Stager& s, const Value& condition) : s_(s), condition_(condition) {}

  // Stages one side. False: it raised, and nothing of it remains.
  bool stage(ts::Block block, Side& side) {
    heap_mark_ = s_.heap.mark();
    graph_mark_ = s_.graph.mark();
    const RegionId outer = s_.on.region();
    side.region = s_.graph.add_region(outer);
    s_.on.move_to(side.region);
    s_.block(block);
    s_.on.move_to(outer);
    if (s_.raised_) {
      s_.raised_ = false;
      s_.take_back(heap_mark_, graph_mark_);
      return false;
    }
    for (const auto& change : s_.heap.changes(heap_mark_)) side.after[change.cell.index] = std::make_shared<const CellData>(s_.heap[change.cell]);
    s_.heap.rewind(heap_mark_);
    return true;
  }

  void join(const Side& a, const Side& b) {
    node_ = s_.graph.add_node(s_.on.region(), op_of<op::If>(), nullptr, {s_.bool_value(condition_)}, 0);
    regions_ = {b.region, a.region};  // graph attributes are else_branch, then_branch
    std::map<uint32_t, std::pair<const CellData*, const CellData*>> changed;
    for (const auto& [cell, data] : a.after) changed[cell] = {data.get(), nullptr};
    for (const auto& [cell, data] : b.after) changed[cell].second = data.get();
    a_ = a.region;
    b_ = b.region;
    for (const auto& [index, pair] : changed) {
      const CellId cell(index);
      const auto now = std::make_shared<const CellData>(s_.heap[cell]);
      join_cell(cell, pair.first ? *pair.first : *now, pair.second ? *pair.second : *now);
    }
    finish();
  }

 private:
  void join_cell(CellId cell, const CellData& a, const CellData& b) {
    if (const auto* x = tensor_of(a)) {
      const auto* y = tensor_of(b);
      auto& c = s_.heap.write<TensorCell>(cell);
      c.version = std::max(x->version, y->version) + 1;
      if (x->value.id == y->value.id) c.value = x->value;
      else if (const auto joined = join_tensors(x->value, y->value)) c.value = *joined;
      else s_.fail("stage.join", cat("a tensor is written with different types in the two branches of an if: ", s_.on.fact(x->value).type.text(), " and ", s_.on.fact(y->value).type.text()));
      return;
    }
    const auto leaves = differing(cell, a, b);
    if (!leaves) s_.fail("stage.join", "a list or dict grows in one branch of an if whose condition depends on the inputs");
    s_.heap.set(cell, a);
    for (const Leaf& leaf : *leaves) {
      const bool in_a = assigned_at(a, leaf.slot), in_b = assigned_at(b, leaf.slot);
      set_at(s_.heap, leaf, join_values(in_a ? value_at(a, leaf.slot) : Value(Uninitialized{}), in_b ? value_at(b, leaf.slot) : Value(Uninitialized{})));
    }
  }

  Value join_values(const Value& a, const Value& b) {
    if (same(a, b)) return a;
    if (a.is<Poison>()) return a;
    if (b.is<Poison>()) return b;
    if (a.is<Uninitialized>()) return only(b, false);
    if (b.is<Uninitialized>()) return only(a, true);
    if (a.is<TensorRef>() && b.is<TensorRef>()) {
      if (const auto v = join_tensors(in(a_, [&] { return s_.read(*a.as<TensorRef>()); }), in(b_, [&] { return s_.read(*b.as<TensorRef>()); }))) return s_.tensor(*v);
      return poison("a tensor has different types in the two branches of an if whose condition depends on the inputs");
    }
    if (a.is<Dim>() && b.is<Dim>()) {
      const V v = output(in(a_, [&] { return s_.on.int_scalar(*a.as<Dim>()); }), in(b_, [&] { return s_.on.int_scalar(*b.as<Dim>()); }));
      return s_.on.int_of(v);
    }
    const auto is_bool = [](const Value& v) { return v.is<bool>() || v.is<StagedBool>(); };
    if (is_bool(a) && is_bool(b)) return Value(StagedBool{output(in(a_, [&] { return s_.bool_value(a); }), in(b_, [&] { return s_.bool_value(b); }))});
    const auto is_float = [](const Value& v) { return v.is<double>() || v.is<StagedFloat>(); };
    if (is_float(a) && is_float(b)) {
      const auto as_f64 = [&](const Value& v) { return s_.on.scalar(Num(s_.to_arg(v)), DType::f64); };
      return Value(StagedFloat{output(in(a_, [&] { return as_f64(a); }), in(b_, [&] { return as_f64(b); }))});
    }
    if (const auto joined = join_structures(a, b)) return *joined;
    return poison(cat("a value is ", a.kind(), " in one branch and ", b.kind(), " in the other of an if whose condition depends on the inputs (", s_.here().describe(), ")"));
  }

  std::optional<Value> join_structures(const Value& a, const Value& b) {
    const bool tuples = a.is<Tuple>() && b.is<Tuple>(), lists = a.is<ListRef>() && b.is<ListRef>();
    if (!tuples && !lists) return std::nullopt;
    const auto xs = s_.items(a), ys = s_.items(b);
    if (xs.size() != ys.size()) return std::nullopt;
    std::vector<Value> parts;
    for (size_t i = 0; i < xs.size(); ++i) parts.push_back(join_values(xs[i], ys[i]));
    return tuples ? Value::tuple(std::move(parts), a.as<Tuple>()->named) : s_.list(std::move(parts));
  }

  // A value that only one side has. What the other side gives is never looked at, but must be there.
  Value only(const Value& v, bool in_a) {
    const RegionId home = in_a ? a_ : b_;
    const auto placeholder = [&](V x) {
      return in(in_a ? b_ : a_, [&] {
        const auto& f = s_.on.fact(x);
        return s_.on.constant(zeros_of(f));
      });
    };
    const auto join_with_placeholder = [&](V x) {
      const V other = placeholder(x);
      return in_a ? output(x, other) : output(other, x);
    };
    if (const auto* t = v.as<TensorRef>()) {
      const V x = in(home, [&] { return s_.read(*t); });
      if (s_.graph.is_inside(s_.on.region(), s_.graph[x.id].home)) return v;
      return s_.tensor(join_with_placeholder(x));
    }
    if (const auto* d = v.as<Dim>()) return d->is_literal() ? v : Value(s_.on.int_of(join_with_placeholder(in(home, [&] { return s_.on.int_scalar(*d); }))));
    if (const auto* f = v.as<StagedFloat>()) return Value(StagedFloat{join_with_placeholder(f->value)});
    if (const auto* f = v.as<StagedBool>()) return Value(StagedBool{join_with_placeholder(f->value)});
    if (v.is<Tuple>() || v.is<ListRef>()) {
      std::vector<Value> parts;
      for (const Value& p : std::vector<Value>(s_.items(v))) parts.push_back(only(p, in_a));
      return v.is<Tuple>() ? Value::tuple(std::move(parts), v.as<Tuple>()->named) : s_.list(std::move(parts));
    }
    return v;
  }

  static Tensor zeros_of(const Fact& f) {
    std::vector<int64_t> shape;
    if (f.has_rank())
      for (const Dim d : f.shape()) shape.push_back(d.is_literal() ? d.literal() : 0);
    return zeros(f.dtype(), shape);
  }

  template <class F>
  V in(RegionId r, F f) {
    const RegionId outer = s_.on.region();
    s_.on.move_to(r);
    const V v = f();
    s_.on.move_to(outer);
    return v;
  }

  std::optional<V> join_tensors(V a, V b) {
    const Fact &x = s_.on.fact(a), &y = s_.on.fact(b);
    if (x.dtype() != y.dtype()) return std::nullopt;
    return output(a, b);
  }

  V output(V a, V b) {
    if (is_complex(s_.on.dtype(a))) return complex_of_pair(s_.on, output(in(a_, [&] { return pair_of(s_.on, a); }), in(b_, [&] { return pair_of(s_.on, b); })));
    outs_a_.push_back(a);
    outs_b_.push_back(b);
    const ValueId v = s_.graph.add_output(node_);
    s_.graph.fact(v).type = cameo::join(s_.on.fact(a).type, s_.on.fact(b).type, s_.graph.dims());
    const auto& type = s_.graph[v].fact.type;
    if (type.has_rank())
      for (int64_t i = 0; i < type.rank(); ++i) s_.on.bind_axis((*type.shape)[static_cast<size_t>(i)], v, i);
    return v;
  }

  // Values captured whole from outside need an Identity: a region's output is a value of its own.
  std::vector<ValueId> own(RegionId r, const std::vector<V>& values) {
    std::vector<ValueId> out;
    for (const V v : values) out.push_back(s_.graph[v.id].home == r ? v.id : in(r, [&] { return s_.on.copied(v); }).id);
    return out;
  }

  void finish() {
    if (outs_a_.empty()) {
      s_.graph.erase(node_);
      return;
    }
    s_.graph.set_region(node_, 0, regions_[0]);
    s_.graph.set_region(node_, 1, regions_[1]);
    s_.graph.region(a_).name = "then";
    s_.graph.region(b_).name = "else";
    s_.graph.set_region_outputs(a_, own(a_, outs_a_));
    s_.graph.set_region_outputs(b_, own(b_, outs_b_));
    if (s_.on.on_node) s_.on.on_node(node_);
  }

  Stager& s_;
  const Value& condition_;
  HeapMark heap_mark_{};
  GraphMark graph_mark_{};
  NodeId node_;
  std::array<RegionId, 2> regions_;
  RegionId a_, b_;
  std::vector<V> outs_a_, outs_b_;
};

void Stager::branch_on(const Value& condition, const ts::If& s) {
  const HeapMark h = heap.mark();
  const GraphMark g = graph.mark();
  Branch branch(*this, condition);
  Side then_side, else_side;
  const bool then_ok = branch.stage(s.then_block, then_side);
  const bool else_ok = branch.stage(s.else_block, else_side);
  if (!then_ok && !else_ok) {
    raised_ = true;
    return;
  }
  if (!then_ok || !else_ok) {
    // The side that raises is assumed not to be taken.
    take_back(h, g);
    sink_.note("stage.assumed", cat("assumed that the model does not raise here: ", raise_message_), here());
    block(then_ok ? s.then_block : s.else_block);
    return;
  }
  if (condition.is<Poison>()) {
    take_back(h, g);
    for (const auto* side : {&then_side, &else_side})
      for (const auto& [cell, data] : side->after) {
        const auto leaves = differing(CellId(cell), *data, heap[CellId(cell)]);
        if (!leaves || tensor_of(*data)) continue;
        for (const Leaf& leaf : *leaves) set_at(heap, leaf, condition);
      }
    return;
  }
  branch.join(then_side, else_side);
}

}  // namespace cameo::staging
