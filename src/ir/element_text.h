// Elements of tensors as text, exactly: what append_element writes, parse_element reads back to the same bits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/tensor.h"

namespace cameo::ir {

enum class ElementStyle : uint8_t {
  readable,  // small floats as numbers with a point: "1.5"
  codes,     // small floats as the integers that stand for their bits, the only form ONNX's own parser reads
};

// Element `i` of any tensor but strings and complex ones, which have two parts: part `i` is element i/2's.
void append_element(std::string& out, const Tensor& t, int64_t i, ElementStyle style = ElementStyle::readable);
// The bits of one element (or part) from its text. Small floats: an integer is the code, anything else the number.
// nullopt when the text is no such element or out of range.
std::optional<uint64_t> parse_element(DType part, std::string_view text);

DType part_type(DType t);      // f32 for c64, f64 for c128, else the type itself
int64_t parts_of(DType t);     // 2 for complex types, else 1
bool is_small_float(DType t);  // floating and narrower than 32 bits

}  // namespace cameo::ir
