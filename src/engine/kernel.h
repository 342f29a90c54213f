// A step's work with all decisions taken: it gets pointers and computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/layers.h"

namespace cameo::engine {

struct Buffers {
  std::span<std::byte*const> in, out;
  std::byte* scratch = nullptr;
  void* state = nullptr;

  template <class T>
  const T* input(size_t i) const {
    return reinterpret_cast<const T*>(in[i]);
  }
  template <class T>
  T* output(size_t i) const {
    return reinterpret_cast<T*>(out[i]);
  }
};

// How many bytes of each operand a kernel may touch, counted from the operand's first.
struct Extents {
  std::vector<uint64_t> in, out;
};
inline uint64_t floats(int64_t count) { return static_cast<uint64_t>(count) * sizeof(float); }

// Immutable once made: several threads run the same kernel, each with buffers and a state of its own.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const Buffers& b) const = 0;
  virtual std::shared_ptr<void> make_state() const { return nullptr; }
  virtual std::string about() const { return ""; }  // which implementation, for profiles
  // From the sizes it was made with. Planning compares them with the buffers: where an emitter and a kernel disagree,
  // the plan is refused before anything is computed. An input that output 0 takes over (`accumulates`) may be left out
  // at the end.
  virtual Extents extents() const = 0;

  uint64_t scratch_bytes = 0;
  std::vector<size_t> in_place;  // inputs whose buffer output 0 may take over, when it is their last use
  int accumulates = -1;          // output 0 has to be the buffer of this input
};

}  // namespace cameo::engine
