#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/plan.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

constexpr uint64_t alignment = 64;
constexpr uint32_t for_ever = UINT32_MAX;

struct Life {
  uint32_t first = for_ever, last = 0;
  bool used() const { return first != for_ever; }
};

// With more buffers than this, comparing each with each takes too long.
constexpr size_t most_compared = 8192;

// The free parts of an arena that ends where its last buffer does.
class Gaps {
 public:
  uint64_t take(uint64_t size) {
    const auto best = by_size_.lower_bound({size, 0});
    if (best == by_size_.end()) return std::exchange(end_, end_ + size);
    const auto [length, at] = *best;
    remove(at, length);
    if (length > size) add(at + size, length - size);
    return at;
  }
  void give_back(uint64_t at, uint64_t size) {
    auto next = by_offset_.lower_bound(at);
    if (next != by_offset_.end() && next->first == at + size) {
      size += next->second;
      remove(at + size - next->second, next->second);
      next = by_offset_.lower_bound(at);
    }
    if (next != by_offset_.begin()) {
      const auto [before, length] = *std::prev(next);
      if (before + length == at) {
        remove(before, length);
        at = before;
        size += length;
      }
    }
    add(at, size);
  }

 private:
  void add(uint64_t at, uint64_t size) {
    by_offset_.emplace(at, size);
    by_size_.emplace(size, at);
  }
  void remove(uint64_t at, uint64_t size) {
    by_offset_.erase(at);
    by_size_.erase({size, at});
  }

  std::map<uint64_t, uint64_t> by_offset_;
  std::set<std::pair<uint64_t, uint64_t>> by_size_;
  uint64_t end_ = 0;
};

class Planner {
 public:
  explicit Planner(Plan& plan) : p_(plan), life_(plan.slots.size()) {}

  void run() {
    for (const Slot& s : p_.slots) check_place(s);
    for (const Step& s : p_.steps) check_extents(s);
    for (uint32_t s = 0; s < p_.steps.size(); ++s) {
      for (const SlotId i : p_.steps[s].in) touch(i, s);
      for (const SlotId o : p_.steps[s].out) touch(o, s);
      touch(p_.steps[s].scratch, s);
    }
    for (const SlotId o : p_.outputs) keep(o);
    if (p_.rest)
      for (const auto& [value, slot] : p_.rest->live) keep(slot);
    for (uint32_t s = 0; s < p_.steps.size(); ++s) take_over(s);
    for (SlotId s = 0; s < p_.slots.size(); ++s)
      if (p_.slots[s].home == Slot::Home::datum && p_.slots[s].root == s && life_[s].used() &&
          life_[s].last != for_ever)
        p_.steps[life_[s].last].release.push_back(s);
    place();
  }

 private:
  // A constant has the bytes its desc speaks of, and a view lies inside what it is a view of.
  void check_place(const Slot& s) const {
    const Slot& base = p_.slots[s.root];
    if (&base == &s && s.home == Slot::Home::constant && s.constant.dtype() != DType::string)
      invariant(s.constant.bytes().size() >= s.desc.bytes(), "a constant is shorter than its sizes need");
    if (&base != &s && base.desc.dtype != DType::undefined)
      invariant(s.offset + s.desc.bytes() <= base.desc.bytes(), "a view reaches beyond its buffer");
  }
  // What a kernel says it touches lies inside its operands.
  void check_extents(const Step& s) const {
    if (!s.kernel) return;
    const Extents e = s.kernel->extents();
    const auto inside = [&](const std::vector<uint64_t>& extents, const std::vector<SlotId>& slots) {
      if (extents.size() > slots.size()) return false;
      for (size_t i = 0; i < extents.size(); ++i)
        if (extents[i] > (slots[i] == no_slot ? 0 : p_.slots[slots[i]].desc.bytes())) return false;
      return true;
    };
    invariant(inside(e.in, s.in) && e.out.size() == s.out.size() && inside(e.out, s.out),
              cat("the kernel of ", s.label, " reaches beyond its operands"));
  }

  SlotId root(SlotId s) const {
    while (p_.slots[s].root != s) s = p_.slots[s].root;
    return s;
  }
  void touch(SlotId s, uint32_t step) {
    if (s == no_slot) return;
    Life& l = life_[root(s)];
    l.first = std::min(l.first, step);
    l.last = std::max(l.last, step);
  }
  void keep(SlotId s) {
    if (s != no_slot) life_[root(s)].last = for_ever;
  }

  // An output takes over the buffer of an input that is not read later.
  void take_over(uint32_t s) {
    const Step& step = p_.steps[s];
    if (!step.kernel || step.out.empty()) return;
    const SlotId out = root(step.out[0]);
    const bool must = step.kernel->accumulates >= 0;
    if (!must && (p_.slots[out].home != Slot::Home::arena || life_[out].first != s)) return;
    std::vector<size_t> candidates = step.kernel->in_place;
    if (must) candidates = {static_cast<size_t>(step.kernel->accumulates)};
    for (const size_t i : candidates) {
      const SlotId in = root(step.in[i]);
      if (in == out) return;
      const bool fits = p_.slots[in].home == Slot::Home::arena && life_[in].last == s &&
                        p_.slots[step.in[i]].offset == 0 && p_.slots[in].desc.bytes() >= p_.slots[out].desc.bytes() &&
                        life_[in].used();
      if (must) invariant(fits, "a kernel accumulates into a buffer that is still needed");
      if (!fits || reads_otherwise(step, i, in)) continue;
      p_.slots[out].root = in;
      life_[in].last = std::max(life_[in].last, life_[out].last);
      return;
    }
  }
  // The same buffer read through a second operand as well, at other positions.
  bool reads_otherwise(const Step& step, size_t taken, SlotId buffer) const {
    for (size_t i = 0; i < step.in.size(); ++i)
      if (i != taken && step.in[i] != no_slot && root(step.in[i]) == buffer &&
          std::find(step.kernel->in_place.begin(), step.kernel->in_place.end(), i) == step.kernel->in_place.end())
        return true;
    return false;
  }

  void place() {
    std::vector<SlotId> order;
    for (SlotId s = 0; s < p_.slots.size(); ++s)
      if (p_.slots[s].home == Slot::Home::arena && p_.slots[s].root == s && life_[s].used()) order.push_back(s);
    order.size() <= most_compared ? place_by_size(order) : place_by_time(order);
    for (SlotId s = 0; s < p_.slots.size(); ++s) p_.slots[s].root = root(s);
  }
  void put(SlotId s, uint64_t at) {
    p_.slots[s].offset = at;
    p_.arena_bytes = std::max(p_.arena_bytes, at + size(s));
  }

  // Greedy by size: each buffer goes to the lowest gap among those it lives together with.
  void place_by_size(std::vector<SlotId>& order) {
    std::sort(order.begin(), order.end(), [&](SlotId a, SlotId b) {
      const uint64_t x = size(a), y = size(b);
      return x != y ? x > y : a < b;
    });
    std::vector<SlotId> placed;
    for (const SlotId s : order) {
      uint64_t at = 0;
      for (const SlotId other : placed) {  // by offset
        if (life_[other].first > life_[s].last || life_[other].last < life_[s].first) continue;
        if (p_.slots[other].offset >= at + size(s)) break;
        at = std::max(at, p_.slots[other].offset + size(other));
      }
      put(s, at);
      placed.insert(std::upper_bound(placed.begin(), placed.end(), s,
                                     [&](SlotId a, SlotId b) { return p_.slots[a].offset < p_.slots[b].offset; }),
                    s);
    }
  }

  // As the steps come: each buffer goes to the smallest gap that will do. A little larger than by size, not quadratic.
  void place_by_time(std::vector<SlotId>& order) {
    std::stable_sort(order.begin(), order.end(), [&](SlotId a, SlotId b) { return life_[a].first < life_[b].first; });
    std::vector<SlotId> ends = order;
    std::stable_sort(ends.begin(), ends.end(), [&](SlotId a, SlotId b) { return life_[a].last < life_[b].last; });
    Gaps gaps;
    auto over = ends.begin();
    for (const SlotId s : order) {
      for (; over != ends.end() && life_[*over].last < life_[s].first; ++over)
        gaps.give_back(p_.slots[*over].offset, size(*over));
      put(s, gaps.take(size(s)));
    }
  }
  uint64_t size(SlotId s) const {
    return (std::max<uint64_t>(1, p_.slots[s].desc.bytes()) + alignment - 1) / alignment * alignment;
  }

  Plan& p_;
  std::vector<Life> life_;
};

}  // namespace

namespace {

// Leaves out steps whose results nothing reads any more: a later step took the bytes that they were made of.
void drop_unread(Plan& p) {
  std::vector<bool> read(p.slots.size(), false);
  const auto mark = [&](SlotId s) {
    if (s != no_slot) read[p.slots[s].root] = true;
  };
  for (const SlotId o : p.outputs) mark(o);
  if (p.rest)
    for (const auto& [value, slot] : p.rest->live) mark(slot);
  std::vector<bool> keep(p.steps.size(), true);
  for (size_t i = p.steps.size(); i-- > 0;) {
    const Step& s = p.steps[i];
    const bool is_unread = std::all_of(s.out.begin(), s.out.end(), [&](SlotId o) {
      return o == no_slot || (!read[p.slots[o].root] && p.slots[p.slots[o].root].home == Slot::Home::arena);
    });
    keep[i] = !s.kernel || s.out.empty() || !is_unread;
    if (keep[i])
      for (const SlotId in : s.in) mark(in);
  }
  std::vector<Step> kept;
  for (size_t i = 0; i < p.steps.size(); ++i)
    if (keep[i]) kept.push_back(std::move(p.steps[i]));
  p.steps = std::move(kept);
}

}  // namespace

void plan_memory(Plan& plan) {
  drop_unread(plan);
  Planner(plan).run();
}

}  // namespace cameo::engine
