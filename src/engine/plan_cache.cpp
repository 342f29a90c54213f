#include "engine/plan_cache.h"

#include <algorithm>

#include "ops/gate.h"
#include "support/error.h"

namespace cameo::engine {

constexpr size_t plans_kept = 16;  // sizes that stay planned

std::shared_ptr<Compiled> PlanCache::get(const std::string& key,
                                         const std::function<std::shared_ptr<Compiled>()>& make) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = plans_.find(key); it != plans_.end()) {
      it->second.used = ++clock_;
      return it->second.plan;
    }
  }
  ++made_;
  std::shared_ptr<Compiled> fresh = make();  // two threads may both do it; one result is kept
  const std::lock_guard lock(mutex_);
  if (plans_.size() >= plans_kept && !plans_.contains(key))
    plans_.erase(std::min_element(plans_.begin(), plans_.end(),
                                  [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
  Entry& entry = plans_[key];
  if (!entry.plan) entry.plan = std::move(fresh);
  entry.used = ++clock_;
  return entry.plan;
}

PlanCache& Compiled::bodies(RegionId body) {
  const std::lock_guard lock(mutex_);
  return bodies_[body];
}

std::unique_ptr<Frame> Compiled::borrow(ArenaPool& arenas) {
  std::unique_ptr<Frame> f;
  {
    const std::lock_guard lock(mutex_);
    if (!frames_.empty()) {
      f = std::move(frames_.back());
      frames_.pop_back();
    }
  }
  if (!f) f = std::make_unique<Frame>(plan);
  f->enter(arenas.take(plan->arena_bytes));
  return f;
}

void Compiled::give_back(std::unique_ptr<Frame> f, ArenaPool& arenas) {
  arenas.give_back(f->leave());
  const std::lock_guard lock(mutex_);
  frames_.push_back(std::move(f));
}

void append_key(std::string& key, const Datum& d) {
  key += static_cast<char>('0' + static_cast<int>(d.kind));
  if (d.kind != Datum::Kind::tensor) {
    if (d.kind != Datum::Kind::none) key += real_type(d).onnx_text();
    return;
  }
  key += static_cast<char>('A' + static_cast<int>(d.tensor.dtype()));
  for (const int64_t n : d.tensor.shape()) key += cat(n, ",");
}

}  // namespace cameo::engine
