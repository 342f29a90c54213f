// What the classical learners share: rows of samples, transforms of scores, labels of classes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/eval.h"
#include "ops/infer.h"

namespace cameo::ops {

using Labels = std::optional<std::vector<std::string>>;
using Numbers = std::optional<std::vector<int64_t>>;

// A matrix of samples; a vector is one sample.
struct Samples {
  explicit Samples(const Tensor& x);  // throws "eval.rank", and "eval.shape" where samples have no features
  std::span<const double> row(int64_t i) const { return {values.data() + i * features, static_cast<size_t>(features)}; }
  std::vector<double> values;
  int64_t rows = 1, features = 0;
};
Dim sample_count(Infer& c);   // of input 0, after checking that it holds samples
Dim feature_count(Infer& c);  // their width. Precondition: sample_count did not throw

// "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"; throws "model.attribute" for others.
void transform_scores(std::span<double> row, std::string_view transform);

size_t class_count(const Labels& strings, const Numbers& ints);
// The first largest score.
size_t best(std::span<const double> row);
// Class numbers as the labels the model gives them; without labels the numbers themselves.
Tensor labelled(const std::vector<size_t>& classes, const Labels& strings, const Numbers& ints);
void infer_classifier(Infer& c, const Labels& strings, Dim scores);

Tensor to_floats(std::vector<int64_t> shape, const std::vector<double>& values);

}  // namespace cameo::ops
