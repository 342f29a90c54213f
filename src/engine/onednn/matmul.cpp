#include "engine/onednn/emitters.h"
#include "ops/generated/attributes.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

// x[m,k] times constant weights, with bias.
struct Product {
  int64_t m = 0, k = 0, n = 0;
  bool transposed = false;  // the weights are stored as [n,k]
  ValueId x, weights, bias;
};

template <class Primitive, class Pd>
void finish_product(Compiler& c, NodeId n, const Product& p, PostOps& post, const Pd& pd, const Md& stored,
                    const Md& bias) {
  std::string what = p.transposed ? "nk" : "kn";
  std::vector<SlotId> in{c.plain(p.x), packed(c, p.weights, what, *c.constant(p.weights), stored, pd.weights_desc())};
  finish_weighted(c, n, post, Primitive(pd), std::move(in), p.bias, bias, pd);
}

// oneDNN has two operators for it. Its matrix product shares the work better among threads, but only where it has a
// kernel for packed weights; elsewhere the inner product is the one that packs.
bool emit_with(Compiler& c, NodeId n, const Product& p, PostOps& post) {
  using Ip = dnnl::inner_product_forward;
  using Mm = dnnl::matmul;
  const auto f32 = dnnl::memory::data_type::f32;
  const Md src = row_major(DType::f32, {p.m, p.k}), dst = row_major(DType::f32, {p.m, p.n}),
           row = row_major(DType::f32, {p.n}), flat = row_major(DType::f32, {1, p.n});
  const Dims by_row{p.n, 1}, by_column{1, p.k};
  try {
    const Md any = any_layout({p.k, p.n});
    const Mm::primitive_desc pd = p.bias ? Mm::primitive_desc({src, any, flat, dst}, post.attr(), cpu())
                                         : Mm::primitive_desc({src, any, dst}, post.attr(), cpu());
    if (std::string_view(pd.impl_info_str()).starts_with("brg")) {
      finish_product<Mm>(c, n, p, post, pd, Md({p.k, p.n}, f32, p.transposed ? by_column : by_row), flat);
      return true;
    }
  } catch (const dnnl::error&) {}
  try {
    const Md any = any_layout({p.n, p.k});
    const auto kind = dnnl::prop_kind::forward_inference;
    const Ip::primitive_desc pd = p.bias ? Ip::primitive_desc({kind, src, any, row, dst}, post.attr(), cpu())
                                         : Ip::primitive_desc({kind, src, any, dst}, post.attr(), cpu());
    finish_product<Ip>(c, n, p, post, pd, Md({p.n, p.k}, f32, p.transposed ? Dims{p.k, 1} : Dims{1, p.n}), row);
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

bool emit_product(Compiler& c, NodeId n, Product p, NodeId bias_node) {
  const ValueId out = bias_node ? c.graph()[bias_node].outputs[0] : c.graph()[n].outputs[0];
  PostOps post(c, n, out), none(c, n, out);
  post.fuse_following();
  if (!emit_with(c, n, p, post) && (post.empty() || !emit_with(c, n, p, none))) return false;
  if (bias_node) c.absorb(bias_node);
  return true;
}

// One number per column: [n], or with leading ones.
bool is_row(const Desc& d, int64_t n) { return d.count() == n && !d.dims.empty() && d.dims.back() == n; }

// An Add of a constant row right behind the product.
NodeId bias_after(Compiler& c, ValueId v, int64_t n, ValueId& bias) {
  const NodeId user = c.only_user(v);
  if (!user || !c.graph()[user].is("Add")) return {};
  const Node& add = c.graph()[user];
  const ValueId other = add.inputs[0] == v ? add.inputs[1] : add.inputs[0];
  if (other == v || !c.is_constant(other) || !c.is_f32(other) || !is_row(*c.desc(other), n) ||
      c.desc(add.outputs[0])->dims != c.desc(v)->dims)
    return {};
  bias = other;
  return user;
}

// Both operands vary: batches with numpy's broadcasting.
bool emit_general(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const Desc &a = *c.desc(node.inputs[0]), &b = *c.desc(node.inputs[1]), &y = *c.desc(node.outputs[0]);
  if (a.rank() < 2 || b.rank() < 2) return false;
  const size_t rank = std::max(a.rank(), b.rank());
  const auto widened = [&](const Desc& d) {
    std::vector<int64_t> dims(rank - d.rank(), 1);
    dims.insert(dims.end(), d.dims.begin(), d.dims.end());
    return row_major(DType::f32, dims);
  };
  PostOps post(c, n, node.outputs[0]);
  post.fuse_following();
  const Md src = widened(a), weights = widened(b), dst = row_major(DType::f32, y.dims);
  for (PostOps* p : {&post, static_cast<PostOps*>(nullptr)}) {
    PostOps none(c, n, node.outputs[0]);
    PostOps& use = p ? *p : none;
    try {
      const dnnl::matmul::primitive_desc pd({src, weights, dst}, use.attr(), cpu());
      finish(c, n, use, dnnl::matmul(pd),
             {{DNNL_ARG_SRC, src, 0, false}, {DNNL_ARG_WEIGHTS, weights, 1, false}, {DNNL_ARG_DST, dst, 0, true}},
             {c.plain(node.inputs[0]), c.plain(node.inputs[1])}, pd);
      return true;
    } catch (const dnnl::error&) {}
  }
  return false;
}

}  // namespace

SlotId emit_constant_product(Compiler& c, NodeId n, SlotId x, const ProductSize& size, ValueId key,
                             std::string_view what, const Tensor& weights, const Tensor& bias) {
  using Ip = dnnl::inner_product_forward;
  const Md src = row_major(DType::f32, {size.m, size.k}), dst = row_major(DType::f32, {size.m, size.n}),
           row = row_major(DType::f32, {size.n});
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  try {
    const Ip::primitive_desc pd({dnnl::prop_kind::forward_inference, src, any_layout({size.n, size.k}), row, dst}, attr,
                                cpu());
    const std::vector<SlotId> in{
        x, packed(c, key, what, weights, row_major(DType::f32, {size.n, size.k}), pd.weights_desc()),
        c.add_constant(bias, {DType::f32, bias.shape(), nullptr})};
    std::vector<PrimitiveKernel::Arg> args{{DNNL_ARG_SRC, src, 0, false},
                                           {DNNL_ARG_WEIGHTS, pd.weights_desc(), 1, false},
                                           {DNNL_ARG_BIAS, row, 2, false},
                                           {DNNL_ARG_DST, dst, 0, true}};
    const SlotId out = c.make({DType::f32, {size.m, size.n}, nullptr});
    c.step(n, "MatMul",
           std::make_unique<PrimitiveKernel>(Ip(pd), std::move(args), pd.scratchpad_desc(), pd.impl_info_str()), in,
           {out});
    return out;
  } catch (const dnnl::error&) {
    return no_slot;
  }
}

bool emit_matmul(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  if (!c.is_f32(node.inputs[0]) || !c.is_f32(node.inputs[1]) || !c.is_f32(node.outputs[0])) return false;
  const Desc &a = *c.desc(node.inputs[0]), &b = *c.desc(node.inputs[1]);
  if (!c.is_constant(node.inputs[1]) || b.rank() != 2 || a.rank() < 1) return emit_general(c, n);
  Product p;
  if (a.dims.back() != b.dims[0]) return false;
  p.k = b.dims[0], p.n = b.dims[1], p.m = a.count() / p.k;
  p.x = node.inputs[0], p.weights = node.inputs[1];
  const NodeId add = bias_after(c, node.outputs[0], p.n, p.bias);
  return emit_product(c, n, p, add);
}

bool emit_gemm(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* a = node.as<op::Gemm>();
  if (!a || a->alpha != 1 || a->transA || !c.is_f32(node.inputs[0]) || !c.is_f32(node.inputs[1]) ||
      !c.is_constant(node.inputs[1]) || !c.is_f32(node.outputs[0]))
    return false;
  const Desc &x = *c.desc(node.inputs[0]), &w = *c.desc(node.inputs[1]), &y = *c.desc(node.outputs[0]);
  if (x.rank() != 2 || w.rank() != 2 || y.dims[0] != x.dims[0] ||
      w.dims != (a->transB ? std::vector{y.dims[1], x.dims[1]} : std::vector{x.dims[1], y.dims[1]}))
    return false;
  Product p;
  p.m = x.dims[0], p.k = x.dims[1], p.n = y.dims[1];
  p.x = node.inputs[0], p.weights = node.inputs[1], p.transposed = a->transB != 0;
  if (node.inputs.size() > 2 && node.inputs[2]) {
    p.bias = node.inputs[2];
    if (a->beta != 1 || !c.is_f32(p.bias) || !is_row(*c.desc(p.bias), p.n)) return false;
  }
  return emit_product(c, n, p, {});
}

}  // namespace cameo::engine
