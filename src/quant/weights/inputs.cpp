#include "quant/weights/inputs.h"

#include <algorithm>
#include <cstring>

#include "engine/session.h"
#include "support/budget.h"

namespace cameo::quant {

namespace {

constexpr int64_t most_rows = 1024;
constexpr int64_t most_bytes = int64_t{256} << 20;

// Rows along the value's last axis, however it lies in memory. All rows are seen; of more than there is room for,
// later ones replace earlier ones at places that a fixed sequence gives.
class Reservoir {
 public:
  Reservoir(InputRows& rows, int64_t room) : to_(rows), room_(room) {}

  void add(const engine::Observation& o) {
    const size_t rank = o.dims.size();
    if (o.dtype != DType::f32 || rank == 0) return;
    std::vector<int64_t> shape(rank), strides(rank);
    int64_t stride = 1;
    for (size_t i = rank; i-- > 0;) shape[o.axes[i]] = o.dims[i], strides[o.axes[i]] = stride, stride *= o.dims[i];
    if (shape.back() != to_.depth) return;
    const auto* data = reinterpret_cast<const float*>(o.bytes.data());
    const int64_t rows = to_.depth ? stride / to_.depth : 0;
    for (int64_t r = 0; r < rows; ++r) {
      int64_t rest = r, at = 0;
      for (size_t axis = rank - 1; axis-- > 0;) at += rest % shape[axis] * strides[axis], rest /= shape[axis];
      put(data + at, strides.back());
    }
  }

 private:
  void put(const float* from, int64_t stride) {
    int64_t place = seen_++;
    if (place >= room_) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      place = static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(seen_));
      if (place >= room_) return;
    } else {
      to_.numbers.resize(to_.numbers.size() + static_cast<size_t>(to_.depth));
    }
    float* to = to_.numbers.data() + place * to_.depth;
    for (int64_t k = 0; k < to_.depth; ++k) to[k] = from[k * stride];
  }

  InputRows& to_;
  const int64_t room_;
  int64_t seen_ = 0;
  uint64_t state_ = 1;
};

}  // namespace

std::pair<InputRows, InputRows> halves(const InputRows& x) {
  constexpr int64_t stretches = 8;
  if (x.rows() < stretches) return {x, x};
  std::pair<InputRows, InputRows> out;
  out.first.depth = out.second.depth = x.depth;
  for (int64_t r = 0; r < x.rows(); ++r) {
    std::vector<float>& to = (r * stretches / x.rows() % 2 == 0 ? out.first : out.second).numbers;
    to.insert(to.end(), x.row(r).begin(), x.row(r).end());
  }
  return out;
}

std::map<ValueId, InputRows> input_rows(const Model& m, const std::vector<WeightTarget>& targets,
                                        const Samples& samples, const engine::SessionOptions& run) {
  std::map<ValueId, InputRows> out;
  int64_t width = 0;
  for (const WeightTarget& t : targets)
    for (const WeightUse& use : t.why_not.empty() ? t.uses : std::vector<WeightUse>()) {
      if (use.kind != WeightUse::Kind::product || m.graph[use.node].home != m.graph.main()) continue;
      InputRows& rows = out[m.graph[use.node].inputs[0]];
      if (rows.depth == 0) width += t.rows()->shape[1];
      rows.depth = t.rows()->shape[1];
    }
  engine::SessionOptions options = run;
  std::vector<Reservoir> reservoirs;
  const int64_t room = std::clamp<int64_t>(most_bytes / std::max<int64_t>(1, width * 4), 16, most_rows);
  for (auto& [v, rows] : out) options.observe.push_back(v), reservoirs.emplace_back(rows, room);
  const engine::Session session(m, options);
  size_t count = 0;
  for (std::vector<Datum> inputs; inputs.clear(), samples(inputs); ++count) {
    support::checkpoint();
    session.run(inputs, [&](const engine::Observation& o) { reservoirs[o.index].add(o); });
  }
  if (count == 0) throw error("quantize.samples", "there are no samples to measure with");
  return out;
}

}  // namespace cameo::quant
