// Where calibration samples come from: arrays in files, folders of them, pictures, a stream.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ops/vision/image.h"
#include "quant/quantize.h"

namespace cameo::quant {

// How a picture becomes an input: (pixel / divide - mean) / deviation, per channel.
struct PictureOptions {
  std::vector<double> mean{0}, deviation{1};  // one number, or three
  double divide = 255;
  int64_t height = 0, width = 0;  // 0: as the model's input has it
  enum class Fit : uint8_t { stretch, crop, pad } fit = Fit::stretch;
  enum class Order : uint8_t { rgb, bgr, grey } order = Order::rgb;
  std::optional<bool> channels_last;  // not given: as the model's input looks
  bool antialias = true;              // every pixel counts where the picture shrinks
};

// What the model's input takes. Throws quantize.picture where that is no picture, or its size is not known.
struct PictureLayout {
  bool last = false;
  int64_t channels = 3, height = 0, width = 0;
};
PictureLayout picture_layout(const Type& t, const PictureOptions& o, const std::string& name);

// "mean=0.485/0.456/0.406,std=0.229/0.224/0.225,size=224x320,layout=nchw,divide=255,fit=crop,order=bgr": any of these,
// in any order. Throws use.value.
PictureOptions picture_options(const std::string& text);

// `path`: an .npz or .npy, a test_data_set folder, a folder of .npz and .npy files, a folder of pictures, a picture, or
// "-": .npy arrays one after another, or an .npz, on standard input. An array with more rows than the model's first
// axis takes is as many samples. Throws file.*, use.input-name, and quantize.samples for a folder without any.
Samples samples_from(const Graph& g, const std::string& path, const std::optional<PictureOptions>& pictures);

// One picture as an input of this type, with one image.
Tensor picture_tensor(const Image& image, const Type& input, const std::string& name, const PictureOptions& options);
// The same from a file, as the model's only input.
Tensor picture_tensor(const std::string& path, const Graph& g, const PictureOptions& options);
// The single rows of inputs with a common first axis of several rows, where the model's is 1 or one named size; other
// inputs as they are, once. Rows are made as they are asked for: a large array of small ones has very many.
class Rows {
 public:
  Rows() = default;
  Rows(const Graph& g, std::vector<Datum> inputs);
  bool next(std::vector<Datum>& row);  // false where there are no more

 private:
  std::vector<Datum> inputs_;
  int64_t count_ = 0, at_ = 0;
  bool split_ = false;
};

}  // namespace cameo::quant
