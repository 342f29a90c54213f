// Connectionist temporal classification: all ways to align a text with longer frames, summed in logarithms.
#include <algorithm>
#include <limits>

#include "lowering/forms.h"
#include "lowering/loop.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

constexpr double never = -1e30;  // the logarithm of what cannot be; infinity would give NaN

// Targets written one after another become rows, filled up with the blank.
V as_rows(Lower& on, V targets, const Opt<Ints>& lengths, int64_t blank) {
  if (on.rank(targets) == 2) return targets;
  if (!lengths)
    unsupported("ctc_loss with targets in one row whose lengths depend on the inputs",
                "pass targets as [batch, length]");
  int64_t longest = 0, start = 0;
  for (const int64_t n : *lengths) longest = std::max(longest, n);
  Vs rows;
  for (const int64_t n : *lengths) {
    const V part = on.slice(targets, 0, Dim(start), Dim(start + n));
    rows.push_back(on.unsqueeze(
        n == longest ? part : on.concat({part, on.full({Dim(longest - n)}, Num(blank), on.dtype(targets))}, 0), {0}));
    start += n;
  }
  return on.concat(rows, 0);
}

V log_sum(Lower& on, const Vs& parts) {
  const V top = on.Max(std::vector<ValueId>(parts.begin(), parts.end()));
  V sum;
  for (const V p : parts) {
    const V e = on.Exp(on.Sub(p, top));
    sum = sum.valid() ? V(on.Add(sum, e)) : e;
  }
  return on.Add(top, on.Log(sum));
}

V shifted(Lower& on, V x, int64_t by) {
  const Dim n = on.dim(x, 1);
  return on.concat({on.full({on.dim(x, 0), Dim(by)}, Num(never), on.dtype(x)), on.slice(x, 1, Dim(0), n - Dim(by))}, 1);
}

V losses(Lower& on, V frames, V targets, V frame_counts, V lengths, int64_t blank) {
  const Dim time = on.dim(frames, 0), batch = on.dim(frames, 1), letters = on.dim(targets, 1),
            places = letters * Dim(2) + Dim(1);
  const V blanks = on.full({batch, letters, Dim(1)}, Num(blank), DType::i64),
          last = on.full({batch, Dim(1)}, Num(blank), DType::i64);
  const V text = on.to(targets, DType::i64);
  const V labels =
      on.concat({on.reshape(on.concat({blanks, on.unsqueeze(text, {2})}, 2), {batch, letters * Dim(2)}), last},
                1);  // blank a blank b blank
  const V each = on.GatherElements(on.transpose(frames, {1, 0, 2}),
                                   on.expand(on.unsqueeze(labels, {1}), {batch, time, places}), {.axis = 2});
  const V scores = on.transpose(each, {1, 0, 2}), no = on.number_like(never, frames);
  // Two places may be skipped unless a blank or the same letter would be.
  const V earlier =
      on.concat({on.full({batch, Dim(2)}, Num(blank), DType::i64), on.slice(labels, 1, Dim(0), places - Dim(2))}, 1);
  const V skips = on.And(on.Not(on.Equal(labels, on.On::int_scalar(blank))), on.Not(on.Equal(labels, earlier)));
  const V start = on.Where(on.Less(iota(on, places), on.On::int_scalar(2)), on.gather_scalar(scores, 0, Dim(0)), no);
  const V counts = on.unsqueeze(on.to(frame_counts, DType::i64), {1});
  const Vs end = loop(on, on.int_scalar(time - Dim(1)), {start}, [&](V turn, const Vs& s) -> Vs {
    const V t = on.Add(turn, on.On::int_scalar(1));
    const V next = on.Add(log_sum(on, {s[0], shifted(on, s[0], 1), on.Where(skips, shifted(on, s[0], 2), no)}),
                          on.Gather(scores, t, {.axis = 0}));
    return {on.Where(on.Less(t, counts), next, s[0])};
  });
  const V blank_end = on.Mul(on.unsqueeze(on.to(lengths, DType::i64), {1}), on.On::int_scalar(2)),
          one = on.On::int_scalar(1);
  const V letter_end = on.Max(std::vector<ValueId>{on.Sub(blank_end, one), on.On::int_scalar(0)});
  const auto at = [&](V i) { return V(on.GatherElements(end[0], i, {.axis = 1})); };
  const V through_letter = on.Where(on.Greater(blank_end, on.On::int_scalar(0)), at(letter_end), no);
  const V likelihood = on.squeeze(log_sum(on, {at(blank_end), through_letter}), {1});
  return on.Where(on.Less(likelihood, on.number_like(-1e20, frames)),
                  on.number_like(std::numeric_limits<double>::infinity(), frames), on.Neg(likelihood));
}

V ctc_loss(Lower& on, V frames, V targets, V frame_counts, V lengths, const Opt<Ints>& known, int64_t blank,
           int64_t reduction, bool zero_infinity) {
  const bool single = on.rank(frames) == 2;
  if (single) frames = on.unsqueeze(frames, {1});
  if (single && on.rank(targets) == 1) targets = on.unsqueeze(targets, {0});
  if (on.rank(lengths) == 0) lengths = on.unsqueeze(lengths, {0}), frame_counts = on.unsqueeze(frame_counts, {0});
  V y = losses(on, frames, as_rows(on, targets, known, blank), frame_counts, lengths, blank);
  if (zero_infinity) y = on.Where(on.IsInf(y), on.number_like(0, y), y);
  if (reduction == 0) return single ? on.squeeze(y, {0}) : y;
  if (reduction == 2) return reduce(on, Reduce::sum, y, {0}, false);
  const V shares = on.Max(std::vector<ValueId>{on.to(lengths, on.dtype(y)), on.number_like(1, y)});
  return reduce(on, Reduce::mean, on.Div(y, shares), {0}, false);
}

constexpr Row table[] = {
    {"aten::ctc_loss.IntList",
     [](Lower& on, V x, V t, Ints frames, Ints lengths, int64_t blank, int64_t reduction, bool zero) {
       return ctc_loss(on, x, t, on.ints(frames), on.ints(lengths), lengths, blank, reduction, zero);
     }},
    {"aten::ctc_loss.Tensor",
     [](Lower& on, V x, V t, V frames, V lengths, int64_t blank, int64_t reduction, bool zero) {
       const auto known = on.graph().constant(lengths, 1 << 16);
       return ctc_loss(on, x, t, frames, lengths, known ? Opt<Ints>(known->to_ints()) : std::nullopt, blank, reduction,
                       zero);
     }},
};

}  // namespace

std::span<const Row> nn_functional_ctc_loss_rows() { return table; }

}  // namespace cameo::lowering
