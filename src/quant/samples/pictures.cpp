#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "formats/mapped_file.h"
#include "kernels/carrier.h"
#include "ops/vision/image.h"
#include "quant/samples/samples.h"
#include "runtime/inputs.h"
#include "support/budget.h"
#include "support/number_text.h"

namespace cameo::quant {

namespace {

[[noreturn]] void wrong(const std::string& what) {
  throw error("use.value", cat("--image: ", what))
      .help("mean=0.485/0.456/0.406,std=0.229/0.224/0.225,size=224,layout=nchw,divide=255,fit=stretch,order=rgb");
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(by, from), text.size());
    out.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

std::vector<double> numbers(const std::string& key, const std::string& text) {
  std::vector<double> out;
  for (const std::string& part : split(text, '/')) {
    const auto number = support::parse_double(part);
    if (!number || !std::isfinite(*number)) wrong(cat(key, " has '", part, "', which is no number"));
    out.push_back(*number);
  }
  if (out.size() != 1 && out.size() != 3) wrong(cat(key, " has ", out.size(), " numbers: one, or one per colour"));
  return out;
}

template <class E, size_t N>
E word(const std::string& key, const std::string& given, const std::string_view (&words)[N]) {
  for (size_t i = 0; i < N; ++i)
    if (given == words[i]) return static_cast<E>(i);
  wrong(cat(key, " is '", given, "'"));
}

constexpr int64_t longest_side = 16384;

int64_t size_in(const std::string& text) {
  const std::vector<double> n = numbers("size", text);
  if (n.size() != 1 || n[0] < 1 || n[0] > longest_side) wrong(cat("the size is '", text, "'"));
  return static_cast<int64_t>(n[0]);
}

// One row or column of the result as a weighted mean of the source's: bilinear, with `antialias` over a wider window
// where it shrinks; `count` of them, from `begin` on.
struct Tap {
  int64_t first = 0;
  std::vector<float> weights;
};
std::vector<Tap> taps(int64_t from, int64_t to, bool antialias, int64_t begin, int64_t count) {
  std::vector<Tap> out(static_cast<size_t>(count));
  const double step = static_cast<double>(from) / static_cast<double>(to),
               reach = antialias ? std::max(1.0, step) : 1.0;
  for (int64_t i = 0; i < count; ++i) {
    const double centre = (static_cast<double>(begin + i) + 0.5) * step;
    const auto first = std::clamp<int64_t>(static_cast<int64_t>(std::floor(centre - reach)), 0, from - 1);
    const auto last = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(centre + reach)), first, from - 1);
    Tap& t = out[static_cast<size_t>(i)];
    t.first = first;
    double sum = 0;
    for (int64_t k = first; k <= last; ++k) {
      const double w = std::max(0.0, 1 - std::fabs(static_cast<double>(k) + 0.5 - centre) / reach);
      t.weights.push_back(static_cast<float>(w));
      sum += w;
    }
    for (float& w : t.weights)
      w = sum > 0 ? static_cast<float>(static_cast<double>(w) / sum) : 1.0f / static_cast<float>(t.weights.size());
  }
  return out;
}

// Interleaved colours, resized.
std::vector<float> resized(const Image& image, const std::vector<Tap>& rows, const std::vector<Tap>& columns) {
  const size_t width = columns.size();
  std::vector<float> narrow(static_cast<size_t>(image.height) * width * 3);
  for (int64_t y = 0; y < image.height; ++y)
    for (size_t x = 0; x < width; ++x)
      for (size_t k = 0; k < columns[x].weights.size(); ++k) {
        const uint8_t* pixel = image.rgb.data() + (y * image.width + columns[x].first + static_cast<int64_t>(k)) * 3;
        for (size_t c = 0; c < 3; ++c)
          narrow[(static_cast<size_t>(y) * width + x) * 3 + c] += columns[x].weights[k] * static_cast<float>(pixel[c]);
      }
  std::vector<float> out(rows.size() * width * 3);
  for (size_t y = 0; y < rows.size(); ++y)
    for (size_t k = 0; k < rows[y].weights.size(); ++k) {
      const float* from = narrow.data() + (static_cast<size_t>(rows[y].first) + k) * width * 3;
      for (size_t i = 0; i < width * 3; ++i) out[y * width * 3 + i] += rows[y].weights[k] * from[i];
    }
  return out;
}

// round(a * b / c), exactly
int64_t scaled(int64_t a, int64_t b, int64_t c) { return (2 * a * b + c) / (2 * c); }

// The picture at this size: stretched, cut to the middle, or with a grey border.
std::vector<float> fitted(const Image& image, int64_t height, int64_t width, const PictureOptions& o) {
  using Fit = PictureOptions::Fit;
  const int64_t by_width = scaled(image.height, width, image.width),
                by_height = scaled(image.width, height, image.height);
  int64_t inner_h = height, inner_w = width;
  if (o.fit == Fit::pad)
    inner_h = std::clamp<int64_t>(by_width, 1, height), inner_w = std::clamp<int64_t>(by_height, 1, width);
  if (o.fit == Fit::crop) inner_h = std::max(by_width, height), inner_w = std::max(by_height, width);
  const int64_t rows = std::min(height, inner_h), columns = std::min(width, inner_w);
  const auto inner = resized(image, taps(image.height, inner_h, o.antialias, (inner_h - rows) / 2, rows),
                             taps(image.width, inner_w, o.antialias, (inner_w - columns) / 2, columns));
  if (o.fit != Fit::pad) return inner;
  std::vector<float> out(static_cast<size_t>(height * width * 3), 114);
  const int64_t top = (height - rows) / 2, left = (width - columns) / 2;
  for (int64_t y = 0; y < rows; ++y)
    std::copy_n(inner.data() + y * columns * 3, columns * 3, out.data() + ((top + y) * width + left) * 3);
  return out;
}

}  // namespace

PictureLayout picture_layout(const Type& t, const PictureOptions& o, const std::string& name) {
  if (!t.is_tensor() || !t.has_rank() || t.rank() != 4)
    throw error("quantize.picture", cat("the input '", name, "' is ", t.text(), ": pictures need four axes"));
  const auto size = [&](size_t axis) { return (*t.shape)[axis].is_literal() ? (*t.shape)[axis].literal() : 0; };
  PictureLayout out;
  out.last = o.channels_last.value_or((size(3) == 3 || size(3) == 1) && size(1) != 3 && size(1) != 1);
  out.channels = size(out.last ? 3 : 1);
  if (out.channels == 0) out.channels = o.order == PictureOptions::Order::grey ? 1 : 3;
  out.height = o.height ? o.height : size(out.last ? 1 : 2);
  out.width = o.width ? o.width : size(out.last ? 2 : 3);
  if (out.height <= 0 || out.width <= 0)
    throw error("quantize.picture", cat("the input '", name, "' is ", t.text(), ": its size is not known"))
        .help("--image size=224x224");
  if (out.height > longest_side || out.width > longest_side)  // of a model's own making: their product must fit
    throw error("quantize.picture",
                cat("the input '", name, "' is ", t.text(), ": a side of a picture is at most ", longest_side));
  if (out.channels != 1 && out.channels != 3)
    throw error("quantize.picture",
                cat("the input '", name, "' has ", out.channels, " channels: pictures have 1 or 3"));
  return out;
}

PictureOptions picture_options(const std::string& text) {
  PictureOptions o;
  for (const std::string& part : split(text, ',')) {
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals), value = equals == part.npos ? "" : part.substr(equals + 1);
    if (key == "mean") o.mean = numbers(key, value);
    else if (key == "std") o.deviation = numbers(key, value);
    else if (key == "divide") o.divide = numbers(key, value)[0];
    else if (key == "size") {
      const auto sizes = split(value, 'x');
      if (sizes.size() > 2) wrong(cat("the size is '", value, "'"));
      o.height = size_in(sizes[0]), o.width = size_in(sizes.back());
    } else if (key == "layout") o.channels_last = word<bool>(key, value, {"nchw", "nhwc"});
    else if (key == "fit") o.fit = word<PictureOptions::Fit>(key, value, {"stretch", "crop", "pad"});
    else if (key == "resize") o.antialias = !word<bool>(key, value, {"antialias", "linear"});
    else if (key == "order") o.order = word<PictureOptions::Order>(key, value, {"rgb", "bgr", "grey"});
    else wrong(cat("unknown part '", part, "'"));
  }
  for (const double d : o.deviation)
    if (d == 0) wrong("std is 0");
  if (o.divide == 0) wrong("divide is 0");
  return o;
}

Tensor picture_tensor(const std::string& path, const Graph& g, const PictureOptions& o) {
  const auto params = run_inputs(g, false);
  if (params.size() != 1)
    throw error("quantize.picture", cat("the model has ", params.size(), " inputs: pictures go to models with one"));
  const Value& input = g[params[0]];
  picture_layout(input.fact.type, o, input.name);  // before a large file is read
  const Bytes file = map_file(path);
  const auto image = decode_image(file.text());
  if (!image) throw error("file.damaged", cat(path, " is no picture that can be decoded"));
  return picture_tensor(*image, input.fact.type, input.name, o);
}

Tensor picture_tensor(const Image& image, const Type& input, const std::string& name, const PictureOptions& o) {
  const PictureLayout to = picture_layout(input, o, name);
  const MemoryClaim room(sizeof(float) * static_cast<uint64_t>(3 * to.width * (image.height + 3 * to.height)));
  const std::vector<float> pixels = fitted(image, to.height, to.width, o);
  const auto at = [](const std::vector<double>& list, int64_t c) {
    return list[list.size() == 1 ? 0 : static_cast<size_t>(c)];
  };
  const int64_t area = to.height * to.width;
  std::vector<float> out(static_cast<size_t>(area * to.channels));
  for (int64_t p = 0; p < area; ++p)
    for (int64_t c = 0; c < to.channels; ++c) {
      const float* rgb = pixels.data() + p * 3;
      const double raw = to.channels == 1 ? 0.299 * static_cast<double>(rgb[0]) + 0.587 * static_cast<double>(rgb[1]) +
                                                0.114 * static_cast<double>(rgb[2])
                                          : static_cast<double>(rgb[o.order == PictureOptions::Order::bgr ? 2 - c : c]);
      out[static_cast<size_t>(to.last ? p * to.channels + c : c * area + p)] =
          static_cast<float>((raw / o.divide - at(o.mean, c)) / at(o.deviation, c));
    }
  std::vector<int64_t> shape = to.last ? std::vector<int64_t>{1, to.height, to.width, to.channels}
                                       : std::vector<int64_t>{1, to.channels, to.height, to.width};
  const DType type = input.elem;
  if (type == DType::u8) {
    for (float& x : out) x = std::clamp(std::nearbyint(x), 0.0f, 255.0f);
  }
  return store(type, std::move(shape), out);
}

}  // namespace cameo::quant
