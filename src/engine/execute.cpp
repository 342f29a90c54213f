#include "engine/execute.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/parallel.h"
#include "engine/store.h"
#include "ops/control/stack.h"
#include "ops/eval.h"
#include "ops/gate.h"
#include "ops/infer.h"
#include "support/budget.h"

namespace cameo::engine {

using Home = Slot::Home;

Frame::Frame(std::shared_ptr<const Plan> plan)
    : plan_(std::move(plan)),
      base_(plan_->slots.size()),
      datums_(plan_->slots.size()),
      outputs_(plan_->outputs.size()) {
  for (SlotId s = 0; s < base_.size(); ++s) {
    const Slot& slot = plan_->slots[s];
    if (slot.root != s) continue;
    if (slot.home == Home::constant && slot.constant.dtype() != DType::string)
      base_[s] = const_cast<std::byte*>(slot.constant.bytes().data());
  }
  for (const Step& s : plan_->steps) states_.push_back(s.kernel ? s.kernel->make_state() : nullptr);
}

void Frame::enter(Bytes arena) {
  const bool moved = arena.data() != last_;
  last_ = arena.data();
  arena_ = std::move(arena);
  for (SlotId s = 0; moved && s < base_.size(); ++s)
    if (const Slot& slot = plan_->slots[s]; slot.root == s && slot.home == Home::arena)
      base_[s] = writable(arena_) + slot.offset;
}

Bytes Frame::leave() {
  drop();
  return std::exchange(arena_, Bytes());
}

Bytes ArenaPool::take(uint64_t size) {
  {
    const std::lock_guard lock(mutex_);
    auto best = free_.end();  // the smallest that will do
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->size() >= size && (best == free_.end() || it->size() < best->size())) best = it;
    if (best != free_.end()) {
      Bytes out = std::move(*best);
      free_.erase(best);
      return out;
    }
    if (!free_.empty()) free_.pop_back();  // a larger one takes its place
  }
  // Room for somewhat larger sizes, which often follow.
  return aligned_bytes(size < large_page ? std::max<uint64_t>(64, size + size / 4) : size + size / 8);
}

void ArenaPool::give_back(Bytes arena) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(arena));
}

void Frame::start(std::span<const Datum> inputs, const OutputMemory& lent) {
  for (size_t i = 0; i < plan_->inputs.size(); ++i) {
    const SlotId s = plan_->inputs[i];
    datums_[s] = inputs[i];
    if (plan_->slots[s].home != Home::input) continue;
    const Tensor& t = inputs[i].tensor;
    if (reinterpret_cast<uintptr_t>(t.bytes().data()) % 8 != 0) {  // kernels read whole elements
      const Bytes copy = aligned_bytes(t.bytes().size());
      std::copy(t.bytes().span().begin(), t.bytes().span().end(), writable(copy));
      datums_[s] = Datum(Tensor(t.dtype(), t.shape(), copy));
    }
    base_[s] = const_cast<std::byte*>(datums_[s].tensor.bytes().data());
  }
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    const SlotId s = plan_->outputs[i];
    if (s == no_slot || plan_->slots[s].home != Home::output || plan_->slots[s].index != i) continue;
    const uint64_t bytes = plan_->slots[s].desc.bytes();
    std::byte* const given = lent ? lent(i, bytes) : nullptr;
    outputs_[i] = given ? Bytes(nullptr, {given, static_cast<size_t>(bytes)}) : aligned_bytes(bytes);
    base_[plan_->slots[s].root] = writable(outputs_[i]);
  }
}

std::byte* Frame::address(SlotId s) const {
  const Slot& slot = plan_->slots[s];
  return slot.root == s ? base_[s] : base_[slot.root] + slot.offset;
}

// The slot as a run-time value. Not owned: it points into memory of this run, and must not outlive the step.
Datum Frame::take(SlotId s, bool owned) const {
  const Slot& slot = plan_->slots[s];
  if (slot.home == Home::datum || slot.home == Home::input) {
    const Datum& d = datums_[slot.root];
    if (slot.root == s || d.kind != Datum::Kind::tensor) return d;
    return Datum(
        Tensor(slot.desc.dtype, slot.desc.dims,
               d.tensor.bytes().slice(static_cast<size_t>(slot.offset), static_cast<size_t>(slot.desc.bytes()))));
  }
  if (slot.home == Home::constant && slot.root == s) return Datum(slot.constant);
  const std::span<const std::byte> bytes(address(s), static_cast<size_t>(slot.desc.bytes()));
  if (slot.home == Home::output && outputs_[slot.index].size() == bytes.size())
    return Datum(Tensor(slot.desc.dtype, slot.desc.dims, outputs_[slot.index]));
  if (!owned) return Datum(Tensor(slot.desc.dtype, slot.desc.dims, Bytes(nullptr, bytes)));
  const Bytes copy = aligned_bytes(bytes.size());
  std::copy(bytes.begin(), bytes.end(), writable(copy));
  return Datum(Tensor(slot.desc.dtype, slot.desc.dims, copy));
}

Datum Frame::read(SlotId s) const { return take(s, true); }

void Frame::execute(const Step& s, size_t number) {
  pointers_.clear();
  for (const SlotId i : s.in) pointers_.push_back(i == no_slot ? nullptr : address(i));
  for (const SlotId o : s.out) pointers_.push_back(address(o));
  Buffers b;
  b.in = {pointers_.data(), s.in.size()};
  b.out = {pointers_.data() + s.in.size(), s.out.size()};
  b.scratch = s.scratch == no_slot ? nullptr : address(s.scratch);
  b.state = states_[number].get();
  if (!s.alone) return s.kernel->run(b);
  const ThreadScope scope(1);
  s.kernel->run(b);
}

void Frame::interpret(const Step& s, const Hooks& hooks) {
  const Graph& g = *plan_->graph;
  const Node& n = g[s.node];
  std::vector<Datum> values;
  values.reserve(s.in.size());
  std::vector<const Datum*> inputs;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    values.push_back(s.in[i] == no_slot ? Datum() : take(s.in[i], false));
    inputs.push_back(s.in[i] == no_slot ? nullptr : &values.back());
  }
  if (custom(*n.op)) return settle_all(s, run_custom(g, s.node, inputs));
  if (n.op->is_opaque() || !def(*n.op).rules.eval) throw no_kernel(n);
  if (!s.settled)
    if (auto nothing = results_of_nothing(check_call(g, s.node, inputs))) return settle_all(s, *std::move(nothing));
  Eval k(inputs, n.outputs.size());
  const auto outer = [&](ValueId v) -> Datum {
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (n.inputs[i] == v) return take(s.in[i], true);
    for (size_t i = n.inputs.size(); i < s.in.size(); ++i)
      if (plan_->captures(s, i) == v) return take(s.in[i], true);
    invariant(false, "a body reads a value that was not kept for it");
    return {};
  };
  k.run_region = [&](size_t i, std::vector<Datum> args) {
    for (Datum& a : args)  // what a body keeps must not point into this run's memory
      if (a.kind == Datum::Kind::tensor && !a.tensor.bytes().owner() && !a.tensor.bytes().empty())
        a = Datum(
            Tensor(a.tensor.dtype(), a.tensor.shape(),
                   Bytes::own(std::vector<std::byte>(a.tensor.bytes().span().begin(), a.tensor.bytes().span().end()))));
    return hooks.run_region(*plan_, i < n.regions.size() ? n.regions[i] : RegionId(), std::move(args), outer);
  };
  k.out_type = [&](size_t i) { return stacked_type(g, s.node, i); };
  k.has_region = [&](size_t i) { return i < n.regions.size() && n.regions[i].valid(); };
  k.seed = hooks.seed;
  def(*n.op).rules.eval(n.attrs.get(), k);
  settle_all(s, std::move(k.results()));
}

void Frame::settle_all(const Step& s, std::vector<Datum> results) {
  for (size_t i = 0; i < s.out.size(); ++i) settle(s, i, std::move(results[i]));
}

namespace {

// A kernel may hand back what it was given, or a part of it: memory of this run becomes a copy.
Datum owned(Datum d) {
  if (d.kind == Datum::Kind::tensor && d.tensor.dtype() != DType::string && !d.tensor.bytes().empty()) {
    const bool foreign = !d.tensor.bytes().owner(),
               crooked = reinterpret_cast<uintptr_t>(d.tensor.bytes().data()) % 8 != 0;
    if (!foreign && !crooked) return d;
    const Bytes copy = aligned_bytes(d.tensor.bytes().size());
    std::copy(d.tensor.bytes().span().begin(), d.tensor.bytes().span().end(), writable(copy));
    return Datum(Tensor(d.tensor.dtype(), d.tensor.shape(), copy));
  }
  if (d.kind == Datum::Kind::sequence) {
    std::vector<Datum> items;
    for (const Datum& item : *d.items) items.push_back(owned(item));
    return Datum::sequence(std::move(items));
  }
  return d;
}

}  // namespace

void Frame::settle(const Step& s, size_t i, Datum result) {
  const SlotId slot = s.out[i];
  const Desc& d = plan_->slots[slot].desc;
  result = owned(std::move(result));
  // Later steps read it as promised.
  if (d.dtype != DType::undefined &&
      (result.kind != Datum::Kind::tensor || result.tensor.dtype() != d.dtype || result.tensor.shape() != d.dims))
    throw error("run.shape", cat("output ", i, " has another type or size than inference promised"));
  datums_[slot] = std::move(result);
  base_[slot] = datums_[slot].kind == Datum::Kind::tensor && datums_[slot].tensor.dtype() != DType::string
                    ? const_cast<std::byte*>(datums_[slot].tensor.bytes().data())
                    : nullptr;
}

void Frame::observe(const Step& s, const Observer& observer) const {
  const Slot& slot = plan_->slots[s.in[0]];
  const Datum d = observer ? take(s.in[0], false) : Datum();
  if (d.kind != Datum::Kind::tensor || d.tensor.dtype() == DType::string) return;
  const Desc whole{d.tensor.dtype(), d.tensor.shape(), slot.desc.layout};
  const Physical lies(whole);
  observer({s.observed, whole.dtype, lies.dims, lies.order, d.tensor.bytes().span()});
}

std::vector<Datum> Frame::run(std::span<const Datum> inputs, const Hooks& hooks, const OutputMemory& lent) {
  using Clock = std::chrono::steady_clock;
  start(inputs, lent);
  const Graph& g = *plan_->graph;
  for (size_t number = 0; number < plan_->steps.size(); ++number) {
    checkpoint();
    const Step& s = plan_->steps[number];
    const auto before = hooks.timed ? Clock::now() : Clock::time_point();
    try {
      if (s.kernel) execute(s, number);
      else if (s.observed != UINT32_MAX) observe(s, hooks.observed);
      else interpret(s, hooks);
    } catch (Error& e) {
      if (s.node) add_place(e, g, s.node);
      throw;
    }
    if (hooks.timed) {
      using Micro = std::chrono::duration<double, std::micro>;
      hooks.timed(*plan_, s, Micro(before.time_since_epoch()).count(), Micro(Clock::now() - before).count());
    }
    for (const SlotId r : s.release) datums_[r] = Datum();
  }
  std::vector<Datum> out(plan_->outputs.size());
  for (size_t i = 0; i < out.size(); ++i)
    if (plan_->outputs[i] != no_slot) out[i] = take(plan_->outputs[i], true);
  return out;
}

void Frame::drop() {
  for (Datum& d : datums_) d = Datum();
  for (Bytes& b : outputs_) b = Bytes();
}

}  // namespace cameo::engine
