#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/expansions.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"
#include "ops/signal/fourier.h"

namespace cameo::ops {

namespace {

struct STFT : Rules<op::STFT> {
  using A = op::STFT;

  static void infer(const A& a, Infer& c) {
    if (c.rank(0) != 2 && c.rank(0) != 3)
      c.fail("infer.rank", cat("the signal has rank ", c.rank(0), ": batch, length and parts are wanted"));
    const auto one = [&](size_t i) -> std::optional<Dim> {
      const auto v = c.has(i) ? c.ints(i) : std::nullopt;
      return v && v->size() == 1 ? std::optional((*v)[0]) : std::nullopt;
    };
    want_one(c, 1, "frame_step");
    if (c.has(2)) want_rank(c, 2, 1, "the window");
    if (c.has(3)) want_one(c, 3, "frame_length");
    if (c.rank(0) == 3 && c.dim(0, 2).is_literal() && !c.dim(0, 2).is(1) && !c.dim(0, 2).is(2))
      c.fail("infer.mismatch", cat("the last size is ", c.dim(0, 2).text(), ": 1 (real) or 2 (complex) is wanted"));
    const auto step = one(1);
    if (step && step->is_literal() && step->literal() < 1)
      c.fail("infer.attribute", cat("frame_step is ", step->literal()));
    std::optional<Dim> length = one(3);
    if (c.has(2)) length = length ? c.same(*length, c.dim(2, 0), "frame_length and the window's length") : c.dim(2, 0);
    if (!length && !c.has(3)) length = c.dim(0, 1);
    if (length && length->is_literal() &&
        (length->literal() < 1 || (c.dim(0, 1).is_literal() && length->literal() > c.dim(0, 1).literal())))
      c.fail("infer.mismatch", cat("frames of ", length->text(), " in a signal of ", c.dim(0, 1).text()));
    const Dim frames = step && length ? floor_div(c.dim(0, 1) - *length, *step) + 1 : c.fresh("frames");
    const Dim bins = !length ? c.fresh("bins") : a.onesided ? floor_div(*length, 2) + 1 : *length;
    c.out(0, {c.dim(0, 0), frames, bins, 2});
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& x = k.in(0);
    if (x.rank() != 2 && x.rank() != 3) k.fail("eval.shape", cat("the signal has rank ", x.rank()));
    const int64_t batch = x.shape()[0], samples = x.shape()[1], parts = x.rank() == 3 ? x.shape()[2] : 1;
    const int64_t step = k.int_scalar(1), length = k.has(3) ? k.int_scalar(3) : k.has(2) ? k.in(2).count() : samples;
    if (k.has(2) && k.in(2).count() != length)
      k.fail("eval.shape", cat("a window of ", k.in(2).count(), " for frames of ", length));
    if (step < 1 || length < 1 || length > samples || parts < 1 || parts > 2)
      k.fail("eval.shape", cat("frames of ", length, " every ", step, " in a signal of ", samples));
    const int64_t frames = (samples - length) / step + 1, bins = a.onesided ? length / 2 + 1 : length;
    const Loaded<double> v(x), window(k.has(2) ? k.in(2) : full(DType::f32, {length}, 1));
    std::vector<double> y;
    y.reserve(static_cast<size_t>(element_count(std::vector<int64_t>{batch, frames, bins, 2})));
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t f = 0; f < frames; ++f) {
        std::vector<std::complex<double>> line(static_cast<size_t>(length));
        for (int64_t i = 0; i < std::min(length, window.size()); ++i) {
          const int64_t at = (b * samples + f * step + i) * parts;
          line[static_cast<size_t>(i)] = std::complex<double>(v[at], parts == 2 ? v[at + 1] : 0) * window[i];
        }
        const auto spectrum = fourier(std::move(line), false);
        for (int64_t i = 0; i < bins; ++i)
          y.push_back(spectrum[static_cast<size_t>(i)].real()), y.push_back(spectrum[static_cast<size_t>(i)].imag());
      }
    k.out(0, store(x.dtype(), {batch, frames, bins, 2}, y));
  }

  // A convolution whose kernels are the rows of the transform.
  static void expand(const A& a, Expand& e) {
    On& on = e.on;
    if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
    const auto step = e.graph.constant(e.in(1));
    const auto given = e.has(3) ? e.graph.constant(e.in(3)) : std::nullopt;
    if (!step || (e.has(3) && !given)) return e.refuse("frame step and length must be known");
    const Shape& shape = e.fact(0).shape();
    const auto parts = shape.size() == 3 ? shape[2].known() : std::optional<int64_t>(1);
    std::optional<int64_t> length = given      ? std::optional(given->int_at(0))
                                    : e.has(2) ? e.fact(2).shape()[0].known()
                                               : shape[1].known();
    if (!parts || !length || *length < 1) return e.refuse("the frames' length is unknown");
    const int64_t bins = a.onesided ? *length / 2 + 1 : *length;
    if (!is_small_matrix(*length, *parts, bins)) return e.refuse("the frames are too long for a convolution");
    // [length, parts, bins * 2] -> kernels [bins * 2, parts, length]
    const Tensor matrix =
        store(e.dtype(0), {*length, *parts, bins * 2}, fourier_matrix(*length, *parts, *length, bins, false, 1));
    const int64_t strides[] = {1, bins * 2, *parts * bins * 2};
    ValueId kernels = on.constant(strided(matrix, {bins * 2, *parts, *length}, strides));
    if (e.has(2)) kernels = on.Mul(kernels, e.in(2));
    const ValueId signal = shape.size() == 3 ? transpose(on, e.in(0), {0, 2, 1}) : unsqueeze(on, e.in(0), {1});
    const ValueId spectra =
        on.Conv(signal, kernels, {}, {.strides = std::vector<int64_t>{step->int_at(0)}});  // [batch, bins * 2, frames]
    e.replace({reshape_to(on, transpose(on, spectra, {0, 2, 1}), {0, 0, bins, 2})});
  }
  static constexpr Expansion expansions[] = {
      expansion<A>(17, Exactness::rounding, [](const A& a, Expand& e) { expand(a, e); })};
};

constexpr OpRules table[] = {rules<STFT>()};

}  // namespace

std::span<const OpRules> stft_rules() { return table; }

}  // namespace cameo::ops
