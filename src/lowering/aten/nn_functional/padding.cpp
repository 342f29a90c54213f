// torch.nn.functional, pad.
#include <algorithm>
#include <utility>

#include "lowering/call_row.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// The far end before, the near end after: widely run, where Pad's wrap mode is not.
V wrapped(Lower& on, V x, const Dims& pads) {
  const auto rank = on.rank(x);
  for (int64_t axis = 0; axis < rank; ++axis) {
    const Dim size = on.dim(x, axis), before = pads[static_cast<size_t>(axis)],
              after = pads[static_cast<size_t>(rank + axis)];
    Vs parts{x};
    if (!before.is(0)) parts.insert(parts.begin(), on.slice(x, axis, size - before, size));
    if (!after.is(0)) parts.push_back(on.slice(x, axis, Dim(0), after));
    if (parts.size() > 1) x = on.concat(parts, axis);
  }
  return x;
}

// torch's pads start at the last axis: (left, right, top, bottom, ...).
V padded(Lower& on, V x, const Dims& pads, const Str& mode, const Opt<Num>& value) {
  // ONNX Runtime has no kernel for this type.
  if (on.dtype(x) == DType::i16) return on.to(padded(on, on.to(x, DType::i32), pads, mode, value), DType::i16);
  const auto rank = static_cast<size_t>(on.rank(x));
  if (pads.size() > rank * 2) unsupported(cat(pads.size(), " pads of a tensor with ", rank, " axes"));
  Dims all(rank * 2, Dim(0));
  bool negative = false, nothing = true;
  for (size_t i = 0; i * 2 + 1 < pads.size(); ++i) {
    const size_t axis = rank - 1 - i;
    all[axis] = pads[2 * i];
    all[rank + axis] = pads[2 * i + 1];
    for (const Dim d : {pads[2 * i], pads[2 * i + 1]})
      nothing &= d.is(0), negative |= d.is_literal() && d.literal() < 0;
  }
  if (nothing) return x;
  Dims crop(rank * 2, Dim(0));
  if (negative)
    for (size_t i = 0; i < rank * 2; ++i)
      if (all[i].is_literal() && all[i].literal() < 0) crop[i] = -std::exchange(all[i], Dim(0));
  const auto cropped = [&](V y) {
    for (size_t i = 0; negative && i < rank; ++i)
      y = on.slice(y, static_cast<int64_t>(i), crop[i], on.dim(y, static_cast<int64_t>(i)) - crop[rank + i]);
    return y;
  };
  if (mode == "constant" || mode == "circular") x = cropped(x);
  if (mode == "circular") return wrapped(on, x, all);
  static constexpr std::pair<std::string_view, std::string_view> modes[] = {
      {"constant", "constant"}, {"reflect", "reflect"}, {"replicate", "edge"}};
  const auto* found = std::find_if(std::begin(modes), std::end(modes), [&](const auto& m) { return m.first == mode; });
  if (found == std::end(modes)) unsupported(cat("pad mode ", mode));
  const V fill = mode == "constant" && value && !value->is(0) ? on.scalar_like(*value, x) : V();
  const V y = on.Pad(x, on.int_vector(all), fill, {}, {.mode = std::string(found->second)});
  return mode == "constant" ? y : cropped(y);  // what is repeated or mirrored is the whole tensor
}

// Each as long as the longest, stacked.
V pad_sequence(Lower& on, Vs all, bool batch_first, double value, Str side) {
  Dim most = on.dim(all[0], 0);
  for (const V x : all) most = on.graph().facts.simplify(max(most, on.dim(x, 0)));
  Vs rows;
  for (const V x : all) {
    Dims rest = on.shape(x);
    rest[0] = most - rest[0];
    const V filler = on.full(rest, Num(value), on.dtype(x));
    rows.push_back(on.unsqueeze(rest[0].is(0) ? x : on.concat(side == "left" ? Vs{filler, x} : Vs{x, filler}, 0),
                                {batch_first ? 0 : 1}));
  }
  return on.concat(rows, batch_first ? 0 : 1);
}

constexpr Row table[] = {
    {"aten::pad", [](Lower& on, V x, Dims pads, Str mode, Opt<Num> v) { return padded(on, x, pads, mode, v); }},
    {"aten::pad_sequence", fn<pad_sequence>},
    {"aten::constant_pad_nd", [](Lower& on, V x, Dims pads, Num v) { return padded(on, x, pads, "constant", v); }},
    {"aten::reflection_pad1d", [](Lower& on, V x, Dims pads) { return padded(on, x, pads, "reflect", {}); }},
    {"aten::reflection_pad2d", [](Lower& on, V x, Dims pads) { return padded(on, x, pads, "reflect", {}); }},
    {"aten::reflection_pad3d",
     [](Lower& on, V x, Dims pads) {
       std::vector<Arg> sizes(pads.begin(), pads.end());
       return result(call_row(on, "aten::pad", {Arg(x), Arg::list(std::move(sizes)), Arg(Str("reflect"))}));
     }},
    {"aten::replication_pad1d", [](Lower& on, V x, Dims pads) { return padded(on, x, pads, "replicate", {}); }},
    {"aten::replication_pad2d", [](Lower& on, V x, Dims pads) { return padded(on, x, pads, "replicate", {}); }},
    {"aten::replication_pad3d", [](Lower& on, V x, Dims pads) { return padded(on, x, pads, "replicate", {}); }},
};

}  // namespace

std::span<const Row> nn_functional_padding_rows() { return table; }

}  // namespace cameo::lowering
