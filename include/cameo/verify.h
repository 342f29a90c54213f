// Whether two models, or a model and recorded outputs, agree.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cameo/kernel.h"
#include "cameo/model.h"
#include "cameo/progress.h"

namespace cameo {

// How far two values may be apart: |got - wanted| <= atol + rtol * |wanted|. Whole numbers, bools and strings have to
// be equal; NaN equals NaN.
struct CompareSettings {
  std::optional<double> rtol = {}, atol = {};  // default: by element type
  // For what another program computed, in another order: wider defaults (f32: 1e-3 and 1e-5), and atol is a part of the
  // largest number that is wanted, where that is above 1. Unless given, it is at most rtol of the largest number.
  bool other_program = false;
};
struct Compared {
  bool same = true;
  std::string why;        // if not: the first element that differs, and how many do
  int64_t differing = 0;  // elements beyond the tolerance
  double worst = 0;       // the largest difference; infinite where types or shapes differ, or a NaN is on one side
  double worst_of_largest = 0;  // as a part of the largest number that is wanted
};
Compared compare_values(const RunValue& got, const RunValue& wanted, const CompareSettings& settings = {});

// Inputs made up from a seed, for the model's inputs that have no default; the same on every machine. `sizes` gives
// named sizes, the others are the smallest of a few usual ones at which the model's shapes work out (free_sizes).
std::map<std::string, int64_t> free_sizes(const Model& model, const std::map<std::string, int64_t>& sizes = {});
std::vector<std::pair<std::string, RunValue>> random_inputs(const Model& model, uint64_t seed = 0,
                                                            const std::map<std::string, int64_t>& sizes = {});

struct VerifySettings {
  std::string inputs = {};                     // an .npz, an .npy or a test_data_set folder; empty: made up
  uint64_t random = 0;                         // the seed of made-up inputs
  std::map<std::string, int64_t> sizes = {};   // named sizes for them; others as random_inputs takes them
  std::optional<double> rtol = {}, atol = {};  // default: by element type
  std::vector<Kernel> kernels = {};            // of your own, for both models (kernel.h)
  Progress progress = {};
};

struct Verified {
  bool agree = true;
  struct Output {
    std::string name, why;  // why: empty where it agrees
    double worst = 0;       // the largest difference
  };
  std::vector<Output> outputs;
  std::string recorded;          // the file of outputs that it was compared with; empty: a model
  std::string first_difference;  // the first inner value, of those that both models name alike

  double worst() const;                // the largest difference of all outputs
  std::vector<Diag> findings() const;  // verify.mismatch for every output that differs
};
// One object, as `cameo verify --json` prints it.
std::string to_json(const Verified& verified);

// With made-up inputs, these negated and 8 times as large are tried too, and sizes that are not given at 1 and one
// more.
Verified verify(const Model& model, const Model& reference, const VerifySettings& settings = {});
// Against recorded outputs: an .npz, an .npy, or a test_data_set folder, which has the inputs too.
Verified verify(const Model& model, const std::string& recorded, const VerifySettings& settings = {});

}  // namespace cameo
