// torch.nn.functional, Vision functions: shuffled pixels, sampling on grids.
#include <numeric>
#include <utility>

#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V pixel_shuffle(Lower& on, V x, int64_t r) { return on.DepthToSpace(x, {.blocksize = r, .mode = "CRD"}); }

V pixel_unshuffle(Lower& on, V x, int64_t r) {
  if (on.rank(x) != 4)
    unsupported(cat("pixel_unshuffle of a tensor with ", on.rank(x), " axes"), "give it a batch axis");
  const Dims s = on.shape(x);
  const V parts = on.reshape(x, {s[0], s[1], floor_div(s[2], Dim(r)), Dim(r), floor_div(s[3], Dim(r)), Dim(r)});
  return on.reshape(on.transpose(parts, {0, 1, 3, 5, 2, 4}),
                    {s[0], s[1] * Dim(r * r), floor_div(s[2], Dim(r)), floor_div(s[3], Dim(r))});
}

V grid_sample(Lower& on, V x, V grid, int64_t mode, int64_t padding, bool align) {
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    unsupported(cat("grid_sample of mode ", mode, " and padding ", padding));
  static constexpr std::string_view modes[] = {"linear", "nearest", "cubic"},
                                    paddings[] = {"zeros", "border", "reflection"};
  return on.GridSample(
      x, grid,
      {.align_corners = align, .mode = std::string(modes[mode]), .padding_mode = std::string(paddings[padding])});
}

// Where the pixels' middles or the corners lie between -1 and 1.
V places_along(Lower& on, Dim size, bool align, DType t) {
  const V n = on.to(on.int_scalar(size), t), i = on.to(iota(on, size), t), one = on.number(1, t), two = on.number(2, t);
  if (size.is(1)) return on.full({size}, Num(0.0), t);
  if (align && size.is_literal()) return on.Sub(on.Div(on.Mul(i, two), on.Sub(n, one)), one);
  if (align) {  // 0 where the size turns out to be 1
    const V last = on.Sub(n, one);
    return on.Div(on.Sub(on.Mul(i, two), last), on.Max(std::vector<ValueId>{last, one}));
  }
  return on.Sub(on.Div(on.Add(on.Mul(i, two), one), n), one);
}

// Every place of the grid, with a one added, times the transposed matrix.
V affine_grid(Lower& on, V theta, Dims sizes, bool align) {
  const DType t = on.dtype(theta);
  if (sizes.size() < 3) unsupported(cat("a grid of ", sizes.size(), " sizes"), "batch, channels, height and width");
  const auto space = static_cast<int64_t>(sizes.size()) - 2;
  const Dims grid(sizes.begin() + 2, sizes.end());
  Vs columns;  // x before y before z
  for (int64_t i = space; i-- > 0;)
    columns.push_back(
        on.reshape(on.expand(reach(on, places_along(on, grid[static_cast<size_t>(i)], align, t), i, space), grid),
                   {element_count(grid), Dim(1)}));
  columns.push_back(on.full({element_count(grid), Dim(1)}, Num(1.0), t));
  Dims out{on.dim(theta, 0)};
  out.insert(out.end(), grid.begin(), grid.end());
  out.push_back(Dim(space));
  return on.reshape(on.MatMul(on.concat(columns, 1), on.transpose(theta, {0, 2, 1})), out);
}

constexpr Row table[] = {
    {"aten::affine_grid_generator", fn<affine_grid>},
    {"aten::grid_sampler", fn<grid_sample>},
    {"aten::grid_sampler_2d", fn<grid_sample>},
    {"aten::grid_sampler_3d", fn<grid_sample>},
    {"aten::pixel_shuffle", fn<pixel_shuffle>},
    {"aten::pixel_unshuffle", fn<pixel_unshuffle>},
    {"aten::channel_shuffle",
     [](Lower& on, V x, Dim groups) {
       on.need_rank(x, 3, "a shuffle of channels");
       Dims s = on.shape(x), split = s;
       split.insert(split.begin() + 1, groups);
       split[2] = floor_div(s[1], groups);
       Ints perm(split.size());
       std::iota(perm.begin(), perm.end(), 0);
       std::swap(perm[1], perm[2]);
       return on.reshape(on.transpose(on.reshape(x, split), perm), s);
     }},
};

}  // namespace

std::span<const Row> nn_functional_vision_rows() { return table; }

}  // namespace cameo::lowering
