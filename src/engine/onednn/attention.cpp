// Attention without its intermediate matrices in memory: a tile of scores at a time is computed, normalised and used.
#include <algorithm>
#include <cmath>

#include "engine/onednn/emitters.h"
#include "engine/parallel.h"
#include "engine/simd/row_sums.h"
#include "engine/simd/rows.h"
#include "ops/generated/attributes.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

// Elements of a head lie one behind the other; everything else has a stride.
struct Heads {
  int64_t batch = 0, head = 0, row = 0;
};
struct AttentionShape {
  int64_t batches = 1, heads = 1, kv_heads = 1, rows = 1, keys = 1, depth = 1, value_depth = 1;
  Heads q, k, v, y;
  float scale = 1;
  bool causal = false, masked = false;
  int64_t mask_batch = 0, mask_head = 0, mask_row = 0, mask_key = 0;
};

class AttentionKernel : public Kernel {
 public:
  explicit AttentionKernel(const AttentionShape& s)
      : s_(s), tile_(std::min(s.rows, std::max<int64_t>(8, 32768 / s.keys))) {}
  std::string about() const override { return "tiled gemm"; }
  Extents extents() const override {
    const auto reach = [&](const Heads& h, int64_t heads, int64_t rows, int64_t depth) {
      return floats((s_.batches - 1) * h.batch + (heads - 1) * h.head + (rows - 1) * h.row + depth);
    };
    Extents e{{reach(s_.q, s_.heads, s_.rows, s_.depth), reach(s_.k, s_.kv_heads, s_.keys, s_.depth),
               reach(s_.v, s_.kv_heads, s_.keys, s_.value_depth)},
              {reach(s_.y, s_.heads, s_.rows, s_.value_depth)}};
    if (s_.masked)
      e.in.push_back(floats((s_.batches - 1) * s_.mask_batch + (s_.heads - 1) * s_.mask_head +
                            (s_.rows - 1) * s_.mask_row + (s_.keys - 1) * s_.mask_key + 1));
    return e;
  }

  void run(const Buffers& b) const override {
    const int64_t tiles = (s_.rows + tile_ - 1) / tile_;
    parallel(s_.batches * s_.heads * tiles, 1, [&](int64_t first, int64_t last) {
      std::vector<float> scores(static_cast<size_t>(tile_ * s_.keys));
      for (int64_t t = first; t < last; ++t)
        one(b, t / tiles / s_.heads, t / tiles % s_.heads, t % tiles * tile_, scores.data());
    });
  }

 private:
  void one(const Buffers& b, int64_t batch, int64_t head, int64_t row, float* scores) const {
    const int64_t kv = head / (s_.heads / s_.kv_heads), rows = std::min(tile_, s_.rows - row);
    const float* q = b.input<float>(0) + batch * s_.q.batch + head * s_.q.head + row * s_.q.row;
    const float* k = b.input<float>(1) + batch * s_.k.batch + kv * s_.k.head;
    const float* v = b.input<float>(2) + batch * s_.v.batch + kv * s_.v.head;
    float* y = b.output<float>(0) + batch * s_.y.batch + head * s_.y.head + row * s_.y.row;
    gemm('N', 'T', rows, s_.keys, s_.depth, s_.scale, q, s_.q.row, k, s_.k.row, scores, s_.keys);
    for (int64_t r = 0; r < rows; ++r) {
      float* line = scores + r * s_.keys;
      if (s_.masked)
        add_mask(b.input<float>(3) + batch * s_.mask_batch + head * s_.mask_head + (row + r) * s_.mask_row, line);
      if (s_.causal) std::fill(line + std::min(s_.keys, row + r + 1), line + s_.keys, -INFINITY);
      const float top = max_row(line, s_.keys);
      binary_scalar_row(Binary::mul, line, 1.0f / exp_row(line, line, s_.keys, 1, top), line, s_.keys);
    }
    gemm('N', 'N', rows, s_.value_depth, s_.keys, 1, scores, s_.keys, v, s_.v.row, y, s_.y.row);
  }
  void add_mask(const float* mask, float* line) const {
    if (s_.mask_key) add_to_row(line, mask, s_.keys);
    else binary_scalar_row(Binary::add, line, *mask, line, s_.keys);
  }
  static void gemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                   const float* b, int64_t ldb, float* c, int64_t ldc) {
    if (dnnl_sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, 0, c, ldc) != dnnl_success)
      throw error("run.onednn", "a matrix product failed");
  }

  AttentionShape s_;
  int64_t tile_;
};

// [batch, rows, heads * depth] or [batch, heads, rows, depth].
Heads heads_of(const Desc& d, int64_t heads) {
  if (d.rank() == 3) return {d.dims[1] * d.dims[2], d.dims[2] / heads, d.dims[2]};
  return {d.dims[1] * d.dims[2] * d.dims[3], d.dims[2] * d.dims[3], d.dims[3]};
}

bool read_mask(const Desc& m, AttentionShape& s) {
  if (m.rank() < 2 || m.rank() > 4 || m.dtype != DType::f32) return false;
  std::vector<int64_t> dims(4 - m.rank(), 1);
  dims.insert(dims.end(), m.dims.begin(), m.dims.end());
  const int64_t whole[] = {s.batches, s.heads, s.rows, s.keys};
  int64_t* strides[] = {&s.mask_batch, &s.mask_head, &s.mask_row, &s.mask_key};
  int64_t at = 1;
  for (size_t i = 4; i-- > 0; at *= dims[i]) {
    if (dims[i] != whole[i] && (dims[i] != 1 || i == 3))
      return false;  // a mask of fewer keys hides the others: the reference does that
    *strides[i] = dims[i] == 1 ? 0 : at;
  }
  return s.masked = true;
}

}  // namespace

bool emit_attention(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* a = node.as<op::Attention>();
  if (!a || node.outputs.size() != 1 || a->softcap != 0 || a->left_window_size != -1 || a->right_window_size != -1)
    return false;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] && (i > 3 || !c.is_f32(node.inputs[i]))) return false;
  const Desc &q = *c.desc(node.inputs[0]), &k = *c.desc(node.inputs[1]), &v = *c.desc(node.inputs[2]),
             &y = *c.desc(node.outputs[0]);
  if ((q.rank() != 3 && q.rank() != 4) || y.rank() != q.rank() || q.rank() != k.rank() || k.rank() != v.rank() ||
      (q.rank() == 3 && (!a->q_num_heads || !a->kv_num_heads)) || !c.is_f32(node.outputs[0]))
    return false;
  AttentionShape s;
  const bool flat = q.rank() == 3;
  s.batches = q.dims[0];
  s.heads = flat ? *a->q_num_heads : q.dims[1];
  s.kv_heads = flat ? *a->kv_num_heads : k.dims[1];
  if (s.heads < 1 || s.kv_heads < 1 || s.heads % s.kv_heads ||
      (flat && (q.dims[2] % s.heads || k.dims[2] % s.kv_heads || v.dims[2] % s.kv_heads)))
    return false;
  s.rows = flat ? q.dims[1] : q.dims[2];
  s.keys = flat ? k.dims[1] : k.dims[2];
  s.depth = flat ? q.dims[2] / s.heads : q.dims[3];
  s.value_depth = flat ? v.dims[2] / s.kv_heads : v.dims[3];
  const std::vector<int64_t> keys =
      flat ? std::vector{s.batches, s.keys, s.kv_heads * s.depth} : std::vector{s.batches, s.kv_heads, s.keys, s.depth};
  const std::vector<int64_t> values = flat ? std::vector{s.batches, s.keys, s.kv_heads * s.value_depth}
                                           : std::vector{s.batches, s.kv_heads, s.keys, s.value_depth};
  const std::vector<int64_t> result = flat ? std::vector{s.batches, s.rows, s.heads * s.value_depth}
                                           : std::vector{s.batches, s.heads, s.rows, s.value_depth};
  if (k.dims != keys || v.dims != values || y.dims != result) return false;
  s.q = heads_of(q, s.heads), s.k = heads_of(k, s.kv_heads), s.v = heads_of(v, s.kv_heads), s.y = heads_of(y, s.heads);
  s.scale = a->scale ? *a->scale : 1.0f / std::sqrt(static_cast<float>(s.depth));
  s.causal = a->is_causal != 0;
  std::vector<SlotId> in{c.plain(node.inputs[0]), c.plain(node.inputs[1]), c.plain(node.inputs[2])};
  if (node.inputs.size() > 3 && node.inputs[3]) {
    if (!read_mask(*c.desc(node.inputs[3]), s)) return false;
    in.push_back(c.plain(node.inputs[3]));
  }
  const SlotId out = c.make(y);
  c.step(n, "Attention", std::make_unique<AttentionKernel>(s), std::move(in), {out});
  c.bind(node.outputs[0], out);
  return true;
}

}  // namespace cameo::engine
