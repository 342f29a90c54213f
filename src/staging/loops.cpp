// Loops. A known count may be unrolled; else, and by default where the body changes tensors and numbers alone, the
// loop is recorded as `Loop`: its carried values are what one staging of the body changes.
#include <algorithm>

#include "staging/leaves.h"

namespace cameo::staging {

// Thrown inside an attempt: this loop cannot be a Loop, and why.
struct Inexpressible {
  std::string why;
};

class LoopStager {
 public:
  // `trip` is null for a while loop, whose condition is the local in `condition_slot`.
  LoopStager(Stager& s, const Dim* trip, const ts::Target* index, int32_t condition_slot, ts::Block body)
      : s_(s), trip_(trip), index_(index), condition_slot_(condition_slot), body_(body) {}

  // True: recorded. Throws Inexpressible with everything taken back.
  bool record() {
    const HeapMark h = s_.heap.mark();
    const GraphMark g = s_.graph.mark();
    try {
      discover();
      for (int pass = 0; pass < 6; ++pass) {
        if (stage_body()) {
          finish();
          return true;
        }
        s_.take_back(body_heap_, body_graph_);
      }
      throw Inexpressible{"the types of its values do not settle"};
    } catch (const Inexpressible&) {
      s_.on.move_to(outer_);
      s_.raised_ = false;
      s_.take_back(h, g);
      throw;
    }
  }

 private:
  struct Carried {
    Leaf leaf;
    Value before;
    V initial;
    Type type;
    ValueId in_body;
    bool is_condition = false;
  };

  // What one turn changes, with the counter unknown.
  void discover() {
    outer_ = s_.on.region();
    const HeapMark h = s_.heap.mark();
    const GraphMark g = s_.graph.mark();
    const RegionId region = s_.graph.add_region(outer_);
    s_.on.move_to(region);
    start_turn(region);
    run_body();
    s_.on.move_to(outer_);
    const size_t nodes = s_.graph.node_capacity() - g.nodes;
    std::vector<Leaf> leaves;
    for (const auto& change : s_.heap.changes(h)) {
      if (std::holds_alternative<ListCell>(*change.before) || std::holds_alternative<DictCell>(*change.before)) throw Inexpressible{"its body changes a list or dict"};
      const auto found = differing(change.cell, *change.before, s_.heap[change.cell]);
      if (!found) throw Inexpressible{"its body changes the structure of an object"};
      for (const Leaf& leaf : *found)
        if (assigned_at(*change.before, leaf.slot)) leaves.push_back(leaf);
    }
    if (nodes == 0 && trip_ && trip_->is_literal()) throw Inexpressible{"its body records nothing"};
    s_.take_back(h, g);
    for (const Leaf& leaf : leaves) add_carried(leaf);
  }

  void add_carried(const Leaf& leaf) {
    Carried c;
    c.leaf = leaf;
    const CellData& data = s_.heap[leaf.cell];
    if (const auto* t = tensor_of(data)) c.initial = t->value;
    else {
      c.before = value_at(data, leaf.slot);
      if (index_ && leaf.cell == s_.frames_.back() && leaf.slot == static_cast<size_t>(index_->slot)) return;
      c.is_condition = !trip_ && leaf.cell == s_.frames_.back() && leaf.slot == static_cast<size_t>(condition_slot_);
      c.initial = as_tensor(c.before);
    }
    c.type = s_.on.fact(c.initial).type;
    if (is_complex(c.type.elem)) throw Inexpressible{"it carries complex numbers"};
    carried_.push_back(std::move(c));
  }

  V as_tensor(const Value& v) {
    if (const auto* t = v.as<TensorRef>()) return s_.read(*t);
    if (const auto* d = v.as<Dim>()) return s_.on.int_scalar(*d);
    if (v.is<bool>() || v.is<StagedBool>()) return s_.bool_value(v);
    if (v.is<double>() || v.is<StagedFloat>()) return s_.on.scalar(Num(s_.to_arg(v)), DType::f64);
    throw Inexpressible{cat("a ", v.kind(), " is carried from turn to turn")};
  }

  Value from_tensor(const Value& like, ValueId v) {
    if (like.is<TensorRef>()) return s_.tensor(v);
    if (like.is<Dim>()) return s_.on.int_of(v);
    if (like.is<bool>() || like.is<StagedBool>()) return Value(StagedBool{v});
    return Value(StagedFloat{v});
  }

  void start_turn(RegionId region) {
    const ValueId counter = s_.graph.add_input(region, "", Type::tensor(DType::i64, {}));
    s_.graph.add_input(region, "", Type::tensor(DType::boolean, {}));
    if (index_) {
      const Dim i = s_.on.int_of(counter);
      s_.graph.facts.assume_range(i, 0, std::nullopt, {FactSource::program, "loop counter", s_.here()});
      s_.store(*index_, i);
    }
  }

  void run_body() {
    s_.block(body_);
    if (s_.raised_) throw Inexpressible{"its body raises"};
  }

  // One turn with carried values as the region's inputs. False: a type had to be widened.
  bool stage_body() {
    body_heap_ = s_.heap.mark();
    body_graph_ = s_.graph.mark();
    region_ = s_.graph.add_region(outer_);
    s_.on.move_to(region_);
    start_turn(region_);
    for (Carried& c : carried_) {
      c.in_body = s_.graph.add_input(region_, "", c.type);
      if (c.type.has_rank())
        for (int64_t i = 0; i < c.type.rank(); ++i) s_.on.bind_axis((*c.type.shape)[static_cast<size_t>(i)], c.in_body, i);
      assign(c, c.in_body);
    }
    run_body();
    results_.clear();
    for (const Carried& c : carried_) results_.push_back(current(c));
    s_.on.move_to(outer_);
    check_no_new_changes();
    bool stable = true;
    for (size_t i = 0; i < carried_.size(); ++i) stable &= widen(carried_[i].type, s_.on.fact(results_[i]).type);
    return stable;
  }

  void check_no_new_changes() {
    for (const auto& change : s_.heap.changes(body_heap_)) {
      const auto found = differing(change.cell, *change.before, s_.heap[change.cell]);
      if (!found) throw Inexpressible{"its body changes the structure of an object"};
      for (const Leaf& leaf : *found) {
        const bool known = !assigned_at(*change.before, leaf.slot) ||
                           std::any_of(carried_.begin(), carried_.end(), [&](const Carried& c) { return c.leaf.cell == leaf.cell && c.leaf.slot == leaf.slot; }) ||
                           (index_ && leaf.cell == s_.frames_.back() && leaf.slot == static_cast<size_t>(index_->slot));
        if (!known) throw Inexpressible{"its body changes other values on later turns"};
      }
    }
  }

  // Makes `t` admit `result`: a dim that differs becomes a fresh symbol at once. True when nothing had to change.
  bool widen(Type& t, const Type& result) {
    if (t.elem != result.elem || t.has_rank() != result.has_rank() || (t.has_rank() && t.rank() != result.rank()))
      throw Inexpressible{cat("a value changes its type from ", t.text(), " to ", result.text())};
    bool same_dims = true;
    for (int64_t i = 0; t.has_rank() && i < t.rank(); ++i) {
      Dim& d = (*t.shape)[static_cast<size_t>(i)];
      if (d == (*result.shape)[static_cast<size_t>(i)]) continue;
      // A fresh symbol of an earlier pass need not be met again: any size may come.
      if (is_fresh_symbol(d)) continue;
      d = s_.graph.dims().fresh("carried");
      fresh_.push_back(d);
      same_dims = false;
    }
    return same_dims;
  }

  bool is_fresh_symbol(Dim d) const { return std::find(fresh_.begin(), fresh_.end(), d) != fresh_.end(); }

  void assign(const Carried& c, ValueId v) {
    if (tensor_of(s_.heap[c.leaf.cell])) {
      auto& cell = s_.heap.write<TensorCell>(c.leaf.cell);
      cell.value = v;
      ++cell.version;
    } else set_at(s_.heap, c.leaf, from_tensor(c.before, v));
  }

  V current(const Carried& c) {
    const CellData& data = s_.heap[c.leaf.cell];
    if (const auto* t = tensor_of(data)) return t->value;
    return as_tensor(value_at(data, c.leaf.slot));
  }

  void finish() {
    std::vector<ValueId> outs;
    V condition;
    for (size_t i = 0; i < carried_.size(); ++i)
      if (carried_[i].is_condition) condition = results_[i];
    s_.on.move_to(region_);
    const auto own = [&](V v) { return s_.graph[v.id].home == region_ && s_.graph[v.id].kind == cameo::Value::Kind::node_output ? v : s_.on.copied(v); };
    outs.push_back(trip_ ? own(s_.graph[region_].inputs[1]) : own(condition));
    for (const V v : results_) outs.push_back(own(v));
    s_.on.move_to(outer_);
    s_.heap.rewind(body_heap_);
    ++s_.generation_;

    ValueId first_condition;
    std::vector<ValueId> inputs;
    if (trip_) inputs = {s_.on.int_scalar(*trip_).id, ValueId()};
    else {
      for (const Carried& c : carried_)
        if (c.is_condition) first_condition = c.initial;
      if (!first_condition) throw Inexpressible{"its condition never changes"};
      inputs = {ValueId(), first_condition};
    }
    for (const Carried& c : carried_) inputs.push_back(c.initial);
    const NodeId loop = s_.graph.add_node(outer_, op_of<op::Loop>(), nullptr, std::move(inputs), 0);
    s_.graph.set_region(loop, 0, region_);
    s_.graph.region(region_).name = "body";
    s_.graph.set_region_outputs(region_, outs);
    for (const Carried& c : carried_) {
      const ValueId v = s_.graph.add_output(loop);
      Type t = c.type;
      // Sizes that differ from turn to turn are unknown outside, and not the body's symbols.
      for (int64_t i = 0; t.has_rank() && i < t.rank(); ++i)
        if (Dim& d = (*t.shape)[static_cast<size_t>(i)]; is_fresh_symbol(d)) d = s_.graph.dims().fresh("loop");
      s_.graph.fact(v).type = t;
      for (int64_t i = 0; t.has_rank() && i < t.rank(); ++i) s_.on.bind_axis((*t.shape)[static_cast<size_t>(i)], v, i);
      assign(c, v);
    }
    if (s_.on.on_node) s_.on.on_node(loop);
  }

  Stager& s_;
  const Dim* trip_;
  const ts::Target* index_;
  int32_t condition_slot_;
  ts::Block body_;
  RegionId outer_, region_;
  HeapMark body_heap_{};
  GraphMark body_graph_{};
  std::vector<Carried> carried_;
  std::vector<V> results_;
  std::vector<Dim> fresh_;
};

void Stager::for_range(const ts::For& s) {
  const Value counted = eval(*s.count);
  if (counted.is<Poison>()) return;
  const Dim count = int_from(counted);
  const bool known = count.is_literal();
  if (known && count.literal() <= 0) return;
  if (!known || !options.unroll) {
    try {
      if (!known || count.literal() > 1) {
        LoopStager(*this, &count, &s.target, -1, s.body).record();
        return;
      }
    } catch (const Inexpressible& e) {
      if (!known) fail("stage.loop", cat("a loop whose count depends on the inputs cannot be expressed: ", e.why), "give the sizes it depends on as numbers");
    }
  }
  const uint32_t before = graph.node_capacity();
  for (int64_t i = 0; i < count.literal() && !raised_; ++i) {
    store(s.target, Dim(i));
    block(s.body);
    if (!options.unroll && graph.node_capacity() - before > options.max_unrolled_nodes && i == 0) sink_.note("stage.unrolled", cat("a loop of ", count.literal(), " turns is unrolled"), here());
  }
}

void Stager::while_loop(const ts::While& s) {
  const auto* name_expr = s.condition->as<ts::Name>();
  for (;;) {
    const Value condition = eval(*s.condition);
    if (condition.is<Poison>()) return;
    const auto known = known_bool(condition);
    if (known && !*known) return;
    const HeapMark h = heap.mark();
    const GraphMark g = graph.mark();
    if (known) {
      // A turn that leaves the condition known is simply run.
      block(s.body);
      if (raised_ || known_bool(eval(*s.condition))) {
        if (raised_) return;
        continue;
      }
      take_back(h, g);
    }
    if (!name_expr || name_expr->slot < 0) fail("stage.loop", "a while loop on this condition cannot be expressed");
    try {
      LoopStager(*this, nullptr, nullptr, name_expr->slot, s.body).record();
      return;
    } catch (const Inexpressible& e) {
      fail("stage.loop", cat("a while loop whose condition depends on the inputs cannot be expressed: ", e.why));
    }
  }
}

}  // namespace cameo::staging
