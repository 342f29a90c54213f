// Features prepared: picked, scaled, filled in, joined.
#include <algorithm>
#include <cmath>

#include "ops/ml/scores.h"

namespace cameo::ops {

namespace {

struct ArrayFeatureExtractor : Rules<op::ArrayFeatureExtractor> {
  static void infer(const op::ArrayFeatureExtractor&, Infer& c) {
    if (c.rank(0) == 0) c.fail("infer.rank", "the input has no axis");
    Shape out = c.rank(0) == 1 ? Shape{1, 1} : c.shape(0);
    out.back() = element_count(c.shape(1));
    c.out(0, out);
  }
  static void eval(const op::ArrayFeatureExtractor&, Eval& k) {
    const Tensor& x = k.in(0);
    const auto picks = k.ints(1);
    if (x.rank() == 0) k.fail("eval.rank", "ArrayFeatureExtractor of a tensor without an axis");
    const int64_t width = x.shape().back(), rows = width ? x.count() / width : 0;
    std::vector<int64_t> places;
    for (const int64_t p : picks)
      if (p < -width || p >= width) k.fail("eval.index", cat("index ", p, " is outside an axis of size ", width));
    for (int64_t r = 0; r < rows; ++r)
      for (const int64_t p : picks) places.push_back(r * width + (p < 0 ? p + width : p));
    auto shape = x.rank() == 1 ? std::vector<int64_t>{1, 1} : x.shape();
    shape.back() = static_cast<int64_t>(picks.size());
    if (element_count(shape) != static_cast<int64_t>(places.size()))
      k.fail("eval.shape", "ArrayFeatureExtractor of an empty axis");
    k.out(0, take(x, shape, places));
  }
};

struct Binarizer : Rules<op::Binarizer> {
  static void infer(const op::Binarizer&, Infer& c) { c.out(0, c.shape(0)); }
  static void eval(const op::Binarizer& a, Eval& k) {
    std::vector<double> out = k.in(0).to_doubles();
    for (double& v : out) v = v > static_cast<double>(a.threshold) ? 1 : 0;
    k.out(0, store(k.in(0).dtype(), k.in(0).shape(), out));
  }
};

constexpr int64_t most_features = 1 << 24;  // of one input, filled with zeros where it has fewer

struct FeatureVectorizer : Rules<op::FeatureVectorizer> {
  static void infer(const op::FeatureVectorizer& a, Infer& c) {
    Dim width;
    for (size_t i = 0; i < c.in_count(); ++i) {
      if (c.rank(i) != 1 && c.rank(i) != 2) c.fail("infer.rank", cat("input ", i, " has rank ", c.rank(i)));
      c.same(c.dim(i, 0), c.dim(0, 0), "numbers of samples");
      const Dim want = a.inputdimensions && i < a.inputdimensions->size() ? Dim((*a.inputdimensions)[i])
                       : c.rank(i) == 2                                   ? c.dim(i, 1)
                                                                          : Dim(int64_t{1});
      if (want.is_literal() && (want.literal() < 0 || want.literal() > most_features))
        c.fail("infer.attribute", cat("input ", i, " with ", want.literal(), " features"));
      width = width + want;
    }
    c.out(0, DType::f32, {c.dim(0, 0), width});
  }
  // Each input is cut or filled with zeros to the width it is said to have.
  static void eval(const op::FeatureVectorizer& a, Eval& k) {
    const int64_t rows = k.in(0).rank() ? k.in(0).shape()[0] : 0;
    std::vector<Tensor> parts;
    for (size_t i = 0; i < k.in_count(); ++i) {
      const Tensor& x = k.in(i);
      if ((x.rank() != 1 && x.rank() != 2) || x.shape()[0] != rows)
        k.fail("eval.shape", cat("input ", i, " does not fit the others"));
      const int64_t have = x.rank() == 2 ? x.shape()[1] : 1;
      const int64_t want = a.inputdimensions && i < a.inputdimensions->size() ? (*a.inputdimensions)[i] : have;
      if (want < 0 || want > most_features) k.fail("eval.shape", cat("input ", i, " with ", want, " features"));
      std::vector<int64_t> shape{rows, want}, places;
      places.reserve(static_cast<size_t>(element_count(shape)));
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t f = 0; f < want; ++f) places.push_back(f < have ? r * have + f : -1);
      parts.push_back(convert(take(x, shape, places), DType::f32));
    }
    k.out(0, concat(parts, 1));
  }
};

struct Imputer : Rules<op::Imputer> {
  static void infer(const op::Imputer& a, Infer& c) {
    const size_t given = values_of(a).size();
    if (given == 0) c.fail("infer.attribute", "no imputed values");
    if (given != 1)
      c.same(c.rank(0) ? c.shape(0).back() : Dim(int64_t{1}), static_cast<int64_t>(given),
             "numbers of features and imputed values");
    c.out(0, c.shape(0));
  }
  static std::vector<double> values_of(const op::Imputer& a) {
    if (has_floats(a)) return {a.imputed_value_floats->begin(), a.imputed_value_floats->end()};
    if (a.imputed_value_int64s) return {a.imputed_value_int64s->begin(), a.imputed_value_int64s->end()};
    return {};
  }
  static bool has_floats(const op::Imputer& a) { return a.imputed_value_floats && !a.imputed_value_floats->empty(); }
  static void eval(const op::Imputer& a, Eval& k) {
    const Tensor& x = k.in(0);
    const auto values = values_of(a);
    const size_t width = x.rank() ? static_cast<size_t>(x.shape().back()) : 1;
    if (values.size() != 1 && (values.empty() || values.size() != width))
      k.fail("eval.shape", cat(values.size(), " imputed values for ", width, " features"));
    const double wanted =
        has_floats(a) ? static_cast<double>(a.replaced_value_float) : static_cast<double>(a.replaced_value_int64);
    std::vector<double> out = x.to_doubles();
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i] == wanted || (std::isnan(wanted) && std::isnan(out[i])))
        out[i] = values[values.size() == 1 ? 0 : i % width];
    k.out(0, store(x.dtype(), x.shape(), out));
  }
};

struct Normalizer : Rules<op::Normalizer> {
  static void infer(const op::Normalizer& a, Infer& c) {
    check_norm(a);
    sample_count(c);
    c.out(0, DType::f32, c.shape(0));
  }
  static void check_norm(const op::Normalizer& a) {
    if (a.norm != "MAX" && a.norm != "L1" && a.norm != "L2")
      throw error("model.attribute", cat("there is no norm '", a.norm, "'"));
  }
  static void eval(const op::Normalizer& a, Eval& k) {
    check_norm(a);
    Samples x(k.in(0));
    for (int64_t r = 0; r < x.rows; ++r) {
      double norm = 0;
      for (const double v : x.row(r)) {
        if (a.norm == "MAX") norm = std::max(norm, std::abs(v));
        else if (a.norm == "L1") norm += std::abs(v);
        else norm += v * v;
      }
      if (a.norm == "L2") norm = std::sqrt(norm);
      for (int64_t f = 0; f < x.features; ++f)
        x.values[static_cast<size_t>(r * x.features + f)] /= std::max(norm, 1e-30);
    }
    k.out(0, to_floats(k.in(0).shape(), x.values));
  }
};

struct Scaler : Rules<op::Scaler> {
  static void infer(const op::Scaler& a, Infer& c) {
    for (const auto& list : {a.offset, a.scale})
      if (list && list->size() > 1)
        c.same(c.rank(0) ? c.shape(0).back() : Dim(int64_t{1}), static_cast<int64_t>(list->size()),
               "numbers of features and of offsets or scales");
    c.out(0, DType::f32, c.shape(0));
  }
  static void eval(const op::Scaler& a, Eval& k) {
    const Tensor& x = k.in(0);
    const size_t width = x.rank() ? static_cast<size_t>(x.shape().back()) : 1;
    std::vector<double> out = x.to_doubles();
    const auto of = [&](const std::optional<std::vector<float>>& list, size_t i, double otherwise) {
      if (!list || list->empty()) return otherwise;
      if (list->size() != 1 && list->size() != width)
        k.fail("eval.shape", cat(list->size(), " numbers for ", width, " features"));
      return static_cast<double>((*list)[list->size() == 1 ? 0 : i % width]);
    };
    for (size_t i = 0; i < out.size(); ++i) out[i] = (out[i] - of(a.offset, i, 0)) * of(a.scale, i, 1);
    k.out(0, to_floats(x.shape(), out));
  }
};

constexpr OpRules table[] = {rules<ArrayFeatureExtractor>(),
                             rules<Binarizer>(),
                             rules<FeatureVectorizer>(),
                             rules<Imputer>(),
                             rules<Normalizer>(),
                             rules<Scaler>()};

}  // namespace

std::span<const OpRules> feature_rules() { return table; }

}  // namespace cameo::ops
