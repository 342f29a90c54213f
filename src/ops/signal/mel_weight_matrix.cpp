// MelWeightMatrix: the mel filter bank.
#include <cmath>

#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/on.h"
#include "ops/preconditions.h"
#include "ops/signal/window.h"

namespace cameo::ops {

namespace {

struct MelWeightMatrix : Rules<op::MelWeightMatrix> {
  static void infer(const op::MelWeightMatrix& a, Infer& c) {
    const Dim bins = size_from(c, 0, "mel_bins"), length = size_from(c, 1, "dft_length");
    for (size_t i = 2; i < 5; ++i)
      want_one(c, i, i == 2 ? "sample_rate" : i == 3 ? "lower_edge_hertz" : "upper_edge_hertz");
    c.out(0, output_type(c, a.output_datatype), {floor_div(length, Dim(int64_t{2})) + Dim(int64_t{1}), bins});
  }

  static double to_mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
  static double to_hertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

  // Where each triangle begins, has its peak and ends, in bins of the spectrogram.
  static std::vector<int64_t> corners(Eval& k, int64_t mel_bins, int64_t spectrogram_bins) {
    const double low = to_mel(k.double_scalar(3)), high = to_mel(k.double_scalar(4));
    const double step = (high - low) / static_cast<double>(mel_bins + 2);
    std::vector<int64_t> out;
    for (int64_t i = 0; i < mel_bins + 2; ++i) {
      const double bin =
          std::floor(static_cast<double>(k.int_scalar(1) + 1) * to_hertz(low + static_cast<double>(i) * step) /
                     static_cast<double>(k.int_scalar(2)));
      if (!(bin >= 0 && bin < static_cast<double>(spectrogram_bins)))
        k.fail("eval.size", "the edges lie outside the spectrum");
      out.push_back(static_cast<int64_t>(bin));
    }
    return out;
  }

  static Tensor matrix(Eval& k, DType to) {
    const int64_t mel_bins = k.int_scalar(0), length = k.int_scalar(1);
    if (mel_bins < 0 || length < 0 || mel_bins > 1 << 20 || length > 1 << 24 || k.int_scalar(2) <= 0)
      k.fail("eval.size", "sizes of a mel matrix are positive and small");
    const int64_t rows = length / 2 + 1;
    if (rows * mel_bins > most_elements) k.fail("eval.size", "the mel matrix is too large");
    const auto at = corners(k, mel_bins, rows);
    std::vector<double> out(static_cast<size_t>(rows * mel_bins), 0);
    for (int64_t m = 0; m < mel_bins; ++m) {
      const int64_t left = at[static_cast<size_t>(m)], peak = at[static_cast<size_t>(m) + 1],
                    right = at[static_cast<size_t>(m) + 2];
      const auto cell = [&](int64_t row) -> double& { return out[static_cast<size_t>(row * mel_bins + m)]; };
      for (int64_t j = left; j <= peak; ++j)
        cell(j) = left == peak ? 1 : static_cast<double>(j - left) / static_cast<double>(peak - left);
      for (int64_t j = peak; j < right; ++j)
        cell(j) = static_cast<double>(right - j) / static_cast<double>(right - peak);
    }
    return store(to, {rows, mel_bins}, out);
  }

  static void eval(const op::MelWeightMatrix& a, Eval& k) { k.out(0, matrix(k, output_type(a.output_datatype))); }

  static constexpr Expansion expansions[] = {
      expansion<op::MelWeightMatrix>(17, Exactness::exact, [](const op::MelWeightMatrix& a, Expand& e) {
        std::vector<Datum> inputs;
        for (size_t i = 0; i < 5; ++i) {
          const auto t = e.graph.constant(e.in(i));
          if (!t) return e.refuse("its sizes and edges are computed by the model");
          inputs.emplace_back(*t);
        }
        std::vector<const Datum*> pointers;
        for (const Datum& d : inputs) pointers.push_back(&d);
        Eval k(pointers, 1);
        e.replace({e.on.constant(matrix(k, output_type(a.output_datatype)))});
      })};
};

constexpr OpRules table[] = {rules<MelWeightMatrix>()};

}  // namespace

std::span<const OpRules> mel_weight_matrix_rules() { return table; }

}  // namespace cameo::ops
