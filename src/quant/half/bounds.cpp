// Bounds of magnitudes, operator by operator.
#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "ops/on.h"
#include "quant/half/ranges.h"

namespace cameo::quant {

namespace {

constexpr double unknown = INFINITY;

class Bounds {
 public:
  Bounds(const Graph& g, const std::map<ValueId, double>& inputs) : g_(g), known_(inputs) {}

  std::map<ValueId, double> run() {
    for (const NodeId n : g_.nodes(g_.main())) {
      const double b =
          g_[n].regions.empty() && g_[n].op->domain.empty() && !g_[n].op->is_opaque() ? result(n) : unknown;
      if (std::isfinite(b))
        for (const ValueId v : g_[n].outputs) known_[v] = b;
    }
    return std::move(known_);
  }

 private:
  double of(NodeId n, size_t i) {
    const ValueId v = g_.input(n, i);
    if (!v) return 0;
    if (const auto it = known_.find(v); it != known_.end()) return it->second;
    if (!g_.is_constant(v) || !g_[v].fact.type.is_tensor() || g_[v].fact.dtype() != DType::f32) return unknown;
    double most = 0;
    const Tensor t = *g_.constant(v);
    const Loaded<float> numbers(t);
    for (const float x : numbers.span()) most = std::max(most, std::fabs(static_cast<double>(x)));
    return known_[v] = most;
  }
  double most_of(NodeId n, size_t first = 0) {
    double out = 0;
    for (size_t i = first; i < g_[n].inputs.size(); ++i) out = std::max(out, of(n, i));
    return out;
  }
  double sum_of(NodeId n) {
    double out = 0;
    for (size_t i = 0; i < g_[n].inputs.size(); ++i) out += of(n, i);
    return out;
  }
  // How many products are added up: the elements of a weight for one output.
  double depth(NodeId n) {
    const ValueId w = g_.input(n, 1);
    if (!w || !g_.is_constant(w) || !g_[w].fact.has_rank()) return unknown;
    double elements = 1;
    for (const Dim d : g_[w].fact.shape()) elements *= d.is_literal() ? static_cast<double>(d.literal()) : unknown;
    const Shape& shape = g_[w].fact.shape();
    if (shape.empty() || elements == 0) return unknown;
    const size_t outputs = g_[n].is("Conv")                                   ? 0
                           : g_[n].is("Gemm") && g_[n].as<op::Gemm>()->transB ? 0
                                                                              : shape.size() - 1;
    return elements / static_cast<double>(shape[outputs].literal());
  }

  struct Row {
    std::string_view op;
    double (*bound)(Bounds& b, NodeId n);
  };
  static double first(Bounds& b, NodeId n) { return b.of(n, 0); }
  static double one(Bounds&, NodeId) { return 1; }
  static double largest(Bounds& b, NodeId n) { return b.most_of(n); }
  static double sum(Bounds& b, NodeId n) { return b.sum_of(n); }
  static double product(Bounds& b, NodeId n) { return b.depth(n) * b.of(n, 0) * b.of(n, 1) + b.of(n, 2); }
  static double clip(Bounds& b, NodeId n) {
    return b.g_.input(n, 1) && b.g_.input(n, 2) ? std::min(b.of(n, 0), b.most_of(n, 1)) : b.of(n, 0);
  }
  static double normalized(Bounds& b, NodeId n) {
    const ValueId x = b.g_.input(n, 0);
    if (!x || !b.g_[x].fact.has_rank() || b.g_[x].fact.rank() == 0 || !b.g_[x].fact.shape().back().is_literal())
      return unknown;
    return std::sqrt(static_cast<double>(b.g_[x].fact.shape().back().literal())) * b.of(n, 1) + b.of(n, 2);
  }
  static double times(Bounds& b, NodeId n) { return b.of(n, 0) * b.of(n, 1); }

  static constexpr Row rows[] = {{"Abs", first},
                                 {"Add", sum},
                                 {"AveragePool", first},
                                 {"Clip", clip},
                                 {"Concat", largest},
                                 {"Conv", product},
                                 {"Cos", one},
                                 {"DepthToSpace", first},
                                 {"Dropout", first},
                                 {"Elu", largest},
                                 {"Erf", one},
                                 {"Expand", first},
                                 {"Flatten", first},
                                 {"Gather", first},
                                 {"Gelu", first},
                                 {"Gemm", product},
                                 {"GlobalAveragePool", first},
                                 {"GlobalMaxPool", first},
                                 {"HardSigmoid", one},
                                 {"HardSwish", first},
                                 {"Identity", first},
                                 {"LayerNormalization", normalized},
                                 {"MatMul", product},
                                 {"Max", largest},
                                 {"MaxPool", first},
                                 {"Min", largest},
                                 {"Mul", times},
                                 {"Neg", first},
                                 {"Pad", largest},
                                 {"ReduceMax", first},
                                 {"ReduceMean", first},
                                 {"ReduceMin", first},
                                 {"Relu", first},
                                 {"Reshape", first},
                                 {"Sigmoid", one},
                                 {"Sin", one},
                                 {"Slice", first},
                                 {"Softmax", one},
                                 {"SpaceToDepth", first},
                                 {"Split", first},
                                 {"Squeeze", first},
                                 {"Sub", sum},
                                 {"Sum", sum},
                                 {"Tanh", one},
                                 {"Tile", first},
                                 {"Transpose", first},
                                 {"Unsqueeze", first}};

  double result(NodeId n) {
    for (const Row& row : rows)
      if (row.op == g_[n].op->name) {
        const double b = row.bound(*this, n);
        return std::isnan(b) ? unknown : b;
      }
    return unknown;
  }

  const Graph& g_;
  std::map<ValueId, double> known_;
};

}  // namespace

std::map<ValueId, double> magnitude_bounds(const Graph& g, const std::map<ValueId, double>& inputs) {
  return Bounds(g, inputs).run();
}

}  // namespace cameo::quant
