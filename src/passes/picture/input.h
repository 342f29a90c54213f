// Pictures of bytes as a model's input: what programs do before a model, as nodes.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/picture/entrance.h"

namespace cameo::passes {

struct PictureInput {
  enum class Fit : uint8_t { stretch, crop, pad };
  std::string input;                          // the name of the model's input
  bool channels_last = false;                 // of that input
  int64_t channels = 3;                       // of that input: 1 or 3
  int64_t height = 0, width = 0;              // of that input
  bool given_last = true;                     // pictures come as [images, height, width, colours]
  bool given_bgr = false;                     // their colours
  bool reversed = false;                      // the model wants blue, green, red
  bool any_size = false;                      // pictures of every size are resized
  int64_t given_height = 0, given_width = 0;  // else of this one; 0: the model's
  Fit fit = Fit::stretch;
  bool antialias = true;
  double border = 114;  // what Fit::pad fills with
  Affine affine;        // of pixels, by channel of the model
  bool fold = true;     // into the first layer, where that is exact
};

struct PictureMade {
  Folded folded;
  bool reversed_weights = false;  // the order of colours went into the weights
  bool resized = false;
  ValueId factor, offset;  // f32[4]: a box of the model's input times factor plus offset is one of the picture; none
                           // where sizes are the same
};

// The input becomes u8, under its name. Throws prepare.picture where it is no picture.
PictureMade add_picture_input(Model& m, const PictureInput& p);

}  // namespace cameo::passes
