// Arrays in one layout, and arrays of text.
#include <algorithm>
#include <cstring>

#include "formats/npy.h"
#include "support/endian.h"
#include "support/error.h"
#include "support/text.h"

namespace cameo::npy {
namespace {
void swap_numbers(std::span<std::byte> data, size_t number_bytes) {
  for (size_t i = 0; i + number_bytes <= data.size(); i += number_bytes)
    std::reverse(data.begin() + static_cast<ptrdiff_t>(i), data.begin() + static_cast<ptrdiff_t>(i + number_bytes));
}

// Copies items from Fortran order (first axis fastest) to C order (last axis fastest).
void transpose_into(std::span<const std::byte> from, const std::vector<int64_t>& shape, size_t item,
                    std::span<std::byte> to) {
  std::vector<size_t> stride(shape.size()), index(shape.size(), 0);
  size_t step = item;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    stride[axis] = step;
    step *= static_cast<size_t>(shape[axis]);
  }
  size_t source = 0;
  for (size_t target = 0; target < to.size(); target += item) {
    std::memcpy(&to[target], &from[source], item);
    for (size_t axis = shape.size(); axis-- > 0;) {
      source += stride[axis];
      if (++index[axis] < static_cast<size_t>(shape[axis])) break;
      source -= stride[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

// The characters of a UTF-8 string; nothing when it is not one.
std::optional<std::vector<uint32_t>> from_utf8(std::string_view s) {
  std::vector<uint32_t> out;
  for (size_t pos = 0; pos < s.size();) {
    out.push_back(next_character(s, pos));
    if (out.back() == not_a_character) return std::nullopt;
  }
  return out;
}

std::string text_item(std::string_view item, char kind) {
  std::string out;
  if (kind == 'S') {
    out = item;
    out.erase(out.find_last_not_of('\0') + 1);
    return out;
  }
  std::string_view kept = item;
  while (!kept.empty() && load_le<uint32_t>(kept.data() + kept.size() - 4) == 0) kept.remove_suffix(4);
  for (size_t i = 0; i < kept.size(); i += 4) {
    const auto c = load_le<uint32_t>(kept.data() + i);
    if (!is_character(c)) throw error("file.damaged", "a text array contains an invalid character");
    append_utf8(out, c);
  }
  return out;
}

Bytes padded(const std::vector<std::string>& items, size_t width) {
  if (width != 0 && items.size() > (size_t{1} << 31) / width)
    throw error("write.too-large", "an array of text would take more than 2 GiB")
        .why(cat("npy gives each of its ", items.size(), " strings the ", width, " bytes of the longest"));
  std::vector<std::byte> data(items.size() * width);
  for (size_t i = 0; i < items.size(); ++i)
    if (!items[i].empty()) std::memcpy(&data[i * width], items[i].data(), items[i].size());
  return Bytes::own(std::move(data));
}
}  // namespace

Array plain(const Array& a) {
  const Descr d = parse_descr(a.descr);
  const auto number = static_cast<size_t>(d.number_bytes());
  const bool swap = d.order == '>' && number > 1;
  const bool transpose = a.fortran_order && a.shape.size() > 1 && !a.data.empty();
  const bool misaligned = reinterpret_cast<uintptr_t>(a.data.data()) % number != 0;
  Array out = a;
  out.fortran_order = false;
  if (d.order == '>') out.descr[0] = number > 1 ? '<' : '|';
  if (a.data.empty() || !(swap || transpose || misaligned)) return out;
  std::vector<std::byte> data(a.data.size());
  if (transpose) transpose_into(a.data.span(), a.shape, static_cast<size_t>(d.item_bytes), data);
  else std::copy(a.data.span().begin(), a.data.span().end(), data.begin());
  if (swap) swap_numbers(data, number);
  out.data = Bytes::own(std::move(data));
  return out;
}

std::vector<std::string> to_strings(const Array& a) {
  const Descr d = parse_descr(a.descr);
  if (d.kind != 'S' && d.kind != 'U') throw error("value.type", cat("an array of dtype ", a.descr, " holds no text"));
  const Array p = plain(a);
  const auto count = static_cast<size_t>(element_count(p)), item = static_cast<size_t>(d.item_bytes);
  std::vector<std::string> out;
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) out.push_back(text_item(p.data.text().substr(i * item, item), d.kind));
  return out;
}

Array from_strings(const std::vector<std::string>& strings, std::vector<int64_t> shape) {
  std::vector<std::string> wide;
  size_t wide_width = 4, byte_width = 1;  // NumPy has no items of no bytes
  bool utf8 = true;
  for (const auto& s : strings) {
    byte_width = std::max(byte_width, s.size());
    const auto characters = from_utf8(s);
    if (!(utf8 = utf8 && characters)) continue;
    std::string& item = wide.emplace_back();
    for (const uint32_t c : *characters) append_le<uint32_t>(item, c);
    wide_width = std::max(wide_width, item.size());
  }
  Array a;
  a.shape = std::move(shape);
  invariant(element_count(a) == strings.size(), "an array of text has as many strings as its shape says");
  a.descr = utf8 ? cat("<U", wide_width / 4) : cat("|S", byte_width);
  a.data = utf8 ? padded(wide, wide_width) : padded(strings, byte_width);
  return a;
}

}  // namespace cameo::npy
