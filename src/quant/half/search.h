// Which further units have to stay f32 for the outputs to be right.
#pragma once

#include <functional>
#include <set>

#include "engine/session.h"
#include "passes/half/half.h"
#include "quant/half/rules.h"
#include "kernels/datum.h"

namespace cameo::quant {

struct HalfVariant {
  Model model;
  std::vector<Unit> units;  // each with its form
  passes::HalfResult made;
  double error = 0;  // of the worst output on the samples
  double cost = 0;   // bytes cast and computed in f32
};

class HalfSearch {
 public:
  // `max_error` is aimed at; up to `most_error` is taken where nothing could be half otherwise. `units`: those that
  // have to stay f32 say so. `wanted`: the f32 model's outputs on the samples.
  HalfSearch(const Model& m, std::vector<Unit> units, DType half, const std::vector<std::vector<Datum>>& samples,
             const std::vector<std::vector<Datum>>& wanted, double max_error, double most_error, size_t most_casts,
             engine::SessionOptions run, std::function<void(uint64_t tried)> tell);

  HalfVariant plain();  // nothing else is kept, nothing is run
  // More stays f32 where `most_casts` would be exceeded otherwise. The shortest stretch of units, in order of
  // computation, that makes the outputs right in f32; then parts of it that need not be f32 after all are given back.
  HalfVariant run();
  size_t tried() const { return tried_; }

 private:
  using Kept = std::set<size_t>;  // places in order_
  HalfVariant made(const Kept& keep);
  double place(std::vector<Unit>& units) const;
  HalfVariant measured(const Kept& keep);
  Kept stretch(size_t first, size_t last) const;
  void shrink(HalfVariant& best, Kept& keep, size_t first, size_t last);
  void give_back(HalfVariant& best, Kept& keep);

  const Model& m_;
  const std::vector<Unit> units_;
  const DType half_;
  const std::vector<std::vector<Datum>>&samples_, &wanted_;
  const double max_error_, most_error_;
  const size_t most_casts_;
  const engine::SessionOptions run_;
  const std::function<void(uint64_t)> tell_;
  std::vector<size_t> order_;  // units that are not f32 anyway
  passes::HalfWeights weights_;
  size_t tried_ = 0;
};

}  // namespace cameo::quant
