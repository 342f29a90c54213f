// A step's work with all decisions taken: it gets pointers and computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cameo::engine {

struct Buffers {
  std::span<std::byte* const> in, out;
  std::byte* scratch = nullptr;
  void* state = nullptr;

  template <class T>
  const T* input(size_t i) const { return reinterpret_cast<const T*>(in[i]); }
  template <class T>
  T* output(size_t i) const { return reinterpret_cast<T*>(out[i]); }
};

// Immutable once made: several threads run the same kernel, each with buffers and a state of its own.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const Buffers& b) const = 0;
  virtual std::shared_ptr<void> make_state() const { return nullptr; }
  virtual std::string about() const { return ""; }  // which implementation, for profiles

  uint64_t scratch_bytes = 0;
  std::vector<size_t> in_place;  // inputs whose buffer output 0 may take over, when it is their last use
  int accumulates = -1;          // output 0 has to be the buffer of this input
};

}  // namespace cameo::engine
