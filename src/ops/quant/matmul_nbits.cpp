// com.microsoft's MatMulNBits: a product with a weight of 2, 4 or 8 bits, a scale (and zero point) for each block of a
// column. B is [N, blocks, bytes of a block]: row n has the weights of output column n.
#include "ops/quant/matmul_nbits.h"

#include <bit>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"
#include "ops/quant/codes.h"

namespace cameo::ops {

BlockedWeight::BlockedWeight(const op::MatMulNBits& a)
    : columns(a.N),
      depth(a.K),
      bits(a.bits.value_or(code_bits_unless_given)),
      block(a.block_size),
      blocks((a.K - 1) / a.block_size + 1) {}

namespace {

constexpr int64_t largest_size = int64_t{1} << 31;  // so that no product below overflows
constexpr int64_t largest_block = 1 << 16;          // of codes times bytes, whose sum fits in 32 bits

struct MatMulNBits : Rules<op::MatMulNBits> {
  using A = op::MatMulNBits;

  static BlockedWeight checked_attributes(const A& a, const Infer& c) {
    const int64_t bits = a.bits.value_or(code_bits_unless_given);
    if (bits != 2 && bits != 4 && bits != 8) c.fail("infer.attribute", cat("bits is ", bits, ": 2, 4 or 8 is wanted"));
    if (a.block_size < 16 || a.block_size > largest_block || !std::has_single_bit(static_cast<uint64_t>(a.block_size)))
      c.fail("infer.attribute",
             cat("block_size is ", a.block_size, ": a power of two from 16 to ", largest_block, " is wanted"));
    for (const int64_t size : {a.K, a.N})
      if (size < 1 || size > largest_size) c.fail("infer.attribute", cat("a weight of K = ", a.K, " by N = ", a.N));
    if (a.weight_prepacked.value_or(0) != 0)
      c.fail("infer.attribute", "weight_prepacked: the layout belongs to another engine");
    return BlockedWeight(a);
  }

  // Files of older tools have vectors in the place of matrices.
  static void want_matrix(const Infer& c, size_t input, int64_t rows, int64_t columns, std::string_view what) {
    if (c.rank(input) == 1) want_shape(c, input, {rows * columns}, what);
    else want_shape(c, input, {rows, columns}, what);
  }

  static void infer(const A& a, Infer& c) {
    const BlockedWeight w = checked_attributes(a, c);
    if (c.rank(0) < 1) c.fail("infer.rank", "a scalar is not a matrix");
    c.same(c.shape(0).back(), w.depth, "columns of the left matrix and K");
    want_shape(c, 1, {w.columns, w.blocks, w.block_bytes()}, "the weight");
    want_matrix(c, 2, w.columns, w.blocks, "the shape of the scales");
    if (c.has(3) && c.dtype(3) == DType::u8)
      want_matrix(c, 3, w.columns, w.zero_bytes(), "the shape of the zero points");
    else if (c.has(3)) {
      if (c.dtype(3) != c.dtype(0) && c.dtype(3) != DType::undefined && c.dtype(0) != DType::undefined)
        c.fail("infer.type", cat("zero points are packed bytes, or of the scales' type, not ", name(c.dtype(3))));
      want_matrix(c, 3, w.columns, w.blocks, "the shape of the zero points");
    }
    if (c.has(4)) {
      want_rank(c, 4, 1, "g_idx");
      if (!c.dim(4, 0).is(w.blocks * w.block)) c.same(c.dim(4, 0), w.depth, "the length of g_idx and K");
    }
    if (c.has(5)) want_shape(c, 5, {w.columns}, "the bias");
    Shape out(c.shape(0).begin(), c.shape(0).end() - 1);
    out.push_back(w.columns);
    c.out(0, std::move(out));
  }

  static void eval(const A& a, Eval& k) {
    const BlockedWeight w(a);
    const Loaded<float> x(k.in(0)), bias(k.has(5) ? k.in(5) : zeros(DType::f32, {w.columns}));
    const BlockedColumns weight(k, w);
    std::vector<int64_t> shape = k.in(0).shape();
    shape.back() = w.columns;
    std::vector<float> y(static_cast<size_t>(element_count(shape))), column(static_cast<size_t>(w.depth));
    const int64_t rows = x.size() / w.depth;
    for (int64_t n = 0; n < w.columns; ++n) {
      weight.column(n, column);
      for (int64_t m = 0; m < rows; ++m) {
        double sum = 0;
        for (int64_t i = 0; i < w.depth; ++i)
          sum += static_cast<double>(x[m * w.depth + i]) * static_cast<double>(column[static_cast<size_t>(i)]);
        y[static_cast<size_t>(m * w.columns + n)] = static_cast<float>(sum + static_cast<double>(bias[n]));
      }
    }
    k.out(0, store(k.in(0).dtype(), shape, y));
  }

  // The weight in numbers, a column at a time.
  class BlockedColumns {
   public:
    BlockedColumns(Eval& k, const BlockedWeight& w)
        : w_(w),
          codes_(k.in(1), w.bits, false),
          scales_(k.in(2)),
          packed_zeros_(k.has(3) ? k.in(3) : k.in(1), w.bits, false),
          zeros_(k.has(3) && k.in(3).dtype() != DType::u8 ? k.in(3) : zeros(DType::f32, {0})),
          has_zeros_(k.has(3)) {
      if (k.has(4)) groups_ = k.in(4).to_ints();
      for (const int64_t g : groups_)
        if (g < 0 || g >= w.blocks) k.fail("eval.index", cat("group ", g, " of ", w.blocks, " blocks"));
    }

    void column(int64_t n, std::vector<float>& out) const {
      for (int64_t i = 0; i < w_.depth; ++i) {
        const int64_t b = groups_.empty() ? i / w_.block : groups_[static_cast<size_t>(i)];
        const auto code = static_cast<float>(codes_[n * w_.blocks * w_.block + i]);
        out[static_cast<size_t>(i)] = (code - zero(n, b)) * scales_[n * w_.blocks + b];
      }
    }

   private:
    float zero(int64_t n, int64_t b) const {
      if (!has_zeros_) return static_cast<float>(int64_t{1} << (w_.bits - 1));
      if (zeros_.size() > 0) return zeros_[n * w_.blocks + b];
      return static_cast<float>(packed_zeros_[n * w_.zero_bytes() * (8 / w_.bits) + b]);
    }

    BlockedWeight w_;
    Codes codes_;
    Loaded<float> scales_;
    Codes packed_zeros_;
    Loaded<float> zeros_;
    bool has_zeros_;
    std::vector<int64_t> groups_;
  };
};

constexpr OpRules table[] = {rules<MatMulNBits>()};

}  // namespace

std::span<const OpRules> matmul_nbits_rules() { return table; }

}  // namespace cameo::ops
