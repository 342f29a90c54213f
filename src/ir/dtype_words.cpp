#include "ir/dtype_words.h"

#include <utility>

namespace cameo::ir {

std::string_view dtype_in_our_words(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  static constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"float32", "f32"}, {"float", "f32"},    {"fp32", "f32"},   {"float64", "f64"},   {"double", "f64"},
      {"float16", "f16"}, {"half", "f16"},     {"fp16", "f16"},   {"bfloat16", "bf16"}, {"int64", "i64"},
      {"long", "i64"},    {"int", "i32"},      {"int32", "i32"},  {"int16", "i16"},     {"short", "i16"},
      {"int8", "i8"},     {"uint8", "u8"},     {"byte", "u8"},    {"uint16", "u16"},    {"uint32", "u32"},
      {"uint64", "u64"},  {"boolean", "bool"}, {"string", "str"}, {"complex64", "c64"}, {"complex128", "c128"}};
  for (const auto& [other, ours] : others)
    if (other == name) return ours;
  return "";
}

}  // namespace cameo::ir
