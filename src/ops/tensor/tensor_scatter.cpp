// TensorScatter: per sample of a batch, a stretch of the sequence axis is written.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

struct TensorScatter : Rules<op::TensorScatter> {
  static void infer(const op::TensorScatter& a, Infer& c) {
    const int64_t axis = c.axis(a.axis, c.rank(0));
    if (axis == 0) c.fail("infer.axis", "the sequence axis cannot be the batch axis 0");
    if (c.rank(1) != c.rank(0))
      c.fail("infer.rank", cat("a cache of rank ", c.rank(0), " and an update of rank ", c.rank(1)));
    Shape out = c.shape(0);
    for (int64_t i = 0; i < c.rank(0); ++i)
      if (i != axis)
        out[static_cast<size_t>(i)] = c.same(c.dim(0, i), c.dim(1, i), cat("sizes of cache and update on axis ", i));
    check_mode(a);
    const Dim length = c.dim(1, axis), room = c.dim(0, axis);
    if (c.graph().facts.less_equal(length, room) == Answer::no)
      c.fail("infer.mismatch", cat("an update of ", length.text(), " places for a cache of ", room.text()));
    if (c.has(2)) {
      if (c.rank(2) != 1) c.fail("infer.rank", cat("write_indices has rank ", c.rank(2)));
      c.same(c.dim(2, 0), c.dim(0, 0), "numbers of write indices and samples");
    }
    c.out(0, out);
  }

  static void check_mode(const op::TensorScatter& a) {
    if (a.mode != "circular" && a.mode != "linear")
      throw error("model.attribute", cat("there is no mode '", a.mode, "'"));
  }

  static void eval(const op::TensorScatter& a, Eval& k) {
    const Tensor &cache = k.in(0), &update = k.in(1);
    const auto axis = static_cast<size_t>(k.axis(a.axis, cache.rank()));
    check_mode(a);
    const bool circular = a.mode == "circular";
    auto fits = update.shape();
    if (update.rank() == cache.rank() && axis > 0) fits[axis] = cache.shape()[axis];
    if (fits != cache.shape() || axis == 0 || update.shape()[axis] > cache.shape()[axis] ||
        update.dtype() != cache.dtype())
      k.fail("eval.shape", "the update does not fit the cache");
    const int64_t length = update.shape()[axis], room = cache.shape()[axis], batch = cache.shape()[0];
    const auto first = k.has(2) ? k.ints(2) : std::vector<int64_t>(static_cast<size_t>(batch), 0);
    if (static_cast<int64_t>(first.size()) != batch)
      k.fail("eval.shape", cat(first.size(), " write indices for a batch of ", batch));
    for (const int64_t f : first)
      if (f < 0 || (!circular && f > room - length))
        k.fail("eval.index", cat("writing ", length, " places from ", f, " on in a cache of ", room));
    const int64_t inner = element_count(std::span<const int64_t>(cache.shape()).subspan(axis + 1));
    const int64_t in_batch = batch ? update.count() / batch : 0;
    std::vector<int64_t> places;
    for (int64_t i = 0; i < update.count(); ++i) {
      const int64_t outer = i / inner / length, step = i / inner % length;
      const int64_t at = first[static_cast<size_t>(i / in_batch)] % room + step;
      places.push_back((outer * room + at % room) * inner + i % inner);
    }
    k.out(0, put(cache, places, update));
  }

  // ScatterElements with the places along the axis, computed per sample.
  static void expand(const op::TensorScatter& a, Expand& e) {
    if (!e.fact(0).has_rank()) return e.refuse("the rank is not known before the model runs");
    On& on = e.on;
    const int64_t rank = e.fact(0).rank(), axis = a.axis < 0 ? a.axis + rank : a.axis;
    std::vector<int64_t> along(static_cast<size_t>(rank), 1), samples = along;
    along[static_cast<size_t>(axis)] = -1, samples[0] = -1;
    const ValueId shape = on.Shape(e.in(1)), zero = on.int_scalar(0);
    const ValueId steps = on.Range(zero, on.Gather(shape, on.int_scalar(axis)), on.int_scalar(1));
    ValueId places = on.Reshape(steps, on.ints(along));
    if (e.has(2)) places = on.Add(places, on.Reshape(e.in(2), on.ints(samples)));
    if (a.mode == "circular") places = on.Mod(places, on.Gather(on.Shape(e.in(0)), on.int_scalar(axis)));
    e.replace({on.ScatterElements(e.in(0), on.Expand(places, shape), e.in(1), {.axis = axis})});
  }
  static constexpr Expansion expansions[] = {
      expansion<op::TensorScatter>(24, Exactness::exact, [](const op::TensorScatter& a, Expand& e) { expand(a, e); }),
  };
};

constexpr OpRules table[] = {rules<TensorScatter>()};

}  // namespace

std::span<const OpRules> tensor_scatter_rules() { return table; }

}  // namespace cameo::ops
