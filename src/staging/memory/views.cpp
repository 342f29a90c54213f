// View operators: their layouts, and how the parent changes when the view is given a new value.
#include "staging/memory/views.h"

#include <algorithm>
#include <numeric>

#include "lowering/forms.h"

namespace cameo::staging {

namespace {

// A view in the making, for the rules of layouts.
struct Seen {
  Machine& s;
  const ViewStep& step;
  const Dims& from;
  const Dims& to;
  Dims strides;  // of the parent
  std::optional<Dim> offset;
  bool overlaps;

  size_t axis(int64_t dim) const {
    return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(from.size()) : dim);
  }
};
using Lay = std::optional<Layout> (*)(Seen&);  // nullopt: not known
using Put = V (*)(Machine&, const ViewStep&, V parent, V value);

struct ViewRow {
  std::string_view name;  // with overload where that matters, and then without
  Lay lay;
  Put put;  // null: cannot be written through
};

Opt<Dim> optional_int(const Arg& a) {
  const auto* d = a.as<Dim>();
  return d ? Opt<Dim>(*d) : std::nullopt;
}
int64_t known_int(Machine& s, const Arg& a) {
  const auto* d = a.as<Dim>();
  if (!d || !d->is_literal()) s.fail("stage.axis", "a dimension number depends on the inputs");
  return d->literal();
}
Dim int_arg(Machine& s, const Arg& a) {
  const auto* d = a.as<Dim>();
  if (!d) s.fail("stage.type", cat("an int is needed where ", a.kind(), " is"));
  return *d;
}
std::span<const Arg> list_arg(Machine& s, const Arg& a) {
  const auto* parts = a.as<ArgList>();
  if (!parts) s.fail("stage.type", cat("a list is needed where ", a.kind(), " is"));
  return **parts;
}
// Dimension numbers, one or a list of them.
Ints axes_arg(Machine& s, const Arg& a, size_t rank) {
  const auto one = [&](const Arg& part) {
    const int64_t d = known_int(s, part);
    return d < 0 ? d + static_cast<int64_t>(rank) : d;
  };
  if (!a.as<ArgList>()) return {one(a)};
  Ints out;
  for (const Arg& part : list_arg(s, a)) out.push_back(one(part));
  return out;
}

// Elements as they are.
std::optional<Layout> lay_same(Seen& v) { return strided(v.to, v.strides, v.offset, v.overlaps); }
V put_same(Machine&, const ViewStep&, V, V value) { return value; }

// What strides do not describe: parts of complex numbers, bits under another data type.
std::optional<Layout> lay_unknown(Seen&) { return std::nullopt; }

// Another shape over the same elements.
std::optional<Layout> lay_shape(Seen& v) {
  const Verdict verdict = viewed(v.s.graph.facts, v.from, strided(v.from, v.strides, v.offset, v.overlaps), v.to);
  return verdict.view == Answer::yes ? std::optional(verdict.layout) : std::nullopt;
}
V put_shape(Machine& s, const ViewStep&, V parent, V value) { return s.on.reshape(value, s.on.shape(parent)); }

// Axes in another order: axis i of the view is axis perm[i] of the parent.
using Perm = Ints (*)(Machine&, const ViewStep&, size_t rank);
Ints in_order(size_t rank) {
  Ints perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  return perm;
}
Ints swapped_axes(size_t rank, int64_t a, int64_t b) {
  Ints perm = in_order(rank);
  const auto n = static_cast<int64_t>(rank);
  if (rank > 1) std::swap(perm[static_cast<size_t>(a < 0 ? a + n : a)], perm[static_cast<size_t>(b < 0 ? b + n : b)]);
  return perm;
}
Ints perm_transpose(Machine& s, const ViewStep& step, size_t rank) {
  return swapped_axes(rank, known_int(s, step.args[0]), known_int(s, step.args[1]));
}
Ints perm_t(Machine&, const ViewStep&, size_t rank) { return swapped_axes(rank, 0, 1); }
Ints perm_matrix(Machine&, const ViewStep&, size_t rank) { return swapped_axes(rank, -2, -1); }
Ints perm_reversed(Machine&, const ViewStep&, size_t rank) {
  Ints perm = in_order(rank);
  std::reverse(perm.begin(), perm.end());
  return perm;
}
Ints perm_permute(Machine& s, const ViewStep& step, size_t rank) { return axes_arg(s, step.args[0], rank); }
Ints perm_move(Machine& s, const ViewStep& step, size_t rank) {
  const Ints from = axes_arg(s, step.args[0], rank), to = axes_arg(s, step.args[1], rank);
  Ints perm(rank, -1);
  for (size_t i = 0; i < from.size() && i < to.size(); ++i) perm[static_cast<size_t>(to[i])] = from[i];
  for (int64_t axis = 0, at = 0; axis < static_cast<int64_t>(rank); ++axis) {
    if (std::find(from.begin(), from.end(), axis) != from.end()) continue;
    while (perm[static_cast<size_t>(at)] >= 0) ++at;
    perm[static_cast<size_t>(at)] = axis;
  }
  return perm;
}
template <Perm Of>
std::optional<Layout> lay_perm(Seen& v) {
  Dims strides;
  for (const int64_t axis : Of(v.s, v.step, v.from.size())) strides.push_back(v.strides[static_cast<size_t>(axis)]);
  return strided(v.to, std::move(strides), v.offset, v.overlaps);
}
template <Perm Of>
V put_perm(Machine& s, const ViewStep& step, V parent, V value) {
  if (is_complex(s.on.dtype(parent)) &&
      (step.op == "aten::mH" || step.op == "aten::adjoint" || step.op == "aten::matrix_H"))
    s.fail("stage.write-through", cat("a write through ", step.op, " of a complex tensor"),
           "add .clone() before the write");
  const Ints perm = Of(s, step, static_cast<size_t>(s.on.rank(parent)));
  Ints back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return s.on.transpose(value, back);
}

// A part of an axis.
std::optional<Layout> lay_slice(Seen& v) {
  const size_t axis = v.axis(known_int(v.s, v.step.args[0]));
  const Opt<Dim> start = optional_int(v.step.args[1]);
  const Dim stride = v.strides[axis];
  v.strides[axis] = stride * int_arg(v.s, v.step.args[3]);
  if (start && !start->is(0)) {
    const bool inside =
        start->is_literal() && start->literal() >= 0 && v.s.graph.facts.less_equal(*start, v.from[axis]) == Answer::yes;
    v.offset = v.offset && inside ? std::optional(*v.offset + *start * stride) : std::nullopt;
  }
  return lay_same(v);
}
V put_slice_view(Machine& s, const ViewStep& step, V parent, V value) {
  const int64_t axis = s.on.axis(parent, known_int(s, step.args[0]));
  const Span span = clamp_span(s.on, s.on.dim(parent, axis), optional_int(step.args[1]), optional_int(step.args[2]));
  return put_slice(s.on, parent, axis, span.start, span.end, known_int(s, step.args[3]), value);
}
std::optional<Layout> lay_narrow(Seen& v) {
  const Opt<Dim> start = optional_int(v.step.args[1]);
  const bool plain = start && start->is_literal() && start->literal() >= 0;
  v.offset = v.offset && plain ? std::optional(*v.offset + *start * v.strides[v.axis(known_int(v.s, v.step.args[0]))])
                               : std::nullopt;
  return lay_same(v);
}
V put_narrow(Machine& s, const ViewStep& step, V parent, V value) {
  const int64_t axis = s.on.axis(parent, known_int(s, step.args[0]));
  const Dim start = from_start(s.on, int_arg(s, step.args[1]), s.on.dim(parent, axis));
  return put_slice(s.on, parent, axis, start, start + int_arg(s, step.args[2]), 1, value);
}
// Pieces of one axis: the strides stay, where each begins is not followed up.
std::optional<Layout> lay_piece(Seen& v) {
  v.offset = std::nullopt;
  return lay_same(v);
}
V put_piece(Machine& s, V parent, int64_t axis, Dim start, V value) {
  return put_slice(s.on, parent, axis, start, start + s.on.dim(value, axis), 1, value);
}
V put_split(Machine& s, const ViewStep& step, V parent, V value) {
  const int64_t axis = s.on.axis(parent, known_int(s, step.args[1]));
  if (!step.args[0].as<ArgList>())
    return put_piece(s, parent, axis, int_arg(s, step.args[0]) * Dim(static_cast<int64_t>(step.index)), value);
  Dim start(0);
  for (const Arg& size : list_arg(s, step.args[0]).first(step.index)) start = start + int_arg(s, size);
  return put_piece(s, parent, axis, start, value);
}
V put_chunk(Machine& s, const ViewStep& step, V parent, V value) {
  const int64_t axis = s.on.axis(parent, known_int(s, step.args[1]));
  const Dim each = ceil_div(s.on.dim(parent, axis), int_arg(s, step.args[0]));
  return put_piece(s, parent, axis, each * Dim(static_cast<int64_t>(step.index)), value);
}

// One place on an axis, which goes away.
std::optional<Layout> without_axis(Seen& v, size_t axis, std::optional<Dim> index) {
  v.offset = v.offset && index ? std::optional(*v.offset + *index * v.strides[axis]) : std::nullopt;
  v.strides.erase(v.strides.begin() + static_cast<std::ptrdiff_t>(axis));
  return lay_same(v);
}
std::optional<Layout> lay_select(Seen& v) {
  const Opt<Dim> index = optional_int(v.step.args[1]);
  const size_t axis = v.axis(known_int(v.s, v.step.args[0]));
  if (!index || !index->is_literal()) return without_axis(v, axis, std::nullopt);
  return without_axis(v, axis, index->literal() < 0 ? v.from[axis] + *index : *index);
}
std::optional<Layout> lay_unbind(Seen& v) {
  return without_axis(v, v.axis(known_int(v.s, v.step.args[0])), Dim(static_cast<int64_t>(v.step.index)));
}
V put_select(Machine& s, const ViewStep& step, V parent, V value) {
  return put_index(s.on, parent, s.on.axis(parent, known_int(s, step.args[0])), int_arg(s, step.args[1]), value);
}
V put_unbind(Machine& s, const ViewStep& step, V parent, V value) {
  return put_index(s.on, parent, s.on.axis(parent, known_int(s, step.args[0])), Dim(static_cast<int64_t>(step.index)),
                   value);
}

// Sizes that are repeated have stride 0.
std::optional<Layout> lay_expand(Seen& v) {
  const size_t more = v.to.size() - v.from.size();
  Dims strides(more, Dim(0));
  v.overlaps = v.overlaps || std::any_of(v.to.begin(), v.to.begin() + static_cast<std::ptrdiff_t>(more),
                                         [](Dim d) { return !d.is(1); });
  for (size_t i = 0; i < v.from.size(); ++i) {
    const Answer same = v.s.graph.facts.equal(v.from[i], v.to[more + i]);
    if (same != Answer::yes && !v.from[i].is(1)) return std::nullopt;
    strides.push_back(same == Answer::yes ? v.strides[i] : Dim(0));
    v.overlaps = v.overlaps || same != Answer::yes;
  }
  return strided(v.to, std::move(strides), v.offset, v.overlaps);
}

// Only where nothing is repeated after all: the first of each is the only one.
V put_expand(Machine& s, const ViewStep&, V parent, V value) {
  const Dims from = s.on.shape(parent), to = s.on.shape(value);
  const size_t more = to.size() - from.size();
  for (size_t i = 0; i < to.size(); ++i)
    if (!to[i].is(1) && (i < more || from[i - more].is(1)))
      value = s.on.slice(value, static_cast<int64_t>(i), Dim(0), Dim(1));
  return s.on.reshape(value, from);
}

std::optional<Layout> lay_diagonal(Seen& v) {
  const size_t a = v.axis(known_int(v.s, v.step.args[1])), b = v.axis(known_int(v.s, v.step.args[2]));
  Dims strides;
  for (size_t i = 0; i < v.strides.size(); ++i)
    if (i != a && i != b) strides.push_back(v.strides[i]);
  strides.push_back(v.strides[a] + v.strides[b]);
  const Dim at = int_arg(v.s, v.step.args[0]);
  v.offset =
      v.offset && at.is_literal()
          ? std::optional(*v.offset + (at.literal() >= 0 ? at * v.strides[b] : Dim(-at.literal()) * v.strides[a]))
          : std::nullopt;
  return strided(v.to, std::move(strides), v.offset, v.overlaps);
}
V put_scatter(Machine& s, const ViewStep& step, V parent, V value, std::string_view scatter) {
  std::vector<Arg> args{Arg(parent), Arg(value)};
  args.insert(args.end(), step.args.begin(), step.args.end());
  return *lower_call(s.on, *find_row(scatter), {find_schema(scatter), std::move(args)})[0].as<V>();
}
V put_diagonal(Machine& s, const ViewStep& step, V parent, V value) {
  return put_scatter(s, step, parent, value, "aten::diagonal_scatter");
}

std::optional<Layout> lay_unfold(Seen& v) {
  const Dim size = int_arg(v.s, v.step.args[1]), apart = int_arg(v.s, v.step.args[2]);
  if (v.from.empty()) return std::nullopt;
  const size_t axis = v.axis(known_int(v.s, v.step.args[0]));
  v.strides.push_back(v.strides[axis]);
  v.strides[axis] = v.strides[axis] * apart;
  v.overlaps = v.overlaps || v.s.graph.facts.less_equal(size, apart) != Answer::yes;
  return lay_same(v);
}

// Whether no two elements can lie at one place: each stride is longer than all that lies inside it.
bool apart(const Dims& sizes, const Dims& strides) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, size
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].is_literal() || !strides[i].is_literal()) return false;
    if (!sizes[i].is(1)) axes.emplace_back(strides[i].literal(), sizes[i].literal());
  }
  std::sort(axes.begin(), axes.end());
  int64_t inside = 0;
  for (const auto& [stride, size] : axes) {
    if (stride <= inside) return false;
    inside += (size - 1) * stride;
  }
  return true;
}
// The parent is memory in its order: Machine::by_memory sees to that.
std::optional<Layout> lay_strided(Seen& v) {
  Dims strides;
  for (const Arg& a : list_arg(v.s, v.step.args[1])) strides.push_back(int_arg(v.s, a));
  const bool overlaps = !apart(v.to, strides);
  return strided(v.to, std::move(strides), optional_int(v.step.args[2]), overlaps);
}
V put_strided(Machine& s, const ViewStep& step, V parent, V value) {
  return put_scatter(s, step, parent, value, "aten::as_strided_scatter");
}

std::optional<Layout> lay_pairs(Seen& v) {
  for (Dim& stride : v.strides) stride = stride * Dim(2);
  v.strides.push_back(Dim(1));
  v.offset = std::nullopt;
  return lay_same(v);
}
V put_pairs(Machine& s, const ViewStep&, V, V value) {
  static constexpr std::string_view back = "aten::view_as_complex";
  return *lower_call(s.on, *find_row(back), {find_schema(back), {Arg(value)}})[0].as<V>();
}

// Any view that moves elements: it is made of the parent's positions, and tells where its own elements come from.
V put_by_position(Machine& s, const ViewStep& step, V parent, V value) {
  auto& on = s.on;
  const Dims shape = on.shape(parent);
  const V at = derive(s, step, on.reshape(iota(on, element_count(shape)), shape));
  return on.reshape(on.ScatterElements(flat(on, parent), flat(on, at), flat(on, value), {.axis = 0}), shape);
}

constexpr ViewRow table[] = {
    {"aten::slice", lay_slice, put_slice_view},
    {"aten::narrow", lay_narrow, put_narrow},
    {"aten::select", lay_select, put_select},
    {"aten::unbind", lay_unbind, put_unbind},
    {"aten::split", lay_piece, put_split},
    {"aten::split_with_sizes", lay_piece, put_split},
    {"aten::chunk", lay_piece, put_chunk},
    {"aten::tensor_split", lay_piece, put_by_position},
    {"aten::hsplit", lay_piece, put_by_position},
    {"aten::vsplit", lay_piece, put_by_position},
    {"aten::dsplit", lay_piece, put_by_position},
    {"aten::transpose", lay_perm<perm_transpose>, put_perm<perm_transpose>},
    {"aten::swapaxes", lay_perm<perm_transpose>, put_perm<perm_transpose>},
    {"aten::swapdims", lay_perm<perm_transpose>, put_perm<perm_transpose>},
    {"aten::t", lay_perm<perm_t>, put_perm<perm_t>},
    {"aten::numpy_T", lay_perm<perm_reversed>, put_perm<perm_reversed>},
    {"aten::mT", lay_perm<perm_matrix>, put_perm<perm_matrix>},
    {"aten::mH", lay_perm<perm_matrix>, put_perm<perm_matrix>},
    {"aten::adjoint", lay_perm<perm_matrix>, put_perm<perm_matrix>},
    {"aten::matrix_H", lay_perm<perm_matrix>, put_perm<perm_matrix>},
    {"aten::permute", lay_perm<perm_permute>, put_perm<perm_permute>},
    {"aten::movedim", lay_perm<perm_move>, put_perm<perm_move>},
    {"aten::moveaxis", lay_perm<perm_move>, put_perm<perm_move>},
    {"aten::view", lay_shape, put_shape},
    {"aten::reshape", lay_shape, put_shape},
    {"aten::flatten", lay_shape, put_shape},
    {"aten::unflatten", lay_shape, put_shape},
    {"aten::view_as", lay_shape, put_shape},
    {"aten::reshape_as", lay_shape, put_shape},
    {"aten::ravel", lay_shape, put_shape},
    {"aten::squeeze", lay_shape, put_shape},
    {"aten::unsqueeze", lay_shape, put_shape},
    {"aten::atleast_1d", lay_shape, put_shape},
    {"aten::atleast_2d", lay_shape, put_shape},
    {"aten::atleast_3d", lay_shape, put_shape},
    {"aten::expand", lay_expand, put_expand},
    {"aten::expand_as", lay_expand, put_expand},
    {"aten::broadcast_to", lay_expand, put_expand},
    {"aten::diagonal", lay_diagonal, put_diagonal},
    {"aten::unfold", lay_unfold, put_by_position},
    {"aten::as_strided", lay_strided, put_strided},
    {"aten::view_as_real", lay_pairs, put_pairs},
    {"aten::view.dtype", lay_unknown, nullptr},
    {"aten::real", lay_unknown, nullptr},
    {"aten::imag", lay_unknown, nullptr},
    {"aten::detach", lay_same, put_same},
    {"aten::alias", lay_same, put_same},
    {"aten::contiguous", lay_same, put_same},
};

const ViewRow* find_view(std::string_view op) {
  for (const std::string_view name : {op, op.substr(0, op.find('.'))})
    for (const ViewRow& row : table)
      if (row.name == name) return &row;
  return nullptr;
}

}  // namespace

Layout view_layout(Machine& s, const ViewStep& step, const Layout& parent, const Dims& parent_shape) {
  const ViewRow* row = find_view(step.op);
  if (!row || parent.is(Layout::Kind::unknown) || !s.on.has_rank(step.value)) return {};
  const Dims to = s.on.shape(step.value);
  Seen seen{s, step, parent_shape, to, strides_of(parent, parent_shape), parent.offset, parent.overlaps};
  return row->lay(seen).value_or(Layout());
}

V put_through(Machine& s, const ViewStep& step, V parent, V value) {
  const ViewRow* row = find_view(step.op);
  if (row && row->put) return row->put(s, step, parent, value);
  s.fail("stage.write-through", cat("a write through the view ", step.op, " cannot be expressed"),
         "add .clone() before the write");
}

V derive(Machine& s, const ViewStep& step, V parent) {
  std::vector<Arg> args{Arg(parent)};
  args.insert(args.end(), step.args.begin(), step.args.end());
  const Unpacked taken(s.on, step.pieces);
  const auto results = lower_call(s.on, *find_row(step.op), {find_schema(step.op), std::move(args)});
  const Arg& first = results[0];
  return first.as<V>() ? *first.as<V>() : *(**first.as<ArgList>())[step.index].as<V>();
}

}  // namespace cameo::staging
