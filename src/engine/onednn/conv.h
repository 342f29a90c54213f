// What the ways to compute a convolution share.
#pragma once

#include "engine/onednn/primitive.h"

namespace cameo::engine {

struct ConvShape {
  Dims src, weights, dst, strides, dilates, begin, end;
};
// What the operators of the family have in common.
struct ConvAttrs {
  const std::string& auto_pad;
  const std::optional<std::vector<int64_t>>&strides, &dilations, &pads;
  int64_t group;
};
std::optional<ConvShape> conv_shape(const Desc& x, const Desc& w, const Desc& y, const ConvAttrs& a);

using ConvPd = dnnl::convolution_forward::primitive_desc;

ConvPd make_conv(const ConvShape& s, bool bias, const Md& src, const Md& weights, const Md& dst,
                 const dnnl::primitive_attr& attr);
// The weights packed; values that are not constants are reordered on every run.
SlotId conv_weights(Compiler& c, ValueId v, const ConvShape& s, const Md& wanted);
// A convolution that ends in Swish, a few rows of the image at a time; false where that is no gain.
bool emit_conv_in_strips(Compiler& c, NodeId n, const ConvShape& shape, PostOps& post);

}  // namespace cameo::engine
