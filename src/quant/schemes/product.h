// An operator that multiplies with constant weights, in one form for Conv, ConvTranspose, Gemm and MatMul.
#pragma once

#include <optional>

#include "ir/graph.h"
#include "quant/layer.h"

namespace cameo::quant {

struct Product {
  NodeId node;
  ValueId data, weight, bias;  // bias: none, or any value
  std::vector<int64_t> shape;  // of the weight
  int64_t weight_axis = 0;     // output channels of the weight
  int64_t data_axis = 1;       // input channels of the data; -1: its rank is not known
  int64_t bias_axis = 0;
  bool plain_bias = true;  // it is added to the sums as it is, one number per output channel

  // Of the weight's element i: its place along weight_axis, and the input and output channels that it joins.
  int64_t channel(int64_t i) const { return i / inner_ % channels(); }
  int64_t input(int64_t i) const {
    return i / input_inner_ % inputs_ + (group_by_output_ ? channel(i) / (channels() / groups_) * inputs_ : 0);
  }
  int64_t output(int64_t i) const {
    return group_by_output_ || groups_ == 1 ? channel(i)
                                            : i / input_inner_ / (inputs_ / groups_) * channels() + channel(i);
  }
  int64_t channels() const { return shape[static_cast<size_t>(weight_axis)]; }
  int64_t outputs() const { return group_by_output_ || groups_ == 1 ? channels() : channels() * groups_; }
  int64_t all_inputs() const { return group_by_output_ ? inputs_ * groups_ : inputs_; }

  // The same of all elements in order, without a division for each.
  class Walk {
   public:
    explicit Walk(const Product& p) : p_(p), channel_left_(p.inner_), input_left_(p.input_inner_) { look(); }
    int64_t channel() const { return channel_; }
    int64_t input() const { return input_; }
    int64_t output() const { return output_; }
    void next() {
      ++at_;
      const bool other_channel = --channel_left_ == 0, other_input = --input_left_ == 0;
      if (other_channel) channel_left_ = p_.inner_;
      if (other_input) input_left_ = p_.input_inner_;
      if (other_channel == other_input || (p_.groups_ > 1 && !p_.group_by_output_)) {
        if (other_channel || other_input) look();
      } else if (other_input) {
        ++input_;
      } else if (p_.group_by_output_) {
        look();
      } else {
        output_ = ++channel_;
      }
    }

   private:
    void look() { channel_ = p_.channel(at_), input_ = p_.input(at_), output_ = p_.output(at_); }
    const Product& p_;
    int64_t at_ = 0, channel_ = 0, input_ = 0, output_ = 0, channel_left_, input_left_;
  };

 private:
  friend std::optional<Product> product_of(const Graph& g, NodeId n);
  int64_t inner_ = 1, input_inner_ = 1, inputs_ = 1, groups_ = 1;
  bool group_by_output_ = false;
};

// Nothing where the node is no product with constant f32 weights, or one whose sizes do not fit.
std::optional<Product> product_of(const Graph& g, NodeId n);

// The constant behind a weight: an initializer, a Constant, or what DequantizeLinear or QuantizeLinear make of one.
bool is_dequantized(const Graph& g, ValueId v);  // DequantizeLinear gives it
bool is_f32(const Graph& g, ValueId v);          // a tensor of f32

}  // namespace cameo::quant
