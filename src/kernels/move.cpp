#include "kernels/carrier.h"
#include "kernels/move.h"

#include <algorithm>
#include <cstring>

#include "ir/checked.h"
#include "support/error.h"

namespace cameo::kernels {

std::vector<int64_t> row_major_strides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  if (element_count(shape) == 0) return strides;  // nothing to step to, and sizes beside a 0 may be long
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::vector<int64_t> strided_indices(std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t start) {
  std::vector<int64_t> out(static_cast<size_t>(element_count(shape)));
  std::vector<int64_t> at(shape.size(), 0);
  int64_t position = start;
  for (auto& index : out) {
    index = position;
    for (size_t axis = shape.size(); axis-- > 0;) {
      position += strides[axis];
      if (++at[axis] < shape[axis]) break;
      position -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
  return out;
}

std::vector<uint8_t> unpack_codes(const Tensor& t) {
  const int width = bits(t.dtype());
  std::vector<uint8_t> out(static_cast<size_t>(t.count()));
  if (width == 8) {
    if (!out.empty()) std::memcpy(out.data(), t.bytes().data(), out.size());
    return out;
  }
  uint32_t held = 0;
  int count = 0;
  size_t next = 0;
  for (auto& code : out) {
    if (count < width) held |= std::to_integer<uint32_t>(t.bytes().data()[next++]) << count, count += 8;
    code = static_cast<uint8_t>(held & ((1u << width) - 1));
    held >>= width;
    count -= width;
  }
  return out;
}

Tensor pack_codes(DType dtype, std::vector<int64_t> shape, std::span<const uint8_t> codes) {
  const auto width = static_cast<size_t>(bits(dtype));
  std::vector<std::byte> out(static_cast<size_t>(packed_bytes(dtype, static_cast<int64_t>(codes.size()))));
  for (size_t i = 0; i < codes.size(); ++i) {
    const size_t bit = i * width;
    const uint32_t shifted = static_cast<uint32_t>(codes[i]) << (bit % 8);
    out[bit / 8] |= static_cast<std::byte>(shifted & 0xff);
    if (shifted >> 8) out[bit / 8 + 1] |= static_cast<std::byte>(shifted >> 8);
  }
  return {dtype, std::move(shape), Bytes::own(std::move(out))};
}

namespace {

template <class Unit>
void take_units(const std::byte* source, std::span<const int64_t> index, const std::byte* fill, std::byte* out) {
  for (const int64_t i : index) {
    if (i >= 0) std::memcpy(out, source + static_cast<size_t>(i) * sizeof(Unit), sizeof(Unit));
    else if (fill) std::memcpy(out, fill, sizeof(Unit));
    out += sizeof(Unit);
  }
}

struct Wide {
  uint64_t halves[2];
};

template <class F>
void with_unit(size_t bytes, F f) {
  switch (bytes) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Wide{});
  }
}

size_t unit_bytes(DType t) { return static_cast<size_t>(bits(t)) / 8; }

// Every element that is moved passes here, whichever kernel worked out its place.
void check_places(std::span<const int64_t> index, int64_t least, int64_t count) {
  for (const int64_t i : index)
    if (i < least || i >= count)
      throw error("eval.index", cat("place ", i, " is outside a tensor of ", count, " elements"));
}

}  // namespace

Tensor take(const Tensor& source, std::vector<int64_t> shape, std::span<const int64_t> index, const Tensor* fill) {
  invariant(static_cast<size_t>(element_count(shape)) == index.size(), "one index per element");
  check_places(index, -1, source.count());
  if (fill && (fill->dtype() != source.dtype() || fill->count() == 0))
    throw error("eval.type", "the filling value is not one element of the data's type");
  if (source.dtype() == DType::string) {
    std::vector<std::string> out(index.size());
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = index[i] >= 0 ? source.strings()[static_cast<size_t>(index[i])]
               : fill        ? fill->strings()[0]
                             : std::string();
    return {std::move(shape), std::move(out)};
  }
  if (is_sub_byte(source.dtype())) {
    const auto codes = unpack_codes(source);
    const uint8_t filler = fill ? unpack_codes(*fill)[0] : 0;
    std::vector<uint8_t> out(index.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = index[i] >= 0 ? codes[static_cast<size_t>(index[i])] : filler;
    return pack_codes(source.dtype(), std::move(shape), out);
  }
  const size_t unit = unit_bytes(source.dtype());
  std::vector<std::byte> out(index.size() * unit);
  with_unit(unit, [&](auto u) {
    take_units<decltype(u)>(source.bytes().data(), index, fill ? fill->bytes().data() : nullptr, out.data());
  });
  return {source.dtype(), std::move(shape), Bytes::own(std::move(out))};
}

Tensor strided(const Tensor& source, std::vector<int64_t> shape, std::span<const int64_t> strides, int64_t start) {
  const auto index = strided_indices(shape, strides, start);
  return take(source, std::move(shape), index);
}

Tensor put(const Tensor& target, std::span<const int64_t> index, const Tensor& updates) {
  check_places(index, 0, target.count());
  if (updates.dtype() != target.dtype() || updates.count() < static_cast<int64_t>(index.size()))
    throw error("eval.shape", "the updates do not fit the places");
  if (target.dtype() == DType::string) {
    auto out = target.strings();
    for (size_t i = 0; i < index.size(); ++i) out[static_cast<size_t>(index[i])] = updates.strings()[i];
    return {target.shape(), std::move(out)};
  }
  if (is_sub_byte(target.dtype())) {
    auto out = unpack_codes(target);
    const auto codes = unpack_codes(updates);
    for (size_t i = 0; i < index.size(); ++i) out[static_cast<size_t>(index[i])] = codes[i];
    return pack_codes(target.dtype(), target.shape(), out);
  }
  const size_t unit = unit_bytes(target.dtype());
  std::vector<std::byte> out(target.bytes().span().begin(), target.bytes().span().end());
  for (size_t i = 0; i < index.size(); ++i)
    std::memcpy(out.data() + static_cast<size_t>(index[i]) * unit, updates.bytes().data() + i * unit, unit);
  return {target.dtype(), target.shape(), Bytes::own(std::move(out))};
}

namespace {

// Of every part its next `rows[p]` elements in turn, `outer` times.
template <class E>
std::vector<E> interleaved(std::span<const std::span<const E>> parts, std::span<const size_t> rows, size_t outer) {
  std::vector<E> out;
  size_t total = 0;
  for (const auto& p : parts) total += p.size();
  out.reserve(total);
  for (size_t o = 0; o < outer; ++o)
    for (size_t p = 0; p < parts.size(); ++p) {
      const auto row = parts[p].subspan(o * rows[p], rows[p]);
      out.insert(out.end(), row.begin(), row.end());
    }
  return out;
}

}  // namespace

Tensor concat(std::span<const Tensor> parts, int64_t axis) {
  if (parts.empty() || axis < 0 || axis >= parts[0].rank())
    throw error("eval.axis", "tensors are joined along an axis they do not have");
  std::vector<int64_t> shape = parts[0].shape();
  const auto ax = static_cast<size_t>(axis);
  for (const Tensor& p : parts.subspan(1)) {
    bool fits = p.rank() == parts[0].rank() && p.dtype() == parts[0].dtype();
    for (size_t i = 0; fits && i < shape.size(); ++i) fits = i == ax || p.shape()[i] == shape[i];
    if (!fits) throw error("eval.shape", "tensors to be joined differ outside the axis");
    shape[ax] = checked_add(shape[ax], p.shape()[ax]);
  }
  const DType dtype = parts[0].dtype();
  const auto outer = static_cast<size_t>(element_count(std::span<const int64_t>(shape).first(ax)));
  if (element_count(shape) == 0) return zeros(dtype, shape);
  std::vector<size_t> rows;
  for (const Tensor& p : parts) rows.push_back(static_cast<size_t>(p.count()) / outer);
  if (dtype == DType::string) {
    std::vector<std::span<const std::string>> views;
    for (const Tensor& p : parts) views.emplace_back(p.strings());
    return {std::move(shape), interleaved<std::string>(views, rows, outer)};
  }
  if (is_sub_byte(dtype)) {
    std::vector<std::vector<uint8_t>> codes;
    for (const Tensor& p : parts) codes.push_back(unpack_codes(p));
    const std::vector<std::span<const uint8_t>> views(codes.begin(), codes.end());
    return pack_codes(dtype, std::move(shape), interleaved<uint8_t>(views, rows, outer));
  }
  std::vector<std::span<const std::byte>> views;
  for (size_t i = 0; i < parts.size(); ++i) {
    views.push_back(parts[i].bytes().span());
    rows[i] *= unit_bytes(dtype);
  }
  return {dtype, std::move(shape), Bytes::own(interleaved<std::byte>(views, rows, outer))};
}

std::vector<int64_t> broadcast_shape(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  std::vector<int64_t> out(a.begin(), a.end());
  const size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    auto& d = out[i + shift];
    if (d == 1) d = b[i];
    else if (b[i] != 1 && b[i] != d)
      throw error("eval.broadcast", cat("sizes ", d, " and ", b[i], " do not broadcast"));
  }
  return out;
}

std::vector<int64_t> broadcast_strides(std::span<const int64_t> from, std::span<const int64_t> to) {
  auto strides = row_major_strides(from);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] == 1) strides[i] = 0;
  invariant(to.size() >= from.size(), "a tensor is repeated over at least as many axes as it has");
  strides.insert(strides.begin(), to.size() - from.size(), 0);
  return strides;
}

Tensor expand_to(const Tensor& t, std::span<const int64_t> shape) {
  const auto full = broadcast_shape(t.shape(), shape);
  if (full == t.shape()) return t;
  return strided(t, full, broadcast_strides(t.shape(), full));
}

}  // namespace cameo::kernels
