// What the pickles of an archive hold: plain values, tensors as records over mapped bytes, objects.
//
// One object of the archive is one StoredValue: two attributes with the same pointer hold the same thing (tied
// weights, shared modules). Values may share parts, so walk them with a visited set; they have no cycles.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/torch_dtype.h"
#include "frontends/torchscript/ast.h"

namespace cameo::torchscript {

struct StoredValue;

// The bytes that tensors are views of. The same pointer is the same memory.
struct Storage {
  std::string_view key;       // the archive's record: "data/0", "constants/3"
  TorchDtype dtype;           // of the elements that `numel` counts
  uint64_t numel = 0;         // of the whole storage
  std::string_view location;  // "cpu", "cuda:0", "meta": where it lived; informative
  uint32_t entry = 0;         // the archive's entry: Program::bytes reads it
  bool has_data = true;       // false: meta tensors and traced example inputs
  // Where the raw bytes start in the archive file; empty when compressed or without data.
  std::optional<uint64_t> file_offset;
};

struct Quantizer {
  bool per_channel = false;
  bool float_qparams = false;  // per_channel_affine_float_qparams: scales and zero points are float32
  double scale = 1;            // per tensor
  int64_t zero_point = 0;
  const StoredValue* scales = nullptr;  // per channel: tensors
  const StoredValue* zero_points = nullptr;
  int64_t axis = 0;
};

struct StoredTensor {
  TorchDtype dtype;
  TorchLayout layout = TorchLayout::strided;
  bool requires_grad = false;
  bool conjugate = false, negative = false;  // lazy bits: the bytes must be conjugated or negated when read
  std::span<const int64_t> sizes, strides;   // strides in elements; never negative; empty when not strided
  int64_t offset = 0;                        // in elements
  const Storage* storage = nullptr;          // null when not strided
  const Quantizer* quantizer = nullptr;      // null when not quantized
  // Sparse layouts: indices and values (COO), or compressed indices, plain indices and values.
  std::span<const StoredValue* const> parts;

  int64_t numel() const;
  bool is_contiguous() const;
};

struct StoredAttribute {
  std::string_view name;
  const StoredValue* value = nullptr;
};

struct StoredObject {
  const Type* type = nullptr;                   // named
  const ClassDef* cls = nullptr;                // null for C++ classes (`__torch__.torch.classes.quantized...`)
  std::span<const StoredAttribute> attributes;  // in declaration order; empty when `state` is set
  // Set when the class has __setstate__ (run it with this value to get the attributes), and for C++ classes.
  const StoredValue* state = nullptr;

  const StoredValue* attribute(std::string_view name) const;
};

// A tensor of a module tree under its state_dict name.
struct NamedTensor {
  std::string name;                              // "layer1.0.conv1.weight"
  const StoredValue* value = nullptr;            // tied tensors have the same pointer
  bool is_parameter = false, is_buffer = false;  // neither: a plain attribute; buffers of PyTorch 1.5 and older are so
};

// In state_dict order: a module's parameters, its buffers, its other tensors, then its submodules. What a class keeps
// for its __setstate__ is not seen. Throws file.too-large when shared modules unfold to more than a million names.
std::vector<NamedTensor> named_tensors(const StoredObject& root);

enum class StoredKind : uint8_t {
  none,
  boolean,
  integer,
  floating,
  complex,
  string,
  device,
  enumeration,
  tensor,
  list,
  tuple,
  dict,
  object,
};

struct StoredValue {
  StoredKind kind = StoredKind::none;
  union {
    bool boolean;
    int64_t integer;
    double floating = 0;  // also the real part of complex
  };
  double imaginary = 0;
  std::string_view text;       // string; device: "cuda:1"
  const Type* type = nullptr;  // list, dict: as the pickle says, null in old archives; enumeration, object: the class
  std::span<const StoredValue* const> items;  // list, tuple; dict: key, value, key, value...; enumeration: its value
  const StoredTensor* tensor = nullptr;
  const StoredObject* object = nullptr;
};

}  // namespace cameo::torchscript
