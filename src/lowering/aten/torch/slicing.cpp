// torch, Indexing, Slicing, Joining, Mutating Ops: parts of tensors.
#include <algorithm>

#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

Vs tensor_split(Lower& on, V x, int64_t sections, int64_t dim) {
  const int64_t axis = on.axis(x, dim);
  const Dim size = on.dim(x, axis), each = floor_div(size, Dim(sections)), more = mod(size, Dim(sections));
  const auto start = [&](int64_t i) {
    return i == sections ? size : each * Dim(i) + min(Dim(i), more);
  };  // the first ones have one more
  Vs out;
  for (int64_t i = 0; i < sections; ++i) out.push_back(on.slice(x, axis, start(i), start(i + 1)));
  return out;
}

Vs tensor_split_at(Lower& on, V x, const Dims& indices, int64_t dim) {
  const int64_t axis = on.axis(x, dim);
  Vs out;
  Opt<Dim> start;
  for (size_t i = 0; i <= indices.size(); ++i) {
    const Opt<Dim> end = i < indices.size() ? Opt<Dim>(indices[i]) : std::nullopt;
    const Span s = clamp_span(on, on.dim(x, axis), start, end);
    out.push_back(on.slice(x, axis, s.start, s.end));
    start = end;
  }
  return out;
}

V select(Lower& on, V x, int64_t dim, Dim index) {
  const int64_t axis = on.axis(x, dim);
  return on.gather_scalar(x, axis, wrap_index(on, on.dim(x, axis), index));
}

// Made of sizes, of either sign: x[n - 3:].
bool may_be_negative(Lower& on, const Opt<Dim>& bound) {
  return bound && !bound->is_literal() && on.graph().facts.less(*bound, Dim(0)) == Answer::unknown;
}

V slice(Lower& on, V x, int64_t dim, const Opt<Dim>& start, const Opt<Dim>& end, Dim step) {
  const int64_t axis = on.axis(x, dim);
  const Span s = clamp_span(on, on.dim(x, axis), start, end);
  if (step.is_literal() && (step.literal() < 1 || (!may_be_negative(on, start) && !may_be_negative(on, end))))
    return on.slice(x, axis, s.start, s.end, step.literal());
  // ONNX's Slice counts from the end and cuts as Python does: the bounds stay as they are.
  const V from = on.int_vector(Dims{start.value_or(Dim(0))}), to = on.int_vector(Dims{end.value_or(Dim(INT64_MAX))});
  const V out = step.is(1) ? on.Slice(x, from, to, on.ints({axis}))
                           : on.Slice(x, from, to, on.ints({axis}), on.int_vector(Dims{step}));
  on.graph().fact(out).type.shape->at(static_cast<size_t>(axis)) = ceil_div(s.end - s.start, step);
  return out;
}

Vs split_sizes(Lower& on, V x, const Dims& sizes, int64_t dim) {
  const int64_t axis = on.axis(x, dim);
  if (sizes.size() == 1) return {x};
  Vs out;
  for (const ValueId v : on.Split(x, sizes.size(), on.int_vector(sizes), {.axis = axis})) out.push_back(v);
  for (size_t i = 0; i < out.size(); ++i) on.graph().fact(out[i]).type.shape->at(static_cast<size_t>(axis)) = sizes[i];
  return out;
}

// Any other number of pieces than the program takes raises.
Vs split_as_taken(Lower& on, V x, Dim each, int64_t count, int64_t dim, std::string_view op) {
  const Dim size = on.dim(x, dim);
  on.note("lower.fixed-number", cat(op, " gives the ", count, " pieces that the program takes: the size ", size.text(),
                                    " is assumed to have so many"));
  Dims sizes(static_cast<size_t>(std::max<int64_t>(count, 1)), each);
  sizes.back() = size - each * Dim(count - 1);
  return split_sizes(on, x, sizes, dim);
}

Vs split_every(Lower& on, V x, Dim each, int64_t dim) {
  const Dim size = on.dim(x, dim), count = on.graph().facts.simplify(ceil_div(size, each));
  if (!count.is_literal() && on.unpacked) return split_as_taken(on, x, each, *on.unpacked, dim, "split");
  if (!count.is_literal())
    unsupported("split into a number of pieces that depends on the inputs", "give that axis a fixed size with --input");
  Dims sizes(static_cast<size_t>(std::max<int64_t>(1, count.literal())), each);
  sizes.back() = size - each * Dim(count.literal() - 1);
  return split_sizes(on, x, sizes, dim);
}

Vs chunk(Lower& on, V x, int64_t chunks, int64_t dim) {
  const Dim size = on.dim(x, dim);
  const Dim each = ceil_div(size, Dim(chunks));
  if (size.is(0)) return split_sizes(on, x, Dims(static_cast<size_t>(chunks), each), dim);  // as many that are empty
  if (!size.is_literal() && on.graph().facts.divisible(size, chunks) == Answer::yes)
    return split_sizes(on, x, Dims(static_cast<size_t>(chunks), each), dim);
  if (!size.is_literal() && on.unpacked && *on.unpacked <= chunks)
    return split_as_taken(on, x, each, *on.unpacked, dim, "chunk");
  return split_every(on, x, each, dim);
}

Vs unbind(Lower& on, V x, int64_t dim) {
  const int64_t axis = on.axis(x, dim);
  const Opt<int64_t> known = on.known_dim(x, axis), n = known ? known : on.unpacked;
  if (!n)
    unsupported("unbind over an axis whose size depends on the inputs", "give that axis a fixed size with --input");
  Vs out;
  for (const V part : known ? split_sizes(on, x, Dims(static_cast<size_t>(*n), Dim(1)), dim)
                            : split_as_taken(on, x, Dim(1), *n, dim, "unbind"))
    out.push_back(on.squeeze(part, {axis}));
  return out;
}

constexpr Row table[] = {
    {"aten::chunk", fn<chunk>},
    {"aten::unsafe_chunk", fn<chunk>},
    {"aten::split.Tensor", fn<split_every>},
    {"aten::split.sizes", [](Lower& on, V x, Dims sizes, int64_t dim) { return split_sizes(on, x, sizes, dim); }},
    {"aten::split_with_sizes", [](Lower& on, V x, Dims sizes, int64_t dim) { return split_sizes(on, x, sizes, dim); }},
    {"aten::split_copy.Tensor", fn<split_every>},
    {"aten::unsafe_split.Tensor", fn<split_every>},
    {"aten::split_with_sizes_copy", fn<split_sizes>},
    {"aten::unsafe_split_with_sizes", fn<split_sizes>},
    {"aten::hsplit.int", [](Lower& on, V x, int64_t n) { return tensor_split(on, x, n, on.rank(x) == 1 ? 0 : 1); }},
    {"aten::hsplit.array", [](Lower& on, V x, Dims at) { return tensor_split_at(on, x, at, on.rank(x) == 1 ? 0 : 1); }},
    {"aten::vsplit.int", [](Lower& on, V x, int64_t n) { return tensor_split(on, x, n, 0); }},
    {"aten::vsplit.array", [](Lower& on, V x, Dims at) { return tensor_split_at(on, x, at, 0); }},
    {"aten::dsplit.int", [](Lower& on, V x, int64_t n) { return tensor_split(on, x, n, 2); }},
    {"aten::dsplit.array", [](Lower& on, V x, Dims at) { return tensor_split_at(on, x, at, 2); }},
    {"aten::tensor_split.sections", fn<tensor_split>},
    {"aten::tensor_split.indices", fn<tensor_split_at>},
    {"aten::tensor_split.tensor_indices_or_sections",
     [](Lower& on, V x, V at, int64_t dim) {
       const auto known = on.graph().constant(at, 1 << 16);
       if (on.rank(at) == 0 && known)
         return tensor_split(on, x, known->to_doubles().empty() ? 1 : static_cast<int64_t>(known->to_doubles()[0]),
                             dim);
       if (on.rank(at) == 0 && on.unpacked) {
         on.note("lower.fixed-number", cat("tensor_split gives the ", *on.unpacked,
                                           " pieces that the program takes, whatever the inputs say"));
         return tensor_split(on, x, *on.unpacked, dim);
       }
       if (on.rank(at) == 0) unsupported("tensor_split into a number of pieces that depends on the inputs");
       Dims places;
       for (int64_t i = 0; i < known_size(on, at, 0, "tensor_split"); ++i)
         places.push_back(on.int_of(on.gather_scalar(at, 0, Dim(i))));
       return tensor_split_at(on, x, places, dim);
     }},
    {"aten::narrow", fn<narrowed>},
    {"aten::narrow.Tensor",
     [](Lower& on, V x, int64_t dim, V start, Dim length) { return narrowed(on, x, dim, on.int_of(start), length); }},
    {"aten::narrow_copy", fn<narrowed>},
    {"aten::select.int", fn<select>},
    {"aten::slice.Tensor", [](Lower& on, V x, int64_t dim, Opt<Dim> start, Opt<Dim> end,
                              Dim step) { return slice(on, x, dim, start, end, step); }},
    {"aten::select_copy.int", fn<select>},
    {"aten::slice_copy.Tensor", fn<slice>},
    {"aten::unbind.int", fn<unbind>},
    {"aten::unbind_copy.int", fn<unbind>},
};

}  // namespace

std::span<const Row> torch_slicing_rows() { return table; }

}  // namespace cameo::lowering
