// The method about one weight: statistics, histogram, and pictures of small convolutions.
#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "kernels/number_cast.h"

#include "api/page/call.h"
#include "api/page/numbers.h"
#include "api/state.h"

namespace cameo::page {

namespace {

std::optional<Value> find_weight(const Model& m, const std::string& name) {
  if (auto v = m.graph().find(name); v && v->weight()) return v;
  return std::nullopt;
}

// A weight that only a body has, by the item that reads it.
std::optional<Value> weight_of_item(const Tree& tree, int64_t item, const std::string& name) {
  if (item < 0 || static_cast<size_t>(item) >= tree.items.size()) return std::nullopt;
  const uint32_t node = tree.items[static_cast<size_t>(item)].node;
  if (node == no_item) return std::nullopt;
  for (const Value& v : tree.nodes[node].inputs())
    if (v.present() && v.label() == name && v.weight()) return v;
  return std::nullopt;
}

// Kernels of [out, in, h, w] as grey squares, 0 is black: out to the right and down, the mean over `in`; three inputs
// are red, green and blue.
struct Picture {
  uint32_t tiles = 0, width = 0, height = 0;  // of one tile
  std::string rgb;                            // tile after tile
};

std::optional<Picture> picture_of(const SharedArray& a, const std::string& name) {
  constexpr int64_t most_tiles = 256, largest = 32;
  if (a.shape.size() != 4 || a.dtype == "str") return std::nullopt;
  const int64_t out = a.shape[0], in = a.shape[1], h = a.shape[2], w = a.shape[3];
  if (h < 2 || w < 2 || h > largest || w > largest || !in || !out) return std::nullopt;
  const ir::Tensor t = tensor_of(a, name);
  if (kernels::carrier_of(t.dtype()) != kernels::Carrier::f32) return std::nullopt;
  const kernels::Loaded<float> values(t);
  Picture p{static_cast<uint32_t>(std::min(out, most_tiles)), static_cast<uint32_t>(w), static_cast<uint32_t>(h), ""};
  for (int64_t tile = 0; tile < p.tiles; ++tile) {
    const float* k = values.data() + tile * in * h * w;
    float largest_value = 1e-12f;
    for (int64_t i = 0; i < in * h * w; ++i) largest_value = std::max(largest_value, std::abs(k[i]));
    for (int64_t i = 0; i < h * w; ++i)
      for (int64_t c = 0; c < 3; ++c) {
        float v = 0;
        if (in == 3) v = k[c * h * w + i];
        else
          for (int64_t j = 0; j < in; ++j) v += k[j * h * w + i] / static_cast<float>(in);
        const float shade = std::clamp(127.5f + 127.5f * v / largest_value, 0.f, 255.f);
        p.rgb += static_cast<char>(kernels::cast_number<int64_t>(shade));  // what is no number is black
      }
  }
  return p;
}

// {"value": NAME} of the main graph, or {"item": N, "value": LABEL} of what a node reads.
void weight(Call& call) {
  Opened& m = call.model();
  const std::string name = call.need_text("value");
  auto v = call.has("item") ? weight_of_item(m.drawn(), call.integer("item", -1), name) : find_weight(m.model, name);
  if (!v) throw error("use.value", cat("the model has no weight '", name, "'"));
  const SharedArray a = v->weight()->shared();
  call.out.object().key("name").value(name).key("array");
  write_array(call.out, a, name);
  if (const auto p = picture_of(a, name))
    if (const auto blob = call.give(p->rgb))
      call.out.key("picture")
          .object()
          .key("tiles")
          .value(uint64_t{p->tiles})
          .key("width")
          .value(uint64_t{p->width})
          .key("height")
          .value(uint64_t{p->height})
          .key("blob")
          .value(*blob)
          .end();
  if (call.flag("data"))
    if (const auto blob = call.give(a.memory)) call.out.key("blob").value(*blob);
  call.out.end();
}

constexpr Method methods[] = {{"weight", weight}};

}  // namespace

std::span<const Method> weight_methods() { return methods; }

}  // namespace cameo::page
