#include "quant/rounding/compensate.h"

#include <algorithm>
#include <cmath>

#include "engine/parallel.h"
#include "quant/weights/solve.h"
#include "support/budget.h"

namespace cameo::quant {

namespace {

constexpr int64_t most_places = 256;  // that make up for each other: neighbours do most, and the cost is cubic
constexpr int64_t least_rows = 16;

// Rows [from, to) of the places [first, first + count).
InputRows part_of(const InputRows& x, int64_t from, int64_t to, int64_t first, int64_t count) {
  InputRows out;
  out.depth = count;
  out.numbers.reserve(static_cast<size_t>((to - from) * count));
  for (int64_t r = from; r < to; ++r) {
    const auto row = x.row(r).subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    for (const float v : row) out.numbers.push_back(std::isfinite(v) ? v : 0);
  }
  return out;
}

// How the weights of one output lie in memory.
struct Lines {
  int64_t outputs, depth, output_stride, place_stride;
  size_t at(int64_t output, int64_t place) const {
    return static_cast<size_t>(output * output_stride + place * place_stride);
  }
};

Lines lines_of(const Graph& g, const Product& p) {
  const int64_t depth = depth_of(g, p), outputs = p.outputs();
  return p.weight_axis == 0 ? Lines{outputs, depth, depth, 1} : Lines{outputs, depth, 1, outputs};
}

class Compensation {
 public:
  Compensation(const Graph& g, const Product& p, std::span<const float> weights, const QuantizedWeight& nearest,
               const Grid& grid)
      : lines_(lines_of(g, p)),
        weights_(weights),
        scales_(nearest.scales),
        least_(static_cast<float>(least_level(grid))),
        most_(static_cast<float>(most_level(grid))) {
    const auto bytes = nearest.levels.span();
    for (const std::byte b : bytes) levels_.push_back(static_cast<int8_t>(b));
  }

  void solve(const Patches& rows, int threads) {
    const engine::ThreadScope scope(threads ? threads : engine::hardware_threads());
    const int64_t each = lines_.outputs / static_cast<int64_t>(rows.size());
    for (size_t group = 0; group < rows.size(); ++group)
      solve_group(rows[group], static_cast<int64_t>(group) * each, each);
  }
  Bytes levels() const {
    std::vector<std::byte> out;
    for (const int8_t level : levels_) out.push_back(static_cast<std::byte>(level));
    return Bytes::own(std::move(out));
  }

 private:
  float scale(int64_t output) const { return scales_[scales_.size() == 1 ? 0 : static_cast<size_t>(output)]; }

  void solve_group(const InputRows& x, int64_t first_output, int64_t outputs) {
    const int64_t training = x.rows() - x.rows() / 4;
    if (training < least_rows || x.rows() / 4 < 4) return;
    for (int64_t first = 0; first < lines_.depth; first += most_places) {
      support::checkpoint();
      const int64_t count = std::min(most_places, lines_.depth - first);
      const std::vector<float> u = inverse_factor(part_of(x, 0, training, first, count));
      if (u.empty()) continue;
      const InputRows judge = part_of(x, training, x.rows(), first, count);
      engine::parallel(outputs, 4, [&](int64_t from, int64_t to) {
        for (int64_t n = from; n < to; ++n) solve_line(first_output + n, first, u, judge);
      });
    }
  }

  void solve_line(int64_t output, int64_t first, const std::vector<float>& u, const InputRows& judge) {
    const int64_t count = judge.depth;
    const float s = scale(output);
    std::vector<float> open(static_cast<size_t>(count)), before(open.size()), after(open.size());
    std::vector<int8_t> levels(open.size());
    for (size_t k = 0; k < open.size(); ++k) {
      const size_t at = lines_.at(output, first + static_cast<int64_t>(k));
      if (!std::isfinite(weights_[at])) return;
      open[k] = weights_[at];
      before[k] = static_cast<float>(levels_[at]) * s - weights_[at];
    }
    for (size_t k = 0; k < open.size(); ++k) {
      const float level = std::clamp(std::nearbyint(open[k] / s), least_, most_);
      levels[k] = static_cast<int8_t>(level);
      const float* line = u.data() + k * open.size();
      const float factor = (level * s - open[k]) / line[k];
      for (size_t j = k + 1; j < open.size(); ++j) open[j] += factor * line[j];
      after[k] = level * s - weights_[lines_.at(output, first + static_cast<int64_t>(k))];
    }
    if (!(noise(after, judge) < noise(before, judge))) return;
    for (size_t k = 0; k < levels.size(); ++k) levels_[lines_.at(output, first + static_cast<int64_t>(k))] = levels[k];
  }

  static double noise(std::span<const float> wrong, const InputRows& x) {
    double out = 0;
    for (int64_t r = 0; r < x.rows(); ++r) {
      const double y = inner_product(wrong.data(), x.row(r).data(), x.depth);
      out += y * y;
    }
    return out;
  }

  Lines lines_;
  std::span<const float> weights_;
  const std::vector<float>& scales_;
  std::vector<int8_t> levels_;
  float least_, most_;
};

}  // namespace

QuantizedWeight compensated(const Graph& g, const Product& p, std::span<const float> weights,
                            const QuantizedWeight& nearest, const Patches& rows, const Grid& grid,
                            const ChannelMoments* inputs, int threads) {
  Compensation c(g, p, weights, nearest, grid);
  c.solve(rows, threads);
  return with_levels(p, weights, nearest.scales, c.levels(), inputs);
}

}  // namespace cameo::quant
