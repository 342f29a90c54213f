// Running models: loaded once, run many times, from several threads at once.
//
//   cameo::Runnable net("net.onnx", {.threads = 2});
//   std::vector<cameo::Array> y = net.run({cameo::Array::of({1, 4}, std::vector<float>{1, 2, 3, 4})});
//   y[0].shape, y[0].as<float>()
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/diag.h"

namespace cameo {

// A dense array, row-major. The element type is spelt f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool.
struct Array {
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  static Array of(std::vector<int64_t> shape, const std::vector<float>& values);
  static Array of(std::vector<int64_t> shape, const std::vector<int64_t>& values);
  // Precondition: T is the type that dtype names.
  template <class T>
  std::span<const T> as() const { return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)}; }
};

struct RunOptions {
  int threads = 0;         // 0: all the machine has
  bool reference = false;  // the plain kernels that the fast ones are judged by
};

// An ONNX model, ready to run. Every function may be called by several threads at once.
class Runnable {
 public:
  // Throws cameo::Error where the file cannot be read or is no model.
  explicit Runnable(const std::string& path, const RunOptions& options = {});
  ~Runnable();
  Runnable(Runnable&&) noexcept;
  Runnable& operator=(Runnable&&) noexcept;

  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;
  std::string input_type(size_t i) const;  // "float[batch,3,224,224]"

  // Inputs in the model's order; trailing ones that have defaults may be left out. Throws run.input-missing, run.dtype,
  // run.rank and run.size where they do not fit, all findings at once; run.kind where an output is no tensor.
  std::vector<Array> run(const std::vector<Array>& inputs) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cameo
