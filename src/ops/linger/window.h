// The window of one of linger's convolutions, as ONNX's operator has it.
#pragma once

namespace cameo::ops::linger {

template <class Onnx, class A>
Onnx window_of(const A& a) {
  Onnx out;
  out.dilations = a.dilations;
  out.group = a.group;
  out.kernel_shape = a.kernel_shape;
  out.pads = a.pads;
  out.strides = a.strides;
  if constexpr (requires { a.output_padding; }) out.output_padding = a.output_padding;
  return out;
}

}  // namespace cameo::ops::linger
