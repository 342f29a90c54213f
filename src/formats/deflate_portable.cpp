// Section numbers are those of RFC 1951.
#include <algorithm>
#include <array>
#include <optional>

#include "formats/deflate.h"

namespace cameo::formats::portable {

namespace {
constexpr unsigned longest_code = 15;

// Bits come lowest first. Past the end it gives zeros and remembers that it did.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> in) : in_(in) {}

  uint32_t take(unsigned count) {
    while (held_ < count) {
      if (at_ < in_.size()) bits_ |= std::to_integer<uint32_t>(in_[at_++]) << held_;
      else ran_out_ = true;
      held_ += 8;
    }
    const uint32_t value = bits_ & ((uint32_t{1} << count) - 1);
    bits_ >>= count;
    held_ -= count;
    return value;
  }
  void skip_to_byte() { take(held_ % 8); }
  bool ran_out() const { return ran_out_; }
  bool at_end() const { return at_ == in_.size() && held_ < 8; }

 private:
  std::span<const std::byte> in_;
  size_t at_ = 0;
  uint32_t bits_ = 0;  // at most 7 left over and 16 asked for
  unsigned held_ = 0;
  bool ran_out_ = false;
};

// A canonical Huffman code (3.2.2): how many codes there are of each length, and the symbols in order of their codes.
class Code {
 public:
  // Nothing when there are too many codes of some length, or too few: only a code of one bit may have a gap.
  static std::optional<Code> from_lengths(std::span<const uint8_t> lengths) {
    Code code;
    for (const uint8_t n : lengths) ++code.count_[n];
    code.count_[0] = 0;
    int free = 1;
    unsigned longest = 0;
    for (unsigned n = 1; n <= longest_code; ++n) {
      free = 2 * free - code.count_[n];
      if (free < 0) return std::nullopt;
      if (code.count_[n]) longest = n;
    }
    code.complete_ = free == 0;
    if (!code.complete_ && longest > 1) return std::nullopt;
    std::array<uint16_t, longest_code + 1> next{};
    for (unsigned n = 1; n < longest_code; ++n) next[n + 1] = static_cast<uint16_t>(next[n] + code.count_[n]);
    for (uint16_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol]) code.symbols_[next[lengths[symbol]]++] = symbol;
    return code;
  }

  bool complete() const { return complete_; }

  // The next symbol, or nothing when the bits are not code.
  std::optional<unsigned> next(BitReader& in) const {
    int bits = 0, first = 0, before = 0;  // first: the first code of this length; before: symbols of shorter ones
    for (unsigned n = 1; n <= longest_code; ++n) {
      bits |= static_cast<int>(in.take(1));
      if (bits - first < count_[n]) return symbols_[static_cast<size_t>(before + bits - first)];
      before += count_[n];
      first = (first + count_[n]) << 1;
      bits <<= 1;
    }
    return std::nullopt;
  }

 private:
  std::array<uint16_t, longest_code + 1> count_{};
  std::array<uint16_t, 288> symbols_{};
  bool complete_ = false;
};

struct Codes {
  Code literals, distances;
};

// What symbols of lengths and distances stand for (3.2.5): a base, and how many bits to add.
struct Extent {
  uint16_t base;
  uint8_t extra;
};
constexpr Extent length_extents[] = {{3, 0},   {4, 0},   {5, 0},   {6, 0},   {7, 0},  {8, 0},  {9, 0},  {10, 0},
                                     {11, 1},  {13, 1},  {15, 1},  {17, 1},  {19, 2}, {23, 2}, {27, 2}, {31, 2},
                                     {35, 3},  {43, 3},  {51, 3},  {59, 3},  {67, 4}, {83, 4}, {99, 4}, {115, 4},
                                     {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}};
constexpr Extent distance_extents[] = {{1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
                                       {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
                                       {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
                                       {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
                                       {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}};
constexpr unsigned end_of_block = 256;

Codes fixed_codes() {  // 3.2.6
  std::array<uint8_t, 288> literal_lengths;
  for (size_t i = 0; i < 288; ++i) literal_lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  std::array<uint8_t, 32> distance_lengths;
  distance_lengths.fill(5);
  return {*Code::from_lengths(literal_lengths), *Code::from_lengths(distance_lengths)};
}

// Reads the code lengths of a dynamic block, which are Huffman-coded themselves (3.2.7).
bool read_lengths(BitReader& in, const Code& code, std::span<uint8_t> into) {
  for (size_t i = 0; i < into.size();) {
    const auto symbol = code.next(in);
    if (!symbol || in.ran_out()) return false;
    if (*symbol < 16) {
      into[i++] = static_cast<uint8_t>(*symbol);
      continue;
    }
    if (*symbol == 16 && i == 0) return false;
    const uint8_t value = *symbol == 16 ? into[i - 1] : 0;
    const size_t times = *symbol == 16 ? 3 + in.take(2) : *symbol == 17 ? 3 + in.take(3) : 11 + in.take(7);
    if (times > into.size() - i) return false;
    std::fill_n(into.begin() + static_cast<std::ptrdiff_t>(i), times, value);
    i += times;
  }
  return true;
}

std::optional<Codes> dynamic_codes(BitReader& in) {
  static constexpr uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  const size_t literals = in.take(5) + 257, distances = in.take(5) + 1, given = in.take(4) + 4;
  if (literals > 286 || distances > 30) return std::nullopt;
  std::array<uint8_t, 19> code_lengths{};
  for (size_t i = 0; i < given; ++i) code_lengths[order[i]] = static_cast<uint8_t>(in.take(3));
  const auto code = Code::from_lengths(code_lengths);
  if (!code || !code->complete()) return std::nullopt;
  std::array<uint8_t, 286 + 30> all{};
  if (!read_lengths(in, *code, std::span(all).first(literals + distances)) || all[end_of_block] == 0)
    return std::nullopt;
  const auto literal_code = Code::from_lengths(std::span(all).first(literals));
  const auto distance_code = Code::from_lengths(std::span(all).subspan(literals, distances));
  if (!literal_code || !distance_code) return std::nullopt;
  return Codes{*literal_code, *distance_code};
}

class Unpacker {
 public:
  Unpacker(std::span<const std::byte> in, std::span<std::byte> out) : in_(in), out_(out) {}

  bool run() {
    for (bool last = false; !last;) {
      last = in_.take(1) != 0;
      const unsigned kind = in_.take(2);
      if (in_.ran_out() || kind == 3) return false;
      if (!(kind == 0 ? stored() : compressed(kind))) return false;
    }
    return at_ == out_.size() && in_.at_end();
  }

 private:
  bool stored() {  // 3.2.4
    in_.skip_to_byte();
    const uint32_t length = in_.take(16), complement = in_.take(16);
    if (in_.ran_out() || length != (complement ^ 0xffff) || length > out_.size() - at_) return false;
    for (uint32_t i = 0; i < length; ++i) out_[at_++] = static_cast<std::byte>(in_.take(8));
    return !in_.ran_out();
  }

  bool compressed(unsigned kind) {
    static const Codes fixed = fixed_codes();
    const std::optional<Codes> codes = kind == 1 ? fixed : dynamic_codes(in_);
    while (codes && !in_.ran_out()) {
      const auto symbol = codes->literals.next(in_);
      if (!symbol || in_.ran_out()) return false;
      if (*symbol == end_of_block) return true;
      if (*symbol > end_of_block) {
        if (!copy(*symbol - end_of_block - 1, codes->distances)) return false;
      } else {
        if (at_ == out_.size()) return false;
        out_[at_++] = static_cast<std::byte>(*symbol);
      }
    }
    return false;
  }

  bool copy(size_t length_symbol, const Code& distance_code) {
    if (length_symbol >= std::size(length_extents)) return false;
    const size_t length = length_extents[length_symbol].base + in_.take(length_extents[length_symbol].extra);
    const auto symbol = distance_code.next(in_);
    if (!symbol || *symbol >= std::size(distance_extents)) return false;
    const size_t distance = distance_extents[*symbol].base + in_.take(distance_extents[*symbol].extra);
    if (in_.ran_out() || distance > at_ || length > out_.size() - at_) return false;
    for (size_t i = 0; i < length; ++i, ++at_) out_[at_] = out_[at_ - distance];  // may overlap: byte by byte
    return true;
  }

  BitReader in_;
  std::span<std::byte> out_;
  size_t at_ = 0;
};

constexpr std::array<uint32_t, 256> crc_table = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ (c & 1 ? 0xedb88320u : 0);
    table[i] = c;
  }
  return table;
}();
}  // namespace

bool inflate_into(std::span<const std::byte> in, std::span<std::byte> out) { return Unpacker(in, out).run(); }

uint32_t crc32_of(std::span<const std::byte> data, uint32_t crc) {
  crc = ~crc;
  for (const std::byte b : data) crc = crc_table[(crc ^ std::to_integer<uint32_t>(b)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

}  // namespace cameo::formats::portable
