// One loop recorded as `Loop`: its carried values are what one staging of the body changes.
#include <algorithm>

#include "staging/joins/form.h"
#include "staging/joins/leaves.h"
#include "staging/joins/loop.h"
#include "staging/joins/truth.h"

namespace cameo::staging {

class LoopRecorder {
 public:
  LoopRecorder(Machine& s, const LoopToRecord& loop, bool strict)
      : s_(s),
        trip_(loop.trip),
        index_(loop.counter),
        condition_(loop.condition),
        body_(loop.body),
        strict_(strict),
        outer_(s.on.region()) {}

  void record() {
    const auto start = s_.attempt();
    const Machine::Strict strict(s_, strict_);
    stills_ = s_.heap.add(ObjectCell());
    try {
      discover();
      settle();
      finish();
    } catch (const Inexpressible&) {
      s_.take_back(start);
      throw;
    } catch (const Error& e) {
      if (e.exit_code() != 1 || e.diag().code.starts_with("budget.")) throw;
      s_.take_back(start);
      throw Inexpressible{e.diag().what, e};
    }
  }

 private:
  struct Carried {
    Leaf leaf;
    Value before;
    Form form;
    std::vector<V> in_body, results;
    std::optional<CellId>
        named;  // the cell that this name stands for where a turn begins, which may be the tensor from before the loop
    std::optional<size_t> still;  // in stills_: whether it stands for that tensor yet, where turns decide it
  };

  // What one turn changes, with the counter unknown.
  void discover() {
    const auto start = s_.attempt();
    const HeapMark mark = s_.heap.mark();
    const size_t before = s_.graph.node_capacity();
    enter();
    run_body();
    const size_t nodes = s_.graph.node_capacity() - before;
    const auto changed = changes(mark);
    s_.take_back(start);
    if (nodes == 0 && strict_) throw Inexpressible{"its body records nothing", {}};
    for (const auto& [leaf, form] : changed) add_carried(leaf, form);
  }

  // The forms of what a turn changed, as they are at its end.
  std::vector<std::pair<Leaf, Form>> changes(const HeapMark& mark) {
    std::vector<std::pair<Leaf, Form>> out;
    for (const auto& change : s_.heap.changes(mark)) {
      const CellData now = s_.heap[change.cell];
      for (const Leaf& leaf : differing(change.cell, *change.before, now)) {
        if (!assigned_at(*change.before, leaf.slot) || is_counter(leaf) || leaf.cell == stills_) continue;
        if (strict_ && !is_local(now) && !is_tensor(now))
          throw Inexpressible{"its body changes a list, dict or object", {}};
        const Value v = value_at(s_, now, leaf.slot);
        out.emplace_back(leaf, without_values(rooted(form_of(s_, v), mark)));
      }
    }
    return out;
  }

  // Tensors from before the loop that a turn leaves under this name, whole or in part.
  void note_origins(const Leaf& leaf, const Value& v, const HeapMark& mark) {
    if (!v.is<TensorRef>()) return;
    for (const auto& source : s_.memory_of(v))
      if (source.cell.index < mark.cells) new_origins_ |= origins_[leaf].insert(source.cell.index).second;
  }

  // A carried name is the tensor from before the loop while `still` says so (not valid: it is not), or one of those
  // others.
  void name_again(Carried& c, const Value& v, V still) {
    c.named.reset();
    const auto* now = v.as<TensorRef>();
    if (!now) return;
    auto cells = origins_[c.leaf];
    if (const auto* before = was_named(c); before && still.valid()) {
      if (cells.empty()) {
        s_.heap.write<TensorCell>(now->cell).ties = {s_.tied(s_.seen(*before), still, s_.read(*now))};
        c.named = now->cell;
        return;
      }
      cells.insert(before->cell.index);
    }
    std::vector<TensorCell::Source> sources;
    for (const uint32_t index : cells)
      for (const auto& source : s_.memory_of(Value(TensorRef{CellId(index), nullptr, false})))
        sources.push_back(source);
    s_.may_share_with(v, std::move(sources), "stage.write-joined", s_.another_name("the turns of a loop decide"));
  }
  // Names that a turn leaves for the same new tensor or list stand for it together, where a turn was made.
  void name_alike(const std::vector<Value>& values, V made) {
    for (const auto& [pair, whole] : alike_)
      s_.same_where(made, values[pair.first], values[pair.second], whole, "the turns of a loop decide");
  }
  void note_alike(const std::vector<Value>& after, const HeapMark& mark) {
    std::vector<std::set<uint32_t>> made;
    for (size_t i = 0; i < after.size(); ++i)
      made.push_back(is_tensor(s_.heap[carried_[i].leaf.cell]) ? std::set<uint32_t>() : s_.made_since(mark, after[i]));
    for (size_t i = 0; i < after.size(); ++i)
      for (size_t k = 0; k < i; ++k) {
        if (std::none_of(made[i].begin(), made[i].end(), [&](uint32_t cell) { return made[k].contains(cell); }))
          continue;
        const auto *a = after[i].as<TensorRef>(), *b = after[k].as<TensorRef>();
        const bool whole = a && b && a->cell == b->cell && a->view == b->view;
        const auto [it, fresh] = alike_.emplace(std::pair(i, k), whole);
        new_origins_ |= fresh || (it->second && !whole);
        it->second = it->second && whole;
      }
  }
  const TensorRef* was_named(const Carried& c) const {
    return is_tensor(s_.heap[c.leaf.cell]) ? nullptr : c.before.as<TensorRef>();
  }

  // Where a turn ends: whether a name stands for what it did when the turn began. nullopt: it may also be some other
  // tensor.
  std::optional<Value> same_as(CellId named, const TensorRef& t) {
    if (t.view)
      return s_.origins(t.cell).empty() && t.cell.index >= body_heap_.cells && t.cell != named
                 ? std::optional(Value(false))
                 : std::nullopt;
    if (t.cell == named) return Value(true);
    const auto& cell = s_.heap.get<TensorCell>(t.cell);
    if (t.cell.index < body_heap_.cells || !cell.sources.empty()) return std::nullopt;
    Value out(false);
    for (const auto& tie : std::vector(cell.ties)) {
      const ViewStep& step = *tie.maybe->step;
      const auto there = step.op == "aten::alias" && !step.parent.view && tie.maybe->condition.empty()
                             ? same_as(named, step.parent)
                             : std::nullopt;
      if (!there) return std::nullopt;
      out = either(s_, out, both(s_, *there, Value(StagedBool{tie.maybe->decided})));
    }
    return out;
  }

  // What a turn does to a name that stood for a tensor from before.
  void follow(Carried& c, const Value& after, const HeapMark& mark) {
    const auto* t = after.as<TensorRef>();
    const auto same = t && c.named ? same_as(*c.named, *t) : std::nullopt;
    if (!same) return note_origins(c.leaf, after, mark);
    if (const auto* never = same->as<bool>(); never && !*never && !c.still) return;
    if (!c.still) return untold_.push_back(c.leaf);
    const Value now = both(s_, Value(s_.heap.get<ObjectCell>(stills_).attributes[*c.still].second), *same);
    s_.heap.write<ObjectCell>(stills_).attributes[*c.still].second = now;
  }

  // Names of which only the turns tell what they stand for get a bool that is carried along.
  void track_untold() {
    for (const Leaf& leaf : untold_) {
      auto& stills = s_.heap.write<ObjectCell>(stills_).attributes;
      const Leaf still{stills_, stills.size()};
      stills.emplace_back("still", Value(true));
      std::find_if(carried_.begin(), carried_.end(), [&](const Carried& c) { return c.leaf == leaf; })->still =
          still.slot;
      carried_.push_back({still, Value(true), Form{.kind = Form::Kind::boolean}, {}, {}, {}, {}});
    }
    untold_.clear();
  }
  V still_of(const Carried& c, V otherwise) {
    return c.still ? s_.bool_value(s_.heap.get<ObjectCell>(stills_).attributes[*c.still].second) : otherwise;
  }

  // Nothing that a turn made is the same on the next: sizes are numbers then, and objects cannot be carried.
  Form rooted(Form f, const HeapMark& mark) {
    if (f.is(Form::Kind::fixed)) {
      const auto* o = f.value.as<ObjectRef>();
      if (o && o->cell.index >= mark.cells)
        f = form_of(
            s_, poison(cat("an object made in one turn of a loop is used in the next (", s_.here().describe(), ")")));
      else if (const auto* d = f.value.as<Dim>(); d && !d->is_literal()) f.kind = Form::Kind::integer;
    }
    std::erase_if(f.memory, [&](CellId cell) { return cell.index >= mark.cells; });
    for (Form& part : f.parts) part = rooted(std::move(part), mark);
    return f;
  }

  bool is_counter(const Leaf& leaf) const { return index_ && leaf == *index_; }
  bool is_condition(const Leaf& leaf) const { return condition_ && leaf == *condition_; }

  void add_carried(const Leaf& leaf, const Form& after) {
    Carried c;
    c.leaf = leaf;
    const CellData data = s_.heap[leaf.cell];
    c.before = value_at(s_, data, leaf.slot);
    c.form =
        without_values(join(s_, is_condition(leaf) ? Form{.kind = Form::Kind::boolean} : form_of(s_, c.before), after));
    if (strict_ && holds_list(c.form)) throw Inexpressible{"a list grows in its body", {}};
    carried_.push_back(std::move(c));
  }

  static bool holds_list(const Form& f) {
    return f.is(Form::Kind::staged_list) || std::any_of(f.parts.begin(), f.parts.end(), holds_list);
  }

  void enter() {
    region_ = s_.graph.add_region(outer_);
    s_.on.move_to(region_);
    counter_ = s_.graph.add_input(region_, "", Type::tensor(DType::i64, {}));
    s_.graph.add_input(region_, "", Type::tensor(DType::boolean, {}));
    if (!index_) return;
    const Dim i = s_.on.int_of(counter_);
    const FactOrigin origin{FactSource::program, "loop counter", s_.here()};
    s_.graph.facts.assume_range(i, 0, std::nullopt, origin);
    if (trip_) s_.graph.facts.assume_range(*trip_ - i, 1, std::nullopt, origin);
    set_at(s_, *index_, i);
  }

  void run_body() {
    try {
      body_();
    } catch (const Raised& r) {
      throw Inexpressible{cat("its body raises: ", r.message), {}};
    }
  }

  // Turns with carried values as the region's inputs, until their forms admit what comes out.
  void settle() {
    constexpr int most = 10;
    for (int pass = 0; pass < most; ++pass) {
      track_untold();
      const auto start = s_.attempt();
      body_heap_ = s_.heap.mark();
      body_facts_ = s_.graph.facts.mark();
      turn_.emplace(s_.conditions, Value(true), true);
      enter();
      std::vector<Value> values;
      for (Carried& c : carried_) {
        c.in_body.clear();
        for (const Type& t : graph_types(c.form, &s_.graph.dims()))
          c.in_body.push_back(bound(s_.graph.add_input(region_, "", t), t));
        std::span<const V> in = c.in_body;
        values.push_back(decode(s_, c.form, in));
        set_at(s_, c.leaf, values.back());
      }
      const V first = s_.on.Equal(counter_, s_.on.int_scalar(Dim(0)));
      for (size_t i = 0; i < carried_.size(); ++i) name_again(carried_[i], values[i], still_of(carried_[i], first));
      name_alike(values, s_.on.Not(first));
      for (const auto& [cell, why] : lost_)
        s_.doubt(CellId(cell), why);  // a turn before this one wrote it under another name
      run_body();
      if (stable(body_heap_)) return;
      auto forms = std::move(next_);
      auto more = std::move(new_);
      s_.take_back(start);
      for (size_t i = 0; i < carried_.size(); ++i) carried_[i].form = std::move(forms[i]);
      for (const auto& [leaf, form] : more) add_carried(leaf, form);
    }
    throw Inexpressible{"the types of its values keep changing", {}};
  }

  V bound(ValueId v, const Type& t) {
    if (t.has_rank())
      for (int64_t i = 0; i < t.rank(); ++i) s_.on.bind_axis((*t.shape)[static_cast<size_t>(i)], v, i);
    return v;
  }

  // Whether what the turn leaves has the forms it began with; else next_ and new_ say what it takes. Encodes the
  // results.
  bool stable(const HeapMark& mark) {
    bool all = true;
    new_origins_ = false;
    next_.clear();
    new_.clear();
    std::vector<Value> after;
    for (Carried& c : carried_)
      if (c.leaf.cell != stills_) follow(c, value_at(s_, CellData(s_.heap[c.leaf.cell]), c.leaf.slot), mark);
    for (Carried& c : carried_) {
      const CellData now = s_.heap[c.leaf.cell];
      after.push_back(value_at(s_, now, c.leaf.slot));
      Form f = without_values(join(s_, c.form, rooted(form_of(s_, after.back()), mark)));
      widen(f, c.form);
      s_.on.move_to(outer_);
      sequence_where_sizes_vary(f);
      s_.on.move_to(region_);
      all &= same_form(f, c.form) && same_layouts(f, c.form);
      next_.push_back(std::move(f));
    }
    note_alike(after, mark);
    for (const auto& [cell, why] : aftermath(s_, mark).lost) all &= !lost_.emplace(cell.index, why).second;
    for (auto& change : changes(mark))
      if (std::none_of(carried_.begin(), carried_.end(), [&](const Carried& c) { return c.leaf == change.first; }))
        new_.push_back(std::move(change));
    if (!all || !new_.empty() || new_origins_ || !untold_.empty()) return false;
    for (size_t i = 0; i < carried_.size(); ++i) {
      carried_[i].results.clear();
      encode(s_, carried_[i].form, after[i], carried_[i].results);
    }
    return true;
  }

  // A size that differs from turn to turn is any size; once so, it stays so and need not be met again.
  void widen(Form& f, const Form& before) {
    if (f.is(Form::Kind::tensor) && before.is(Form::Kind::tensor) && f.type.has_rank() && before.type.has_rank() &&
        f.type.rank() == before.type.rank())
      for (size_t i = 0; i < f.type.shape->size(); ++i) {
        Dim& d = (*f.type.shape)[i];
        const Dim was = (*before.type.shape)[i];
        if (d == was) continue;
        if (is_carried_size(was)) d = was;
        else sizes_.push_back(d = s_.graph.dims().fresh("carried"));
      }
    if (f.parts.size() == before.parts.size())
      for (size_t i = 0; i < f.parts.size(); ++i) widen(f.parts[i], before.parts[i]);
  }
  bool is_carried_size(Dim d) const { return std::find(sizes_.begin(), sizes_.end(), d) != sizes_.end(); }

  // Elements are stacked only if each turn's have the same sizes: those that the outside knows.
  void sequence_where_sizes_vary(Form& f) {
    for (Form& part : f.parts) sequence_where_sizes_vary(part);
    if (!f.is(Form::Kind::staged_list) || f.sequence) return;
    map_dims(f.parts[0], [&](Dim d) {
      if (s_.on.available(d)) return d;
      f.sequence = true;
      return s_.graph.dims().fresh("any");
    });
  }

  // A stacked list that a turn only appends to is a scan output: nothing has to be carried.
  struct Scan {
    V element;
    NodeId concat;
  };
  std::optional<Scan> scan_of(const Carried& c, size_t i) const {
    const Graph& g = s_.graph;
    const auto& uses = g[c.in_body[i].id].uses;
    const V result = c.results[i];
    if (uses.size() != 1 || !uses[0].node || g[uses[0].node].home != region_) return std::nullopt;
    const Node& concat = g[uses[0].node];
    if (!concat.is("Concat") || concat.inputs.size() != 2 || uses[0].index != 0 || concat.outputs[0] != result.id ||
        g.used(result.id))
      return std::nullopt;
    const auto& one = g[concat.inputs[1]];
    if (one.kind != ir::Value::Kind::node_output || one.home != region_ || !g[one.def].is("Unsqueeze"))
      return std::nullopt;
    return Scan{g[one.def].inputs[0], uses[0].node};
  }

  struct Out {
    Carried* carried;
    size_t index;
    V value;  // of the Loop
  };

  // What the body gives: the values it carries on, and those that it only collects.
  struct Ends {
    std::vector<Out> kept, scanned;
    std::vector<V> outputs;  // of the body: the condition, the kept, the scanned
  };

  Ends ends() {
    Graph& g = s_.graph;
    std::vector<Out> kept, scanned;
    std::vector<V> carried_out, scan_out;
    V condition;
    for (Carried& c : carried_) {
      if (is_condition(c.leaf)) {
        if (c.form.is(Form::Kind::poison) && c.form.value.is<Poison>())
          throw Inexpressible{cat("its condition: ", *c.form.value.need<Poison>().why), {}};
        if (!c.form.is(Form::Kind::boolean) || c.results.size() != 1)
          throw Inexpressible{"its condition is not a bool after each turn", {}};
        condition = c.results[0];
      }
      for (size_t i = 0; i < c.in_body.size(); ++i) {
        const auto scan = c.form.is(Form::Kind::staged_list) && !c.form.sequence ? scan_of(c, i) : std::nullopt;
        if (scan) {
          g.erase(scan->concat);
          const auto& inputs = g[region_].inputs;
          g.remove_region_input(
              region_, static_cast<size_t>(std::find(inputs.begin(), inputs.end(), c.in_body[i].id) - inputs.begin()));
          scanned.push_back({&c, i, {}});
          scan_out.push_back(scan->element);
        } else {
          kept.push_back({&c, i, {}});
          carried_out.push_back(c.results[i]);
        }
      }
    }
    if (!trip_ && !condition.valid()) throw Inexpressible{"its condition never changes", {}};
    std::vector<V> outs{trip_ ? V(g[region_].inputs[1]) : condition};
    outs.insert(outs.end(), carried_out.begin(), carried_out.end());
    outs.insert(outs.end(), scan_out.begin(), scan_out.end());
    return {std::move(kept), std::move(scanned), std::move(outs)};
  }

  void finish() {
    Graph& g = s_.graph;
    auto [kept, scanned, outs] = ends();
    const auto region_outputs = s_.own_outputs(region_, outs);
    s_.on.move_to(outer_);
    const Aftermath shared = aftermath(s_, body_heap_);
    if (trip_ && trip_->is_literal() && (!shared.lost.empty() || names_written()))
      throw Inexpressible{"it writes to a tensor that has another name in its first turn", {}};
    s_.leave(body_heap_, body_facts_);  // what holds in a turn need not hold where there is none
    turn_.reset();

    std::vector<std::vector<V>> initial(carried_.size());
    for (size_t i = 0; i < carried_.size(); ++i) encode(s_, carried_[i].form, carried_[i].before, initial[i]);
    const auto start_of = [&](const Out& o) {
      return initial[static_cast<size_t>(o.carried - carried_.data())][o.index];
    };
    std::vector<ValueId> inputs{trip_ ? s_.on.int_scalar(*trip_).id : ValueId(), ValueId()};
    for (const Out& o : kept) {
      inputs.push_back(start_of(o));
      if (is_condition(o.carried->leaf)) inputs[1] = start_of(o);
    }
    if (inputs.size() == 2 && !inputs[1]) inputs[1] = s_.bool_value(Value(true)).id;  // the schema wants two
    const bool turns = trip_ && g.facts.less(Dim(0), *trip_) == Answer::yes;
    const V none_made = turns   ? V()
                        : trip_ ? V(s_.on.LessOrEqual(s_.on.int_scalar(*trip_), s_.on.int_scalar(Dim(0))))
                                : V(s_.on.Not(V(inputs[1])));
    const NodeId loop = g.add_node(outer_, op_of<op::Loop>(), nullptr, std::move(inputs), 0);
    g.set_region(loop, 0, region_);
    g.label(region_).name = "body";
    g.set_region_outputs(region_, region_outputs);
    for (Carried& c : carried_) after_loop(c.form);
    for (Out& o : kept) o.value = add_output(loop, graph_types(o.carried->form, &g.dims())[o.index]);
    for (Out& o : scanned) {
      Type t = graph_types(o.carried->form)[o.index];
      (*t.shape)[0] = trip_ ? max(*trip_, Dim(0)) : g.dims().fresh("length");
      o.value = add_output(loop, t);
    }
    if (s_.on.on_node) s_.on.on_node(loop);
    for (Out& o : scanned)
      if (const V before = start_of(o); !s_.on.dim(before, 0).is(0)) o.value = s_.on.concat({before, o.value}, 0);
    store_results(kept, scanned, none_made);
    for (const auto& [cell, why] : shared.lost) s_.doubt(cell, why);
    for (const CellId cell : shared.certain) s_.trust(cell);
  }

  // Whether a turn wrote a tensor that has another name in the first one.
  bool names_written() const {
    return std::any_of(carried_.begin(), carried_.end(), [&](const Carried& c) {
      return c.named && s_.heap.written_since(was_named(c)->cell, body_heap_);
    });
  }

  // Sizes that differ from turn to turn are unknown outside, and not the body's symbols.
  void after_loop(Form& f) {
    map_dims(f, [&](Dim d) { return is_carried_size(d) || !s_.on.available(d) ? s_.graph.dims().fresh("loop") : d; });
  }

  V add_output(NodeId loop, const Type& t) {
    const ValueId v = s_.graph.add_output(loop);
    s_.graph.fact(v).type = t;
    return bound(v, t);
  }

  void store_results(const std::vector<Out>& kept, const std::vector<Out>& scanned, V none_made) {
    std::vector<Value> given;
    for (Carried& c : carried_) {
      std::vector<V> values(c.in_body.size());
      for (const auto* list : {&kept, &scanned})
        for (const Out& o : *list)
          if (o.carried == &c) values[o.index] = o.value;
      std::span<const V> in = values;
      given.push_back(decode(s_, c.form, in));
      set_at(s_, c.leaf, given.back());
    }
    for (size_t i = 0; i < carried_.size(); ++i) name_again(carried_[i], given[i], still_of(carried_[i], none_made));
    name_alike(given, none_made.valid() ? V(s_.on.Not(none_made)) : s_.bool_value(Value(true)));
  }

  Machine& s_;
  const Dim* trip_;
  const std::optional<Leaf>&index_, &condition_;
  const std::function<void()>& body_;
  bool strict_;
  RegionId outer_, region_;
  ValueId counter_;
  HeapMark body_heap_{};
  size_t body_facts_ = 0;
  std::optional<Conditions::Side> turn_;  // what is assumed in the body holds there only
  std::vector<Carried> carried_;
  std::vector<Form> next_;
  std::vector<std::pair<Leaf, Form>> new_;
  std::vector<Dim> sizes_;
  std::map<uint32_t, std::shared_ptr<const Doubt>> lost_;  // older tensors that a turn leaves unknown
  std::map<Leaf, std::set<uint32_t>> origins_;
  bool new_origins_ = false;
  CellId stills_;
  std::map<std::pair<size_t, size_t>, bool>
      alike_;  // carried names that a turn leaves for the same; whole: for the same tensor
  std::vector<Leaf> untold_;
};

void record_loop(Machine& s, const LoopToRecord& loop, bool strict) { LoopRecorder(s, loop, strict).record(); }

}  // namespace cameo::staging
