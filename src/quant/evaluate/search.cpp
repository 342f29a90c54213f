#include "quant/evaluate/search.h"

#include <algorithm>
#include <cmath>

#include "ops/cost.h"

namespace cameo::quant {

namespace {

constexpr size_t most_tried = 96;       // products
constexpr double cheap = 1e-3;          // a share of the multiplications that costs next to nothing
constexpr size_t most_given_back = 16;  // nodes that are tried one by one

// Sizes that are not known by now count as 1.
double macs_of(const Graph& g, NodeId n) {
  try {
    const auto macs = ops::macs(g, n);
    if (!macs) return 0;
    std::vector<Substitution> ones;
    for (const Dim symbol : symbols_of(*macs)) ones.push_back({symbol, Dim(1)});
    const auto number = evaluate(*macs, ones);
    return number && *number > 0 ? static_cast<double>(*number) : 0;
  } catch (const Error&) {
    return 0;  // more than 64 bits hold
  }
}

double noise(double db) { return std::pow(10, -db / 10); }

}  // namespace

Search::Search(const Model& model, const Graph& sized, VariantMaker& maker, const Options& options,
               std::function<void(Variant&)> measured)
    : model_(model), maker_(maker), options_(options), measured_(std::move(measured)), goal_(options.min_db) {
  const Graph& g = model.graph;
  for (const NodeId n : g.nodes(g.main())) all_macs_ += macs_[n] = macs_of(sized, n);
}

double Search::macs(NodeId n) const {
  const auto it = macs_.find(n);
  return it == macs_.end() ? 0 : it->second;
}

Variant Search::measure(const Choice& choice) {
  Variant v = maker_.make(choice);
  measured_(v);
  ++tried_;
  return v;
}

Variant Search::best_method(const std::set<NodeId>& keep) {
  Choice choice{keep, options_.method, options_.correct_bias};
  if (options_.method == Method::automatic) choice.method = Method::minmax;
  Variant best = measure(choice);
  const auto attempt = [&](const Choice& other) {
    Variant v = measure(other);
    if (v.score > best.score) best = std::move(v);
  };
  if (options_.method == Method::automatic)
    for (const Method method : {Method::mse, Method::percentile, Method::entropy})
      attempt({keep, method, options_.correct_bias});
  if (options_.correct_bias) attempt({keep, best.choice.method, false});
  return best;
}

// The noise that a node adds to what its operands have already.
std::vector<NodeId> Search::by_noise(const Variant& v) const {
  const Graph& g = model_.graph;
  const auto noise_of = [&](ValueId value) {
    const auto it = v.evaluation.values.find(value);
    return it == v.evaluation.values.end() ? 0 : noise(it->second.db());
  };
  std::vector<std::pair<double, NodeId>> ranked;
  for (const NodeId n : v.nodes) {
    double in = 0;
    for (const ValueId operand : g[n].inputs)
      if (operand) in += noise_of(operand);
    const double out = noise_of(v.results.at(n));
    const auto product = v.inserted.products.find(n);
    const double weights = product == v.inserted.products.end() ? 0 : noise(product->second.weight_db);
    ranked.emplace_back(out > 0 ? std::max(out - in, 0.0) : in + weights, n);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<NodeId> out;
  for (const auto& [added, n] : ranked) out.push_back(n);
  return out;
}

// Those nearest to the outputs first.
std::vector<NodeId> Search::by_distance(const Variant& v) const {
  const Graph& g = model_.graph;
  std::vector<NodeId> out;
  for (const NodeId n : g.nodes(g.main()))
    if (v.nodes.contains(n)) out.push_back(n);
  std::reverse(out.begin(), out.end());
  return out;
}

// By what the worst output gains when a product stays float, for what that costs: each is tried alone.
std::vector<NodeId> Search::by_gain(const Variant& v) {
  std::vector<std::pair<double, NodeId>> ranked;
  const double before = noise(v.evaluation.worst_db());
  for (const NodeId n : by_noise(v)) {
    if (!v.inserted.products.contains(n) || ranked.size() >= most_tried) continue;
    Choice choice = v.choice;
    choice.keep.insert(n);
    if (!affordable(choice.keep)) continue;
    const double gained = before - noise(measure(choice).evaluation.worst_db());
    if (gained > 0) ranked.emplace_back(gained / (macs(n) / all_macs_ + cheap), n);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<NodeId> out;
  for (const auto& [gained, n] : ranked) out.push_back(n);
  return out;
}

bool Search::affordable(const std::set<NodeId>& keep) const {
  double sum = 0;
  for (const NodeId n : keep) sum += macs(n);
  return sum <= options_.max_float_macs * all_macs_;
}

// Twice as many at each step, until it is good enough or costs too much.
void Search::keep_first(Variant& best, const std::vector<NodeId>& order) {
  const Choice from = best.choice;
  for (size_t count = 1; !reached(best); count *= 2) {
    Choice choice = from;
    size_t taken = 0;
    for (const NodeId n : order) {
      if (taken == count) break;
      choice.keep.insert(n);
      if (!affordable(choice.keep)) choice.keep.erase(n);
      else ++taken;
    }
    if (choice.keep.size() == from.keep.size()) return;
    Variant v = measure(choice);
    if (v.score > best.score) best = std::move(v);
    if (taken < count) return;
  }
}

// Nodes that need not stay float after all, the most expensive first.
void Search::give_back(Variant& best, const std::set<NodeId>& asked) {
  std::vector<NodeId> order;
  for (const NodeId n : best.choice.keep)
    if (!asked.contains(n)) order.push_back(n);
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return macs(a) > macs(b); });
  if (order.size() > most_given_back) order.resize(most_given_back);
  for (const NodeId n : order) {
    Choice choice = best.choice;
    choice.keep.erase(n);
    if (Variant v = measure(choice); reached(v)) best = std::move(v);
  }
}

Variant Search::run(const std::set<NodeId>& keep) {
  Variant best = best_method(keep);
  if (reached(best)) return best;
  Variant first = best;
  keep_first(best, by_noise(first));
  if (!reached(best)) {
    Variant other = first;
    keep_first(other, by_distance(first));
    if (other.score > best.score) best = std::move(other);
  }
  if (!reached(best)) {
    Variant other = first;
    keep_first(other, by_gain(first));
    if (other.score > best.score) best = std::move(other);
  }
  if (reached(best)) give_back(best, keep);
  return best;
}

double Search::gain(const Variant& best, NodeId n) {
  Choice choice = best.choice;
  choice.keep.insert(n);
  return measure(choice).evaluation.worst_db() - best.evaluation.worst_db();
}

}  // namespace cameo::quant
