// Arrays of numbers: inputs and outputs of models, and NumPy files.
//
//   auto x = cameo::Array::of({1, 4}, std::vector<float>{1, 2, 3, 4});
//   cameo::ArrayView y{"f32", {1, 4}, pointer};   // the caller's memory, not copied
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cameo {

// C++ types that arrays of numbers are made of.
template <class T>
concept Element = std::integral<T> || std::same_as<T, float> || std::same_as<T, double>;
template <Element T>
std::string element_type() {  // "f32"
  if constexpr (std::is_same_v<T, bool>) return "bool";
  else return (std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
}

// A dense array, row-major, that owns its bytes. Element types are spelt f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64
// bool.
struct Array {
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  // Throws use.array where the values are not as many as the shape takes.
  static Array of(std::vector<int64_t> shape, const std::vector<float>& values);
  static Array of(std::vector<int64_t> shape, const std::vector<int64_t>& values);
  template <Element T>
  static Array of(std::vector<int64_t> shape, const std::vector<T>& values) {
    if constexpr (std::is_same_v<T, bool>) {  // whose elements are bits
      const std::vector<uint8_t> bytes(values.begin(), values.end());
      return of("bool", std::move(shape), bytes.data(), bytes.size());
    } else return of(element_type<T>(), std::move(shape), values.data(), values.size() * sizeof(T));
  }
  // Of any element type, from little-endian bytes, which are copied.
  static Array of(const std::string& dtype, std::vector<int64_t> shape, const void* bytes, size_t size);
  // Throws use.array where T has another size than dtype names, or is a fraction where that is a whole number, or the
  // other way round. f16, bf16 and the like, which C++ does not have, are read as uint16_t or uint8_t.
  template <class T>
  std::span<const T> as() const {
    check_elements(sizeof(T), std::is_integral_v<T>, std::is_floating_point_v<T>);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  void check_elements(size_t size, bool whole, bool fraction) const;
};

// The same in memory of the caller, which has to stay valid as long as the view is used.
struct ArrayView {
  std::string dtype;
  std::vector<int64_t> shape;
  const void* data = nullptr;

  ArrayView() = default;
  ArrayView(std::string type, std::vector<int64_t> sizes, const void* memory)
      : dtype(std::move(type)), shape(std::move(sizes)), data(memory) {}
  ArrayView(const Array& a) : dtype(a.dtype), shape(a.shape), data(a.bytes.data()) {}
  uint64_t byte_size() const;  // throws use.array for an unknown dtype
};

// Bytes, and what keeps them alive; copies share them.
struct Buffer {
  std::shared_ptr<const void> owner;  // null: they outlive everything that reads them
  const void* data = nullptr;
  size_t size = 0;
};

// An array that shares its memory: with the engine that made it, with a model, or with the caller.
struct SharedArray {
  std::string dtype;  // as Array's, and f8e4m3fn, i4 (two to a byte), c64, ...; "str": the elements are in `strings`
  std::vector<int64_t> shape;
  Buffer memory;  // row-major, little-endian; of numbers
  std::vector<std::string> strings;
};

// An input or output of a run: an array, a sequence, a map, or nothing (an empty optional, an input that is left out).
struct RunValue {
  enum class Kind : uint8_t { nothing, array, sequence, map };
  Kind kind = Kind::nothing;
  SharedArray array;            // of an array
  std::vector<RunValue> items;  // of a sequence; of a map: its values
  std::vector<RunValue> keys;   // of a map: arrays without axes, one for each item

  RunValue() = default;
  RunValue(SharedArray a) : kind(Kind::array), array(std::move(a)) {}
};

using NamedValue = std::pair<std::string, RunValue>;

struct NamedArray {
  std::string name;  // empty for the one array of an .npy file
  Array array;
};

// All arrays of an .npz, the one of an .npy, or the inputs of a test_data_set folder as x0, x1, ...
std::vector<NamedArray> load_arrays(const std::string& path);
// As .npz. The file appears under `path` only when it is complete.
void save_arrays(const std::string& path, const std::vector<NamedArray>& arrays);

}  // namespace cameo
