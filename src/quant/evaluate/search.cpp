#include "quant/evaluate/search.h"

#include <algorithm>
#include <cmath>

#include "ops/cost.h"

namespace cameo::quant {

namespace {

constexpr double comfort_db = 6;              // beyond the goal, as far as it costs next to nothing
constexpr double comfort_share = 0.5;         // of the multiplications that may stay float
constexpr Method usual_method = Method::mse;  // others have to be better by more than chance
constexpr double by_chance_db = 0.2;
constexpr double cheap = 2e-3;              // a share of the multiplications that costs next to nothing
constexpr size_t noisiest = 14, last = 10;  // nodes that are tried one by one
constexpr size_t stretch_lengths[] = {2, 4, 8}, most_stretches = 32;
constexpr size_t most_given_back = 6, most_tried_back = 12;
constexpr size_t most_bias_stages = 32;
constexpr int refinements = 18;  // measurements for ranges of parts of the graph
constexpr int verifications = 4;

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

Search::Search(const Model& model, const Graph& sized, VariantMaker& maker, BiasMeans& means, const Options& options,
               std::function<Variant(const Choice&, Effort)> measured)
    : model_(model),
      maker_(maker),
      means_(means),
      options_(options),
      measured_(std::move(measured)),
      goal_(options.asked.min_db) {
  const Graph& g = model.graph;
  for (const NodeId n : g.nodes(g.main())) all_macs_ += macs_[n] = macs_of(sized, n);
}

double Search::macs(NodeId n) const {
  const auto it = macs_.find(n);
  return it == macs_.end() ? 0 : it->second;
}

double Search::share(const std::set<NodeId>& nodes) const {
  double sum = 0;
  for (const NodeId n : nodes) sum += macs(n);
  return all_macs_ > 0 ? sum / all_macs_ : 0;
}

Variant Search::measure(const Choice& choice, Effort effort) {
  ++tried_;
  return measured_(choice, effort);
}

bool Search::reached(const Variant& v) const {
  return options_.metric ? v.score >= goal_ : v.evaluation.worst_db() >= goal_;
}

bool Search::better(const Variant& a, const Variant& b) const {
  return reached(a) != reached(b) ? reached(a) : a.score > b.score;
}

bool Search::comfortable(const Variant& v) const {
  return options_.metric ? reached(v) : v.evaluation.worst_db() >= goal_ + comfort_db;
}

Choice Search::best_ranges(const std::set<NodeId>& keep) {
  const bool automatic = options_.method == Method::automatic, correct = options_.asked.correct_bias;
  Choice choice{.keep = keep, .method = automatic ? usual_method : options_.method, .correct_bias = correct};
  if (!automatic && !correct && !options_.asked.compensate) return choice;
  Variant best = measure(choice, Effort::all_samples);
  const auto attempt = [&](Choice other) {
    Variant v = measure(other, Effort::all_samples);
    if (v.evaluation.merit_db() > best.evaluation.merit_db() + by_chance_db) best = std::move(v);
  };
  if (automatic)
    for (const Method method : {Method::minmax, Method::margin, Method::percentile, Method::entropy}) {
      Choice other = choice;
      other.method = method;
      attempt(other);
    }
  if (correct) {
    Choice other = best.choice;
    other.correct_bias = false;
    attempt(other);
  }
  const auto compensate = [&] {
    if (!options_.asked.compensate || best.choice.compensate) return;
    Choice other = best.choice;
    other.compensate = true;
    attempt(other);
  };
  compensate();
  if (!comfortable(best) && automatic) {
    refine_ranges(best);
    compensate();  // what ranges cut off may have hidden how little weights add
  }
  choice = best.choice;
  if (!comfortable(best) && correct) correct_biases(choice, best);
  return choice;
}

// Other methods for halves of the graph, then for quarters, as far as that helps.
void Search::refine_ranges(Variant& best) {
  std::vector<ValueId> order;
  const Graph& g = model_.graph;
  for (const ValueId v : g[g.main()].inputs)
    if (best.scales.contains(v)) order.push_back(v);
  for (const NodeId n : g.nodes(g.main()))
    for (const ValueId v : g[n].outputs)
      if (best.scales.contains(v)) order.push_back(v);
  std::vector<std::pair<size_t, size_t>> blocks{{0, order.size() / 2}, {order.size() / 2, order.size()}};
  int left = refinements;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [from, to] = blocks[i];
    for (const Method method : {Method::minmax, Method::margin, Method::mse, Method::percentile, Method::entropy}) {
      Choice other = best.choice;
      for (size_t k = from; k < to; ++k) other.methods[order[k]] = method;
      if (other.method == method && best.choice.methods.empty()) continue;
      if (left-- <= 0) return;
      Variant v = measure(other, Effort::all_samples);
      if (v.evaluation.merit_db() > best.evaluation.merit_db() + by_chance_db) best = std::move(v);
    }
    if (to - from < 2) continue;
    blocks.emplace_back(from, (from + to) / 2);
    blocks.emplace_back((from + to) / 2, to);
  }
}

// From the inputs to the outputs in stages: what is corrected in front changes what is measured behind it.
void Search::correct_biases(Choice& choice, Variant& best) {
  const auto& products = means_.products();
  Choice corrected = choice;
  const size_t bias_stages = std::min(products.size(), most_bias_stages);
  for (size_t stage = 0; stage < bias_stages; ++stage) {
    const BiasShifts found = means_.shifts(maker_.make(corrected).model);
    for (size_t i = stage * products.size() / bias_stages; i < (stage + 1) * products.size() / bias_stages; ++i)
      if (const auto it = found.find(products[i]); it != found.end()) corrected.shifts[products[i]] = it->second;
  }
  Variant v = measure(corrected, Effort::all_samples);
  if (v.evaluation.merit_db() > best.evaluation.merit_db()) best = std::move(v), choice = corrected;
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

std::vector<NodeId> Search::from_the_end(const Variant& v) const {
  const Graph& g = model_.graph;
  std::vector<NodeId> out;
  for (const NodeId n : g.nodes(g.main()))
    if (v.inserted.products.contains(n)) out.push_back(n);
  std::reverse(out.begin(), out.end());
  return out;
}

// Some products one behind the other, with all between them: of a single node the neighbours' integers remain.
std::vector<std::set<NodeId>> Search::stretches(const Variant& v) const {
  std::vector<NodeId> order;
  std::vector<size_t> products;  // places
  for (const NodeId n : model_.graph.nodes(model_.graph.main())) {
    if (!v.nodes.contains(n)) continue;
    if (v.inserted.products.contains(n)) products.push_back(order.size());
    order.push_back(n);
  }
  std::vector<std::set<NodeId>> out;
  for (const size_t length : stretch_lengths) {
    const size_t step = std::max(length / 2, products.size() * std::size(stretch_lengths) / most_stretches + 1);
    for (size_t first = 0; first + length <= products.size(); first += step) {
      const size_t from = first == 0 ? 0 : products[first],
                   to = first + length < products.size() ? products[first + length] : order.size();
      out.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(from),
                       order.begin() + static_cast<std::ptrdiff_t>(to));
    }
  }
  return out;
}

// The noisiest nodes, the last products, and stretches, each left float alone on a few samples.
std::vector<Search::Candidate> Search::candidates(const Variant& v, double most_macs) {
  std::vector<std::set<NodeId>> sets;
  const auto fits = [&](const std::set<NodeId>& nodes) {
    std::set<NodeId> keep = v.choice.keep;
    keep.insert(nodes.begin(), nodes.end());
    return share(keep) <= most_macs;
  };
  const auto add = [&](const std::vector<NodeId>& order, size_t most) {
    for (const NodeId n : order) {
      if (most == 0) return;
      if (!fits({n}) || std::find(sets.begin(), sets.end(), std::set{n}) != sets.end()) continue;
      sets.push_back({n}), --most;
    }
  };
  add(from_the_end(v), last);
  add(by_noise(v), noisiest);
  for (const std::set<NodeId>& nodes : stretches(v))
    if (fits(nodes)) sets.push_back(nodes);
  const Variant base = measure(v.choice, Effort::few_samples);
  const std::vector<double> before = base.evaluation.noises();
  std::vector<Candidate> out;
  for (const std::set<NodeId>& nodes : sets) {
    Choice choice = v.choice;
    choice.keep.insert(nodes.begin(), nodes.end());
    const Variant without = measure(choice, Effort::few_samples);
    if (nodes.size() == 1) gains_[*nodes.begin()] = without.evaluation.worst_db() - base.evaluation.worst_db();
    Candidate& c = out.emplace_back(Candidate{nodes, without.evaluation.noises()});
    const double features = noise(without.evaluation.feature_db() - base.evaluation.feature_db());
    const bool both = !base.evaluation.features.empty() && base.evaluation.features == without.evaluation.features;
    for (size_t i = 0; i < before.size(); ++i) {
      c.left[i] = before[i] > 0 ? c.left[i] / before[i] : 1;
      if (both) c.left[i] = std::cbrt(std::min(c.left[i], 2.0) * features * features);
    }
  }
  return out;
}

// Greedily, by the noise beyond what is wanted that nodes take away for their share of the multiplications, as if
// noises just added up.
std::set<NodeId> Search::chosen(const Variant& from, const std::vector<Candidate>& all, double wanted_db,
                                double most_macs) const {
  const std::vector<double> before = from.evaluation.noises();
  std::vector<double> now = before;
  const double wanted = noise(wanted_db);
  std::set<NodeId> keep = from.choice.keep;
  for (;;) {
    const Candidate* best = nullptr;
    double most = 0;
    for (const Candidate& c : all) {
      if (std::any_of(c.nodes.begin(), c.nodes.end(), [&](NodeId n) { return keep.contains(n); })) continue;
      std::set<NodeId> more = keep;
      more.insert(c.nodes.begin(), c.nodes.end());
      if (share(more) > most_macs) continue;
      double useful = 0;
      for (size_t i = 0; i < now.size(); ++i)
        useful += std::min(before[i] * (1 - c.left[i]), std::max(now[i] - wanted, 0.0));
      useful /= share(c.nodes) + cheap;
      if (useful > most) most = useful, best = &c;
    }
    if (!best) return keep;
    keep.insert(best->nodes.begin(), best->nodes.end());
    for (size_t i = 0; i < now.size(); ++i) now[i] -= before[i] * (1 - best->left[i]);
  }
}

// What is predicted to be enough is verified; then more, until it is.
void Search::leave_float(Variant& best, double wanted_db, double most_macs) {
  const auto enough = [&] { return best.evaluation.worst_db() >= wanted_db || (options_.metric && reached(best)); };
  for (int round = 0; round < 2 && !enough(); ++round) {
    const Variant from = best;
    const std::vector<Candidate> all = candidates(from, most_macs);
    std::set<NodeId> before;
    double aim = options_.metric ? from.evaluation.worst_db() + 3 : wanted_db + 0.3;
    for (int i = 0; i < verifications && !enough(); ++i) {
      Choice choice = from.choice;
      choice.keep = chosen(from, all, i + 1 < verifications ? aim : INFINITY, most_macs);
      if (choice.keep == from.choice.keep) return;
      if (choice.keep != before) {
        before = choice.keep;
        Variant v = measure(choice);
        aim += std::max(2.0, options_.metric ? 0 : wanted_db - v.evaluation.worst_db());
        if (better(v, best)) best = std::move(v);
      } else {
        aim += 2;
      }
    }
    if (best.choice.keep == from.choice.keep) return;
  }
}

// The noisiest together, twice as many at each step: nodes may help only if several stay float.
void Search::leave_noisiest_float(Variant& best, double most_macs) {
  const Choice from = best.choice;
  const std::vector<NodeId> order = by_noise(best);
  for (size_t count = 1; !reached(best); count *= 2) {
    Choice choice = from;
    size_t taken = 0;
    for (const NodeId n : order) {
      if (taken == count) break;
      choice.keep.insert(n);
      if (share(choice.keep) > most_macs) choice.keep.erase(n);
      else ++taken;
    }
    if (choice.keep == from.keep) return;
    Variant v = measure(choice);
    if (better(v, best)) best = std::move(v);
    if (taken < count) return;
  }
}

// Nodes that need not stay float after all, the most expensive first.
void Search::give_back(Variant& best, const std::set<NodeId>& asked) {
  std::vector<NodeId> order;
  for (const NodeId n : best.choice.keep)
    if (!asked.contains(n) && macs(n) > cheap * all_macs_) order.push_back(n);
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return macs(a) > macs(b); });
  if (order.size() > most_given_back) order.resize(most_given_back);
  for (const NodeId n : order) {
    Choice choice = best.choice;
    choice.keep.erase(n);
    if (Variant v = measure(choice); reached(v)) best = std::move(v);
  }
}

// The first or the last products together: noise that comes early grows on the way, and late noise is seen as it is.
void Search::leave_ends_float(Variant& best, double most_macs) {
  const Choice from = best.choice;
  std::vector<NodeId> order = from_the_end(best);
  Variant quick = measure(from, Effort::all_samples);
  for (const bool first : {false, true}) {
    if (first) std::reverse(order.begin(), order.end());
    Choice choice = from;
    size_t taken = 0, next = 1;
    for (const NodeId n : order) {
      choice.keep.insert(n);
      if (share(choice.keep) > most_macs) break;
      if (++taken != next) continue;
      next *= 2;
      Variant v = measure(choice, Effort::all_samples);
      if (v.evaluation.merit_db() > quick.evaluation.merit_db() + by_chance_db) quick = std::move(v);
    }
  }
  if (quick.choice.keep != from.keep) best = measure(quick.choice);
}

// Nodes that need not stay float after all make room for others.
void Search::make_room(Variant& best, const std::set<NodeId>& asked) {
  std::vector<NodeId> order;
  for (const NodeId n : best.choice.keep)
    if (!asked.contains(n) && macs(n) > cheap * all_macs_) order.push_back(n);
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return macs(a) > macs(b); });
  if (order.size() > most_tried_back) order.resize(most_tried_back);
  Variant quick = measure(best.choice, Effort::few_samples);
  const double least = quick.evaluation.merit_db() - by_chance_db;
  for (const NodeId n : order) {
    Choice choice = quick.choice;
    choice.keep.erase(n);
    if (Variant v = measure(choice, Effort::few_samples); v.evaluation.merit_db() >= least) quick = std::move(v);
  }
  if (quick.choice.keep != best.choice.keep) best = measure(quick.choice);
}

Variant Search::with_float_nodes(const Variant& first, double most) {
  const double wanted = options_.metric ? INFINITY : goal_;
  Variant best = first;
  leave_float(best, wanted, most);
  const auto attempt = [&](auto&& change) {
    if (reached(best)) return;
    Variant other = first;
    change(other);
    if (better(other, best)) best = std::move(other);
  };
  attempt([&](Variant& v) {
    leave_ends_float(v, most);
    if (v.choice.keep != first.choice.keep && !reached(v)) leave_float(v, wanted, most);
  });
  attempt([&](Variant& v) { leave_noisiest_float(v, most); });
  const Variant found = best;
  attempt([&](Variant& v) {
    v = found;
    make_room(v, first.choice.keep);
    if (v.choice.keep != found.choice.keep) leave_float(v, wanted, most);
  });
  return best;
}

Variant Search::run(const std::set<NodeId>& keep) {
  Variant best = measure(best_ranges(keep));
  const double most = options_.asked.max_float_macs;
  if (!reached(best)) {
    best = with_float_nodes(Variant(best), most);
    if (reached(best)) give_back(best, keep);
  }
  if (reached(best) && !comfortable(best) && most > 0 && maker_.mixes_floats()) {
    const double some = std::max(share(best.choice.keep), most * comfort_share);
    leave_float(best, goal_ + comfort_db, some);
    Variant other = best;
    if (!comfortable(best)) leave_ends_float(other, some);
    if (better(other, best)) best = std::move(other);
  }
  return best;
}

}  // namespace cameo::quant
