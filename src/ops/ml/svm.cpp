// Support vector machines.
#include <algorithm>
#include <cmath>

#include "ops/ml/scores.h"

namespace cameo::ops {

namespace {

using Floats = std::optional<std::vector<float>>;

std::vector<double> numbers(const Floats& v) {
  return v ? std::vector<double>(v->begin(), v->end()) : std::vector<double>();
}

// The kernel function of a machine.
struct Kernel {
  std::string type;
  double gamma = 0, offset = 0, degree = 0;

  Kernel(std::string kind, const Floats& params) : type(std::move(kind)) {
    if (!params || params->empty()) return;
    if (params->size() < 3)
      throw error("model.attribute", cat("kernel_params has ", params->size(), " numbers, 3 are wanted"));
    gamma = static_cast<double>((*params)[0]), offset = static_cast<double>((*params)[1]),
    degree = std::trunc(static_cast<double>((*params)[2]));
  }

  double operator()(std::span<const double> a, std::span<const double> b) const {
    double dot = 0, distance = 0;
    for (size_t i = 0; i < a.size(); ++i) dot += a[i] * b[i], distance += (a[i] - b[i]) * (a[i] - b[i]);
    if (type == "LINEAR") return dot;
    if (type == "POLY") return std::pow(gamma * dot + offset, degree);
    if (type == "RBF") return std::exp(-gamma * distance);
    if (type == "SIGMOID") return std::tanh(gamma * dot + offset);
    throw error("model.attribute", cat("there is no kernel_type '", type, "'"));
  }
};

void need(bool fits, std::string_view what) {
  if (!fits) throw error("model.attribute", cat("a support vector machine whose ", what, " do not fit the others"));
}

// A regressor with its lists in order.
struct Regressor {
  std::vector<double> coefficients, vectors, rho;
  size_t features, supports;
  Kernel kernel;

  Regressor(const op::SVMRegressor& a, size_t width)
      : coefficients(numbers(a.coefficients)),
        vectors(numbers(a.support_vectors)),
        rho(numbers(a.rho)),
        features(width),
        supports(static_cast<size_t>(std::max<int64_t>(a.n_supports, 0))),
        kernel(supports ? a.kernel_type : "LINEAR", a.kernel_params) {
    need(!rho.empty() && coefficients.size() == (supports ? supports : features), "coefficients");
    need(vectors.size() / std::max<size_t>(features, 1) >= supports, "support_vectors");
  }
};

struct SVMRegressor : Rules<op::SVMRegressor> {
  static void infer(const op::SVMRegressor& a, Infer& c) {
    const Dim rows = sample_count(c);
    if (const Dim features = feature_count(c); features.is_literal())
      Regressor(a, static_cast<size_t>(features.literal()));
    c.out(0, DType::f32, {rows, Dim(int64_t{1})});
  }
  static void eval(const op::SVMRegressor& a, Eval& k) {
    const Samples x(k.in(0));
    const auto [coefficients, vectors, rho, features, supports, kernel] = Regressor(a, static_cast<size_t>(x.features));
    std::vector<double> out;
    for (int64_t r = 0; r < x.rows; ++r) {
      double sum = rho[0];
      if (!supports) sum += kernel(x.row(r), coefficients);
      for (size_t s = 0; s < supports; ++s)
        sum += coefficients[s] * kernel(x.row(r), std::span(vectors).subspan(s * features, features));
      if (a.one_class) sum = sum > 0 ? 1 : -1;
      transform_scores({&sum, 1}, a.post_transform);
      out.push_back(sum);
    }
    k.out(0, to_floats({x.rows, 1}, out));
  }
};

// Probabilities of classes from those of pairs (Wu, Lin and Weng, second method).
std::vector<double> coupled(const std::vector<std::vector<double>>& pair) {
  const size_t n = pair.size();
  std::vector<std::vector<double>> q(n, std::vector<double>(n, 0));
  std::vector<double> p(n, 1.0 / static_cast<double>(n)), qp(n);
  for (size_t t = 0; t < n; ++t)
    for (size_t j = 0; j < n; ++j) {
      if (j == t) continue;
      q[t][t] += pair[j][t] * pair[j][t];
      q[t][j] = -pair[j][t] * pair[t][j];
    }
  for (size_t round = 0; round < std::max<size_t>(100, n); ++round) {
    double pqp = 0, error_most = 0;
    for (size_t t = 0; t < n; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < n; ++j) qp[t] += q[t][j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (size_t t = 0; t < n; ++t) error_most = std::max(error_most, std::abs(qp[t] - pqp));
    if (error_most < 0.005 / static_cast<double>(n)) break;
    for (size_t t = 0; t < n; ++t) {
      const double diff = (-qp[t] + pqp) / q[t][t];
      p[t] += diff;
      pqp = (pqp + diff * (diff * q[t][t] + 2 * qp[t])) / ((1 + diff) * (1 + diff));
      for (size_t j = 0; j < n; ++j) qp[j] = (qp[j] + diff * q[t][j]) / (1 + diff), p[j] /= 1 + diff;
    }
  }
  return p;
}

// A classifier with its lists in order.
struct Machine {
  const op::SVMClassifier& a;
  std::vector<double> coefficients = numbers(a.coefficients), vectors = numbers(a.support_vectors),
                      rho = numbers(a.rho);
  std::vector<double> prob_a = numbers(a.prob_a), prob_b = numbers(a.prob_b);
  std::vector<size_t> starts, counts;
  size_t classes = std::max<size_t>(class_count(a.classlabels_strings, a.classlabels_ints), 1), supports = 0,
         features = 0;
  Kernel kernel{a.kernel_type, a.kernel_params};

  Machine(const op::SVMClassifier& attrs, size_t width) : a(attrs), features(width) {
    for (const int64_t n : a.vectors_per_class.value_or(std::vector<int64_t>{})) {
      need(n >= 0 && n < int64_t{1} << 31, "vectors_per_class");
      starts.push_back(supports);
      counts.push_back(static_cast<size_t>(n));
      supports += static_cast<size_t>(n);
    }
    need(!rho.empty(), "rho");
    if (!supports) {
      kernel.type = "LINEAR";
      need(coefficients.size() == classes * features, "coefficients");
      return;
    }
    const size_t pairs = classes * (classes - 1) / 2;
    need(starts.size() == classes && classes >= 2, "vectors_per_class");
    need(coefficients.size() == (classes - 1) * supports, "coefficients");
    need(vectors.size() == supports * features, "support_vectors");
    need(rho.size() >= pairs && (prob_a.empty() || (prob_a.size() >= pairs && prob_b.size() >= pairs)),
         "rho, prob_a and prob_b");
  }
  bool has_probabilities() const { return supports && !prob_a.empty(); }
  size_t scores() const {
    const size_t made = supports && !has_probabilities() ? classes * (classes - 1) / 2 : classes;
    return made == 1 && classes == 2 ? 2 : made;
  }
  bool all_positive() const {
    return std::all_of(coefficients.begin(), coefficients.end(), [](double c) { return c >= 0; });
  }

  std::vector<double> linear(std::span<const double> x) const {
    std::vector<double> out;
    for (size_t c = 0; c < classes; ++c)
      out.push_back(rho[0] + kernel(x, std::span(coefficients).subspan(c * features, features)));
    return out;
  }

  // One score per pair of classes; each gives its winner a vote.
  std::vector<double> pairwise(std::span<const double> x, std::vector<double>& votes) const {
    std::vector<double> near(supports), scores;
    for (size_t s = 0; s < supports; ++s) near[s] = kernel(x, std::span(vectors).subspan(s * features, features));
    votes.assign(classes, 0);
    for (size_t i = 0; i < classes; ++i)
      for (size_t j = i + 1; j < classes; ++j) {
        double sum = rho[scores.size()];
        for (size_t s = starts[i]; s < starts[i] + counts[i]; ++s)
          sum += coefficients[(j - 1) * supports + s] * near[s];
        for (size_t s = starts[j]; s < starts[j] + counts[j]; ++s) sum += coefficients[i * supports + s] * near[s];
        scores.push_back(sum);
        votes[sum > 0 ? i : j] += 1;
      }
    return scores;
  }

  std::vector<double> probabilities(const std::vector<double>& scores) const {
    std::vector<std::vector<double>> pair(classes, std::vector<double>(classes, 0));
    size_t at = 0;
    for (size_t i = 0; i < classes; ++i)
      for (size_t j = i + 1; j < classes; ++j, ++at) {
        double p = scores[at] * prob_a[at] + prob_b[at];
        transform_scores({&p, 1}, "LOGISTIC");
        pair[i][j] = std::clamp(1 - p, 1e-7, 1 - 1e-7);
        pair[j][i] = 1 - pair[i][j];
      }
    return coupled(pair);
  }
};

struct SVMClassifier : Rules<op::SVMClassifier> {
  static void infer(const op::SVMClassifier& a, Infer& c) {
    sample_count(c);
    const Dim features = feature_count(c);
    infer_classifier(c, a.classlabels_strings,
                     features.is_literal()
                         ? Dim(static_cast<int64_t>(Machine(a, static_cast<size_t>(features.literal())).scores()))
                         : c.fresh());
  }

  static void eval(const op::SVMClassifier& a, Eval& k) {
    const Samples x(k.in(0));
    const Machine m(a, static_cast<size_t>(x.features));
    std::vector<size_t> classes;
    std::vector<double> all;
    for (int64_t r = 0; r < x.rows; ++r) {
      std::vector<double> votes, scores = m.supports ? m.pairwise(x.row(r), votes) : m.linear(x.row(r));
      if (m.has_probabilities()) scores = m.probabilities(scores);
      const auto& judged = votes.empty() ? scores : votes;
      size_t winner = best(judged);
      if (m.rho.size() == 1 && m.classes == 2 && !m.has_probabilities() && m.all_positive() && judged[winner] >= 0.5)
        winner = 1;
      else if (m.rho.size() == 1 && m.classes != 2) winner = judged[winner] > 0 ? 1 : 0;
      classes.push_back(winner);
      if (scores.size() == 1 && m.classes == 2) scores = {-scores[0], scores[0]};
      transform_scores(scores, a.post_transform);
      all.insert(all.end(), scores.begin(), scores.end());
    }
    k.out(0, labelled(classes, a.classlabels_strings, a.classlabels_ints));
    k.out(1, to_floats({x.rows, static_cast<int64_t>(m.scores())}, all));
  }
};

constexpr OpRules table[] = {rules<SVMRegressor>(), rules<SVMClassifier>()};

}  // namespace

std::span<const OpRules> svm_rules() { return table; }

}  // namespace cameo::ops
