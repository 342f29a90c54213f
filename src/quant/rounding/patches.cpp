#include "quant/rounding/patches.h"

#include <algorithm>
#include <map>

#include "ops/nn/window.h"
#include "ops/on.h"
#include "support/budget.h"

namespace cameo::quant {

namespace {

// A value as it lies in memory, by its own axes.
struct Laid {
  const float* data = nullptr;
  std::vector<int64_t> shape, strides;
};

Laid laid(const engine::Observation& o) {
  Laid out{reinterpret_cast<const float*>(o.bytes.data()), std::vector<int64_t>(o.dims.size()),
           std::vector<int64_t>(o.dims.size())};
  int64_t stride = 1;
  for (size_t i = o.dims.size(); i-- > 0;) {
    out.shape[o.axes[i]] = o.dims[i], out.strides[o.axes[i]] = stride;
    stride *= o.dims[i];
  }
  return out;
}

// The places [0, count) of which `rows` are taken, evenly, but not at the same column of every line.
std::vector<int64_t> selected(int64_t count, int64_t rows) {
  std::vector<int64_t> out;
  if (count <= rows) rows = count;
  for (int64_t i = 0; i < rows; ++i) out.push_back((i * count + (i * 7919) % count) / rows);
  for (int64_t& p : out) p = std::min(p, count - 1);
  return out;
}

void add_lines(const Laid& x, int64_t depth, int64_t rows, InputRows& to) {
  if (x.shape.empty() || x.shape.back() != depth) return;
  const int64_t count = ops::product(std::span(x.shape).first(x.shape.size() - 1));
  if (count <= 0) return;
  for (const int64_t r : selected(count, rows)) {
    int64_t rest = r, at = 0;
    for (size_t axis = x.shape.size() - 1; axis-- > 0;)
      at += rest % x.shape[axis] * x.strides[axis], rest /= x.shape[axis];
    for (int64_t k = 0; k < depth; ++k) to.numbers.push_back(x.data[at + k * x.strides.back()]);
  }
}

// Windows at some positions; outside of the input there are zeros.
class WindowReader {
 public:
  WindowReader(const Laid& x, const op::Conv& conv, std::span<const int64_t> weight) : x_(x), inputs_(weight[1]) {
    const ops::WindowAttrs a =
        ops::window_attrs(conv.auto_pad, conv.strides, conv.dilations, conv.pads, false, weight.size() - 2);
    windows_ = ops::make_windows(a, ops::spatial_of(x.shape), {weight.begin() + 2, weight.end()});
  }
  int64_t positions() const {
    return windows_.problem.empty() ? std::max<int64_t>(windows_.out_count(), 0) * x_.shape[0] : 0;
  }
  void read(int64_t position, int64_t group, InputRows& to) const {
    const size_t n = windows_.rank();
    std::vector<int64_t> from(n);
    for (size_t i = n; i-- > 0; position /= windows_.out[i])
      from[i] = position % windows_.out[i] * windows_.strides[i] - windows_.begin[i];
    for (int64_t c = group * inputs_; c < (group + 1) * inputs_; ++c) {
      const float* first = x_.data + position_stride(position, c);
      std::vector<int64_t> k(n);
      do {
        int64_t at = 0;
        bool inside = true;
        for (size_t i = 0; i < n; ++i) {
          const int64_t place = from[i] + k[i] * windows_.dilations[i];
          inside = inside && place >= 0 && place < windows_.in[i];
          at += place * x_.strides[i + 2];
        }
        to.numbers.push_back(inside ? first[at] : 0);
      } while (ops::next_index(k, windows_.kernel));
    }
  }

 private:
  int64_t position_stride(int64_t batch, int64_t channel) const {
    return batch * x_.strides[0] + channel * x_.strides[1];
  }
  const Laid& x_;
  int64_t inputs_;
  ops::Windows windows_;
};

void add_patches(const Graph& g, const Product& p, const Laid& x, int64_t rows, Patches& to) {
  const auto* conv = g[p.node].as<op::Conv>();
  if (!conv) return add_lines(x, to[0].depth, rows, to[0]);
  if (x.shape.size() != p.shape.size() || x.shape[1] != p.shape[1] * conv->group) return;
  const WindowReader windows(x, *conv, p.shape);
  const int64_t count = windows.positions();
  if (count <= 0) return;
  for (const int64_t position : selected(count, rows))
    for (size_t group = 0; group < to.size(); ++group) windows.read(position, static_cast<int64_t>(group), to[group]);
}

}  // namespace

int64_t depth_of(const Graph& g, const Product& p) {
  const int64_t all = ops::product(p.shape);
  return all / (g[p.node].is("Conv") ? p.shape[0] : p.channels());
}

bool has_patches(const Graph& g, const Product& p) {
  const Node& n = g[p.node];
  if (const auto* gemm = n.as<op::Gemm>()) return gemm->transA == 0;
  return n.is("Conv") || (n.is("MatMul") && p.shape.size() == 2);
}

std::vector<Patches> patches_of(const Model& m, const std::vector<Product>& products,
                                const std::vector<std::vector<Datum>>& samples, int64_t rows,
                                const engine::SessionOptions& run) {
  const Graph& g = m.graph;
  std::vector<Patches> out(products.size());
  std::map<ValueId, std::vector<size_t>> readers;
  for (size_t i = 0; i < products.size(); ++i) {
    const auto* conv = g[products[i].node].as<op::Conv>();
    out[i].resize(conv ? static_cast<size_t>(conv->group) : 1);
    for (InputRows& r : out[i]) r.depth = depth_of(g, products[i]);
    readers[products[i].data].push_back(i);
  }
  engine::SessionOptions options = run;
  std::vector<const std::vector<size_t>*> observed;
  for (const auto& [v, indices] : readers) options.observe.push_back(v), observed.push_back(&indices);
  const engine::Session session(m, options);
  const auto each = (rows + static_cast<int64_t>(samples.size()) - 1) / static_cast<int64_t>(samples.size());
  for (const auto& inputs : samples) {
    support::checkpoint();
    session.run(inputs, [&](const engine::Observation& o) {
      if (o.dtype != DType::f32 || o.dims.empty() || o.bytes.empty()) return;
      const Laid x = laid(o);
      for (const size_t i : *observed[o.index]) add_patches(g, products[i], x, each, out[i]);
    });
  }
  return out;
}

}  // namespace cameo::quant
