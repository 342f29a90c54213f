// Plans by the sizes they were made for, and frames to run them in.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/execute.h"

namespace cameo::engine {

struct Compiled;

// The least recently used plan goes first.
class PlanCache {
 public:
  std::shared_ptr<Compiled> get(const std::string& key, const std::function<std::shared_ptr<Compiled>()>& make);
  size_t made() const { return made_; }  // plans so far, those that are gone included

 private:
  struct Entry {
    std::shared_ptr<Compiled> plan;
    uint64_t used = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Entry> plans_;
  uint64_t clock_ = 0;
  std::atomic<size_t> made_{0};
};

struct Compiled {
  std::shared_ptr<const Plan> plan;
  PlanCache rests;  // what had to wait for data
  PlanCache& bodies(RegionId body);

  std::unique_ptr<Frame> borrow(ArenaPool& arenas);
  void give_back(std::unique_ptr<Frame> f, ArenaPool& arenas);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> frames_;  // not in use
  std::map<RegionId, PlanCache> bodies_;
};

void append_key(std::string& key, const Datum& d);

}  // namespace cameo::engine
