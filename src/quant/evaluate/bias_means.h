// What quantization adds to the means of products, measured: bias correction by data.
#pragma once

#include "engine/session.h"
#include "quant/calibrate/calibration.h"
#include "quant/insert/insert.h"

namespace cameo::quant {

class BiasMeans {
 public:
  // `products`: nodes with constant weights, and a bias or room for one, in the graph's order. The model outlives this.
  BiasMeans(const Model& model, std::vector<NodeId> products, std::vector<std::vector<Datum>> samples,
            engine::SessionOptions run)
      : model_(model), products_(std::move(products)), samples_(std::move(samples)), run_(std::move(run)) {}

  // What each product's outputs are on average more than in the float model, which runs when this is called first. The
  // ids of `quantized` are the float model's.
  BiasShifts shifts(const Model& quantized);
  const std::vector<NodeId>& products() const { return products_; }

 private:
  std::vector<ChannelMoments> measured(const Model& m) const;

  const Model& model_;
  std::vector<NodeId> products_;
  std::vector<std::vector<Datum>> samples_;
  engine::SessionOptions run_;
  std::vector<ChannelMoments> expected_;
};

}  // namespace cameo::quant
