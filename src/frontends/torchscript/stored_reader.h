// Turns a pickle's values into stored values: the one place that knows which globals a TorchScript pickle may name.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/torchscript/program_state.h"

namespace cameo::torchscript {

class StoredReader {
 public:
  // `folder` holds the storages: "data", "constants", "traced_inputs". `without_data`: the records are empty.
  StoredReader(ProgramState& state, std::string folder, bool without_data)
      : state_(state), folder_(std::move(folder)), without_data_(without_data) {}

  const StoredValue* read(const pickle::Value& v);

 private:
  using Value = pickle::Value;
  [[noreturn]] void damaged(std::string what) const;

  const StoredValue* convert(const Value& v);
  StoredValue* make(StoredKind kind);
  const StoredValue* sequence(const Value& v, StoredKind kind);
  const StoredValue* call(const Value& v);
  const StoredValue* container_helper(const Value& v);
  const StoredValue* enumeration(const Value& v);
  const StoredValue* complex_number(const Value& v);
  const StoredValue* device(const Value& v);
  const StoredValue* object(const Value& v);
  std::span<const StoredAttribute> attributes(const Value& dict);
  const Type* tagged_type(std::string_view tag);
  const StoredValue* typed(const StoredValue* v, const Type* type);

  // Tensors (stored_tensor.cpp).
  const StoredValue* tensor(const Value& v);
  const StoredValue* tensor_of_bytes(const Value& v);
  const StoredValue* quantized_tensor(const Value& v);
  const StoredValue* sparse_tensor(const Value& v);
  StoredTensor* strided(std::span<const Value* const> args, std::optional<TorchDtype> of_bytes = {});
  const Quantizer* quantizer(const Value& v);
  void lazy_bits(StoredTensor& t, const Value& v);
  const Storage* storage(const Value& v, std::optional<TorchDtype> of_bytes = {});
  [[noreturn]] void unknown_dtype(std::string_view name) const;
  const Storage* new_storage(std::string_view key, TorchDtype dtype, uint64_t numel, std::string_view location);
  std::span<const int64_t> sizes(const Value& v, std::string_view what);
  void check_inside(const StoredTensor& t) const;
  const StoredValue* wrap(const StoredTensor* t);

  // The parts of a tuple with `least` to `most` items.
  std::span<const Value* const> tuple(const Value& v, size_t least, size_t most, std::string_view what) const;
  int64_t integer(const Value& v, std::string_view what) const;
  double number(const Value& v, std::string_view what) const;
  bool boolean(const Value& v, std::string_view what) const;
  std::string_view string(const Value& v, std::string_view what) const;

  ProgramState& state_;
  std::string folder_;
  bool without_data_;
  std::unordered_map<const Value*, const StoredValue*> done_;
  std::vector<const StoredValue*> scratch_;
};

}  // namespace cameo::torchscript
