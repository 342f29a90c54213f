#include "engine/compiler.h"

#include <algorithm>
#include <utility>

#include "engine/emit.h"
#include "engine/deferred_constants.h"
#include "engine/parallel.h"
#include "engine/work.h"
#include "ops/custom.h"
#include "ops/gate.h"
#include "ops/op_def.h"
#include "support/error.h"

namespace cameo::engine {

std::vector<ValueId> captured_values(const Graph& g, RegionId region) {
  std::vector<ValueId> out;
  std::set<ValueId> seen;
  std::vector<RegionId> open{region};
  const auto see = [&](ValueId v) {
    if (v && !seen.contains(v) && !g.is_inside(g[v].home, region)) seen.insert(v), out.push_back(v);
  };
  while (!open.empty()) {
    const RegionId r = open.back();
    open.pop_back();
    if (!r) continue;
    for (const NodeId inner : g.nodes(r)) {
      for (const ValueId v : g[inner].inputs) see(v);
      open.insert(open.end(), g[inner].regions.begin(), g[inner].regions.end());
    }
    for (const ValueId v : g[r].outputs) see(v);
  }
  return out;
}

Compiler::Compiler(std::shared_ptr<const Graph> graph, Store& store, const CompileOptions& options)
    : graph_(std::move(graph)),
      g_(*graph_),
      store_(store),
      options_(options),
      plan_(std::make_unique<Plan>()),
      values_(g_.value_capacity()),
      done_(g_.node_capacity(), false),
      later_(g_.value_capacity(), false) {
  plan_->graph = graph_;
}

namespace {

// Below this a few sizes can be added and multiplied by what an element takes; no machine has as much.
constexpr int64_t most_elements = int64_t{1} << 44;

void check_bytes(DType dtype, const std::vector<int64_t>& dims) {
  if (dtype != DType::string && element_count(dims) > most_elements)
    throw error("run.memory", cat("a value of ", element_count(dims), " elements does not fit into any memory"));
}

}  // namespace

const Desc* Compiler::desc(ValueId v) const {
  Known& k = values_[v.index];
  if (!k.looked) {
    k.looked = true;
    const Type& t = g_[v].fact.type;
    if (t.is_tensor() && t.has_rank() && t.elem != DType::undefined) {
      if (auto dims = known_shape(*t.shape)) {
        check_bytes(t.elem, *dims);
        k.desc = Desc{t.elem, std::move(*dims), nullptr};
      }
    }
  }
  return k.desc ? &*k.desc : nullptr;
}

bool Compiler::is_f32(ValueId v) const {
  const Desc* d = v ? desc(v) : nullptr;
  return d && d->dtype == DType::f32 && d->count() > 0;
}

bool Compiler::is_constant(ValueId v) const {
  return v && (g_.is_constant(v) || g_[v].fact.tensor() || deferred_constant(g_, v));
}

std::optional<Tensor> Compiler::constant(ValueId v) {
  if (!v) return std::nullopt;
  if (const Tensor* t = g_[v].fact.tensor()) return *t;
  return known(g_, v);
}

std::optional<float> Compiler::scalar(ValueId v) {
  if (!is_constant(v) || !is_f32(v) || desc(v)->count() != 1) return std::nullopt;
  return static_cast<float>(constant(v)->double_at(0));
}

bool Compiler::ready(ValueId v) const { return v && (values_[v.index].slot != no_slot || is_constant(v)); }

std::string Compiler::key(ValueId v, std::string_view what) const {
  const ValueId base = options_.base.of(v);
  return base && (g_[v].kind == Value::Kind::initializer || deferred_constant(g_, v)) ? cat(base.index, ":", what) : "";
}

Tensor Compiler::shared_deferred(ValueId v) {
  const std::string name = key(v, "deferred");
  if (name.empty()) return *constant(v);
  const Bytes bytes = store_.get(name, [&] { return constant(v)->reshaped(desc(v)->dims).bytes(); });
  return {DType::f32, desc(v)->dims, bytes};
}

SlotId Compiler::slot(ValueId v) {
  Known& k = values_[v.index];
  if (k.slot == no_slot) {
    invariant(is_constant(v), "a value is used before it is there");
    Tensor t = deferred_constant(g_, v) ? shared_deferred(v) : *constant(v);
    if (const Desc* d = desc(v); d && (t.dtype() != d->dtype || t.shape() != d->dims))
      throw error("run.shape", cat("the constant '", g_[v].name, "' has another type or size than inference promised"));
    // Kernels read whole elements; a weight in a mapped file may lie at any byte.
    if (const size_t unit = static_cast<size_t>(bits(t.dtype())) / 8;
        unit > 1 && reinterpret_cast<uintptr_t>(t.bytes().data()) % std::min<size_t>(unit, 8) != 0) {
      const auto make = [&] {
        const Bytes copy = store_.allocate(t.bytes().size());
        std::copy(t.bytes().span().begin(), t.bytes().span().end(), writable(copy));
        return copy;
      };
      const std::string name = key(v, "aligned");
      t = Tensor(t.dtype(), t.shape(), name.empty() ? make() : store_.get(name, make));
    }
    k.slot = add_constant(t, {t.dtype(), t.shape(), nullptr});
    k.forms.push_back(k.slot);
  }
  return k.slot;
}

SlotId Compiler::bytes_of(ValueId v) {
  if (values_[v.index].slot != no_slot || !is_constant(v) || deferred_constant(g_, v)) return plain(v);
  const Tensor t = *constant(v);
  return add_constant(t, {t.dtype(), t.shape(), nullptr});
}

SlotId Compiler::form(ValueId v, const Desc& wanted) {
  slot(v);
  for (const SlotId s : values_[v.index].forms)
    if (plan_->slots[s].desc.same_layout(wanted)) return s;
  return no_slot;
}

void Compiler::add_form(ValueId v, SlotId s) {
  values_[v.index].forms.push_back(s);
  residents_[plan_->slots[s].root].push_back(v);
}

SlotId Compiler::plain(ValueId v) { return in_form(v, *desc(v)); }

SlotId Compiler::in_form(ValueId v, const Desc& wanted) {
  if (const SlotId there = form(v, wanted); there != no_slot) return there;
  const SlotId from = slot(v), out = make(wanted);
  step({}, "reorder", make_reorder(slot_desc(from), wanted), {from}, {out});
  add_form(v, out);
  return out;
}

SlotId Compiler::make(Desc d) {
  const auto id = static_cast<SlotId>(plan_->slots.size());
  Slot s;
  s.desc = std::move(d);
  s.root = id;
  plan_->slots.push_back(std::move(s));
  residents_.emplace_back();
  return id;
}

SlotId Compiler::view(SlotId of, Desc d, uint64_t offset) {
  const SlotId id = make(std::move(d));
  Slot& s = plan_->slots[id];
  const Slot& base = plan_->slots[of];
  s.root = base.root;
  s.offset = offset + (base.root == of ? 0 : base.offset);
  s.home = base.home;
  return id;
}

SlotId Compiler::add_constant(Tensor t, Desc d) {
  const SlotId id = make(std::move(d));
  plan_->slots[id].home = Slot::Home::constant;
  plan_->slots[id].constant = std::move(t);
  return id;
}

void Compiler::bind(ValueId v, SlotId s) {
  values_[v.index].slot = s;
  values_[v.index].forms.push_back(s);
  if (!values_[v.index].observed.empty()) arrived_.push_back(v);
  residents_[plan_->slots[s].root].push_back(v);
  if (plan_->slots[s].name.empty()) plan_->slots[s].name = g_[v].name;
}

void Compiler::step(NodeId n, std::string label, std::unique_ptr<Kernel> kernel, std::vector<SlotId> in,
                    std::vector<SlotId> out) {
  Step s;
  if (kernel && kernel->scratch_bytes) s.scratch = make({DType::u8, {narrow<int64_t>(kernel->scratch_bytes)}, nullptr});
  s.kernel = std::move(kernel);
  s.in = std::move(in);
  s.out = std::move(out);
  s.node = n;
  s.label = std::move(label);
  plan_->steps.push_back(std::move(s));
}

NodeId Compiler::only_user(ValueId v) const {
  const auto& uses = g_[v].uses;
  if (uses.size() != 1 || wanted_.contains(v) || !uses[0].node) return {};
  const NodeId user = uses[0].node;
  return g_[user].home == g_[v].home && !done_[user.index] ? user : NodeId();
}

bool Compiler::free_after(ValueId v, NodeId user) const {
  const SlotId s = values_[v.index].slot;
  if (s == no_slot || plan_->slots[s].home != Slot::Home::arena || plan_->slots[s].offset != 0)
    return false;  // nor is it a later part of a buffer
  for (const ValueId other : residents_[plan_->slots[s].root]) {
    if (wanted_.contains(other)) return false;
    const auto& uses = g_[other].uses;
    size_t& over = values_[other.index].uses_over;  // what is done stays done, and is not looked through for every user
    const auto here = [&](const Use& use) { return use.node && g_[use.node].home == g_[other].home; };
    while (over < uses.size() && here(uses[over]) && done_[uses[over].node.index]) ++over;
    size_t by_user = 0;
    for (size_t i = over; i < uses.size(); ++i) {
      if (!here(uses[i])) return false;
      if (uses[i].node == user ? ++by_user > 1 : !done_[uses[i].node.index]) return false;
    }
  }
  return true;
}

void Compiler::add_input(ValueId v) {
  const auto number = static_cast<uint32_t>(plan_->inputs.size());
  const Desc* d = desc(v);
  const SlotId s = make(d ? *d : Desc{});
  plan_->slots[s].home = d && d->dtype != DType::string ? Slot::Home::input : Slot::Home::datum;
  plan_->slots[s].index = number;
  plan_->inputs.push_back(s);
  bind(v, s);
}

std::vector<ValueId> Compiler::captured(NodeId n) const {
  std::vector<ValueId> out;
  std::set<ValueId> seen;
  for (const RegionId r : g_[n].regions)
    if (r)
      for (const ValueId v : captured_values(g_, r))
        if (seen.insert(v).second) out.push_back(v);
  return out;
}

bool Compiler::depends_on_data(NodeId n) {
  for (const ValueId v : g_[n].inputs)
    if (v && later_[v.index]) return true;
  for (const ValueId v : captured(n))
    if (later_[v.index]) return true;
  return false;
}

SlotId Compiler::any_slot(ValueId v) {
  if (!v) return no_slot;
  const SlotId s = slot(v);
  return plan_->slots[s].home == Slot::Home::datum || slot_desc(s).plain() ? s : plain(v);
}

void Compiler::reference(NodeId n) {
  const Node& node = g_[n];
  std::vector<SlotId> in, out;
  for (const ValueId v : node.inputs) in.push_back(any_slot(v));
  const std::vector<ValueId> around = captured(n);
  for (const ValueId v : around) in.push_back(any_slot(v));
  for (const ValueId v : node.outputs) {
    const Desc* d = desc(v);
    const SlotId s = make(d ? *d : Desc{});
    plan_->slots[s].home = Slot::Home::datum;
    bind(v, s);
    // A tensor whose sizes only the run tells: what reads it is planned then.
    if (!d && !options_.interpret && !g_[v].fact.type.is_sequence() && !g_[v].fact.type.is_optional() &&
        g_[v].fact.type.kind != Type::Kind::map)
      later_[v.index] = true;
    out.push_back(s);
  }
  step(n, std::string(node.op->name), nullptr, std::move(in), std::move(out));
  plan_->steps.back().captured = around;
  plan_->steps.back().settled =
      std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return !v || desc(v); });
}

const EmitterRow* find_row(std::span<const EmitterRow> rows, const OpInfo& op) {
  if (op.is_opaque() || !(op.domain.empty() || (op.domain == "com.microsoft" && !find_op("", op.name)))) return nullptr;
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const EmitterRow& r) { return r.op == op.name; });
  return it == rows.end() ? nullptr : &*it;
}

namespace {
// Results without elements are there already.
bool gives_nothing(Compiler& c, NodeId n) {
  const std::vector<ValueId>& outputs = c.graph()[n].outputs;
  std::vector<Type> types;
  for (const ValueId v : outputs) types.push_back(c.graph()[v].fact.type);
  const auto nothing = results_of_nothing(types);
  for (size_t i = 0; nothing && i < nothing->size(); ++i) {
    Tensor t = (*nothing)[i].tensor;
    if (t.dtype() != DType::string)  // kernels are given an address for every operand
      t = Tensor(t.dtype(), t.shape(), aligned_bytes(1).slice(0, 0));
    c.bind(outputs[i], c.add_constant(t, {t.dtype(), t.shape(), nullptr}));
  }
  return nothing.has_value();
}
}  // namespace

void Compiler::node(NodeId n) {
  const Node& node = g_[n];
  // Known already: shape arithmetic, and what inference folded.
  const bool folded =
      !node.op->is_opaque() && def(*node.op).rules.deterministic && !node.outputs.empty() &&
      std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return g_[v].fact.tensor() != nullptr; });
  if (folded || (!node.outputs.empty() && deferred_constant(g_, node.outputs[0]))) return;
  if (!node.op->is_opaque() && !custom(*node.op) && node.regions.empty() && gives_nothing(*this, n)) return;
  bool known = options_.fast && !node.op->is_opaque() && node.regions.empty();
  for (const ValueId v : node.inputs)
    known = known && (!v || (desc(v) && (is_constant(v) || plan_->slots[slot(v)].home != Slot::Home::datum ||
                                         plan_->slots[slot(v)].desc.dtype != DType::undefined)));
  for (const ValueId v : node.outputs) known = known && desc(v);
  if (!known || !emit(n)) reference(n);
}

bool Compiler::emit(NodeId n) {
  const Node& node = g_[n];
  const bool alone = !worth_a_team(g_, n);
  const ThreadScope scope(alone ? 1 : current_threads());
  const size_t before = plan_->steps.size();
  bool done = false;
  const auto attempt = [&](std::span<const EmitterRow> rows) {
    const EmitterRow* row = done ? nullptr : find_row(rows, *node.op);
    done = done || (row && row->emit(*this, n));
  };
  if (options_.onednn) attempt(vnni_emitters());
  if (options_.onednn) attempt(onednn_emitters());
  attempt(simd_emitters());
  for (size_t i = before; i < plan_->steps.size(); ++i) plan_->steps[i].alone = alone;
  return done;
}

void Compiler::collect_rest(std::span<const NodeId> nodes, const Wanted& wanted) {
  plan_->rest = std::make_unique<Rest>();
  for (const auto& o : wanted.observed)
    if (!values_[o.first.index].observed.empty()) plan_->rest->observed.push_back(o);
  std::set<ValueId> seen;
  for (const NodeId n : nodes) {
    if (done_[n.index]) continue;
    plan_->rest->nodes.push_back(n);
    std::vector<ValueId> reads = captured(n);
    reads.insert(reads.end(), g_[n].inputs.begin(), g_[n].inputs.end());
    for (const ValueId v : reads)
      if (v && values_[v.index].slot != no_slot && !is_constant(v) && seen.insert(v).second)
        plan_->rest->live.emplace_back(v, any_slot(v));
  }
}

void Compiler::settle_outputs() {
  for (const ValueId v : plan_->output_values)
    plan_->outputs.push_back(ready(v) ? any_slot(v) : no_slot);  // the others are the rest's
  std::vector<std::vector<SlotId>> parts(plan_->slots.size());   // of each buffer
  for (SlotId s = 0; s < plan_->slots.size(); ++s) parts[plan_->slots[s].root].push_back(s);
  std::set<SlotId> taken;
  for (const Step& s : plan_->steps)  // these write into a buffer of the arena
    if (s.kernel && s.kernel->accumulates >= 0) taken.insert(plan_->slots[s.out[0]].root);
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    const SlotId out = plan_->outputs[i];
    if (out == no_slot) continue;
    const SlotId root = plan_->slots[out].root;
    Slot& base = plan_->slots[root];
    if (base.home != Slot::Home::arena || plan_->slots[out].offset != (root == out ? base.offset : 0) ||
        base.desc.bytes() != plan_->slots[out].desc.bytes() || !taken.insert(root).second)
      continue;
    // Its memory is made for this run and given away.
    for (const SlotId part : parts[root])
      plan_->slots[part].home = Slot::Home::output, plan_->slots[part].index = static_cast<uint32_t>(i);
  }
}

void Compiler::show(ValueId v) {
  for (const uint32_t number : std::exchange(values_[v.index].observed, {})) {
    const SlotId s = slot(v);
    // In any order of the axes; blocked layouts may have padding.
    const bool as_it_lies = plan_->slots[s].home == Slot::Home::datum || slot_desc(s).dense();
    step({}, "observe", nullptr, {as_it_lies ? s : plain(v)}, {});
    plan_->steps.back().observed = number;
  }
}

void Compiler::show_arrived() {
  for (const ValueId v : std::exchange(arrived_, {})) show(v);
}

void Compiler::compile(const CheckedNodes& checked, const Wanted& wanted) {
  const std::span<const NodeId> nodes = checked.list();
  plan_->output_values = wanted.returned;
  wanted_.insert(wanted.returned.begin(), wanted.returned.end());
  for (const auto& [v, number] : wanted.observed) wanted_.insert(v);
  for (const auto& [v, number] : wanted.observed) values_[v.index].observed.push_back(number);
  for (const auto& [v, number] : wanted.observed)
    if (ready(v)) show(v);
  bool any_later = false;
  for (const NodeId n : nodes) {
    if (done_[n.index]) continue;
    if (depends_on_data(n)) {
      for (const ValueId v : g_[n].outputs) later_[v.index] = true;
      any_later = true;
      continue;
    }
    node(n);
    done_[n.index] = true;
    show_arrived();
  }
  if (any_later) collect_rest(nodes, wanted);
  settle_outputs();
  plan_memory(*plan_);
}

}  // namespace cameo::engine
