#include "api/weights_in_place.h"
#include "support/file_bytes.h"

#include <algorithm>
#include <numeric>

#include "ops/on.h"

namespace cameo::api {

namespace {

// How dense elements lie in the source: axes from the slowest to the fastest; nullopt where they do not fill a part of
// it.
std::optional<std::vector<int64_t>> order_of(const Weight& w) {
  std::vector<int64_t> axes(w.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (w.strides.empty()) return axes;
  const auto stride = [&](int64_t axis) { return w.strides[static_cast<size_t>(axis)]; };
  const auto size = [&](int64_t axis) { return w.shape[static_cast<size_t>(axis)]; };
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t a, int64_t b) { return stride(a) > stride(b); });
  int64_t step = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    if (size(axes[i]) != 1 && stride(axes[i]) != step) return std::nullopt;
    step *= size(axes[i]);
  }
  return axes;
}

class InPlace {
 public:
  InPlace(Graph& g, const Bytes& file, const std::string& path) : g_(g), file_(file), path_(path) {}

  void weight(ValueId v) {
    const std::shared_ptr<const Weight> w = g_[v].weight;
    all_ += w->byte_size();
    const auto order = order_of(*w);
    if (w->scale || w->strings || w->source_dtype != w->dtype || !order || !is_inside(w->source) || w->count() == 0)
      return;
    auto stored = std::make_shared<Weight>(as_stored(*w, *order));
    if (std::is_sorted(order->begin(), order->end())) g_.set_weight(v, std::move(stored));
    else transpose(v, std::move(stored), *order);
    kept_ += w->byte_size();
  }

  std::string told() const { return cat(kept_, " of ", all_, " bytes of weights stay in ", path_); }

 private:
  bool is_inside(const Bytes& source) const {
    return !source.empty() && place_of(source) >= place_of(file_) &&
           place_of(source) + length_of(source) <= place_of(file_) + length_of(file_);
  }

  NodeId first_node() const {
    for (const NodeId n : g_.nodes(g_.main())) return n;
    return {};
  }

  Weight as_stored(const Weight& w, const std::vector<int64_t>& order) const {
    Weight out;
    out.dtype = out.source_dtype = w.dtype;
    for (const int64_t axis : order) out.shape.push_back(w.shape[static_cast<size_t>(axis)]);
    out.source =
        w.source.slice(static_cast<uint64_t>(w.start) * static_cast<uint64_t>(bits(w.dtype)) / 8, w.byte_size());
    auto place = std::make_shared<FileRange>();
    *place = {path_, "", place_of(out.source) - place_of(file_), w.byte_size()};
    out.file = std::move(place);
    return out;
  }

  void transpose(ValueId v, std::shared_ptr<const Weight> stored, const std::vector<int64_t>& order) {
    std::vector<int64_t> perm(order.size());
    for (size_t i = 0; i < order.size(); ++i) perm[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    const RegionId main = g_.main();
    On on(g_, main, first_node());
    const std::string name = g_[v].name;
    const ValueId init = g_.add_initializer(main, name, std::move(stored));
    const ValueId turned = on.Transpose(init, {.perm = perm});
    g_.fact(turned) = g_[v].fact;
    g_.label(turned).name = cat(name, "_turned");
    g_.replace_uses(v, turned);
    g_.erase_initializer(v);
  }

  Graph& g_;
  const Bytes& file_;
  const std::string& path_;
  uint64_t kept_ = 0, all_ = 0;
};

}  // namespace

void weights_in_place(Graph& g, const Bytes& file, const std::string& path, DiagSink& sink) {
  InPlace in_place(g, file, path);
  for (const ValueId v : std::vector<ValueId>(g[g.main()].initializers))
    if (g.used(v)) in_place.weight(v);
  sink.note("export.in-place", in_place.told());
}

}  // namespace cameo::api
