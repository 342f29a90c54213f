// Writing through views: how the parent changes when the view is given a new value.
#include "lowering/forms.h"
#include "staging/stager.h"

namespace cameo::staging {

namespace {

using Put = V (*)(Stager&, const ViewStep&, V parent, V value);

struct PutRow {
  std::string_view name;  // without overload
  Put put;
};

Opt<Dim> optional_int(const Arg& a) {
  const auto* d = a.as<Dim>();
  return d ? Opt<Dim>(*d) : std::nullopt;
}
int64_t known_int(Stager& s, const Arg& a) {
  const auto* d = a.as<Dim>();
  if (!d || !d->is_literal()) s.fail("stage.axis", "a dimension number depends on the inputs");
  return d->literal();
}

Dim int_arg(Stager& s, const Arg& a) {
  const auto* d = a.as<Dim>();
  if (!d) s.fail("stage.type", cat("an int is needed where ", a.kind(), " is"));
  return *d;
}

V same_elements(Stager& s, const ViewStep&, V parent, V value) { return s.on.reshape(value, s.on.shape(parent)); }
V unchanged(Stager&, const ViewStep&, V, V value) { return value; }

V put_slice_view(Stager& s, const ViewStep& step, V parent, V value) {
  const int64_t axis = s.on.axis(parent, known_int(s, step.args[0]));
  const Span span = clamp_span(s.on, s.on.dim(parent, axis), optional_int(step.args[1]), optional_int(step.args[2]));
  return put_slice(s.on, parent, axis, span.start, span.end, known_int(s, step.args[3]), value);
}
V put_narrow(Stager& s, const ViewStep& step, V parent, V value) {
  const int64_t axis = s.on.axis(parent, known_int(s, step.args[0]));
  const Dim start = from_start(s.on, int_arg(s, step.args[1]), s.on.dim(parent, axis));
  return put_slice(s.on, parent, axis, start, start + int_arg(s, step.args[2]), 1, value);
}
V put_select(Stager& s, const ViewStep& step, V parent, V value) {
  return put_index(s.on, parent, s.on.axis(parent, known_int(s, step.args[0])), int_arg(s, step.args[1]), value);
}
V put_unbind(Stager& s, const ViewStep& step, V parent, V value) {
  return put_index(s.on, parent, s.on.axis(parent, known_int(s, step.args[0])), Dim(static_cast<int64_t>(step.index)), value);
}
V put_transpose(Stager& s, const ViewStep& step, V parent, V value) {
  Ints perm = s.on.all_axes(parent);
  const int64_t a = step.args.empty() ? 0 : known_int(s, step.args[0]), b = step.args.empty() ? 1 : known_int(s, step.args[1]);
  if (perm.size() < 2) return value;
  std::swap(perm[static_cast<size_t>(s.on.axis(parent, a))], perm[static_cast<size_t>(s.on.axis(parent, b))]);
  return s.on.transpose(value, perm);
}
V put_permute(Stager& s, const ViewStep& step, V parent, V value) {
  Ints back(static_cast<size_t>(s.on.rank(parent)));
  const auto* parts = step.args[0].as<ArgList>();
  if (!parts) s.fail("stage.type", "a list of dimensions is needed");
  const auto& list = **parts;
  for (size_t i = 0; i < list.size(); ++i) back[static_cast<size_t>(s.on.axis(parent, known_int(s, list[i])))] = static_cast<int64_t>(i);
  return s.on.transpose(value, back);
}
V put_piece(Stager& s, V parent, int64_t axis, Dim start, V value) {
  return put_slice(s.on, parent, axis, start, start + s.on.dim(value, axis), 1, value);
}
V put_split(Stager& s, const ViewStep& step, V parent, V value) {
  const int64_t axis = s.on.axis(parent, known_int(s, step.args[1]));
  if (const auto* sizes = step.args[0].as<ArgList>()) {
    Dim start(0);
    for (size_t i = 0; i < step.index; ++i) start = start + int_arg(s, (**sizes)[i]);
    return put_piece(s, parent, axis, start, value);
  }
  return put_piece(s, parent, axis, int_arg(s, step.args[0]) * Dim(static_cast<int64_t>(step.index)), value);
}
V put_chunk(Stager& s, const ViewStep& step, V parent, V value) {
  const int64_t axis = s.on.axis(parent, known_int(s, step.args[1]));
  const Dim each = ceil_div(s.on.dim(parent, axis), int_arg(s, step.args[0]));
  return put_piece(s, parent, axis, each * Dim(static_cast<int64_t>(step.index)), value);
}

constexpr PutRow table[] = {
    {"aten::slice", put_slice_view}, {"aten::narrow", put_narrow}, {"aten::select", put_select}, {"aten::unbind", put_unbind},
    {"aten::transpose", put_transpose}, {"aten::t", put_transpose}, {"aten::permute", put_permute}, {"aten::split", put_split},
    {"aten::split_with_sizes", put_split}, {"aten::chunk", put_chunk},
    {"aten::view", same_elements}, {"aten::reshape", same_elements}, {"aten::flatten", same_elements}, {"aten::unflatten", same_elements},
    {"aten::view_as", same_elements}, {"aten::reshape_as", same_elements}, {"aten::squeeze", same_elements}, {"aten::unsqueeze", same_elements},
    {"aten::detach", unchanged}, {"aten::alias", unchanged}, {"aten::contiguous", unchanged},
};

}  // namespace

V put_through(Stager& s, const ViewStep& step, V parent, V value) {
  const std::string_view op = std::string_view(step.op).substr(0, step.op.find('.'));
  for (const PutRow& row : table)
    if (row.name == op) return row.put(s, step, parent, value);
  s.fail("stage.write-through", cat("a write through the view ", step.op, " cannot be expressed"), "add .clone() before the write");
}

}  // namespace cameo::staging
