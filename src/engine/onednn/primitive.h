// oneDNN behind the engine's words: layouts, primitives as kernels, weights packed for them.
#pragma once

#include "engine/compiler.h"
#include "engine/onednn/dnnl_api.h"

namespace cameo::engine {

using Md = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

const dnnl::engine& cpu();
dnnl::stream& stream();  // of the calling thread

struct BlockedLayout : Layout {
  explicit BlockedLayout(const Md& d);
  bool same(const Layout& other) const override;
  Md md;
};

Md row_major(DType t, const std::vector<int64_t>& dims);
Md any_layout(const std::vector<int64_t>& dims, DType t = DType::f32);  // oneDNN chooses
Md md_of(const Desc& d);
// The desc with oneDNN's layout; row-major ones stay plain.
Desc desc_with(const Desc& d, const Md& md);

// One primitive and which buffer goes to which argument.
class PrimitiveKernel : public Kernel {
 public:
  struct Arg {
    int name;
    Md md;
    size_t index;
    bool output;
  };
  PrimitiveKernel(dnnl::primitive primitive, std::vector<Arg> args, const Md& scratchpad, std::string about);
  void run(const Buffers& b) const override;
  std::shared_ptr<void> make_state() const override;
  std::string about() const override { return about_; }
  Extents extents() const override;

 private:
  struct State;
  dnnl::primitive primitive_;
  std::vector<Arg> args_;
  Md scratchpad_;
  std::string about_;
};

// The value in the layout a primitive asks for; emits a reorder, or packs a constant once.
SlotId in_layout(Compiler& c, ValueId v, const Md& wanted);
// A constant of the shape of `plain`, packed as `wanted`. `what` tells forms of one weight apart.
SlotId packed(Compiler& c, ValueId v, std::string_view what, const Tensor& dense, const Md& plain, const Md& wanted);

// Activations and additions after a convolution or product that its primitive does on the way out.
class PostOps {
 public:
  PostOps(Compiler& c, NodeId root, ValueId out);
  // Takes what follows, as far as primitives can do it. `binary` false: only activations and in-place sums.
  void fuse_following(size_t most = 4);
  dnnl::primitive_attr attr() const;
  // Whether the chain ends in Swish; its alpha, and the attributes of all that comes before.
  std::optional<float> swish() const { return swish_; }
  const dnnl::primitive_attr& attr_before_swish() const { return *before_swish_; }  // precondition: swish()

  ValueId out;  // the value that the whole chain gives
  std::string label;
  struct Extra {  // operands of the chain
    ValueId value;
    bool sum;   // accumulated into: the output takes its buffer
    int index;  // among the post-ops
  };
  std::vector<Extra> extras;
  void absorb();  // marks the nodes as done
  bool empty() const { return nodes_.empty(); }

 private:
  bool activation(NodeId n);
  bool addition(NodeId n);

  Compiler& c_;
  NodeId root_;
  dnnl::post_ops ops_;
  std::optional<dnnl::primitive_attr> before_swish_;
  std::optional<float> swish_;
  std::vector<NodeId> nodes_;
  std::vector<dnnl::algorithm> kinds_;  // of the activations taken
};

}  // namespace cameo::engine
