// Col2Im: blocks laid back into an image, summed where they overlap.
#include <algorithm>

#include "ops/eval.h"
#include "ops/computed.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

// The sliding blocks along the spatial axes of an image.
struct Blocks {
  std::vector<int64_t> image, block, dilations, strides, begins, ends, steps;  // steps: block positions per axis
};

std::vector<int64_t> or_ones(const std::optional<std::vector<int64_t>>& given, size_t n, int64_t filler = 1) {
  return given ? *given : std::vector<int64_t>(n, filler);
}

Blocks blocks_of(const op::Col2Im& a, std::vector<int64_t> image, std::vector<int64_t> block) {
  const size_t n = image.size();
  Blocks b{std::move(image), std::move(block), or_ones(a.dilations, n), or_ones(a.strides, n), {}, {}, {}};
  const auto pads = or_ones(a.pads, 2 * n, 0);
  if (b.block.size() != n || b.dilations.size() != n || b.strides.size() != n || pads.size() != 2 * n)
    throw error("eval.shape", "image, block, dilations, strides and pads differ in length");
  constexpr int64_t most = int64_t{1} << 31;
  const auto sane = [](const std::vector<int64_t>& v, int64_t least) {
    return std::all_of(v.begin(), v.end(), [least](int64_t x) { return x >= least && x < most; });
  };
  if (!sane(b.image, 0) || !sane(b.block, 1) || !sane(b.dilations, 1) || !sane(b.strides, 1) || !sane(pads, 0))
    throw error("eval.shape", "a size, stride, dilation or pad is out of range");
  b.begins.assign(pads.begin(), pads.begin() + static_cast<int64_t>(n));
  b.ends.assign(pads.begin() + static_cast<int64_t>(n), pads.end());
  for (size_t i = 0; i < n; ++i) {
    const int64_t room = b.image[i] + b.begins[i] + b.ends[i] - b.dilations[i] * (b.block[i] - 1) - 1;
    b.steps.push_back(room < 0 ? 0 : room / b.strides[i] + 1);
  }
  return b;
}

// Where each element of one channel's columns [block..., steps...] lands in the image; -1: in the padding.
std::vector<int64_t> landing_places(const Blocks& b) {
  const size_t n = b.image.size();
  std::vector<int64_t> sizes = b.block;
  sizes.insert(sizes.end(), b.steps.begin(), b.steps.end());
  std::vector<int64_t> places(static_cast<size_t>(element_count(sizes)));
  std::vector<int64_t> at(2 * n, 0);  // the place in the block, then the block's position
  for (int64_t& place : places) {
    place = 0;
    for (size_t i = 0; i < n && place >= 0; ++i) {
      const int64_t x = at[i] * b.dilations[i] + at[n + i] * b.strides[i] - b.begins[i];
      place = x < 0 || x >= b.image[i] ? -1 : place * b.image[i] + x;
    }
    for (size_t i = 2 * n; i-- > 0;) {
      if (++at[i] < sizes[i]) break;
      at[i] = 0;
    }
  }
  return places;
}

template <class C>
Tensor summed(const Tensor& x, std::vector<int64_t> shape, std::span<const int64_t> places, int64_t image_size) {
  using U = std::conditional_t<std::is_same_v<C, int64_t>, uint64_t, C>;
  const Loaded<C> in(x);
  std::vector<C> out(static_cast<size_t>(element_count(shape)), C{});
  for (int64_t i = 0; i < in.size(); ++i) {
    const auto columns = static_cast<int64_t>(places.size());
    const int64_t at = places[static_cast<size_t>(i % columns)];
    if (at < 0) continue;
    C& to = out[static_cast<size_t>(i / columns * image_size + at)];
    to = static_cast<C>(static_cast<U>(to) + static_cast<U>(in[i]));
  }
  return store(x.dtype(), std::move(shape), out);
}

struct Col2Im : Rules<op::Col2Im> {
  static void infer(const op::Col2Im& a, Infer& c) {
    if (c.rank(0) != 3) c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", 3 is wanted"));
    const auto image = c.ints(1);
    const auto block = c.literal_ints(2);
    const auto rank = image ? std::optional(static_cast<int64_t>(image->size())) : c.length(1);
    if (!rank) return;
    check_lengths(a, static_cast<size_t>(*rank), c);
    Shape out{c.dim(0, 0), channels(c, block)};
    if (const auto sizes = c.literal_ints(1); sizes && block)
      c.same(c.dim(0, 2), element_count(blocks_of(a, *sizes, *block).steps), "axis 2 and number of blocks");
    const Shape spatial = image ? *image : c.fresh_shape(*rank);
    out.insert(out.end(), spatial.begin(), spatial.end());
    c.out(0, out);
  }

  static void check_lengths(const op::Col2Im& a, size_t axes, Infer& c) {
    const auto check = [&](std::string_view name, const std::optional<std::vector<int64_t>>& given, size_t wanted) {
      if (given && given->size() != wanted)
        c.fail("infer.mismatch", cat(name, " has ", given->size(), " numbers, and ", wanted, " are wanted"));
    };
    check("dilations", a.dilations, axes);
    check("strides", a.strides, axes);
    check("pads", a.pads, 2 * axes);
  }

  static Dim channels(Infer& c, const std::optional<std::vector<int64_t>>& block) {
    if (!block) return c.fresh();
    const int64_t size = element_count(*block);
    const DimFacts& facts = c.graph().facts;
    if (size == 0 || facts.divisible(c.dim(0, 1), size) == Answer::no)
      c.fail("infer.mismatch", cat("axis 1 of size ", c.dim(0, 1).text(), " does not divide into blocks of ", size));
    return facts.simplify(floor_div(c.dim(0, 1), size));
  }

  static void eval(const op::Col2Im& a, Eval& k) {
    const Tensor& x = k.in(0);
    const Blocks b = blocks_of(a, k.ints(1), k.ints(2));
    const int64_t block = element_count(b.block), steps = element_count(b.steps);
    if (x.rank() != 3 || x.shape()[1] % block || x.shape()[2] != steps)
      k.fail("eval.shape", cat("Col2Im wants [n, channels * ", block, ", ", steps, "]"));
    std::vector<int64_t> shape{x.shape()[0], x.shape()[1] / block};
    shape.insert(shape.end(), b.image.begin(), b.image.end());
    if (x.count() == 0) return k.out(0, zeros(x.dtype(), shape));
    const auto places = landing_places(b);
    k.out(0, with_carrier(x.dtype(),
                          [&](auto c) { return summed<decltype(c)>(x, shape, places, element_count(b.image)); }));
  }

  // Sizes that the model computes: for every element of the image and every place in the block, the block position that
  // put it there, or a zero behind the last one; then the sum over the places.
  static void by_gather(const op::Col2Im& a, Expand& e) {
    On& on = e.on;
    const Fact& image_fact = e.fact(1);
    const auto axes = image_fact.has_rank() && image_fact.rank() == 1 ? image_fact.shape()[0].known() : std::nullopt;
    if (!axes || !e.fact(0).has_rank()) return e.refuse("the rank of the image is not known before the model runs");
    const auto n = static_cast<size_t>(*axes);
    const auto strides = or_ones(a.strides, n), dilations = or_ones(a.dilations, n), pads = or_ones(a.pads, 2 * n, 0);
    const auto sane = [](const std::vector<int64_t>& v, size_t count, int64_t least) {
      return v.size() == count &&
             std::all_of(v.begin(), v.end(), [least](int64_t x) { return x >= least && x < (int64_t{1} << 31); });
    };
    if (!sane(strides, n, 1) || !sane(dilations, n, 1) || !sane(pads, 2 * n, 0))
      return e.refuse("strides, dilations and pads do not fit the image");
    const ValueId image = as_vector(on, e.in(1)), block = as_vector(on, e.in(2)), zero = on.ints({0}),
                  one = on.ints({1});
    ValueId at = zero, valid, steps = one, places = one, pixels = one;
    for (size_t d = 0; d < n; ++d) {
      const auto axis = static_cast<int64_t>(d);
      const ValueId size = element(on, image, axis), taps = element(on, block, axis), stride = on.ints({strides[d]});
      const ValueId room = on.Sub(on.Add(size, on.ints({pads[d] + pads[n + d] - 1})),
                                  on.Mul(on.Sub(taps, one), on.ints({dilations[d]})));
      const ValueId count = on.Add(on.Div(room, stride), one);
      // Block places lie along the first n axes, pixels along the last n.
      const ValueId shift = along(on, on.Mul(iota(on, taps), on.ints({dilations[d]})), axis, 2 * *axes);
      const ValueId offset =
          on.Sub(along(on, on.Add(iota(on, size), on.ints({pads[d]})), axis + *axes, 2 * *axes), shift);
      const ValueId step = on.Div(offset, stride);
      const ValueId outside =
          on.Or(on.Or(on.Less(offset, zero), on.Greater(on.Sub(offset, on.Mul(step, stride)), zero)),
                on.Not(on.Less(step, count)));
      valid = valid ? on.And(valid, on.Not(outside)) : on.Not(outside);
      at = on.Add(on.Mul(at, count), step);
      steps = on.Mul(steps, count), places = on.Mul(places, taps), pixels = on.Mul(pixels, size);
    }
    const ValueId flat = on.Reshape(on.Where(valid, at, steps), join_sizes(on, {places, pixels}));
    const ValueId index = on.Add(flat, on.Reshape(on.Mul(iota(on, places), on.Add(steps, one)), on.ints({-1, 1})));
    const ValueId columns =
        on.Reshape(e.in(0), join_sizes(on, {size_of(on, e.in(0), 0), on.ints({-1}), places, steps}));
    const ValueId blank = on.Expand(on.number(0, e.dtype(0)),
                                    join_sizes(on, {on.Slice(on.Shape(columns), zero, on.ints({3}), zero), one}));
    const ValueId padded = on.Reshape(on.Concat(std::vector{columns, blank}, {.axis = 3}), on.ints({0, 0, -1}));
    const ValueId sum = on.ReduceSum(on.Gather(padded, index, {.axis = 2}), on.ints({2}), {.keepdims = 0});
    e.replace({on.Reshape(sum, join_sizes(on, {on.ints({0, 0}), image}))});
  }

  // A transposed convolution whose kernels each hold a single one.
  static void expand(const op::Col2Im& a, Expand& e) {
    const auto image = e.graph.constant(e.in(1)), block = e.graph.constant(e.in(2));
    const Fact& x = e.fact(0);
    if (!image || !block || !x.has_rank() || !x.shape()[1].is_literal() || !is_float(x.dtype())) return by_gather(a, e);
    const Blocks b = blocks_of(a, image->to_ints(), block->to_ints());
    const int64_t size = element_count(b.block), rows = x.shape()[1].literal();
    std::vector<int64_t> columns{0, rows}, kernel{rows, 1}, extra, pads = b.begins;
    columns.insert(columns.end(), b.steps.begin(), b.steps.end());
    kernel.insert(kernel.end(), b.block.begin(), b.block.end());
    pads.insert(pads.end(), b.ends.begin(), b.ends.end());
    for (size_t i = 0; i < b.image.size(); ++i) {
      const int64_t reached =
          (b.steps[i] - 1) * b.strides[i] + b.dilations[i] * (b.block[i] - 1) + 1 - b.begins[i] - b.ends[i];
      extra.push_back(b.image[i] - reached);
    }
    std::vector<float> ones(static_cast<size_t>(rows * size), 0);
    for (int64_t r = 0; r < rows; ++r) ones[static_cast<size_t>(r * size + r % size)] = 1;
    const ValueId weights = e.on.constant(store(x.dtype(), kernel, ones));
    e.replace({e.on.ConvTranspose(e.on.Reshape(e.in(0), e.on.ints(columns)), weights, {},
                                  {.dilations = b.dilations,
                                   .group = rows / size,
                                   .kernel_shape = b.block,
                                   .output_padding = extra,
                                   .pads = pads,
                                   .strides = b.strides})});
  }
  static constexpr Expansion expansions[] = {
      expansion<op::Col2Im>(18, Exactness::rounding, [](const op::Col2Im& a, Expand& e) { expand(a, e); }),
  };
};

constexpr OpRules table[] = {rules<Col2Im>()};

}  // namespace

std::span<const OpRules> col2im_rules() { return table; }

}  // namespace cameo::ops
