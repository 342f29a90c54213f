// Linear models.
#include "ops/ml/scores.h"

namespace cameo::ops {

namespace {

// Scores [rows, outputs] of samples under coefficients [outputs, features].
std::vector<double> linear_scores(const Samples& x, std::span<const float> coefficients,
                                  std::span<const float> intercepts, int64_t outputs) {
  if (static_cast<int64_t>(coefficients.size()) != outputs * x.features)
    Eval::fail("eval.shape",
               cat(coefficients.size(), " coefficients for ", outputs, " outputs and ", x.features, " features"));
  std::vector<double> out;
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t o = 0; o < outputs; ++o) {
      double sum =
          static_cast<size_t>(o) < intercepts.size() ? static_cast<double>(intercepts[static_cast<size_t>(o)]) : 0;
      for (int64_t f = 0; f < x.features; ++f)
        sum += x.row(r)[static_cast<size_t>(f)] *
               static_cast<double>(coefficients[static_cast<size_t>(o * x.features + f)]);
      out.push_back(sum);
    }
  return out;
}

std::span<const float> list(const std::optional<std::vector<float>>& v) {
  return v ? std::span<const float>(*v) : std::span<const float>();
}

struct LinearClassifier : Rules<op::LinearClassifier> {
  static void infer(const op::LinearClassifier& a, Infer& c) {
    const size_t classes = class_count(a.classlabels_strings, a.classlabels_ints);
    sample_count(c);
    Dim scores = c.fresh();
    if (const Dim features = feature_count(c); features.is_literal()) {
      const auto given = static_cast<int64_t>(a.coefficients.size());
      if (features.is(0) || given == 0 || given % features.literal())
        c.fail("infer.attribute", cat(given, " coefficients for ", features.text(), " features"));
      scores = given / features.literal();
    } else if (a.intercepts && !a.intercepts->empty()) scores = static_cast<int64_t>(a.intercepts->size());
    if (scores.is(1) && classes == 2) scores = 2;
    infer_classifier(c, a.classlabels_strings, scores);
  }

  static void eval(const op::LinearClassifier& a, Eval& k) {
    const Samples x(k.in(0));
    if (x.features == 0) k.fail("eval.shape", "samples without features");
    const int64_t outputs = static_cast<int64_t>(a.coefficients.size()) / x.features;
    if (outputs == 0)
      throw error("model.attribute", cat(a.coefficients.size(), " coefficients for ", x.features, " features"));
    auto scores = linear_scores(x, a.coefficients, list(a.intercepts), outputs);
    const bool binary = outputs == 1 && class_count(a.classlabels_strings, a.classlabels_ints) == 2;
    const auto width = static_cast<size_t>(binary ? 2 : outputs);
    if (binary) {
      std::vector<double> both;
      for (const double s : scores) both.insert(both.end(), {-s, s});
      scores = std::move(both);
    }
    std::vector<size_t> classes;
    std::vector<int64_t> single;
    for (int64_t r = 0; r < x.rows; ++r) {
      const std::span<double> row(scores.data() + static_cast<size_t>(r) * width, width);
      transform_scores(row, a.post_transform);
      if (width > 1) classes.push_back(best(row));
      else single.push_back(row[0] >= (a.post_transform == "NONE" ? 0 : 0.5));
    }
    k.out(0, width > 1 ? labelled(classes, a.classlabels_strings, a.classlabels_ints) : one_score_labels(a, single));
    k.out(1, to_floats({x.rows, static_cast<int64_t>(width)}, scores));
  }

  // With one score and one label the answer is that label or nothing.
  static Tensor one_score_labels(const op::LinearClassifier& a, const std::vector<int64_t>& hits) {
    const std::vector<int64_t> shape{static_cast<int64_t>(hits.size())};
    if (a.classlabels_strings && !a.classlabels_strings->empty()) {
      std::vector<std::string> out;
      for (const int64_t hit : hits) out.push_back(hit ? a.classlabels_strings->front() : std::string());
      return {shape, std::move(out)};
    }
    std::vector<int64_t> out;
    for (const int64_t hit : hits)
      out.push_back(!hit ? 0 : a.classlabels_ints && !a.classlabels_ints->empty() ? a.classlabels_ints->front() : 1);
    return store(DType::i64, shape, out);
  }
};

struct LinearRegressor : Rules<op::LinearRegressor> {
  static void infer(const op::LinearRegressor& a, Infer& c) {
    check_targets(a);
    const Dim rows = sample_count(c);
    c.same(feature_count(c) * Dim(a.targets), static_cast<int64_t>(list(a.coefficients).size()),
           "coefficients wanted and given");
    c.out(0, DType::f32, {rows, a.targets});
  }
  static void check_targets(const op::LinearRegressor& a) {
    if (a.targets < 1 || a.targets > 1 << 24)
      throw error("model.attribute", cat("a regressor of ", a.targets, " targets"));
  }
  static void eval(const op::LinearRegressor& a, Eval& k) {
    const Samples x(k.in(0));
    check_targets(a);
    auto scores = linear_scores(x, list(a.coefficients), list(a.intercepts), a.targets);
    const auto width = static_cast<size_t>(a.targets);
    for (size_t at = 0; at < scores.size(); at += width)
      transform_scores({scores.data() + at, width}, a.post_transform);
    k.out(0, to_floats({x.rows, a.targets}, scores));
  }
};

constexpr OpRules table[] = {rules<LinearClassifier>(), rules<LinearRegressor>()};

}  // namespace

std::span<const OpRules> linear_model_rules() { return table; }

}  // namespace cameo::ops
