#include "passes/constant_text.h"

#include <charconv>
#include <cstdlib>
#include <vector>

#include "kernels/carrier.h"
#include "support/error.h"
#include "support/number_text.h"

namespace cameo::passes {

namespace {

struct Items {
  std::vector<int64_t> ints;  // where all are whole
  std::vector<double> numbers;
  bool whole = true;
};

void add(Items& items, std::string_view text, std::string_view all) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const std::string word(text);
  const auto number = parse_double(word);
  if (!number) throw error("edit.insert", cat("'", word, "' in ", all, " is not a number"));
  items.numbers.push_back(*number);
  int64_t n = 0;
  const auto r = std::from_chars(word.data(), word.data() + word.size(), n);
  items.whole = items.whole && r.ec == std::errc() && r.ptr == word.data() + word.size();
  items.ints.push_back(n);
}

}  // namespace

std::optional<Tensor> parse_constant(std::string_view text) {
  const size_t open = text.find('{');
  const bool scalar = text.ends_with("}[]");
  if (open == text.npos || !(scalar || text.ends_with('}'))) return std::nullopt;
  const std::string_view type = text.substr(0, open);
  std::string_view inside = text.substr(open + 1, text.size() - open - (scalar ? 4 : 2));
  Items items;
  for (size_t comma = 0; !inside.empty() && comma != inside.npos;) {
    comma = inside.find(',');
    add(items, inside.substr(0, comma), text);
    if (comma != inside.npos) inside.remove_prefix(comma + 1);
  }
  const auto dtype = type.empty() ? std::optional(items.whole ? DType::i64 : DType::f32) : dtype_from_name(type);
  if (!dtype || *dtype == DType::string || is_complex(*dtype))
    throw error("edit.insert", cat("'", type, "' is not a type of numbers")).help("f32, f16, i64, i32, u8, bool are");
  if (scalar && items.numbers.size() != 1) throw error("edit.insert", cat(text, " is a 0-d tensor, of one number"));
  const auto shape = scalar ? std::vector<int64_t>() : std::vector<int64_t>{std::ssize(items.numbers)};
  if (is_float(*dtype)) return kernels::store(*dtype, shape, items.numbers);
  if (!items.whole) throw error("edit.insert", cat(text, " has numbers that are not whole"));
  Tensor out = kernels::store(*dtype, shape, items.ints);
  const kernels::Loaded<int64_t> stored(out);
  for (int64_t i = 0; i < stored.size(); ++i)
    if (stored[i] != items.ints[static_cast<size_t>(i)])
      throw error("edit.insert", cat(items.ints[static_cast<size_t>(i)], " is no number of the type ", type));
  return out;
}

}  // namespace cameo::passes
