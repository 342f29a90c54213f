#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/expansions.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"
#include "ops/signal/fourier.h"

namespace cameo::ops {

namespace {

using Complex = std::complex<double>;

struct DFT : Rules<op::DFT> {
  using A = op::DFT;
  static constexpr int64_t most_length = int64_t{1} << 31;

  static void infer(const A& a, Infer& c) {
    const int64_t rank = c.rank(0);
    if (rank < 2)
      c.fail("infer.rank",
             cat("the input has rank ", rank, ": a signal axis and one for real and imaginary parts are wanted"));
    if (const auto parts = c.dim(0, rank - 1).known(); parts && *parts != 1 && *parts != 2)
      c.fail("infer.mismatch", cat("the last size is ", *parts, ": 1 (real) or 2 (complex) is wanted"));
    if (c.has(1)) want_one(c, 1, "dft_length");
    if (c.has(2)) want_one(c, 2, "axis");
    Shape out = c.shape(0);
    out.back() = a.inverse && a.onesided ? 1 : 2;
    const auto axis_value = c.has(2) ? c.literal_ints(2) : std::vector<int64_t>{-2};
    if (!axis_value || axis_value->size() != 1) {
      if (!c.has(1) && !a.onesided) return c.out(0, std::move(out));  // whichever axis it is, its size stays
      for (size_t i = 0; i + 1 < out.size(); ++i) out[i] = c.fresh("dft");
      return c.out(0, std::move(out));
    }
    const auto axis = static_cast<size_t>(c.axis((*axis_value)[0], rank));
    if (axis + 1 == out.size()) c.fail("infer.axis", "the last axis holds real and imaginary parts");
    Dim length = a.inverse && a.onesided ? (out[axis] - 1) * 2 : out[axis];
    if (c.has(1)) {
      const auto given = c.ints(1);
      length = given && given->size() == 1 ? (*given)[0] : c.fresh("dft_length");
    }
    if (length.is_literal() && (length.literal() < 1 || length.literal() > most_length))
      c.fail("infer.attribute", cat("a transform of length ", length.text()));
    out[axis] = a.onesided && !a.inverse ? floor_div(length, 2) + 1 : length;
    c.out(0, std::move(out));
  }

  // The signal padded or cut to `length`; half a spectrum completed by its mirror.
  static std::vector<Complex> prepared(std::vector<Complex> v, int64_t length, bool half_spectrum) {
    const auto n = static_cast<size_t>(length);
    if (!half_spectrum) {
      v.resize(n);
      return v;
    }
    std::vector<Complex> out(n);
    for (size_t i = 0; i < n; ++i) {
      const size_t from = i <= n / 2 ? i : n - i;
      if (from < v.size()) out[i] = i <= n / 2 ? v[from] : std::conj(v[from]);
    }
    if (n) out[0] = out[0].real();
    if (n && n % 2 == 0) out[n / 2] = out[n / 2].real();
    return out;
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& x = k.in(0);
    if (x.rank() < 2 || x.shape().back() < 1 || x.shape().back() > 2)
      k.fail("eval.shape", "the last axis must hold real, or real and imaginary parts");
    const int64_t axis = k.axis(k.has(2) ? k.int_scalar(2) : -2, x.rank()), parts = x.shape().back();
    if (axis == x.rank() - 1) k.fail("eval.axis", "the last axis holds real and imaginary parts");
    const bool real_result = a.inverse && a.onesided;
    const int64_t have = x.shape()[static_cast<size_t>(axis)];
    const int64_t length = k.has(1) ? k.int_scalar(1) : real_result ? 2 * (have - 1) : have;
    if (length < 1 || length > most_length) k.fail("eval.shape", cat("a transform of length ", length));
    const int64_t keep = a.onesided && !a.inverse ? length / 2 + 1 : length, out_parts = real_result ? 1 : 2;
    std::vector<int64_t> shape = x.shape();
    shape[static_cast<size_t>(axis)] = keep, shape.back() = out_parts;
    int64_t outer = 1, inner = 1;
    for (int64_t i = 0; i < axis; ++i) outer *= shape[static_cast<size_t>(i)];
    for (int64_t i = axis + 1; i + 1 < x.rank(); ++i) inner *= shape[static_cast<size_t>(i)];
    const Loaded<double> v(x);
    std::vector<double> y(static_cast<size_t>(element_count(shape)));
    for (int64_t o = 0; !y.empty() && o < outer; ++o)
      for (int64_t j = 0; j < inner; ++j) {
        std::vector<Complex> line;
        for (int64_t i = 0; i < have; ++i) {
          const int64_t at = ((o * have + i) * inner + j) * parts;
          line.push_back({v[at], parts == 2 ? v[at + 1] : 0});
        }
        const auto result = fourier(prepared(std::move(line), length, real_result), a.inverse != 0);
        const double factor = a.inverse ? 1 / static_cast<double>(length) : 1;
        for (int64_t i = 0; i < keep; ++i) {
          const int64_t at = ((o * keep + i) * inner + j) * out_parts;
          y[static_cast<size_t>(at)] = result[static_cast<size_t>(i)].real() * factor;
          if (out_parts == 2) y[static_cast<size_t>(at + 1)] = result[static_cast<size_t>(i)].imag() * factor;
        }
      }
    k.out(0, store(x.dtype(), shape, y));
  }

  // A product with the matrix of the transform.
  static void expand(const A& a, Expand& e) {
    On& on = e.on;
    if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
    const auto axis_value = e.has(2) ? e.graph.constant(e.in(2)) : Tensor::int_scalar(-2);
    const auto given = e.has(1) ? e.graph.constant(e.in(1)) : std::nullopt;
    if (!axis_value || (e.has(1) && !given) || (a.inverse && a.onesided))
      return e.refuse("only transforms of known axis and length, to complex numbers, can be expressed as a product");
    const Shape& shape = e.fact(0).shape();
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t axis = axis_value->int_at(0) < 0 ? axis_value->int_at(0) + rank : axis_value->int_at(0);
    const auto rows = shape[static_cast<size_t>(axis)].known(), parts = shape.back().known();
    if (!rows || !parts) return e.refuse("the signal's length is unknown");
    const int64_t length = given ? given->int_at(0) : *rows, columns = a.onesided ? length / 2 + 1 : length;
    if (length < 1 || !is_small_matrix(*rows, *parts, columns))
      return e.refuse("the transform is too long for a matrix");
    // The signal's axis goes beside the last, and back.
    std::vector<int64_t> perm, back(static_cast<size_t>(rank));
    for (int64_t i = 0; i + 1 < rank; ++i)
      if (i != axis) perm.push_back(i);
    perm.insert(perm.end(), {axis, rank - 1});
    for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    std::vector<int64_t> flat(static_cast<size_t>(rank - 2), 0), wide = flat;
    flat.push_back(*rows * *parts);
    wide.insert(wide.end(), {columns, 2});
    const auto matrix =
        fourier_matrix(*rows, *parts, length, columns, a.inverse != 0, a.inverse ? 1 / static_cast<double>(length) : 1);
    const ValueId weights = on.constant(store(e.dtype(0), {*rows * *parts, columns * 2}, matrix));
    const ValueId lines = on.Reshape(transpose(on, e.in(0), perm), on.ints(flat));
    e.replace({transpose(on, on.Reshape(on.MatMul(lines, weights), on.ints(wide)), back)});
  }

  static constexpr Revision revisions[] = {
      // The axis became an input at 20, and the last but one by default.
      {20,
       [](Upgrade& u) {
         const int64_t axis = u.take_int("axis").value_or(1);
         u.set_input(2, u.constant(Tensor::int_scalar(axis)));
       },
       [](Downgrade& d) {
         if (d.input(2)) d.input_to_int(2, "axis");
         else d.set("axis", int64_t{-2});
       }},
  };
  static constexpr Expansion expansions[] = {
      expansion<A>(17, Exactness::rounding, [](const A& a, Expand& e) { expand(a, e); })};
};

constexpr OpRules table[] = {rules<DFT>()};

}  // namespace

std::span<const OpRules> dft_rules() { return table; }

}  // namespace cameo::ops
