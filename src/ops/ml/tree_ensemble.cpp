// Ensembles of decision trees, in the encoding of version 5 and the two older ones.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/ml/forest.h"

namespace cameo::ops {

namespace {

std::span<const int64_t> list(const Numbers& v) {
  return v ? std::span<const int64_t>(*v) : std::span<const int64_t>();
}

std::vector<double> numbers(const std::optional<std::vector<float>>& floats, const std::optional<Tensor>& tensor) {
  if (tensor) return tensor->to_doubles();
  return floats ? std::vector<double>(floats->begin(), floats->end()) : std::vector<double>();
}

template <class A>
TreeLists node_lists(const A& a) {
  TreeLists t{list(a.nodes_treeids),
              list(a.nodes_nodeids),
              list(a.nodes_featureids),
              list(a.nodes_truenodeids),
              list(a.nodes_falsenodeids),
              list(a.nodes_missing_value_tracks_true),
              {},
              numbers(a.nodes_values, a.nodes_values_as_tensor),
              {},
              {},
              {},
              {}};
  if (a.nodes_modes) t.modes = *a.nodes_modes;
  return t;
}

void add_base(std::vector<double>& scores, const std::vector<double>& base, size_t width) {
  if (base.empty()) return;
  if (base.size() != width && base.size() != 1)
    throw error("model.attribute", cat(base.size(), " base_values for ", width, " outputs"));
  for (size_t i = 0; i < scores.size(); ++i) scores[i] += base[base.size() == 1 ? 0 : i % width];
}

size_t target_count(std::optional<int64_t> n) {
  if (!n || *n < 1 || *n > 1 << 24) throw error("model.attribute", cat("an ensemble of ", n.value_or(0), " targets"));
  return static_cast<size_t>(*n);
}

Aggregate aggregate_of(std::string_view name) {
  if (name == "SUM") return Aggregate::sum;
  if (name == "AVERAGE") return Aggregate::average;
  if (name == "MIN") return Aggregate::min;
  if (name == "MAX") return Aggregate::max;
  throw error("model.attribute", cat("there is no aggregate_function '", name, "'"));
}

struct TreeEnsembleRegressor : Rules<op::TreeEnsembleRegressor> {
  static void infer(const op::TreeEnsembleRegressor& a, Infer& c) {
    c.out(0, DType::f32, {sample_count(c), static_cast<int64_t>(target_count(a.n_targets))});
  }
  static void eval(const op::TreeEnsembleRegressor& a, Eval& k) {
    TreeLists t = node_lists(a);
    t.leaf_trees = list(a.target_treeids), t.leaf_nodes = list(a.target_nodeids), t.leaf_targets = list(a.target_ids);
    t.leaf_weights = numbers(a.target_weights, a.target_weights_as_tensor);
    const Samples x(k.in(0));
    const size_t width = target_count(a.n_targets);
    auto scores = aggregated(read_forest(t), x, width, aggregate_of(a.aggregate_function));
    add_base(scores, numbers(a.base_values, a.base_values_as_tensor), width);
    for (size_t at = 0; at < scores.size(); at += width)
      transform_scores({scores.data() + at, width}, a.post_transform);
    k.out(0, to_floats({x.rows, static_cast<int64_t>(width)}, scores));
  }
};

struct TreeEnsembleClassifier : Rules<op::TreeEnsembleClassifier> {
  static void infer(const op::TreeEnsembleClassifier& a, Infer& c) {
    infer_classifier(c, a.classlabels_strings, static_cast<int64_t>(is_binary(a) ? 2 : label_count(a)));
  }

  static size_t label_count(const op::TreeEnsembleClassifier& a) {
    const size_t classes = class_count(a.classlabels_strings, a.classlabels_int64s);
    if (classes == 0) throw error("model.attribute", "a classifier without labels");
    return classes;
  }
  // Every leaf votes for the same class, of one or two.
  static bool is_binary(const op::TreeEnsembleClassifier& a) {
    const auto voted = list(a.class_ids);
    return !voted.empty() && label_count(a) <= 2 &&
           std::all_of(voted.begin(), voted.end(), [&](int64_t id) { return id == voted.front(); });
  }

  static void eval(const op::TreeEnsembleClassifier& a, Eval& k) {
    TreeLists t = node_lists(a);
    t.leaf_trees = list(a.class_treeids), t.leaf_nodes = list(a.class_nodeids), t.leaf_targets = list(a.class_ids);
    t.leaf_weights = numbers(a.class_weights, a.class_weights_as_tensor);
    const Samples x(k.in(0));
    const size_t classes = label_count(a);
    auto scores = aggregated(read_forest(t), x, classes, Aggregate::sum);
    add_base(scores, numbers(a.base_values, a.base_values_as_tensor), classes);
    const bool binary = is_binary(a);
    if (binary) scores = both_sides(scores, classes, voted_class(t.leaf_targets.front(), classes), a.post_transform);
    const size_t width = binary ? 2 : classes;
    std::vector<size_t> winners;
    for (size_t at = 0; at < scores.size(); at += width) {
      const std::span<double> row(scores.data() + at, width);
      transform_scores(row, a.post_transform);
      winners.push_back(best(row));
    }
    k.out(0, classes == 1 && binary ? single_label(a, winners)
                                    : labelled(winners, a.classlabels_strings, a.classlabels_int64s));
    k.out(1, to_floats({x.rows, static_cast<int64_t>(width)}, scores));
  }

  static size_t voted_class(int64_t id, size_t classes) {
    if (id < 0 || static_cast<size_t>(id) >= classes)
      throw error("model.attribute", cat("a leaf for class ", id, " of ", classes));
    return static_cast<size_t>(id);
  }

  // Trees that vote for only one class: the other class gets the rest.
  static std::vector<double> both_sides(const std::vector<double>& scores, size_t classes, size_t voted,
                                        std::string_view transform) {
    std::vector<double> out;
    for (size_t at = 0; at < scores.size(); at += classes) {
      const double p = scores[at + voted];
      out.insert(out.end(), {transform == "NONE" || transform == "PROBIT" ? 1 - p : -p, p});
    }
    return out;
  }

  static Tensor single_label(const op::TreeEnsembleClassifier& a, const std::vector<size_t>& winners) {
    const std::vector<int64_t> shape{static_cast<int64_t>(winners.size())};
    std::vector<std::string> texts;
    std::vector<int64_t> ints;
    for (const size_t w : winners) {
      if (a.classlabels_strings && !a.classlabels_strings->empty())
        texts.push_back(w ? a.classlabels_strings->front() : std::string());
      else ints.push_back(w ? a.classlabels_int64s->front() : 0);
    }
    return texts.empty() ? store(DType::i64, shape, ints) : Tensor(shape, std::move(texts));
  }
};

struct TreeEnsemble : Rules<op::TreeEnsemble> {
  static void infer(const op::TreeEnsemble& a, Infer& c) {
    c.out(0, c.dtype(0), {sample_count(c), static_cast<int64_t>(targets(a))});
  }

  static size_t targets(const op::TreeEnsemble& a) {
    if (a.n_targets) return target_count(a.n_targets);
    const auto most = std::max_element(a.leaf_targetids.begin(), a.leaf_targetids.end());
    return target_count(most == a.leaf_targetids.end() || *most == INT64_MAX ? 1 : *most + 1);
  }

  static void eval(const op::TreeEnsemble& a, Eval& k) {
    constexpr std::string_view transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    if (a.post_transform < 0 || a.post_transform > 4 || a.aggregate_function < 0 || a.aggregate_function > 3)
      throw error("model.attribute", "a post_transform or aggregate_function that does not exist");
    const Samples x(k.in(0));
    const size_t width = targets(a);
    auto scores = aggregated(forest(a), x, width, static_cast<Aggregate>(a.aggregate_function));
    for (size_t at = 0; at < scores.size(); at += width)
      transform_scores({scores.data() + at, width}, transforms[a.post_transform]);
    k.out(0, store(k.in(0).dtype(), {x.rows, static_cast<int64_t>(width)}, scores));
  }

  // Branches come first, leaves behind them.
  static Forest forest(const op::TreeEnsemble& a) {
    const size_t n = a.nodes_featureids.size(), leaves = a.leaf_targetids.size();
    const auto modes = a.nodes_modes.to_ints();
    const auto splits = a.nodes_splits.to_doubles(), weights = a.leaf_weights.to_doubles();
    const auto& missing = a.nodes_missing_value_tracks_true;
    if (modes.size() != n || splits.size() != n || a.nodes_truenodeids.size() != n ||
        a.nodes_falsenodeids.size() != n || a.nodes_trueleafs.size() != n || a.nodes_falseleafs.size() != n ||
        weights.size() != leaves || (missing && missing->size() != n) || n + leaves > UINT32_MAX)
      throw error("model.attribute", "the lists that describe the trees differ in length");
    Forest f;
    f.branches.resize(n + leaves);
    const auto place = [&](int64_t id, bool is_leaf) {
      if (id < 0 || static_cast<size_t>(id) >= (is_leaf ? leaves : n))
        throw error("model.attribute", "a tree's branch leads nowhere");
      return static_cast<uint32_t>(is_leaf ? n + static_cast<size_t>(id) : static_cast<size_t>(id));
    };
    for (size_t i = 0; i < n; ++i) {
      Forest::Branch& b = f.branches[i];
      if (modes[i] < 0 || modes[i] > Forest::member)
        throw error("model.attribute", cat("there is no node mode ", modes[i]));
      b.mode = static_cast<Forest::Mode>(modes[i]);
      b.feature = a.nodes_featureids[i], b.value = splits[i], b.missing_is_true = missing && (*missing)[i] != 0;
      b.on_true = place(a.nodes_truenodeids[i], a.nodes_trueleafs[i] != 0);
      b.on_false = place(a.nodes_falsenodeids[i], a.nodes_falseleafs[i] != 0);
    }
    for (size_t i = 0; i < leaves; ++i) f.branches[n + i].leaves.push_back({a.leaf_targetids[i], weights[i]});
    for (const int64_t r : a.tree_roots) f.roots.push_back(place(r, false));
    read_members(a, f);
    return f;
  }

  // The members of each set, ended by a NaN, in the order of the nodes that ask for membership.
  static void read_members(const op::TreeEnsemble& a, Forest& f) {
    const auto all = a.membership_values ? a.membership_values->to_doubles() : std::vector<double>();
    size_t at = 0;
    for (Forest::Branch& b : f.branches) {
      if (b.mode != Forest::member) continue;
      while (at < all.size() && !std::isnan(all[at])) b.members.push_back(all[at++]);
      if (at++ >= all.size()) throw error("model.attribute", "a set of members is missing");
    }
  }
};

constexpr OpRules table[] = {rules<TreeEnsemble>(), rules<TreeEnsembleClassifier>(), rules<TreeEnsembleRegressor>()};

}  // namespace

std::span<const OpRules> tree_ensemble_rules() { return table; }

}  // namespace cameo::ops
