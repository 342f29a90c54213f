// An `if` on data: both sides are staged into regions, and what they leave is joined.
#pragma once

#include <memory>

#include "staging/machine/machine.h"

namespace cameo::staging {

class Branch {
 public:
  Branch(Machine& s, const Value& condition);
  ~Branch();

  // Stages one side, first that where the condition is true. Gives what it raised: then nothing of it remains.
  std::optional<Raised> stage(bool truth, const std::function<void()>& body);
  // Whether some tensor has other dimensions after one side than after the other.
  bool ranks_differ();
  void join();
  // Both sides were taken back, because the condition is not available: nor is what they would have changed.
  void lose(const Poison& condition);

 private:
  class Recorder;
  std::unique_ptr<Recorder> recorder_;
};

}  // namespace cameo::staging
