// Ranges, biases and what stays float, so that a model is good enough. Few samples predict, all of them verify.
#pragma once

#include <functional>

#include "quant/evaluate/bias_means.h"
#include "quant/evaluate/variant.h"
#include "quant/quantize.h"

namespace cameo::quant {

class Search {
 public:
  // `measured` makes a variant with its evaluation and score, which is by signal to noise if that is not everything.
  // `sized`: the graph with the sizes of a sample.
  Search(const Model& model, const Graph& sized, VariantMaker& maker, BiasMeans& means, const Options& options,
         std::function<Variant(const Choice&, Effort)> measured);

  // The best variant that was found.
  Variant run(const std::set<NodeId>& keep);
  bool reached(const Variant& v) const;
  void set_goal(double score) { goal_ = score; }
  size_t tried() const { return tried_; }
  double macs(NodeId n) const;
  double all_macs() const { return all_macs_; }
  // What the worst output gains, in dB, if a node stays float: of those that were tried.
  const std::map<NodeId, double>& gains() const { return gains_; }

 private:
  struct Candidate {
    std::set<NodeId> nodes;    // one, or all of a stretch of the graph
    std::vector<double> left;  // of the noise of every output and part, if only these stay float: a share
  };
  Variant measure(const Choice& choice, Effort effort = Effort::everything);
  bool better(const Variant& a, const Variant& b) const;
  bool comfortable(const Variant& v) const;
  Choice best_ranges(const std::set<NodeId>& keep);
  void refine_ranges(Variant& best);
  void correct_biases(Choice& choice, Variant& best);
  std::vector<NodeId> by_noise(const Variant& v) const;
  std::vector<NodeId> from_the_end(const Variant& v) const;
  std::vector<std::set<NodeId>> stretches(const Variant& v) const;
  std::vector<Candidate> candidates(const Variant& v, double most_macs);
  std::set<NodeId> chosen(const Variant& from, const std::vector<Candidate>& candidates, double wanted_db,
                          double most_macs) const;
  void leave_float(Variant& best, double wanted_db, double most_macs);
  void make_room(Variant& best, const std::set<NodeId>& asked);
  void leave_ends_float(Variant& best, double most_macs);
  Variant with_float_nodes(const Variant& first, double most_macs);
  void leave_noisiest_float(Variant& best, double most_macs);
  void give_back(Variant& best, const std::set<NodeId>& asked);
  double share(const std::set<NodeId>& nodes) const;  // of all multiply-accumulates

  const Model& model_;
  VariantMaker& maker_;
  BiasMeans& means_;
  const Options& options_;
  std::function<Variant(const Choice&, Effort)> measured_;
  double goal_, all_macs_ = 0;
  std::map<NodeId, double> macs_, gains_;
  size_t tried_ = 0;
};

}  // namespace cameo::quant
