// Whether two models, or a model and recorded outputs, agree.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cameo/model.h"

namespace cameo {

struct VerifySettings {
  std::string inputs = {};                     // an .npz, an .npy or a test_data_set folder; empty: made up
  uint64_t random = 0;                         // the seed of made-up inputs
  std::map<std::string, int64_t> sizes = {};   // named sizes for them; 1 where nothing is said
  std::optional<double> rtol = {}, atol = {};  // default: by element type
};

struct Verified {
  bool agree = true;
  struct Output {
    std::string name, why;  // why: empty where it agrees
    double worst = 0;       // the largest difference
  };
  std::vector<Output> outputs;
  std::string first_difference;  // the first inner value, of those that both models name alike
};

Verified verify(const Model& model, const Model& reference, const VerifySettings& settings = {});
// Against recorded outputs: an .npz, an .npy, or a test_data_set folder, which has the inputs too.
Verified verify(const Model& model, const std::string& recorded, const VerifySettings& settings = {});

}  // namespace cameo
