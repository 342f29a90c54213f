// Pad and CenterCropPad: axes made longer or shorter at their ends.
#include <algorithm>
#include <numeric>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/computed.h"
#include "ops/on.h"
#include "ops/tensor/axis_maps.h"
#include "ops/tensor/contents.h"

namespace cameo::ops {

namespace {

std::vector<int64_t> all_axes(int64_t rank) { return identity_map(rank); }

int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

void check_mode(std::string_view mode) {
  if (mode != "constant" && mode != "edge" && mode != "wrap" && mode != "reflect")
    throw error("model.attribute", cat("there is no padding mode '", mode, "'"));
}

// How many elements of an axis stay: negative padding crops, before anything is mirrored or repeated.
int64_t kept_of(int64_t size, int64_t begin, int64_t end, std::string_view mode) {
  constexpr int64_t most = int64_t{1} << 48;  // so that no sum of three overflows
  const bool sane = size <= most && begin >= -most && begin <= most && end >= -most && end <= most;
  const int64_t kept = sane ? size - std::max<int64_t>(-begin, 0) - std::max<int64_t>(-end, 0) : -1;
  if (kept < 0) Eval::fail("eval.pad", cat("pads ", begin, " and ", end, " do not fit an axis of size ", size));
  if (kept == 0 && size + begin + end > 0 && mode != "constant")
    Eval::fail("eval.pad", cat("mode ", mode, " on an empty axis"));
  return kept;
}

AxisMap padded_axis(int64_t size, int64_t begin, int64_t end, std::string_view mode) {
  const int64_t kept = kept_of(size, begin, end, mode), cut = std::max<int64_t>(-begin, 0), length = size + begin + end;
  AxisMap map(static_cast<size_t>(element_count(std::vector<int64_t>{length})));
  for (int64_t o = 0; o < length; ++o) {
    int64_t i = o - std::max<int64_t>(begin, 0);  // in the part that is kept
    if (i < 0 || i >= kept) {
      if (mode == "constant") i = -1;
      else if (mode == "edge") i = std::clamp<int64_t>(i, 0, kept - 1);
      else if (mode == "wrap") i = modulo(i, kept);
      else i = kept == 1 ? 0 : kept - 1 - std::abs(modulo(i, 2 * (kept - 1)) - (kept - 1));
    }
    map[static_cast<size_t>(o)] = i < 0 ? -1 : i + cut;
  }
  return map;
}

struct Pad : Rules<op::Pad> {
  static void infer(const op::Pad& a, Infer& c) {
    check_mode(a.mode);
    const auto pads = c.ints(1);
    std::optional<std::vector<int64_t>> axes;
    if (!c.has(3)) axes = all_axes(c.rank(0));
    else if (const auto given = c.literal_ints(3)) axes = c.axes(*given, c.rank(0));
    if (!axes) return c.out(0, c.fresh_shape(c.rank(0)));
    const size_t n = axes->size();
    const auto count = pads ? static_cast<int64_t>(pads->size()) : c.length(1).value_or(static_cast<int64_t>(2 * n));
    if (count != static_cast<int64_t>(2 * n)) c.fail("infer.pad", cat(count, " pads for ", n, " axes"));
    const auto numbers = c.literal_ints(1);
    Shape out = c.shape(0);
    for (size_t i = 0; i < n; ++i) {
      Dim& d = out[static_cast<size_t>((*axes)[i])];
      if (numbers && d.is_literal()) kept_of(d.literal(), (*numbers)[i], (*numbers)[i + n], a.mode);
      d = pads ? d + (*pads)[i] + (*pads)[i + n] : c.fresh();
      if (d.is_literal() && d.literal() < 0)
        c.fail("infer.pad", cat("axis ", (*axes)[i], " would have a size of ", d.literal()));
    }
    c.out(0, out);
    if (c.has(2)) move_contents(c, {0, 2});
    else move_contents(c);
  }

  static void eval(const op::Pad& a, Eval& k) {
    const Tensor& x = k.in(0);
    const auto pads = k.ints(1);
    check_mode(a.mode);
    const auto axes = k.has(3) ? checked_axes(k.ints(3), x.rank()) : all_axes(x.rank());
    if (pads.size() != 2 * axes.size()) k.fail("eval.pad", cat(pads.size(), " pads for ", axes.size(), " axes"));
    std::vector<AxisMap> maps;
    for (const int64_t size : x.shape()) maps.push_back(identity_map(size));
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<size_t>(axes[i]);
      maps[axis] = padded_axis(x.shape()[axis], pads[i], pads[i + axes.size()], a.mode);
    }
    const Tensor* fill = k.has(2) && k.in(2).count() ? &k.in(2) : nullptr;
    if (fill && fill->dtype() != x.dtype()) k.fail("eval.type", "the padding value has another type than the data");
    k.out(0, take_by_axes(x, maps, fill));
  }

  // The value was a float attribute; as an input it has the data's type.
  static void up_to_inputs(Upgrade& u) {
    u.attr_to_input("pads", 1);
    const float value = u.take_float("value").value_or(0);
    if (value == 0) return;
    const DType dtype = u.fact(u.input(0)).dtype();
    u.set_input(2, u.constant(full(dtype == DType::undefined ? DType::f32 : dtype, {}, static_cast<double>(value))));
  }

  // Pads for some axes become pads for all: picked from the given ones and a zero behind them.
  static void expand_axes(const op::Pad& a, Expand& e) {
    const auto axes = e.graph.constant(e.in(3));
    if (!e.fact(0).has_rank()) return e.refuse("the padded axes are not known before the model runs");
    const int64_t rank = e.fact(0).rank();
    if (!axes) {
      const ValueId places = from_front(e.on, e.in(3), rank);
      const ValueId both = e.on.Concat(std::vector{places, e.on.Add(places, e.on.int_scalar(rank))}, {.axis = 0});
      const ValueId all = e.on.ScatterElements(e.on.ints(std::vector<int64_t>(static_cast<size_t>(2 * rank), 0)), both,
                                               as_vector(e.on, e.in(1)));
      return e.replace({e.on.Pad(e.in(0), all, e.in(2), {}, a)});
    }
    const int64_t n = axes->count();
    std::vector<int64_t> picks(static_cast<size_t>(2 * rank), 2 * n);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t axis = axes->int_at(i) + (axes->int_at(i) < 0 ? rank : 0);
      if (axis < 0 || axis >= rank) return e.refuse("an axis is outside the tensor");
      picks[static_cast<size_t>(axis)] = i;
      picks[static_cast<size_t>(axis + rank)] = i + n;
    }
    ValueId pads;
    if (const auto known = e.graph.constant(e.in(1))) {
      auto numbers = known->to_ints();
      numbers.push_back(0);
      for (int64_t& p : picks) p = numbers.at(static_cast<size_t>(p));
      pads = e.on.ints(picks);
    } else {
      pads = e.on.Gather(e.on.Concat(std::vector{e.in(1), e.on.ints({0})}, {.axis = 0}), e.on.ints(picks));
    }
    e.replace({e.on.Pad(e.in(0), pads, e.in(2), {}, a)});
  }

  // Pads, sizes or a value that only the model knows, one axis after the other.
  static void by_parts(const op::Pad& a, Expand& e) {
    On& on = e.on;
    if (!e.fact(0).has_rank() || e.has(3)) return e.refuse("pads that are computed by the model for an unknown rank");
    const int64_t rank = e.fact(0).rank();
    const ValueId pads = as_vector(on, e.in(1));
    const ValueId value = e.has(2) ? on.Reshape(e.in(2), on.ints(std::vector<int64_t>{})) : on.number(0, e.dtype(0));
    ValueId x = e.in(0);
    for (int64_t axis = 0; axis < rank; ++axis) {
      const ValueId begin = element(on, pads, axis), end = element(on, pads, axis + rank), zero = on.ints({0});
      const Tensor *known_begin = on.fact(begin).tensor(), *known_end = on.fact(end).tensor();
      if (known_begin && known_end && known_begin->int_at(0) == 0 && known_end->int_at(0) == 0) continue;
      // Negative pads crop first.
      const ValueId crop = at_least(on, on.Sub(zero, begin), zero),
                    kept = on.Sub(size_of(on, x, axis), at_least(on, on.Sub(zero, end), zero));
      x = on.Slice(x, crop, kept, on.ints({axis}));
      const ValueId before = at_least(on, begin, zero), after = at_least(on, end, zero);
      x = a.mode == "constant" ? between_blocks(on, x, axis, before, after, value)
                               : on.Gather(x, sources(on, a.mode, x, axis, before, after), {.axis = axis});
    }
    e.replace({x});
  }

  static ValueId between_blocks(On& on, ValueId x, int64_t axis, ValueId before, ValueId after, ValueId value) {
    const auto block = [&](ValueId length) {
      std::vector<ValueId> shape;
      for (int64_t i = 0; i < on.rank(x); ++i) shape.push_back(i == axis ? length : size_of(on, x, i));
      return on.Expand(value, join_sizes(on, shape));
    };
    return on.Concat(std::vector{block(before), x, block(after)}, {.axis = axis});
  }

  // Which element stands at each place of a padded axis.
  static ValueId sources(On& on, std::string_view mode, ValueId x, int64_t axis, ValueId before, ValueId after) {
    const ValueId size = size_of(on, x, axis), zero = on.ints({0}), last = on.Sub(size, on.ints({1}));
    const ValueId i = on.Sub(iota(on, on.Add(on.Add(size, before), after)), before);
    if (mode == "edge") return at_most(on, at_least(on, i, zero), last);
    if (mode == "wrap") return modulo(on, i, size);
    const ValueId period = at_least(on, on.Mul(last, on.ints({2})), on.ints({1}));
    return on.Sub(last, on.Abs(on.Sub(modulo(on, i, period), last)));
  }
  static bool is_computed(const Graph& g, NodeId n) {
    return !g.is_constant(g.input(n, 1)) || (g.input(n, 2) && !g.is_constant(g.input(n, 2)));
  }

  // Repetition by one Gather per axis. Precondition: axes were expanded before.
  static void expand_wrap(Expand& e) {
    const auto pads = e.graph.constant(e.in(1));
    const auto shape = e.fact(0).has_rank() ? known_shape(e.fact(0).shape()) : std::nullopt;
    if (!pads || !shape || e.has(3)) return by_parts({.mode = "wrap"}, e);
    ValueId x = e.in(0);
    const auto rank = static_cast<int64_t>(shape->size());
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t begin = pads->int_at(i), end = pads->int_at(i + rank);
      if (begin || end)
        x = e.on.Gather(x, e.on.ints(padded_axis((*shape)[static_cast<size_t>(i)], begin, end, "wrap")), {.axis = i});
    }
    e.replace({x});
  }

  static constexpr Revision revisions[] = {
      {2,
       [](Upgrade& u) {
         if (const auto p = u.take_ints("paddings")) u.set("pads", *p);
       },
       [](Downgrade& d) {
         if (const auto p = d.take_ints("pads")) d.set("paddings", *p);
       }},
      {11, up_to_inputs, [](Downgrade& d) { d.input_to_float(2, "value"), d.input_to_ints(1, "pads"); }},
      {18, nullptr,
       [](Downgrade& d) {
         if (d.input(3)) d.refuse("Pad had no axes there");
       }},
      {19, nullptr,
       [](Downgrade& d) {
         const auto* mode = find_attr(d.attrs, "mode");
         if (const auto* m = mode ? std::get_if<std::string>(mode) : nullptr; m && *m == "wrap")
           d.refuse("the mode wrap did not exist there");
       }},
  };
  static constexpr Expansion expansions[] = {
      expansion<op::Pad>(
          18, Exactness::exact, [](const op::Pad& a, Expand& e) { expand_axes(a, e); },
          [](const op::Pad&, const Graph& g, NodeId n, int64_t) { return g.input(n, 3).valid(); }),
      expansion<op::Pad>(
          19, Exactness::exact, [](const op::Pad&, Expand& e) { expand_wrap(e); },
          [](const op::Pad& a, const Graph&, NodeId, int64_t) { return a.mode == "wrap"; }),
      expansion<op::Pad>(
          11, Exactness::exact, [](const op::Pad& a, Expand& e) { by_parts(a, e); },
          [](const op::Pad&, const Graph& g, NodeId n, int64_t) { return is_computed(g, n); }),
  };
};

// The odd element goes to the end, for cropping and padding alike.
AxisMap centred_axis(int64_t size, int64_t wanted) {
  if (wanted < 0) Eval::fail("eval.shape", cat("CenterCropPad to a size of ", wanted));
  const int64_t shift = wanted < size ? (size - wanted) / 2 : -((wanted - size) / 2);
  AxisMap map(static_cast<size_t>(element_count(std::vector<int64_t>{wanted})));
  for (int64_t o = 0; o < wanted; ++o)
    map[static_cast<size_t>(o)] = o + shift >= 0 && o + shift < size ? o + shift : -1;
  return map;
}

struct CenterCropPad : Rules<op::CenterCropPad> {
  static void infer(const op::CenterCropPad& a, Infer& c) {
    const auto axes = a.axes ? c.axes(*a.axes, c.rank(0)) : all_axes(c.rank(0));
    const auto wanted = c.ints(1);
    const auto count =
        wanted ? static_cast<int64_t>(wanted->size()) : c.length(1).value_or(static_cast<int64_t>(axes.size()));
    if (count != static_cast<int64_t>(axes.size()))
      c.fail("infer.shape", cat(count, " sizes for ", axes.size(), " axes"));
    Shape out = c.shape(0);
    for (size_t i = 0; i < axes.size(); ++i) out[static_cast<size_t>(axes[i])] = wanted ? (*wanted)[i] : c.fresh();
    c.out(0, out);
  }

  static void eval(const op::CenterCropPad& a, Eval& k) {
    const Tensor& x = k.in(0);
    const auto axes = a.axes ? checked_axes(*a.axes, x.rank()) : all_axes(x.rank());
    const auto wanted = k.ints(1);
    if (wanted.size() != axes.size()) k.fail("eval.shape", cat(wanted.size(), " sizes for ", axes.size(), " axes"));
    std::vector<AxisMap> maps;
    for (const int64_t size : x.shape()) maps.push_back(identity_map(size));
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<size_t>(axes[i]);
      maps[axis] = centred_axis(x.shape()[axis], wanted[i]);
    }
    k.out(0, take_by_axes(x, maps));
  }

  static void by_computed_pads(const op::CenterCropPad& a, Expand& e) {
    On& on = e.on;
    if (!e.fact(0).has_rank()) return e.refuse("the rank is not known");
    const int64_t rank = e.fact(0).rank();
    const auto axes = a.axes ? checked_axes(*a.axes, rank) : all_axes(rank);
    const ValueId wanted = as_vector(on, e.in(1));
    std::vector<ValueId> begins(static_cast<size_t>(rank), on.ints({0})), ends = begins;
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
      const ValueId more = on.Sub(element(on, wanted, static_cast<int64_t>(i)), size_of(on, e.in(0), axis)),
                    half = on.Div(more, on.ints({2}));
      begins[static_cast<size_t>(axis)] = half;
      ends[static_cast<size_t>(axis)] = on.Sub(more, half);
    }
    begins.insert(begins.end(), ends.begin(), ends.end());
    e.replace({on.Pad(e.in(0), join_sizes(on, begins))});
  }

  // Cropping and padding in one Pad: negative pads crop.
  static void expand(const op::CenterCropPad& a, Expand& e) {
    const auto shape = e.fact(0).has_rank() ? known_shape(e.fact(0).shape()) : std::nullopt;
    const auto wanted = e.graph.constant(e.in(1));
    if (!shape || !wanted) return by_computed_pads(a, e);
    const auto rank = static_cast<int64_t>(shape->size());
    const auto axes = a.axes ? checked_axes(*a.axes, rank) : all_axes(rank);
    std::vector<int64_t> pads(static_cast<size_t>(2 * rank), 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i], size = (*shape)[static_cast<size_t>(axis)];
      const int64_t target = wanted->int_at(static_cast<int64_t>(i)),
                    begin = target < size ? -((size - target) / 2) : (target - size) / 2;
      pads[static_cast<size_t>(axis)] = begin;
      pads[static_cast<size_t>(axis + rank)] = target - size - begin;
    }
    e.replace({e.on.Pad(e.in(0), e.on.ints(pads))});
  }
  static constexpr Expansion expansions[] = {
      expansion<op::CenterCropPad>(18, Exactness::exact, [](const op::CenterCropPad& a, Expand& e) { expand(a, e); }),
  };
};

constexpr OpRules table[] = {rules<Pad>(), rules<CenterCropPad>()};

}  // namespace

std::span<const OpRules> pad_rules() { return table; }

}  // namespace cameo::ops
