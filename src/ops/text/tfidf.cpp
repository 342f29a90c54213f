// TfIdfVectorizer: how often n-grams of a pool occur in a sequence.
#include <algorithm>
#include <map>

#include "ops/eval.h"
#include "ops/infer.h"

namespace cameo::ops {

namespace {

int64_t output_size(const op::TfIdfVectorizer& a) {
  int64_t most = -1;
  for (const int64_t i : a.ngram_indexes) most = std::max(most, i);
  if (most >= 1 << 26) throw error("model.attribute", cat("ngram_indexes reaches ", most));
  return most + 1;
}

// The pool: every n-gram and the coordinate of its count.
template <class Token>
std::map<std::vector<Token>, int64_t> read_pool(const op::TfIdfVectorizer& a, const std::vector<Token>& tokens) {
  std::map<std::vector<Token>, int64_t> grams;
  size_t number = 0;
  for (size_t n = 1; n <= a.ngram_counts.size(); ++n) {
    const int64_t begin = a.ngram_counts[n - 1],
                  end = n < a.ngram_counts.size() ? a.ngram_counts[n] : static_cast<int64_t>(tokens.size());
    if (begin < 0 || end < begin || end > static_cast<int64_t>(tokens.size()))
      throw error("model.attribute", "ngram_counts do not fit the pool");
    for (int64_t at = begin; at + static_cast<int64_t>(n) <= end; at += static_cast<int64_t>(n), ++number) {
      if (number >= a.ngram_indexes.size() || a.ngram_indexes[number] < 0)
        throw error("model.attribute", "ngram_indexes do not fit the pool");
      grams.emplace(std::vector<Token>(tokens.begin() + at, tokens.begin() + at + static_cast<int64_t>(n)),
                    a.ngram_indexes[number]);
    }
  }
  return grams;
}

template <class Token>
void count_row(const op::TfIdfVectorizer& a, const std::map<std::vector<Token>, int64_t>& grams,
               std::span<const Token> row, std::span<float> out) {
  const auto length = static_cast<int64_t>(row.size());
  const int64_t longest = std::min<int64_t>(a.max_gram_length, static_cast<int64_t>(a.ngram_counts.size()));
  for (int64_t distance = 1; distance <= std::min(a.max_skip_count, length) + 1; ++distance)
    for (int64_t n = std::max<int64_t>(a.min_gram_length, 1); n <= longest; ++n) {
      if (n == 1 && distance > 1) continue;  // single tokens are the same at every distance
      for (int64_t at = 0; at + distance * (n - 1) < length; ++at) {
        std::vector<Token> gram;
        for (int64_t i = 0; i < n; ++i) gram.push_back(row[static_cast<size_t>(at + i * distance)]);
        if (const auto it = grams.find(gram); it != grams.end()) out[static_cast<size_t>(it->second)] += 1;
      }
    }
}

template <class Token>
void count_all(const op::TfIdfVectorizer& a, const std::vector<Token>& pool, std::span<const Token> tokens,
               int64_t rows, std::vector<float>& out) {
  const auto grams = read_pool(a, pool);
  const size_t width = rows ? tokens.size() / static_cast<size_t>(rows) : 0,
               size = rows ? out.size() / static_cast<size_t>(rows) : 0;
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r)
    count_row<Token>(a, grams, tokens.subspan(r * width, width), std::span(out).subspan(r * size, size));
}

struct TfIdfVectorizer : Rules<op::TfIdfVectorizer> {
  static void infer(const op::TfIdfVectorizer& a, Infer& c) {
    if (c.rank(0) != 1 && c.rank(0) != 2)
      c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", 1 or 2 is wanted"));
    Shape out = c.shape(0);
    out.back() = output_size(a);
    c.out(0, DType::f32, out);
  }

  static void eval(const op::TfIdfVectorizer& a, Eval& k) {
    const Tensor& x = k.in(0);
    if (x.rank() != 1 && x.rank() != 2) k.fail("eval.rank", cat("TfIdfVectorizer of a tensor of rank ", x.rank()));
    const int64_t rows = x.rank() == 2 ? x.shape()[0] : 1, size = output_size(a);
    std::vector<float> out(static_cast<size_t>(element_count(std::vector<int64_t>{rows, size})), 0);
    if (x.dtype() == DType::string)
      count_all<std::string>(a, a.pool_strings.value_or(std::vector<std::string>{}), x.strings(), rows, out);
    else count_all<int64_t>(a, a.pool_int64s.value_or(std::vector<int64_t>{}), Loaded<int64_t>(x).span(), rows, out);
    if (a.mode == "IDF")
      for (float& f : out) f = f > 0 ? 1 : 0;
    else if (a.mode != "TF" && a.mode != "TFIDF")
      throw error("model.attribute", cat("there is no mode '", a.mode, "'"));
    if (a.mode != "TF" && a.weights && !a.weights->empty()) {
      if (static_cast<int64_t>(a.weights->size()) < size)
        throw error("model.attribute", cat(a.weights->size(), " weights for ", size, " coordinates"));
      for (size_t i = 0; i < out.size(); ++i) out[i] *= (*a.weights)[i % static_cast<size_t>(size)];
    }
    auto shape = x.shape();
    shape.back() = size;
    k.out(0, store(DType::f32, shape, out));
  }
};

constexpr OpRules table[] = {rules<TfIdfVectorizer>()};

}  // namespace

std::span<const OpRules> tfidf_rules() { return table; }

}  // namespace cameo::ops
