// Which nodes have to stay float for a model to be good enough.
#pragma once

#include <functional>

#include "quant/evaluate/variant.h"
#include "quant/quantize.h"

namespace cameo::quant {

class Search {
 public:
  // `measured` fills a variant's evaluation and score. `sized`: the graph with the sizes of a sample.
  Search(const Model& model, const Graph& sized, VariantMaker& maker, const Options& options,
         std::function<void(Variant&)> measured);

  // From the best way to choose ranges to the fewest nodes in float: the best variant that was found.
  Variant run(const std::set<NodeId>& keep);
  // What the worst output would gain if this node alone stayed float.
  double gain(const Variant& best, NodeId n);
  bool reached(const Variant& v) const { return v.score >= goal_; }
  void set_goal(double score) { goal_ = score; }
  size_t tried() const { return tried_; }
  double macs(NodeId n) const;
  double all_macs() const { return all_macs_; }

 private:
  Variant measure(const Choice& choice);
  Variant best_method(const std::set<NodeId>& keep);
  std::vector<NodeId> by_noise(const Variant& v) const;
  std::vector<NodeId> by_distance(const Variant& v) const;
  std::vector<NodeId> by_gain(const Variant& v);
  void keep_first(Variant& best, const std::vector<NodeId>& order);
  void give_back(Variant& best, const std::set<NodeId>& asked);
  bool affordable(const std::set<NodeId>& keep) const;

  const Model& model_;
  VariantMaker& maker_;
  const Options& options_;
  std::function<void(Variant&)> measured_;
  double goal_, all_macs_ = 0;
  std::map<NodeId, double> macs_;
  size_t tried_ = 0;
};

}  // namespace cameo::quant
