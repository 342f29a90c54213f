// The calls of convolutions in strips: which kinds there are, their memory objects, and the loop over the strips.
#pragma once

#include <array>
#include <functional>

#include "engine/onednn/conv.h"

namespace cameo::engine {

class StripCalls {
 public:
  static constexpr size_t most_operands = 5;
  using Addresses = std::array<void*, most_operands>;  // image, weights, result, scratchpad, what comes last

  explicit StripCalls(int threads) : threads_(threads) {}
  // A further kind of strip. `last`: the name and layout of a fifth operand, where there is one.
  void add(const ConvPd& pd, std::optional<std::pair<int, Md>> last);

  // The memory objects of every thread and kind; their addresses are set for every strip.
  std::shared_ptr<void> make_state() const;
  void call(void* state, size_t kind, int64_t thread, const Addresses& at) const;
  // f(number of the strip, thread): each thread has strips of its own.
  void each(size_t strips, const std::function<void(size_t strip, int64_t thread)>& f) const;

  const ConvPd& pd(size_t kind) const { return kinds_[kind].pd; }
  std::string about() const { return std::string(kinds_[0].pd.impl_info_str()) + " in strips"; }
  int threads() const { return threads_; }

 private:
  struct State;
  struct Kind {
    ConvPd pd;
    dnnl::convolution_forward primitive;
    std::optional<std::pair<int, Md>> last;
  };
  std::vector<Kind> kinds_;
  int threads_;
};

}  // namespace cameo::engine
