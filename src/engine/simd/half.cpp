#include "engine/simd/half.h"

#include "engine/parallel.h"
#include "engine/simd/emitters.h"
#include "engine/simd/half_rows.h"

namespace cameo::engine {

namespace {

constexpr int64_t grain = 16384;

class WidenKernel : public Kernel {
 public:
  WidenKernel(DType from, int64_t count) : from_(from), count_(count) {}
  std::string about() const override { return "vector"; }
  Extents extents() const override { return {{floats(count_) / 2}, {floats(count_)}}; }
  void run(const Buffers& b) const override { all(from_, b.input<uint16_t>(0), b.output<float>(0), count_); }
  static void all(DType from, const uint16_t* x, float* y, int64_t count) {
    parallel(count, grain, [&](int64_t first, int64_t last) {
      (from == DType::f16 ? widen_f16_row : widen_bf16_row)(x + first, y + first, last - first);
    });
  }

 private:
  DType from_;
  int64_t count_;
};

class NarrowKernel : public Kernel {
 public:
  NarrowKernel(DType to, int64_t count) : to_(to), count_(count) {}
  std::string about() const override { return "vector"; }
  Extents extents() const override { return {{floats(count_)}, {floats(count_) / 2}}; }
  void run(const Buffers& b) const override {
    parallel(count_, grain, [&](int64_t first, int64_t last) {
      (to_ == DType::f16 ? narrow_f16_row : narrow_bf16_row)(b.input<float>(0) + first, b.output<uint16_t>(0) + first,
                                                             last - first);
    });
  }

 private:
  DType to_;
  int64_t count_;
};

}  // namespace

bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }

Tensor widened(const Tensor& t) {
  const Bytes out = aligned_bytes(static_cast<uint64_t>(t.count()) * 4);
  auto* y = reinterpret_cast<float*>(writable(out));
  if (reinterpret_cast<uintptr_t>(t.bytes().data()) % 2 == 0) {
    WidenKernel::all(t.dtype(), t.as<uint16_t>().data(), y, t.count());
  } else {  // a weight in a mapped file may lie at any byte
    const std::vector<std::byte> copy(t.bytes().span().begin(), t.bytes().span().end());
    WidenKernel::all(t.dtype(), reinterpret_cast<const uint16_t*>(copy.data()), y, t.count());
  }
  return {DType::f32, t.shape(), out};
}

bool emit_half_cast(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const ValueId x = node.inputs[0], y = node.outputs[0];
  const Desc &from = *c.desc(x), &to = *c.desc(y);
  if (from.count() == 0) return false;
  std::unique_ptr<Kernel> kernel;
  if (is_half(from.dtype) && to.dtype == DType::f32) kernel = std::make_unique<WidenKernel>(from.dtype, from.count());
  else if (from.dtype == DType::f32 && is_half(to.dtype) && emit_elementwise(c, n)) return true;
  else if (from.dtype == DType::f32 && is_half(to.dtype))
    kernel = std::make_unique<NarrowKernel>(to.dtype, from.count());
  else return false;
  const SlotId in = c.plain(x), out = c.make(to);
  c.step(n, "Cast", std::move(kernel), {in}, {out});
  c.bind(y, out);
  return true;
}

}  // namespace cameo::engine
