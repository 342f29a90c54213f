#include "quant/evaluate/variant.h"

#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "passes/dce.h"
#include "quant/insert/guard.h"
#include "quant/rounding/compensate.h"
#include "quant/schemes/product.h"
#include "quant/schemes/response.h"
#include "quant/schemes/saturation.h"
#include "support/error.h"

namespace cameo::quant {

namespace {

constexpr int64_t patch_rows = 1024, most_patch_numbers = 24 << 20;
constexpr double conflicting = 8;  // times the range of another operand

double reach(const Range& r) { return std::max(std::fabs(r.low), std::fabs(r.high)); }

// Scale and zero point of a value that the model itself dequantizes.
std::optional<Scale> trained_scale(const Graph& g, ValueId v) {
  if (!is_dequantized(g, v)) return std::nullopt;
  const Node& d = g[g[v].def];
  const auto scale = g.constant(d.inputs[1], 64);
  const auto zero = d.inputs.size() > 2 && d.inputs[2] ? g.constant(d.inputs[2], 64) : std::nullopt;
  if (!scale || scale->count() != 1) return std::nullopt;
  return Scale{scale->double_at(0), zero ? zero->int_at(0) : 0};
}

}  // namespace

// Those of a value that is divided by them, where a multiplication hides from it what others make of it.
const ScaledChannels* VariantMaker::factors_of(ValueId v) const {
  const auto it = std::find_if(scaled_.begin(), scaled_.end(), [&](const ScaledChannels& c) {
    return c.multiplication && (c.maker ? c.value : c.result) == v;
  });
  return it == scaled_.end() ? nullptr : &*it;
}

Range VariantMaker::range(ValueId v, Method method, Half half) {
  const auto [it, fresh] = ranges_.try_emplace({v, method, half});
  const ValueStatistics* s = fresh ? calibration_.of(v, half) : nullptr;
  if (fresh && !s && half != Half::both) return it->second = range(v, method);
  if (!s) return it->second;
  const ScaledChannels* factors = factors_of(v);
  const Range useful = factors ? factors->useful : useful_range(model_.graph, v);
  const auto chosen_by = [&] {
    if (method == Method::margin) return s->extremes.expected();
    Curve seen;
    if (method == Method::mse)
      seen = response(model_.graph, v, joined({0, 0}, {s->histogram.min(), s->histogram.max()}));
    return range_of(s->histogram, method, target_.activation, percentile_, seen);
  };
  const Range chosen = chosen_by();
  const Range cut{std::max(chosen.low, std::min(useful.low, 0.0)), std::min(chosen.high, std::max(useful.high, 0.0))};
  const Range open = factors ? factors->open : decisive_range(model_.graph, v);
  return it->second = joined(
             cut, {std::max(open.low, std::min(useful.low, 0.0)), std::min(open.high, std::max(useful.high, 0.0))});
}

std::set<NodeId> VariantMaker::conflicts(const Selection& s) {
  const Graph& g = model_.graph;
  std::set<NodeId> out;
  for (const NodeId n : s.nodes()) {
    double least = INFINITY, most = 0;
    bool unseen = false;
    for (const size_t i : s.operands(n)) {
      const ValueId v = g[n].inputs[i];
      if (g.is_constant(v) || trained_scale(g, v)) continue;
      unseen = unseen || !calibration_.of(v);
      const double r = reach(range(v, Method::minmax));
      if (r > 0) least = std::min(least, r), most = std::max(most, r);
    }
    for (const ValueId v : g[n].outputs) unseen = unseen || (s.values().contains(v) && !calibration_.of(v));
    unseen = unseen || (s.values().contains(s.result(n)) && !calibration_.of(s.result(n)));
    const OperatorRow* row = find_operator(target_, g[n]);
    if (unseen) refused_[n] = "its values never occurred on the samples", out.insert(n);
    else if (row && row->role == Role::joins && most > conflicting * least)
      refused_[n] = cat("joins ranges up to ", static_cast<float>(most), " and up to ", static_cast<float>(least)),
      out.insert(n);
  }
  return out;
}

std::map<ValueId, Scale> VariantMaker::group_scales(const Selection& s, const Choice& choice, Half half) {
  const Graph& g = model_.graph;
  std::map<ValueId, Range> ranges;
  std::map<ValueId, Scale> out;
  for (const ValueId v : s.values()) {
    const Range own = range(v, choice.method_of(v), half);
    const auto [it, fresh] = ranges.try_emplace(s.group(v), own);
    if (!fresh) it->second = joined(it->second, own);
  }
  for (const auto& [group, r] : ranges) {
    const auto trained = trained_scale(g, group);
    out[group] = trained ? *trained : scale_of(r, target_.activation);
  }
  return out;
}

const ChannelMoments* VariantMaker::moments(ValueId v) const {
  const ValueStatistics* found = calibration_.of(v);
  return found && !found->channels.sum.empty() ? &found->channels : nullptr;
}

void VariantMaker::compensate(const std::set<NodeId>& nodes, const std::vector<std::vector<Datum>>& samples,
                              const engine::SessionOptions& run) {
  const Graph& g = model_.graph;
  std::vector<Product> open;
  int64_t numbers = 0;
  const auto solve = [&] {
    const std::vector<Patches> patches = patches_of(model_, open, samples, patch_rows, run);
    for (size_t i = 0; i < open.size(); ++i) {
      const Product& p = open[i];
      const Tensor dense = *g.constant(p.weight);
      const Loaded<float> weights(dense);
      const QuantizedWeight nearest =
          quantize_weight(p, weights.span(), target_.weight, target_.per_channel, moments(p.data));
      compensated_.emplace(
          std::tuple(p.weight, p.weight_axis, p.data),
          compensated(g, p, weights.span(), nearest, patches[i], target_.weight, moments(p.data), run.threads));
    }
    open.clear(), numbers = 0;
  };
  for (const NodeId n : nodes) {
    const auto p = product_of(g, n);
    if (!p || !g.is_constant(p->weight) || !has_patches(g, *p)) continue;
    const auto* conv = g[n].as<op::Conv>();
    const int64_t more = depth_of(g, *p) * (conv ? conv->group : 1) * patch_rows;
    if (more > most_patch_numbers) continue;
    if (numbers + more > most_patch_numbers) solve();
    open.push_back(*p), numbers += more;
  }
  if (!open.empty()) solve();
}

Variant VariantMaker::make(const Choice& choice, Half half) {
  Variant out;
  out.choice = choice;
  std::set<NodeId> keep = choice.keep;
  for (const auto& [n, why] : refused_) keep.insert(n);
  out.model = model_;
  for (;;) {
    const Selection s(model_.graph, target_, keep);
    if (const auto more = conflicts(s); !more.empty()) {
      keep.insert(more.begin(), more.end());
      continue;
    }
    InsertOptions how;
    how.target = &target_;
    how.scales = group_scales(s, choice, half);
    how.moments = [this](ValueId v) { return moments(v); };
    if (choice.compensate) how.compensated = &compensated_;
    how.cache = &cache_;
    how.correct_bias = choice.correct_bias;
    how.shifts = &choice.shifts;
    out.nodes = s.nodes();
    for (const ValueId v : s.values()) out.scales[v] = how.scales.at(s.group(v));
    for (const NodeId n : s.nodes()) out.results[n] = s.result(n);
    // The selection looks at model_, whose graph has the same ids as the copy.
    restore_float_products(out.model.graph, scaled_, out.nodes);
    out.inserted = insert(out.model.graph, Selection(out.model.graph, target_, keep), how);
    absorb_factors(out.model.graph, scaled_, out.inserted);
    if (target_.quantizes_float) guard_float_nodes(out.model.graph);
    passes::remove_dead_code(out.model.graph);
    return out;
  }
}

}  // namespace cameo::quant
