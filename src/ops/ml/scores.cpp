#include "ops/ml/scores.h"

#include <algorithm>
#include <cmath>

namespace cameo::ops {

Samples::Samples(const Tensor& x) {
  if (x.rank() != 1 && x.rank() != 2)
    Eval::fail("eval.rank", cat("samples of rank ", x.rank(), " where 1 or 2 is wanted"));
  const Loaded<double> in(x);
  values.assign(in.span().begin(), in.span().end());
  rows = x.rank() == 2 ? x.shape()[0] : 1;
  features = x.shape().back();
  if (rows > 0 && features == 0)
    Eval::fail("eval.shape", "samples without features");  // any number of them takes no memory
}

Dim sample_count(Infer& c) {
  if (c.rank(0) != 1 && c.rank(0) != 2)
    c.fail("infer.rank", cat("samples of rank ", c.rank(0), " where 1 or 2 is wanted"));
  const Dim rows = c.rank(0) == 2 ? c.dim(0, 0) : Dim(int64_t{1});
  if (feature_count(c).is(0) && !rows.is(0) && rows.is_literal()) c.fail("infer.shape", "samples without features");
  return rows;
}

Dim feature_count(Infer& c) { return c.shape(0).back(); }

namespace {

double logistic(double x) {
  const double v = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - v : v;
}

// The inverse of the normal distribution, by Winitzki's approximation of the inverse error function.
double probit(double x) {
  const double y = 2 * x - 1, product = (1 - y) * (1 + y);
  if (product == 0) return 0;
  const double log = std::log(product), v = 2 / (3.14159265358979323846 * 0.147) + 0.5 * log;
  const double root = std::sqrt(-v + std::sqrt(v * v - log / 0.147));
  return 1.41421356 * (y < 0 ? -root : root);
}

void softmax(std::span<double> row, bool zeros_stay) {
  if (row.empty()) return;
  const double most = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& v : row) {
    v = zeros_stay && std::abs(v) <= 1e-7 ? v * std::exp(-most) : std::exp(v - most);
    sum += v;
  }
  for (double& v : row) v = sum == 0 ? 0.5 : v / sum;
}

}  // namespace

void transform_scores(std::span<double> row, std::string_view transform) {
  if (transform == "NONE") return;
  if (transform == "SOFTMAX") return softmax(row, false);
  if (transform == "SOFTMAX_ZERO") return softmax(row, true);
  if (transform != "LOGISTIC" && transform != "PROBIT")
    throw error("model.attribute", cat("there is no post_transform '", transform, "'"));
  for (double& v : row) v = transform == "LOGISTIC" ? logistic(v) : probit(v);
}

// Where a file gives both lists, the strings are the labels.
size_t class_count(const Labels& strings, const Numbers& ints) {
  if (strings && !strings->empty()) return strings->size();
  return ints ? ints->size() : 0;
}

size_t best(std::span<const double> row) {
  return static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

Tensor labelled(const std::vector<size_t>& classes, const Labels& strings, const Numbers& ints) {
  const std::vector<int64_t> shape{static_cast<int64_t>(classes.size())};
  const size_t known = class_count(strings, ints);
  for (const size_t c : classes)
    if (known && c >= known) Eval::fail("eval.label", cat("class ", c, " of ", known, " labels"));
  if (strings && !strings->empty()) {
    std::vector<std::string> out;
    for (const size_t c : classes) out.push_back((*strings)[c]);
    return {shape, std::move(out)};
  }
  std::vector<int64_t> out;
  for (const size_t c : classes) out.push_back(known ? (*ints)[c] : static_cast<int64_t>(c));
  return store(DType::i64, shape, out);
}

void infer_classifier(Infer& c, const Labels& strings, Dim scores) {
  const Dim n = sample_count(c);
  c.out(0, strings && !strings->empty() ? DType::string : DType::i64, {n});
  c.out(1, DType::f32, {n, scores});
}

Tensor to_floats(std::vector<int64_t> shape, const std::vector<double>& values) {
  return store(DType::f32, std::move(shape), values);
}

}  // namespace cameo::ops
