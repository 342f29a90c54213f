// Expand and Tile: elements repeated.
#include <algorithm>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/tensor/contents.h"

namespace cameo::ops {

namespace {

struct ExpandOp : Rules<op::Expand> {
  static void infer(const op::Expand&, Infer& c) {
    if (const auto shape = c.ints(1)) {
      for (const Dim d : *shape)
        if (d.is_literal() && d.literal() < 0) c.fail("infer.shape", cat("a size of ", d.literal()));
      c.out(0, c.broadcast_shapes(c.shape(0), *shape));
      return move_contents(c);
    }
    if (const auto length = c.length(1)) c.out(0, c.fresh_shape(std::max(*length, c.rank(0))));
  }
  static void eval(const op::Expand&, Eval& k) { k.out(0, expand_to(k.in(0), k.ints(1))); }
};

// Opset 1 had the number of tiles and one axis, both as tensors of the data's type.
void up_from_one_axis(Upgrade& u) {
  const auto tiles = u.contents(1), axis = u.contents(2);
  const Fact& x = u.fact(u.input(0));
  if (!tiles || !axis || !x.has_rank())
    throw error("model.old-encoding", "Tile of opset 1 with an axis or a count that the model computes")
        .help("save the model with opset 6 or newer");
  std::vector<int64_t> repeats(static_cast<size_t>(x.rank()), 1);
  const auto at = static_cast<int64_t>(axis->double_at(0));
  if (at < 0 || at >= x.rank())
    throw error("model.old-encoding", cat("Tile along axis ", at, " of a tensor of rank ", x.rank()));
  repeats[static_cast<size_t>(at)] = static_cast<int64_t>(tiles->double_at(0));
  u.inputs = {u.input(0), u.constant(Tensor::ints(repeats))};
}

struct Tile : Rules<op::Tile> {
  static void infer(const op::Tile&, Infer& c) {
    const auto repeats = c.ints(1);
    const int64_t count = repeats ? static_cast<int64_t>(repeats->size()) : c.length(1).value_or(c.rank(0));
    if (count != c.rank(0)) c.fail("infer.rank", cat(count, " repeats for an input of rank ", c.rank(0)));
    if (!repeats) return c.out(0, c.fresh_shape(c.rank(0)));
    Shape out = c.shape(0);
    for (size_t i = 0; i < out.size(); ++i) {
      if ((*repeats)[i].is_literal() && (*repeats)[i].literal() < 0)
        c.fail("infer.shape", cat((*repeats)[i].literal(), " repeats"));
      out[i] = out[i] * (*repeats)[i];
    }
    c.out(0, out);
    move_contents(c);
  }

  static void eval(const op::Tile&, Eval& k) {
    Tensor x = k.in(0);
    const auto repeats = k.ints(1);
    if (static_cast<int64_t>(repeats.size()) != x.rank())
      k.fail("eval.rank", cat(repeats.size(), " repeats for an input of rank ", x.rank()));
    // [a, b] tiled (r, s) is [1, a, 1, b] broadcast to [r, a, s, b].
    std::vector<int64_t> split, full, out;
    for (size_t i = 0; i < repeats.size(); ++i) {
      split.insert(split.end(), {1, x.shape()[i]});
      full.insert(full.end(), {repeats[i], x.shape()[i]});
      int64_t size;
      if (repeats[i] < 0 || __builtin_mul_overflow(repeats[i], x.shape()[i], &size))
        k.fail("eval.shape", cat("Tile repeats ", repeats[i], " times"));
      out.push_back(size);
    }
    k.out(0, strided(x, full, broadcast_strides(split, full)).reshaped(out));
  }

  static constexpr Revision revisions[] = {
      {6, up_from_one_axis, [](Downgrade& d) { d.refuse("Tile repeated along one axis only there"); }},
  };
};

constexpr OpRules table[] = {rules<ExpandOp>(), rules<Tile>()};

}  // namespace

std::span<const OpRules> expand_tile_rules() { return table; }

}  // namespace cameo::ops
