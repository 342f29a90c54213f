// Padding that the operator behind it can do by itself.
#include <algorithm>
#include <cmath>

#include "passes/rules/reshape_form.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

// Pads per spatial axis, begins then ends; nothing unless this number is added only around spatial axes.
std::optional<std::vector<int64_t>> spatial_pads(Rewrite& rw, ValueId v, double wanted) {
  const auto* pad = rw.made_by<op::Pad>(v);
  if (!pad) return std::nullopt;
  const NodeId n = rw.maker(v);
  if (!rw.has_rank(v)) return std::nullopt;
  const auto rank = static_cast<size_t>(rw.rank(v));
  const auto value = rw.g.input(n, 2) ? rw.scalar(rw.g.input(n, 2)) : std::optional<double>(0);
  if (pad->mode != "constant" || !value || *value != wanted)
    return rw.no(wanted == 0 ? "the padding is not zeros" : "the padding is not minus infinity"), std::nullopt;
  const auto pads = rw.ints(rw.g.input(n, 1));
  auto axes = rw.ints(rw.g.input(n, 3));
  if (!pads || (rw.g.input(n, 3) && !axes)) return rw.no("the pads are computed"), std::nullopt;
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < rank; ++i) axes->push_back(static_cast<int64_t>(i));
  }
  const size_t count = axes->size();
  if (pads->size() != 2 * count || rank < 3) return std::nullopt;
  std::vector<int64_t> out(2 * (rank - 2), 0);
  for (size_t i = 0; i < count; ++i) {
    const int64_t begin = (*pads)[i], end = (*pads)[i + count];
    const auto axis = static_cast<size_t>((*axes)[i] < 0 ? (*axes)[i] + static_cast<int64_t>(rank) : (*axes)[i]);
    if (begin < 0 || end < 0) return rw.no("a negative pad cuts"), std::nullopt;
    if (axis < 2 && (begin || end)) return rw.no("the batch or the channels are padded"), std::nullopt;
    if (axis >= 2) out[axis - 2] = begin, out[axis - 2 + rank - 2] = end;
  }
  return out;
}

template <class A>
void pad_into_conv(Rewrite& rw) {
  A attrs = rw.attrs<A>();
  if (!rw.made_by<op::Pad>(rw.in(0))) return;
  if (attrs.auto_pad != "NOTSET" && attrs.auto_pad != "VALID") return rw.no("the operator chooses its own padding");
  const auto pads = spatial_pads(rw, rw.in(0), 0);
  if (!pads) return;
  if (!attrs.pads) attrs.pads.emplace(pads->size(), 0);
  for (size_t i = 0; i < pads->size(); ++i) (*attrs.pads)[i] += (*pads)[i];
  attrs.auto_pad = "NOTSET";
  std::vector<ValueId> inputs = rw.root().inputs;
  inputs[0] = rw.operand(rw.in(0), 0);
  rw.replace(rw.on.make(attrs, inputs, 1)[0]);
}

// Zeros that are counted are the operator's own padding when it counts them; MaxPool pads with minus infinity instead.
void pad_into_average(Rewrite& rw) {
  op::AveragePool attrs = rw.attrs<op::AveragePool>();
  if (!rw.made_by<op::Pad>(rw.in(0)) || (attrs.auto_pad != "NOTSET" && attrs.auto_pad != "VALID")) return;
  const bool padded =
      attrs.pads && std::any_of(attrs.pads->begin(), attrs.pads->end(), [](int64_t p) { return p != 0; });
  if (padded && !attrs.count_include_pad) return rw.no("it has padding of its own that it does not count");
  if (attrs.ceil_mode) return rw.no("windows may reach beyond the padding");
  const auto pads = spatial_pads(rw, rw.in(0), 0);
  if (!pads) return;
  if (!attrs.pads) attrs.pads.emplace(pads->size(), 0);
  for (size_t i = 0; i < pads->size(); ++i) {
    (*attrs.pads)[i] += (*pads)[i];
    // Engines refuse windows that lie in the padding altogether.
    if ((*attrs.pads)[i] >= attrs.kernel_shape[i % attrs.kernel_shape.size()])
      return rw.no("the padding is as wide as the window");
  }
  attrs.auto_pad = "NOTSET";
  attrs.count_include_pad = 1;
  rw.replace(rw.on.AveragePool(rw.operand(rw.in(0), 0), attrs));
}

// Never below zero, whatever comes in.
bool is_nonnegative(const Rewrite& rw, ValueId v) {
  static constexpr std::string_view makers[] = {"Relu",     "Sigmoid", "HardSigmoid", "Softmax",
                                                "Softplus", "Abs",     "Exp",         "Sqrt"};
  const NodeId n = v ? rw.g[v].def : NodeId();
  if (!rw.understood(n)) return false;
  if (rw.g[n].is("Clip")) return rw.g.input(n, 1) && rw.scalar(rw.g.input(n, 1)).value_or(-1) >= 0;
  return std::any_of(std::begin(makers), std::end(makers), [&](std::string_view m) { return rw.g[n].is(m); });
}

// MaxPool pads with minus infinity: the same as zeros where no element is below them and every window has an element.
void pad_into_max(Rewrite& rw) {
  op::MaxPool attrs = rw.attrs<op::MaxPool>();
  if (!rw.made_by<op::Pad>(rw.in(0)) || (attrs.auto_pad != "NOTSET" && attrs.auto_pad != "VALID")) return;
  if (rw.wants(1)) return rw.no("its indices are used");
  if (attrs.ceil_mode) return rw.no("windows may reach beyond the padding");
  if (attrs.dilations &&
      std::any_of(attrs.dilations->begin(), attrs.dilations->end(), [](int64_t d) { return d != 1; }))
    return rw.no("its windows have gaps");
  const ValueId x = rw.operand(rw.in(0), 0);
  const auto value = rw.operand(rw.in(0), 2) ? rw.scalar(rw.operand(rw.in(0), 2)) : std::optional<double>(0);
  if (value == 0.0 && !is_nonnegative(rw, x)) return rw.no("an element may be below the zeros around it");
  if (!rw.has_rank(x)) return;
  const auto pads = spatial_pads(rw, rw.in(0), value == 0.0 ? 0 : -INFINITY);
  if (!pads) return;
  if (!attrs.pads) attrs.pads.emplace(pads->size(), 0);
  for (size_t i = 0; i < pads->size(); ++i) {
    (*attrs.pads)[i] += (*pads)[i];
    if ((*attrs.pads)[i] >= attrs.kernel_shape[i % attrs.kernel_shape.size()])
      return rw.no("the padding is as wide as the window");
    if ((*pads)[i] > 0 && !at_least_one(rw, rw.shape(x)[2 + i % attrs.kernel_shape.size()]))
      return rw.no("a size may be 0, where there is only padding");
  }
  attrs.auto_pad = "NOTSET";
  rw.replace({rw.on.MaxPool(x, attrs, 1)[0], ValueId()});
}

}  // namespace

std::vector<Rule> pad_family_rules() {
  return {
      rule("pad-into-conv", {"Conv"}, pad_into_conv<op::Conv>),
      rule("pad-into-conv-integer", {"ConvInteger"},
           [](Rewrite& rw) {
             if (!rw.has(2)) pad_into_conv<op::ConvInteger>(rw);
           }),
      rule("pad-into-average-pool", {"AveragePool"}, pad_into_average),
      rule("pad-into-max-pool", {"MaxPool"}, pad_into_max),
  };
}

}  // namespace cameo::passes
