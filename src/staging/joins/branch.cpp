#include "staging/joins/branch.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "staging/joins/form.h"
#include "staging/joins/leaves.h"
#include "staging/joins/staged_list.h"
#include "staging/joins/truth.h"
#include "staging/memory/views.h"

namespace cameo::staging {

namespace {
struct Side {
  RegionId region;
  std::map<Leaf, Value> after;
  std::map<Leaf, TensorRef> named;          // tensors as the side names them: which ones they are, not what they hold
  std::map<Leaf, std::set<uint32_t>> made;  // tensors, lists and dicts that the side made, by whom they can be reached
  Aftermath shared;
};
}  // namespace

class Branch::Recorder {
 public:
  Recorder(Machine& s, const Value& condition) : s_(s), condition_(condition), outer_(s.on.region()) {}

  std::optional<Raised> stage(bool truth, const std::function<void()>& body) {
    Side& side = staged_[truth ? 0 : 1];
    const auto start = s_.attempt();
    const HeapMark mark = s_.heap.mark();
    const size_t facts = s_.graph.facts.mark();
    if (truth) mark_ = mark;  // before both
    side.region = s_.graph.add_region(outer_);
    s_.on.move_to(side.region);
    try {
      const Conditions::Side known(s_.conditions, condition_, truth);
      body();
    } catch (const Raised& r) {
      Raised raised = r;
      s_.take_back(start);
      return raised;
    }
    side.shared = aftermath(s_, mark);
    for (const auto& change : s_.heap.changes(mark)) {
      const CellData now = s_.heap[change.cell];
      for (const Leaf& leaf : differing(change.cell, *change.before, now)) {
        const Value v = value_at(s_, now, leaf.slot);
        if (const auto* t = v.as<TensorRef>(); t && !is_tensor(now)) side.named.emplace(leaf, *t);
        if (!is_tensor(now)) side.made.emplace(leaf, s_.made_since(mark, v));
        side.after.emplace(leaf, settled(s_, v, mark, outer_));
      }
    }
    s_.on.move_to(outer_);
    s_.leave(mark, facts);
    return std::nullopt;
  }

  void join() {
    const auto& [a, b] = staged_;
    sides_ = {a.region, b.region};
    made_ = {&a.made, &b.made};
    after_ = {&a.after, &b.after};
    named_ = {&a.named, &b.named};
    each_changed([&](const Leaf& leaf, const Value& x, const Value& y) { add(leaf, x, y); });
    finish();
    for (const Side* side : {&a, &b})
      for (const auto& [cell, why] : side->shared.lost) s_.doubt(cell, why);
    for (const Side* side : {&a, &b}) {
      const Aftermath& other = (side == &a ? b : a).shared;
      for (const CellId cell : side->shared.certain)
        if (std::find(other.certain.begin(), other.certain.end(), cell) != other.certain.end() || other.lost.empty())
          s_.trust(cell);
    }
  }

  void lose(const Poison& condition) {
    const auto why = std::make_shared<const Doubt>(Doubt{"stage.unavailable", *condition.why});
    for (const Side& side : staged_)
      for (const auto& [leaf, value] : side.after)
        if (is_tensor(s_.heap[leaf.cell])) s_.doubt(leaf.cell, why);
        else set_at(s_, leaf, Value(condition));
  }

  bool ranks_differ() {
    bool differ = false;
    each_changed([&](const Leaf&, const Value& x, const Value& y) {
      const auto *s = x.as<TensorRef>(), *t = y.as<TensorRef>();
      if (!s || !t) return;
      const V v = s_.read(s_.now(*s)), w = s_.read(s_.now(*t));
      differ = differ || (s_.on.has_rank(v) && s_.on.has_rank(w) && s_.on.rank(v) != s_.on.rank(w));
    });
    return differ;
  }

 private:
  template <class F>
  void each_changed(F f) {
    const auto& [a, b] = staged_;
    std::map<Leaf, std::pair<const Value*, const Value*>> changed;
    for (const auto& [leaf, value] : a.after) changed[leaf].first = &value;
    for (const auto& [leaf, value] : b.after) changed[leaf].second = &value;
    for (const auto& [leaf, pair] : changed) {
      const CellData now = s_.heap[leaf.cell];
      // A name that gets a value on only one side is not read after the if.
      if ((!pair.first || !pair.second) && is_local(now) && !assigned_at(now, leaf.slot)) continue;
      const auto before = [&, slot = leaf.slot] { return value_at(s_, now, slot); };
      f(leaf, pair.first ? *pair.first : before(), pair.second ? *pair.second : before());
    }
  }

  struct Joined {
    Leaf leaf;
    Form form;
    Value a, b;
    size_t first = 0;
    std::array<Value, 2> raw = {};  // as the sides name it; a and b hold what it is at their ends
  };

  template <class F>
  auto in(size_t side, F f) {
    s_.on.move_to(sides_[side]);
    auto result = f();
    s_.on.move_to(outer_);
    return result;
  }

  // The tensor that a name stands for after a side, if it was there before the if.
  std::optional<TensorRef> older(const Leaf& leaf, size_t side, const Value& v) const {
    const auto it = named_[side]->find(leaf);
    const auto* t = it == named_[side]->end() ? v.as<TensorRef>() : &it->second;
    return t && t->cell.index < mark_.cells ? std::optional(*t) : std::nullopt;
  }

  void add(const Leaf& leaf, const Value& a, const Value& b) {
    if (same(a, b)) return set_at(s_, leaf, a);
    if (const auto x = older(leaf, 0, a), y = older(leaf, 1, b);
        x && y && !is_tensor(s_.heap[leaf.cell]) && same(Value(*x), Value(*y)))
      return set_at(s_, leaf, Value(*x));
    // A name that the other side leaves without a value: the very tensor, not a copy.
    for (const size_t side : {0, 1})
      if ((side == 0 ? b : a).is<Uninitialized>() && !is_tensor(s_.heap[leaf.cell]))
        if (const auto t = older(leaf, side, side == 0 ? a : b); t && !t->view) return set_at(s_, leaf, Value(*t));
    if (a.is<Uninitialized>() && outside(b)) return set_at(s_, leaf, b);
    if (b.is<Uninitialized>() && outside(a)) return set_at(s_, leaf, a);
    const auto left_by = [&](size_t side, const Value& v) {
      return in(side, [&] {
        const size_t facts = s_.graph.facts.mark();
        const Conditions::Side known(s_.conditions, condition_, side == 0);
        Value now = as_left_by(side, v);
        s_.graph.facts.rewind(facts);
        return now;
      });
    };
    const Value x = left_by(0, a), y = left_by(1, b);
    add_joined(leaf, x, y);
    joined_.back().raw = {a, b};
  }

  // What a side left in a cell that was there before; null: what it found.
  const Value* changed(size_t side, CellId cell) const {
    const auto it = cell.index < mark_.cells ? after_[side]->find(Leaf{cell, 0}) : after_[side]->end();
    return it == after_[side]->end() ? nullptr : &it->second;
  }
  // Whether a side wrote to a tensor, also under another name that it has or may have.
  bool written_by(size_t side, CellId cell) const {
    const auto others = s_.origins(cell);
    return changed(side, cell) ||
           std::any_of(others.begin(), others.end(), [&](const auto& o) { return changed(side, o.cell); });
  }
  // A tensor that is not available at a side's end: the side lost it, or wrote to memory that it may share.
  std::optional<Value> lost_by(size_t side, CellId cell) const {
    if (const Value* now = changed(side, cell)) return now->is<TensorRef>() ? std::nullopt : std::optional(*now);
    if (const Doubt* before = s_.doubt_about(cell)) return poison(before->why);
    const auto& t = s_.heap.get<TensorCell>(cell);
    for (const auto& source : t.sources)
      if (written_by(side, source.cell)) return poison(t.shares->why);
    for (const auto& tie : t.ties)
      if (auto lost = lost_by(side, tie.maybe->step->parent.cell)) return lost;
    return std::nullopt;
  }
  // What a tensor's memory holds at a side's end.
  V left_value(size_t side, CellId cell) {
    if (const Value* now = changed(side, cell)) return s_.read(now->need<TensorRef>());
    if (!written_by(side, cell)) return s_.value_of(cell);
    const TensorCell t = s_.heap.get<TensorCell>(cell);
    V value = t.value;
    for (const TensorCell::Tie& tie : t.ties) {
      const CellId parent = tie.maybe->step->parent.cell;
      if (s_.version_of(parent) == tie.seen && !written_by(side, parent)) continue;
      value = s_.where_tied(
          *tie.maybe, [&] { return through(tie.maybe->step.get(), left_value(side, parent)); }, value);
    }
    return value;
  }

  // What a value that was there before holds at a side's end, where the side changed it.
  Value as_left_by(size_t side, const Value& v) {
    const Machine::Part part_of(s_);
    if (const auto* l = v.as<ListRef>()) {
      if (const Value* now = changed(side, l->cell)) return *now;
      ListCell cell = s_.heap.get<ListCell>(l->cell);
      if (cell.staged) {
        for (const auto& source : cell.staged->sources)
          if (written_by(side, source.cell))
            return poison(cat("a list whose length depends on the inputs holds tensors that one side of an if wrote (",
                              s_.here().describe(), ")"));
        return v;
      }
      bool other = false;
      for (Value& item : cell.items) other |= left_otherwise(side, item);
      if (other) return Value(ListRef{s_.heap.add(std::move(cell))});
    } else if (const auto* d = v.as<DictRef>()) {
      if (const Value* now = changed(side, d->cell)) return *now;
      DictCell cell = s_.heap.get<DictCell>(d->cell);
      bool other = false;
      for (auto& [key, item] : cell.entries) other |= left_otherwise(side, item);
      if (other) return Value(DictRef{s_.heap.add(std::move(cell))});
    } else if (const auto* t = v.as<TensorRef>()) {
      if (t->cell.index >= mark_.cells || !written_by(side, t->cell)) return v;
      if (const auto lost = lost_by(side, t->cell)) return *lost;
      return s_.tensor(through(t->view.get(), left_value(side, t->cell)), "", s_.layout_of(*t));
    } else if (const auto* parts = v.as<Tuple>()) {
      std::vector<Value> all;
      for (const Value& p : *parts->items) all.push_back(as_left_by(side, p));
      return Value::tuple(std::move(all), parts->named);
    } else if (const auto* m = v.as<Maybe>()) {
      return Value(Maybe{m->present, std::make_shared<const Value>(as_left_by(side, *m->value))});
    }
    return v;
  }
  bool left_otherwise(size_t side, Value& v) {
    const Value now = as_left_by(side, v);
    const bool other = !same(now, v);
    v = now;
    return other;
  }
  V through(const ViewStep* step, V base) {
    return step ? derive(s_, *step, through(step->parent.view.get(), base)) : base;
  }

  std::optional<CellId> older_list(const Value& v) const {
    const auto cell = container_of(v);
    return cell && cell->index < mark_.cells ? cell : std::nullopt;
  }

  void add_joined(const Leaf& leaf, const Value& a, const Value& b) {
    Form fa = in(0, [&] { return form_of(s_, a); }), fb = in(1, [&] { return form_of(s_, b); });
    Form f = without_values(staging::join(s_, localised(std::move(fa)), localised(std::move(fb))));
    // Sizes that exist only on one side are not known outside.
    map_dims(f, [&](Dim d) { return s_.on.available(d) ? d : s_.graph.dims().fresh("if"); });
    Joined j{leaf, std::move(f), a, b, outs_[0].size()};
    in(0, [&] {
      encode(s_, j.form, a, outs_[0]);
      return 0;
    });
    in(1, [&] {
      encode(s_, j.form, b, outs_[1]);
      return 0;
    });
    for (Type& t : graph_types(j.form, &s_.graph.dims())) types_.push_back(std::move(t));
    joined_.push_back(std::move(j));
  }

  // A value that only one side sets, and that is there without it.
  bool outside(const Value& v) {
    if (const auto* t = v.as<TensorRef>()) return !t->view && s_.graph.is_inside(outer_, s_.graph[s_.read(*t).id].home);
    if (const auto* d = v.as<Dim>()) return s_.on.available(*d);
    if (const auto* f = v.as<StagedFloat>()) return s_.graph.is_inside(outer_, s_.graph[f->value.id].home);
    if (const auto* f = v.as<StagedBool>()) return s_.graph.is_inside(outer_, s_.graph[f->value.id].home);
    return v.is_number() || v.is<std::string>() || v.is_none();
  }

  // A fixed size that the outside cannot compute is a number of this side.
  Form localised(Form f) {
    if (f.is(Form::Kind::fixed) && f.value.is<Dim>() && !s_.on.available(f.value.need<Dim>())) {
      f.kind = Form::Kind::integer;
      f.value = Value();
    }
    for (Form& part : f.parts) part = localised(std::move(part));
    return f;
  }

  // Numbers between which nothing is computed need no branch.
  bool selects_only() const {
    for (const RegionId r : sides_)
      if (s_.graph[r].first) return false;
    return std::all_of(types_.begin(), types_.end(),
                       [](const Type& t) { return t.is_tensor() && t.has_rank() && t.rank() == 0; });
  }

  std::vector<V> emit() {
    std::vector<V> out;
    if (selects_only()) {
      for (size_t i = 0; i < types_.size(); ++i)
        out.push_back(chosen(s_.on, s_.bool_value(condition_), outs_[0][i], outs_[1][i]));
      return out;
    }
    return s_.if_of(s_.bool_value(condition_), sides_, outs_, types_);
  }

  void finish() {
    std::vector<V> values;
    std::vector<Value> given;
    if (!types_.empty()) values = emit();
    for (const RegionId side : sides_)
      if (!s_.graph[side].owner) s_.graph.kill_region(side);  // no node was made of it, and its uses must not be found
    for (Joined& j : joined_) {
      std::span<const V> in = std::span<const V>(values).subspan(j.first);
      const Value v = decode(s_, j.form, in);
      set_at(s_, j.leaf, v);
      given.push_back(v);
    }
    // After all of them have their values: what is remembered holds from here on.
    for (size_t i = 0; i < joined_.size(); ++i) remember(joined_[i], given[i]);
    for (size_t i = 0; i < joined_.size(); ++i)
      for (size_t k = 0; k < i; ++k)
        for (const size_t side : {0, 1}) share_made(side, i, k, given);
  }

  // Bools keep what they say about sizes; tensors keep whose memory they may share.
  void remember(const Joined& j, const Value& v) {
    if (const auto* joined = v.as<StagedBool>(); joined && condition_.is<StagedBool>()) {
      const V c = condition_.need<StagedBool>().value;
      const auto *a = j.a.as<StagedBool>(), *b = j.b.as<StagedBool>();
      const auto *known_a = j.a.as<bool>(), *known_b = j.b.as<bool>();
      if (a && known_b && !*known_b) s_.conditions.remember(joined->value, {"and", {}, {}, c, a->value});
      if (b && known_a && *known_a) s_.conditions.remember(joined->value, {"or", {}, {}, c, b->value});
    }
    if (const auto joined = container_of(v); joined && !std::holds_alternative<ListCell>(s_.heap[j.leaf.cell]) &&
                                             !std::holds_alternative<DictCell>(s_.heap[j.leaf.cell]))
      for (const Value& side : j.raw)
        if (const auto old = older_list(side)) s_.twin(*joined, *old);
    if (!is_tensor(s_.heap[j.leaf.cell]) && (!v.is<TensorRef>() || !tie(j, v))) {
      std::vector<TensorCell::Source> sources;
      for (const Value* side : {&j.a, &j.b, &j.raw[0], &j.raw[1]})
        for (const auto& from : s_.memory_of(*side))
          if (from.cell.index < mark_.cells) sources.push_back({from.cell, s_.version_of(from.cell)});
      s_.may_share_with(v, std::move(sources), "stage.write-joined", s_.another_name("an if decides"));
    }
  }

  // Two names that reach the same new tensor or list after a side: what is written under one is read under the other.
  void share_made(size_t side, size_t i, size_t k, const std::vector<Value>& given) {
    const auto x = made_[side]->find(joined_[i].leaf), y = made_[side]->find(joined_[k].leaf);
    if (x == made_[side]->end() || y == made_[side]->end()) return;
    if (std::none_of(x->second.begin(), x->second.end(), [&](uint32_t cell) { return y->second.contains(cell); }))
      return;
    const auto s = named_[side]->find(joined_[i].leaf), t = named_[side]->find(joined_[k].leaf);
    const bool whole = s != named_[side]->end() && t != named_[side]->end() && s->second.cell == t->second.cell &&
                       s->second.view == t->second.view;
    const auto* c = condition_.as<StagedBool>();
    s_.same_where(!c ? V() : side == 0 ? c->value : V(s_.on.Not(c->value)), given[i], given[k], whole, "an if decides");
  }

  // A name that means an older tensor after one side: the condition decides whether a write reaches it. False: not
  // possible, because sizes differ or one side's view is made of what that side computed.
  bool tie(const Joined& j, const Value& v) {
    if (!condition_.is<StagedBool>()) return false;
    const V own = s_.read(v.need<TensorRef>());
    std::vector<TensorCell::Tie> ties;
    const V c = condition_.need<StagedBool>().value;
    for (const size_t side : {0, 1}) {
      const Value& value = side == 0 ? j.a : j.b;
      const auto t = older(j.leaf, side, j.raw[side]);
      const auto* made = value.as<TensorRef>();
      if (!t) {
        if (!made || !s_.origins(made->cell).empty()) return false;
        continue;
      }
      const auto step = seen_from_outside(*t);
      if (!step || s_.doubt_about(t->cell)) return false;
      ties.push_back(s_.tied(step, side == 0 ? c : V(s_.on.Not(c)), own));
    }
    s_.heap.write<TensorCell>(v.need<TensorRef>().cell).ties = std::move(ties);
    return true;
  }

  // The steps by which a tensor is seen in its memory, if they can be made again outside; null: they cannot.
  std::shared_ptr<ViewStep> seen_from_outside(const TensorRef& t) {
    for (const ViewStep* step = t.view.get(); step; step = step->parent.view.get())
      if (!always_there(*step) ||
          !std::all_of(step->args.begin(), step->args.end(), [&](const Arg& a) { return is_outside(a); }))
        return nullptr;
    return s_.seen(t);
  }
  // Whether a view can be taken whichever side runs: outside of its branch an index may lie outside, a size not be 1.
  bool always_there(const ViewStep& step) {
    static constexpr std::string_view names[] = {"aten::alias",     "aten::detach",  "aten::slice",    "aten::t",
                                                 "aten::transpose", "aten::permute", "aten::unsqueeze"};
    const auto op = std::string_view(step.op).substr(0, step.op.find('.'));
    if (std::find(std::begin(names), std::end(names), op) != std::end(names)) return true;
    if (op != "aten::select" || step.args.size() < 2) return false;
    const auto *axis = step.args[0].as<Dim>(), *index = step.args[1].as<Dim>();
    if (!axis || !axis->is_literal() || !index || !index->is_literal()) return false;
    const V parent = s_.read(step.parent);
    const Dim least = index->literal() < 0 ? Dim(-index->literal()) : *index + Dim(1);
    return s_.graph.facts.less_equal(least, s_.on.dim(parent, axis->literal())) == Answer::yes;
  }
  bool is_outside(const Arg& a) {
    if (const auto* d = a.as<Dim>()) return s_.on.available(*d);
    if (const auto* parts = a.as<ArgList>())
      return std::all_of((*parts)->begin(), (*parts)->end(), [&](const Arg& p) { return is_outside(p); });
    if (const auto* v = a.as<V>()) return s_.graph.is_inside(outer_, s_.graph[v->id].home);
    return !a.as<StagedFloat>() && !a.as<StagedBool>();
  }

  Machine& s_;
  const Value& condition_;
  RegionId outer_;
  HeapMark mark_{};
  std::array<Side, 2> staged_;
  Machine::Sides sides_;
  std::array<std::vector<V>, 2> outs_;
  std::vector<Type> types_;
  std::vector<Joined> joined_;
  std::array<const std::map<Leaf, TensorRef>*, 2> named_{};
  std::array<const std::map<Leaf, std::set<uint32_t>>*, 2> made_{};
  std::array<const std::map<Leaf, Value>*, 2> after_{};
};

Branch::Branch(Machine& s, const Value& condition) : recorder_(std::make_unique<Recorder>(s, condition)) {}
Branch::~Branch() = default;
std::optional<Raised> Branch::stage(bool truth, const std::function<void()>& body) {
  return recorder_->stage(truth, body);
}
bool Branch::ranks_differ() { return recorder_->ranks_differ(); }
void Branch::join() { recorder_->join(); }
void Branch::lose(const Poison& condition) { recorder_->lose(condition); }

Value chosen(Machine& s, const Value& truth, const Value& a, const Value& b) {
  if (truth.is<Poison>() || same(a, b)) return same(a, b) ? a : truth;
  if (const auto known = s.known_bool(truth)) return *known ? a : b;
  const Value place = s.list({Value(Uninitialized{})});
  const CellId cell = place.need<ListRef>().cell;
  Branch branch(s, truth);
  branch.stage(true, [&] { s.heap.write<ListCell>(cell).items = {a}; });
  branch.stage(false, [&] { s.heap.write<ListCell>(cell).items = {b}; });
  branch.join();
  const ListCell& out = s.heap.get<ListCell>(cell);
  if (out.poison) return poison(*out.poison);
  return out.items[0];
}

}  // namespace cameo::staging
