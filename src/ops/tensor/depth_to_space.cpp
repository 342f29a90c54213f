// DepthToSpace and SpaceToDepth: a Reshape, a Transpose and a Reshape.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/op_def.h"
#include "ops/tensor/shape_vector.h"
#include "ops/tensor/transpose.h"

namespace cameo::ops {

namespace {

// How blocks and channels lie: the shape between, as places in (n, c, h, w), and the permutation.
struct Blocks {
  std::vector<int64_t> perm;
  bool block_first;  // of the depth axis: [b, b, c] as opposed to [c, b, b]
};

Blocks to_space(std::string_view mode) {
  if (mode == "DCR") return {{0, 3, 4, 1, 5, 2}, true};   // [n, b, b, c, h, w] -> [n, c, h, b, w, b]
  if (mode == "CRD") return {{0, 1, 4, 2, 5, 3}, false};  // [n, c, b, b, h, w] -> [n, c, h, b, w, b]
  throw error("model.attribute", cat("mode '", mode, "' is neither DCR nor CRD"));
}

Blocks to_depth(std::string_view mode) {
  if (mode == "DCR") return {{0, 3, 5, 1, 2, 4}, true};  // [n, c, h, b, w, b] -> [n, b, b, c, h, w]
  if (mode == "CRD") return {{0, 1, 3, 5, 2, 4}, false};
  throw error("model.attribute", cat("mode '", mode, "' is neither DCR nor CRD"));
}

void check_block(int64_t b) {
  if (b < 1 || b > 32768) throw error("model.attribute", cat("a block size of ", b));
}

Dim divided(Infer& c, Dim d, int64_t by, std::string_view what) {
  DimFacts& facts = c.graph().facts;
  if (facts.divisible(d, by) == Answer::no)
    c.fail("infer.mismatch", cat(what, " ", d.text(), " does not divide by ", by));
  facts.assume_multiple(
      d, by, 0, {FactSource::op, std::string(c.node().op->name), place(c.graph(), c.graph()[c.node().outputs[0]].def)});
  return facts.simplify(floor_div(d, by));
}

void need_image(Infer& c) {
  if (c.rank(0) != 4) c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", 4 is wanted"));
}

struct DepthToSpace : Rules<op::DepthToSpace> {
  static void infer(const op::DepthToSpace& a, Infer& c) {
    check_block(a.blocksize);
    need_image(c);
    to_space(a.mode);
    const int64_t b = a.blocksize;
    c.out(0, {c.dim(0, 0), divided(c, c.dim(0, 1), b * b, "depth"), c.dim(0, 2) * Dim(b), c.dim(0, 3) * Dim(b)});
  }

  static void eval(const op::DepthToSpace& a, Eval& k) {
    check_block(a.blocksize);
    const Tensor& x = k.in(0);
    const int64_t b = a.blocksize;
    if (x.rank() != 4 || x.shape()[1] % (b * b))
      k.fail("eval.shape", "DepthToSpace wants four axes and a depth of whole blocks");
    const int64_t n = x.shape()[0], c = x.shape()[1] / (b * b), h = x.shape()[2], w = x.shape()[3];
    const Blocks how = to_space(a.mode);
    const Tensor parts =
        x.reshaped(how.block_first ? std::vector<int64_t>{n, b, b, c, h, w} : std::vector<int64_t>{n, c, b, b, h, w});
    k.out(0, transposed(parts, how.perm).reshaped({n, c, h * b, w * b}));
  }

  static void expand(const op::DepthToSpace& a, Expand& e) {
    const Fact& x = e.fact(0);
    if (!x.has_rank() || !x.shape()[1].is_literal()) return e.refuse("the depth is not known before the model runs");
    const int64_t b = a.blocksize, c = x.shape()[1].literal() / (b * b);
    const Blocks how = to_space(a.mode);
    ShapeVector before(e.on, e.in(0)), after(e.on, e.in(0));
    before.size_of(0);
    if (how.block_first) before.add(b), before.add(b), before.add(c);
    else before.add(c), before.add(b), before.add(b);
    before.size_of(2), before.size_of(3);
    const ValueId parts = e.on.Transpose(e.on.Reshape(e.in(0), before.value()), {.perm = how.perm});
    after.size_of(0), after.add(c), after.size_of(2, b), after.size_of(3, b);
    e.replace({e.on.Reshape(parts, after.value())});
  }

  static constexpr Revision revisions[] = {
      {11, nullptr, [](Downgrade& d) { d.drop_default("mode", std::string("DCR")); }}};
  static constexpr Expansion expansions[] = {
      expansion<op::DepthToSpace>(
          11, Exactness::exact, [](const op::DepthToSpace& a, Expand& e) { expand(a, e); },
          [](const op::DepthToSpace& a, const Graph&, NodeId, int64_t) { return a.mode != "DCR"; }),
  };
};

struct SpaceToDepth : Rules<op::SpaceToDepth> {
  static void infer(const op::SpaceToDepth& a, Infer& c) {
    check_block(a.blocksize);
    need_image(c);
    to_depth(a.mode);
    const int64_t b = a.blocksize;
    c.out(0, {c.dim(0, 0), c.dim(0, 1) * Dim(b * b), divided(c, c.dim(0, 2), b, "height"),
              divided(c, c.dim(0, 3), b, "width")});
  }

  static void eval(const op::SpaceToDepth& a, Eval& k) {
    check_block(a.blocksize);
    const Tensor& x = k.in(0);
    const int64_t b = a.blocksize;
    if (x.rank() != 4 || x.shape()[2] % b || x.shape()[3] % b)
      k.fail("eval.shape", "SpaceToDepth wants four axes and a height and width of whole blocks");
    const int64_t n = x.shape()[0], c = x.shape()[1], h = x.shape()[2] / b, w = x.shape()[3] / b;
    k.out(0, transposed(x.reshaped({n, c, h, b, w, b}), to_depth(a.mode).perm).reshaped({n, c * b * b, h, w}));
  }

  static void expand(const op::SpaceToDepth& a, Expand& e) {
    const Fact& x = e.fact(0);
    if (!x.has_rank() || !x.shape()[1].is_literal()) return e.refuse("the depth is not known before the model runs");
    const int64_t b = a.blocksize, c = x.shape()[1].literal();
    ShapeVector before(e.on, e.in(0)), after(e.on, e.in(0));
    before.size_of(0), before.add(c), before.size_of(2, 1, b), before.add(b), before.size_of(3, 1, b), before.add(b);
    const ValueId parts = e.on.Transpose(e.on.Reshape(e.in(0), before.value()), {.perm = to_depth(a.mode).perm});
    after.size_of(0), after.add(c * b * b), after.size_of(2, 1, b), after.size_of(3, 1, b);
    e.replace({e.on.Reshape(parts, after.value())});
  }

  static constexpr Revision revisions[] = {
      {28, nullptr, [](Downgrade& d) { d.drop_default("mode", std::string("DCR")); }}};
  static constexpr Expansion expansions[] = {
      expansion<op::SpaceToDepth>(
          28, Exactness::exact, [](const op::SpaceToDepth& a, Expand& e) { expand(a, e); },
          [](const op::SpaceToDepth& a, const Graph&, NodeId, int64_t) { return a.mode != "DCR"; }),
  };
};

constexpr OpRules table[] = {rules<DepthToSpace>(), rules<SpaceToDepth>()};

}  // namespace

std::span<const OpRules> depth_to_space_rules() { return table; }

}  // namespace cameo::ops
