// What happens to an input before its first layer: numbers per channel, which may go into that layer's weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace cameo::passes {

// x * factor + offset, by channel; one number each stands for all channels.
struct Affine {
  std::vector<double> factor{1}, offset{0};

  double factor_at(size_t channel) const { return factor[factor.size() == 1 ? 0 : channel]; }
  double offset_at(size_t channel) const { return offset[offset.size() == 1 ? 0 : channel]; }
  bool moves() const;   // some offset is not 0
  bool scales() const;  // some factor is not 1
};

// Sub, Add, Mul and Div by constants behind an input, one after the other.
struct Entrance {
  ValueId input, result;
  Affine affine;
  size_t nodes = 0;
  int64_t channels_axis = 1;
};
// Of the model's only input of floats with four axes; none where nothing of the kind stands there.
std::optional<Entrance> normalisation_of(const Graph& g);
// Users of its result read the input itself.
void remove_normalisation(Graph& g, const Entrance& e);

// Users of the value read it times the factors plus the offsets.
void apply_affine(Graph& g, ValueId v, const Affine& affine, int64_t channels_axis);

// What could not go into the weights, to be done before them: nothing, offsets, or all of it.
struct Folded {
  Affine rest;
  bool factor = false, offset = false;
};
// Multiplies the weights of every Conv that reads the value, and adds to their biases, so that they take it before the
// numbers are applied. Offsets only go in where the Conv does not pad: what it pads with is 0 after them. Nothing is
// done where the value has other users.
Folded fold_affine(Graph& g, ValueId v, const Affine& affine);
// The same for channels in reverse order.
bool fold_reversal(Graph& g, ValueId v);

}  // namespace cameo::passes
