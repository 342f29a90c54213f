// com.microsoft's GatherBlockQuantized: rows of a table of 2, 4 or 8 bits, as numbers. The codes are elements of int4
// or uint4, or packed in bytes along the last axis.
#include <bit>

#include "ops/eval.h"
#include "ops/generated/microsoft.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"
#include "ops/quant/codes.h"
#include "ops/quant/scale.h"

namespace cameo::ops {

namespace {

struct GatherBlockQuantized : Rules<op::GatherBlockQuantized> {
  using A = op::GatherBlockQuantized;

  static int64_t bits_of(const A& a) { return a.bits.value_or(code_bits_unless_given); }
  static int64_t codes_per_element(const A& a, DType data) { return data == DType::u8 ? 8 / bits_of(a) : 1; }

  static void check_attributes(const A& a, const Infer& c) {
    const int64_t bits = bits_of(a);
    const bool bytes = c.dtype(0) == DType::u8;
    if (is_float(c.dtype(0))) c.fail("infer.type", cat("data of type ", name(c.dtype(0)), " is not supported"));
    if (bits != 4 && !(bytes && (bits == 2 || bits == 8)))
      c.fail("infer.attribute", cat("bits is ", bits, " for data of type ", name(c.dtype(0))));
    if (a.block_size < 16 || !std::has_single_bit(static_cast<uint64_t>(a.block_size)))
      c.fail("infer.attribute", cat("block_size is ", a.block_size, ": a power of two from 16 up is wanted"));
    if (bytes &&
        (c.rank(0) < 2 || c.axis(a.gather_axis, c.rank(0)) != 0 || c.axis(a.quantize_axis, c.rank(0)) != c.rank(0) - 1))
      c.fail("infer.axis", "packed bytes are picked along the first axis and quantized along the last");
  }

  static void infer(const A& a, Infer& c) {
    if (c.rank(0) < 1) c.fail("infer.rank", "the data has no axis");
    check_attributes(a, c);
    const int64_t gather = c.axis(a.gather_axis, c.rank(0)), quantize = c.axis(a.quantize_axis, c.rank(0)),
                  codes = codes_per_element(a, c.dtype(0));
    Shape data = c.shape(0), scales = data, zeros;
    Dim& along = data[static_cast<size_t>(quantize)];
    along = along * codes;
    scales[static_cast<size_t>(quantize)] = ceil_div(along, a.block_size);
    want_shape(c, 2, scales, "the shape of the scales");
    zeros = scales;
    zeros[static_cast<size_t>(quantize)] = ceil_div(scales[static_cast<size_t>(quantize)], codes);
    if (c.has(3)) want_shape(c, 3, zeros, "the shape of the zero points");
    Shape out(data.begin(), data.begin() + gather);
    out.insert(out.end(), c.shape(1).begin(), c.shape(1).end());
    out.insert(out.end(), data.begin() + gather + 1, data.end());
    c.out(0, std::move(out));
  }

  // What each code stands for.
  class Table {
   public:
    Table(const A& a, Eval& k)
        : shape(k.in(0).shape()),
          codes_(k.in(0), bits_of(a), k.in(0).dtype() == DType::i4),
          scales_(k.in(2)),
          zeros_(k.has(3) ? k.in(3) : k.in(0), bits_of(a), k.in(0).dtype() == DType::i4),
          has_zeros_(k.has(3)),
          middle_(k.in(0).dtype() == DType::u8 ? 1 << (bits_of(a) - 1) : 0) {
      const auto axis = static_cast<size_t>(k.axis(a.quantize_axis, k.in(0).rank()));
      const int64_t codes = codes_per_element(a, k.in(0).dtype());
      shape[axis] *= codes;
      map_.outer = element_count(std::span<const int64_t>(shape).first(axis));
      map_.inner = element_count(std::span<const int64_t>(shape).subspan(axis + 1));
      map_.length = shape[axis];
      map_.count = k.in(2).shape()[axis];
      map_.block = a.block_size;
      map_.blocked = true;
      zeros_per_row_ = k.has(3) ? k.in(3).shape()[axis] * codes : 0;
    }

    float operator[](int64_t i) const {
      const int64_t s = map_.at(i);
      return static_cast<float>(codes_[i] - zero(s)) * scales_[s];
    }

    std::vector<int64_t> shape;  // of the codes

   private:
    // Packed rows of zero points end with whole bytes; packed ones lie along the last axis.
    int32_t zero(int64_t s) const {
      if (!has_zeros_) return middle_;
      return zeros_[zeros_per_row_ == map_.count ? s : s / map_.count * zeros_per_row_ + s % map_.count];
    }

    Codes codes_;
    Loaded<float> scales_;
    Codes zeros_;
    bool has_zeros_;
    int32_t middle_;
    ScaleMap map_;
    int64_t zeros_per_row_ = 0;
  };

  static void eval(const A& a, Eval& k) {
    const Table table(a, k);
    const int64_t axis = k.axis(a.gather_axis, k.in(0).rank());
    const std::span<const int64_t> shape(table.shape);
    const int64_t size = shape[static_cast<size_t>(axis)];
    const int64_t outer = element_count(shape.first(static_cast<size_t>(axis))),
                  inner = element_count(shape.subspan(static_cast<size_t>(axis) + 1));
    std::vector<int64_t> out(shape.begin(), shape.begin() + axis);
    out.insert(out.end(), k.in(1).shape().begin(), k.in(1).shape().end());
    out.insert(out.end(), shape.begin() + axis + 1, shape.end());
    std::vector<float> y;
    y.reserve(static_cast<size_t>(element_count(out)));
    const auto indices = k.ints(1);
    for (int64_t o = 0; o < outer; ++o)
      for (const int64_t i : indices) {
        if (i < -size || i >= size) k.fail("eval.index", cat("index ", i, " is outside an axis of size ", size));
        const int64_t row = (o * size + (i < 0 ? i + size : i)) * inner;
        for (int64_t e = 0; e < inner; ++e) y.push_back(table[row + e]);
      }
    k.out(0, store(k.in(2).dtype(), out, y));
  }
};

constexpr OpRules table[] = {rules<GatherBlockQuantized>()};

}  // namespace

std::span<const OpRules> gather_block_quantized_rules() { return table; }

}  // namespace cameo::ops
