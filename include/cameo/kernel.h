// Kernels of your own: for operators that Cameo does not know, or in place of Cameo's. Session and verify take them.
//
//   cameo::Kernel scale{.op = "my.domain::Scale", .run = [](cameo::KernelCall& call) {
//     const auto x = call.input<float>(0);
//     const auto y = call.output<float>(0, call.shape(0));
//     const auto by = static_cast<float>(call.number("by", 1));
//     for (size_t i = 0; i < x.size(); ++i) y[i] = by * x[i];
//   }};
//   cameo::Session session(model, {.kernels = {scale}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/attribute.h"

namespace cameo {

// The node that a kernel runs for.
struct KernelNode {
  std::string op, name;                    // "my.domain::Scale"; the node's name, which may be empty
  std::vector<Attribute> attributes = {};  // those that are set; of ONNX's own operators also those at their defaults
  size_t outputs = 1;                      // how many results it has

  const Attribute* attribute(std::string_view called) const;  // null: it is not set
  // Of attributes that are a single one; `otherwise` where it is not set. Throw use.kernel where it is of another kind.
  int64_t integer(std::string_view called, int64_t otherwise = 0) const;
  double number(std::string_view called, double otherwise = 0) const;
  std::string text(std::string_view called, std::string otherwise = "") const;
  std::vector<int64_t> integers(std::string_view called) const;  // empty where it is not set
};

// What a shape rule sees: the inputs' types, of which element types and ranks are known.
struct KernelTypes : KernelNode {
  struct Input {
    std::string type = {}, dtype = {};    // "f32[batch,8]", "f32"; empty for one that is left out
    std::vector<std::string> sizes = {};  // {"batch", "8"}; "?" for a size that is not known yet
  };
  std::vector<Input> inputs = {};

  const Input& input(size_t i) const;  // throws kernel.input where there are fewer
  static std::string tensor(std::string_view dtype, const std::vector<std::string>& sizes);  // "f32[batch,8]"
};

// One call: typed views of the inputs, and memory for the outputs. Valid only while the kernel runs.
class KernelCall : public KernelNode {
 public:
  size_t input_count() const { return inputs_.size(); }
  bool has(size_t i) const;  // false: an optional input that is left out
  std::string dtype(size_t i) const;
  std::vector<int64_t> shape(size_t i) const;
  // Elements of float, double, bool and whole numbers of 8 to 64 bits. Throws kernel.input where the input is left out,
  // or holds others.
  template <Element T>
  std::span<const T> input(size_t i) const {
    const ArrayView a = typed(i, element_type<T>());
    return {static_cast<const T*>(a.data), static_cast<size_t>(a.byte_size()) / sizeof(T)};
  }
  ArrayView array(size_t i) const;        // of any element type; throws kernel.input for strings and sequences
  const RunValue& value(size_t i) const;  // of every kind

  // Memory for output `i`, zeros at first.
  template <Element T>
  std::span<T> output(size_t i, std::vector<int64_t> shape) {
    const std::span<std::byte> bytes = output_bytes(i, element_type<T>(), std::move(shape));
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  std::span<std::byte> output_bytes(size_t i, const std::string& dtype, std::vector<int64_t> shape);
  // What is there already: a sequence, strings, an array of the kernel's own, which is copied now if it has no owner.
  void give(size_t i, RunValue value);

 private:
  friend struct KernelState;
  ArrayView typed(size_t i, const std::string& dtype) const;
  void need_output(size_t i) const;
  std::vector<RunValue> inputs_, results_;
};

// What it throws becomes a finding with the node's place: kernel.failed, or the cameo::Error itself. Sessions that are
// run by several threads call it from all of them.
struct Kernel {
  std::string op = {};  // "my.domain::Scale"; "Gelu" is ONNX's own operator, which it replaces
  std::function<void(KernelCall& call)> run = {};
  // The types of the outputs, one text each. With a rule, what follows is planned before anything runs, and results
  // that differ from it are refused (kernel.result). Without one, what follows is planned when the kernel has run.
  // ONNX's own operators have a rule already.
  std::function<std::vector<std::string>(const KernelTypes& types)> types = {};
};

}  // namespace cameo
