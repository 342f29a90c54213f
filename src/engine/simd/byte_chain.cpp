#include "engine/simd/byte_chain.h"

#include <algorithm>
#include <cmath>

#include "engine/emit.h"
#include "engine/parallel.h"
#include "engine/simd/byte_operands.h"
#include "engine/simd/quantize_rows.h"

namespace cameo::engine {

namespace {

class TableKernel : public Kernel {
 public:
  TableKernel(int64_t count, const ByteTable& table) : count_(count), table_(table) { in_place = {0}; }
  std::string about() const override { return "table"; }
  Extents extents() const override { return {{static_cast<uint64_t>(count_)}, {static_cast<uint64_t>(count_)}}; }
  void run(const Buffers& b) const override {
    parallel(count_, 65536, [&](int64_t first, int64_t last) {
      look_up_row(b.input<uint8_t>(0) + first, b.output<uint8_t>(0) + first, last - first, table_);
    });
  }

 private:
  int64_t count_;
  ByteTable table_;
};

class BinaryKernel : public Kernel {
 public:
  BinaryKernel(int64_t count, bool adds, const ByteBinary& p) : count_(count), adds_(adds), p_(p) { in_place = {0, 1}; }
  std::string about() const override { return "bytes"; }
  Extents extents() const override {
    const auto n = static_cast<uint64_t>(count_);
    return {{n, n}, {n}};
  }
  void run(const Buffers& b) const override {
    parallel(count_, 32768, [&](int64_t first, int64_t last) {
      (adds_ ? add_bytes_row : multiply_bytes_row)(b.input<uint8_t>(0) + first, b.input<uint8_t>(1) + first,
                                                   b.output<uint8_t>(0) + first, last - first, p_);
    });
  }

 private:
  int64_t count_;
  bool adds_;
  ByteBinary p_;
};

// The mean of each plane: y = round((sum / count - zero) * factor) + zero of the result. Channels lie apart, or
// together.
template <class In, class Out>
class PlaneMeanKernel : public Kernel {
 public:
  PlaneMeanKernel(int64_t images, int64_t channels, int64_t pixels, bool last, Quantum x, Quantum y)
      : images_(images), channels_(channels), pixels_(pixels), last_(last), x_(x), y_(y) {}
  std::string about() const override { return "bytes"; }
  Extents extents() const override {
    const auto planes = static_cast<uint64_t>(images_ * channels_);
    return {{planes * static_cast<uint64_t>(pixels_)}, {planes}};
  }
  void run(const Buffers& b) const override {
    for (int64_t image = 0; image < images_; ++image) {
      const In* x = b.input<In>(0) + image * channels_ * pixels_;
      std::vector<float> means(static_cast<size_t>(channels_));
      if (last_) add_up_pixels(x, means.data());
      else
        for (int64_t c = 0; c < channels_; ++c)
          means[static_cast<size_t>(c)] = mean(sum_bytes_row(x + c * pixels_, pixels_));
      quantize_row(means.data(), b.output<Out>(0) + image * channels_, channels_, y_.scale, y_.zero);
    }
  }

 private:
  float mean(int32_t sum) const { return (static_cast<float>(sum) / static_cast<float>(pixels_) - x_.zero) * x_.scale; }
  void add_up_pixels(const In* x, float* means) const {
    std::vector<int32_t> sums(static_cast<size_t>(channels_), 0);
    for (int64_t p = 0; p < pixels_; ++p)
      for (int64_t c = 0; c < channels_; ++c) sums[static_cast<size_t>(c)] += x[p * channels_ + c];
    for (int64_t c = 0; c < channels_; ++c) means[c] = mean(sums[static_cast<size_t>(c)]);
  }

  int64_t images_, channels_, pixels_;
  bool last_;
  Quantum x_, y_;
};

template <class In>
std::unique_ptr<Kernel> plane_means(DType out, const Desc& lies, Quantum x, Quantum y) {
  const int64_t images = lies.dims[0], channels = lies.dims[1], pixels = lies.count() / images / channels;
  if (out == DType::u8)
    return std::make_unique<PlaneMeanKernel<In, uint8_t>>(images, channels, pixels, !lies.plain(), x, y);
  return std::make_unique<PlaneMeanKernel<In, int8_t>>(images, channels, pixels, !lies.plain(), x, y);
}

bool emit_table(Compiler& c, NodeId n, const Operand& x) {
  const auto chain = chain_from(c, c.graph()[n].outputs[0]);
  if (!chain) return false;
  const auto table = table_of(c, n, x, *chain);
  if (!table) return false;
  const SlotId in = dense_slot(c, x.bytes);
  const Desc lies = c.slot_desc(in);
  finish(c, n, *chain, "", std::make_unique<TableKernel>(lies.count(), *table), {in}, lies);
  return true;
}

// Both operands in unsigned bytes, and the result.
ByteBinary parameters(const Operand& a, const Operand& b, const Quantum& y, DType out, bool adds, bool relu) {
  ByteBinary p;
  const auto flip = [](DType t) { return static_cast<uint8_t>(t == DType::i8 ? 128 : 0); };
  p.a_flip = flip(a.type), p.b_flip = flip(b.type), p.y_flip = flip(out);
  p.a_zero = a.q.zero + p.a_flip, p.b_zero = b.q.zero + p.b_flip;
  p.zero = static_cast<int32_t>(y.zero) + p.y_flip;
  p.low = relu ? 0.0f : static_cast<float>(-p.zero), p.high = static_cast<float>(255 - p.zero);
  p.a = adds ? a.q.scale / y.scale : a.q.scale * b.q.scale / y.scale;
  p.b = b.q.scale / y.scale;
  p.rest = -(p.a_zero * p.a + p.b_zero * p.b);
  return p;
}

// Whatever the bytes are, the result is a number: scales may be so far apart that their quotient is infinite.
bool is_tame(const ByteBinary& p) {
  constexpr float most = 1e30f;
  return std::abs(p.a) < most && std::abs(p.b) < most && std::abs(p.rest) < most;
}

bool emit_binary(Compiler& c, NodeId n, const Operand& x) {
  const NodeId user = c.only_user(c.graph()[n].outputs[0]);
  if (!user) return false;
  const Node& node = c.graph()[user];
  const bool adds = node.is("Add");
  if ((!adds && !node.is("Mul")) || node.inputs[0] == node.inputs[1]) return false;
  const ValueId other = node.inputs[node.inputs[0] == c.graph()[n].outputs[0] ? 1 : 0];
  const auto second = dequantized(c, c.graph()[other].def);
  if (!second || !c.ready(second->bytes) || c.is_constant(second->bytes)) return false;
  auto chain = chain_from(c, node.outputs[0]);
  if (!chain || chain->nodes.size() > 1 || (chain->nodes.size() == 1 && !c.graph()[chain->nodes[0]].is("Relu")))
    return false;
  const Node& end = c.graph()[chain->end];
  const auto y = quantum_of(c, end);
  const bool relu = !chain->nodes.empty();
  const std::vector<int64_t>&dims = c.desc(node.outputs[0])->dims, first_dims = c.desc(x.bytes)->dims,
        second_dims = c.desc(second->bytes)->dims;
  const NodeId maker = c.graph()[other].def;
  const bool later = c.only_user(other) == user && !c.done(maker);  // it comes later, and nothing else reads it
  const bool swapped = first_dims != second_dims && first_dims != dims;
  const Operand &whole = swapped ? *second : x, &part = swapped ? x : *second;
  const ByteBinary p = parameters(whole, part, *y, c.desc(end.outputs[0])->dtype, adds, relu);
  if (!is_tame(p)) return false;
  if (first_dims != second_dims) {
    auto step = broadcast_step(c, whole.bytes, part.bytes, dims, adds, p);
    if (!step) return false;
    if (later) c.absorb(maker);
    c.absorb(user);
    finish(c, n, *chain, std::string(node.op->name), std::move(step->kernel), {step->whole, step->part},
           c.slot_desc(step->whole));
    return true;
  }
  const SlotId left = dense_slot(c, x.bytes);
  const Desc lies = c.slot_desc(left);
  const SlotId right = c.in_form(second->bytes, like(lies, second->type));
  if (later) c.absorb(maker);
  c.absorb(user);
  finish(c, n, *chain, std::string(node.op->name), std::make_unique<BinaryKernel>(lies.count(), adds, p), {left, right},
         lies);
  return true;
}

bool emit_plane_mean(Compiler& c, NodeId n, const Operand& x) {
  const NodeId user = c.only_user(c.graph()[n].outputs[0]);
  if (!user || !c.graph()[user].is("GlobalAveragePool") || !c.is_f32(c.graph()[user].outputs[0])) return false;
  const auto chain = chain_from(c, c.graph()[user].outputs[0]);
  constexpr int64_t most = 1 << 23;  // pixels whose sum fits in 32 bits
  if (!chain || !chain->nodes.empty()) return false;
  const SlotId there = c.slot(x.bytes);
  const bool is_last =
      !c.slot_desc(there).plain() && c.slot_desc(there).dense() && Physical(c.slot_desc(there)).order.back() == 1;
  const SlotId in = is_last ? there : c.plain(x.bytes);
  const Desc lies = c.slot_desc(in);
  const Node& end = c.graph()[chain->end];
  const Desc out = *c.desc(end.outputs[0]);
  if (lies.rank() < 3 || lies.count() / lies.dims[0] / lies.dims[1] > most) return false;
  const Quantum y = *quantum_of(c, end);
  c.absorb(user);
  finish(c, n, *chain, "GlobalAveragePool",
         x.type == DType::u8 ? plane_means<uint8_t>(out.dtype, lies, x.q, y)
                             : plane_means<int8_t>(out.dtype, lies, x.q, y),
         {in}, out);
  return true;
}

}  // namespace

bool emit_byte_chain(Compiler& c, NodeId dequantize) {
  const auto x = dequantized(c, dequantize);
  if (!x || !c.ready(x->bytes) || c.is_constant(x->bytes)) return false;
  return emit_table(c, dequantize, *x) || emit_binary(c, dequantize, *x) || emit_plane_mean(c, dequantize, *x) ||
         emit_byte_concat(c, dequantize, *x);
}

}  // namespace cameo::engine
