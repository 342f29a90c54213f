// ReverseSequence: per sample of a batch, a stretch of the sequence axis is turned round.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

struct ReverseSequence : Rules<op::ReverseSequence> {
  static bool fits(const op::ReverseSequence& a) {
    return (a.batch_axis == 0 && a.time_axis == 1) || (a.batch_axis == 1 && a.time_axis == 0);
  }

  static void infer(const op::ReverseSequence& a, Infer& c) {
    if (c.rank(0) < 2) c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", at least 2 is wanted"));
    if (!fits(a)) c.fail("infer.axis", "batch_axis and time_axis must be 0 and 1");
    if (c.rank(1) != 1) c.fail("infer.rank", cat("sequence_lens has rank ", c.rank(1)));
    c.same(c.dim(0, a.batch_axis), c.dim(1, 0), "batch size and number of lengths");
    c.out(0, c.shape(0));
  }

  static void eval(const op::ReverseSequence& a, Eval& k) {
    const Tensor& x = k.in(0);
    const auto lengths = k.ints(1);
    if (x.rank() < 2 || !fits(a))
      k.fail("eval.axis", "ReverseSequence wants the batch and the time on the first two axes");
    const int64_t batch = x.shape()[static_cast<size_t>(a.batch_axis)],
                  time = x.shape()[static_cast<size_t>(a.time_axis)];
    if (static_cast<int64_t>(lengths.size()) != batch)
      k.fail("eval.shape", cat(lengths.size(), " lengths for a batch of ", batch));
    const int64_t inner = element_count(std::span<const int64_t>(x.shape()).subspan(2)), second = x.shape()[1];
    std::vector<int64_t> places;
    for (int64_t i = 0; i < x.count(); ++i) {
      const int64_t first_at = i / inner / second, second_at = i / inner % second;
      const int64_t b = a.batch_axis == 0 ? first_at : second_at, t = a.batch_axis == 0 ? second_at : first_at;
      const int64_t length = lengths[static_cast<size_t>(b)];
      if (length < 0 || length > time) k.fail("eval.index", cat("a length of ", length, " in a sequence of ", time));
      const int64_t from = t < length ? length - 1 - t : t;
      places.push_back((a.batch_axis == 0 ? b * second + from : from * second + b) * inner + i % inner);
    }
    k.out(0, take(x, x.shape(), places));
  }
};

constexpr OpRules table[] = {rules<ReverseSequence>()};

}  // namespace

std::span<const OpRules> reverse_sequence_rules() { return table; }

}  // namespace cameo::ops
