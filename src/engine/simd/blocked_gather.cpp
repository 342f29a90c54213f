// GatherBlockQuantized of packed bytes: each row that is asked for is read as numbers, straight into the result.
#include "engine/parallel.h"
#include "engine/simd/blocked_product.h"
#include "engine/simd/blocked_rows.h"
#include "engine/simd/emitters.h"
#include "engine/simd/integer.h"
#include "ops/generated/microsoft.h"
#include "ops/quant/codes.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

// Inputs: the table, the indices, the scales, and the zero points where there are any.
template <class Index>
class BlockedGatherKernel : public Kernel {
 public:
  BlockedGatherKernel(const BlockedSize& row, int64_t rows, int64_t count, bool zeros)
      : w_(row), rows_(rows), count_(count), zeros_(zeros) {}
  std::string about() const override { return cat("weights of ", w_.bits, " bits"); }
  Extents extents() const override {
    Extents e{{static_cast<uint64_t>(rows_ * w_.row_bytes()), static_cast<uint64_t>(count_) * sizeof(Index),
               floats(rows_ * w_.blocks)},
              {floats(count_ * w_.depth)}};
    if (zeros_) e.in.push_back(static_cast<uint64_t>(rows_ * zero_bytes()));
    return e;
  }

  void run(const Buffers& b) const override {
    const auto* indices = b.input<Index>(1);
    for (int64_t i = 0; i < count_; ++i)
      if (indices[i] < -rows_ || indices[i] >= rows_)
        throw error("eval.index", cat("index ", indices[i], " is outside an axis of size ", rows_));
    parallel(count_, std::max<int64_t>(1, 16384 / w_.depth), [&](int64_t first, int64_t last) {
      std::vector<float> zeros(static_cast<size_t>(w_.blocks + 8));
      for (int64_t i = first; i < last; ++i) {
        const int64_t at = indices[i] < 0 ? indices[i] + rows_ : indices[i];
        if (zeros_) read_zero_points(b.input<uint8_t>(3) + at * zero_bytes(), w_.bits, zero_bytes(), zeros.data());
        read_blocked_row(w_,
                         {b.input<uint8_t>(0) + at * w_.row_bytes(), b.input<float>(2) + at * w_.blocks,
                          zeros_ ? zeros.data() : nullptr},
                         b.output<float>(0) + i * w_.depth);
      }
    });
  }

 private:
  int64_t zero_bytes() const { return (w_.blocks * w_.bits + 7) / 8; }

  BlockedSize w_;
  int64_t rows_, count_;
  bool zeros_;
};

}  // namespace

bool emit_blocked_gather(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* a = node.as<op::GatherBlockQuantized>();
  if (!a || !c.is_f32(node.inputs[2]) || !c.is_f32(node.outputs[0])) return false;
  const Desc &table = *c.desc(node.inputs[0]), &indices = *c.desc(node.inputs[1]);
  const int64_t bits = a->bits.value_or(code_bits_unless_given);
  if (table.dtype != DType::u8 || table.rank() != 2) return false;
  const int64_t depth = table.dims[1] * (8 / bits);
  if (depth % a->block_size != 0) return false;  // its last block ends early
  const BlockedSize row{depth, depth / a->block_size, a->block_size, bits};
  const ValueId zeros = input_of(node, 3);
  std::unique_ptr<Kernel> kernel;
  const int64_t rows = table.dims[0], count = indices.count();
  if (indices.dtype == DType::i64)
    kernel = std::make_unique<BlockedGatherKernel<int64_t>>(row, rows, count, zeros.valid());
  else kernel = std::make_unique<BlockedGatherKernel<int32_t>>(row, rows, count, zeros.valid());
  std::vector<SlotId> in{c.bytes_of(node.inputs[0]), c.plain(node.inputs[1]), c.plain(node.inputs[2])};
  if (zeros) in.push_back(c.bytes_of(zeros));
  const SlotId out = c.make(*c.desc(node.outputs[0]));
  c.step(n, "GatherBlockQuantized", std::move(kernel), std::move(in), {out});
  c.bind(node.outputs[0], out);
  return true;
}

}  // namespace cameo::engine
