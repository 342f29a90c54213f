// Col2Im: blocks laid back into an image, summed where they overlap.
#include <algorithm>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace cameo {

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
  const auto sane = [](const std::vector<int64_t>& v, int64_t least) { return std::all_of(v.begin(), v.end(), [least](int64_t x) { return x >= least && x < most; }); };
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
  static void infer(const op::Col2Im&, Infer& c) {
    if (c.rank(0) != 3) c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", 3 is wanted"));
    const auto image = c.ints(1);
    const auto block = c.literal_ints(2);
    const auto rank = image ? std::optional(static_cast<int64_t>(image->size())) : c.length(1);
    if (!rank) return;
    Shape out{c.dim(0, 0), channels(c, block)};
    const Shape spatial = image ? *image : c.fresh_shape(*rank);
    out.insert(out.end(), spatial.begin(), spatial.end());
    c.out(0, out);
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
    k.out(0, with_carrier(x.dtype(), [&](auto c) { return summed<decltype(c)>(x, shape, places, element_count(b.image)); }));
  }

  // A transposed convolution whose kernels each hold a single one.
  static void expand(const op::Col2Im& a, Expand& e) {
    const auto image = e.graph.constant(e.in(1)), block = e.graph.constant(e.in(2));
    const Fact& x = e.fact(0);
    if (!image || !block || !x.has_rank() || !x.shape()[1].is_literal() || !is_float(x.dtype()))
      return e.refuse("sizes are not known before the model runs, or the elements are no floats");
    const Blocks b = blocks_of(a, image->to_ints(), block->to_ints());
    const int64_t size = element_count(b.block), rows = x.shape()[1].literal();
    std::vector<int64_t> columns{0, rows}, kernel{rows, 1}, extra, pads = b.begins;
    columns.insert(columns.end(), b.steps.begin(), b.steps.end());
    kernel.insert(kernel.end(), b.block.begin(), b.block.end());
    pads.insert(pads.end(), b.ends.begin(), b.ends.end());
    for (size_t i = 0; i < b.image.size(); ++i) {
      const int64_t reached = (b.steps[i] - 1) * b.strides[i] + b.dilations[i] * (b.block[i] - 1) + 1 - b.begins[i] - b.ends[i];
      extra.push_back(b.image[i] - reached);
    }
    std::vector<float> ones(static_cast<size_t>(rows * size), 0);
    for (int64_t r = 0; r < rows; ++r) ones[static_cast<size_t>(r * size + r % size)] = 1;
    const ValueId weights = e.on.constant(store(x.dtype(), kernel, ones));
    e.replace({e.on.ConvTranspose(e.on.Reshape(e.in(0), e.on.ints(columns)), weights, {},
                                  {.dilations = b.dilations, .group = rows / size, .kernel_shape = b.block,
                                   .output_padding = extra, .pads = pads, .strides = b.strides})});
  }
  static constexpr Expansion expansions[] = {
      expansion<op::Col2Im>(18, Exactness::rounding, [](const op::Col2Im& a, Expand& e) { expand(a, e); }),
  };
};

constexpr OpRules table[] = {rules<Col2Im>()};

}  // namespace

std::span<const OpRules> col2im_rules() { return table; }

}  // namespace cameo
