// Reshape, Squeeze, Unsqueeze and Flatten: the same elements in the same order, whatever the shapes in between.
#include <algorithm>

#include "passes/rules/reshape_form.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

bool at_least_one(const Rewrite& rw, Dim d) { return rw.g.facts.less_equal(Dim(1), d) == Answer::yes; }

std::optional<std::vector<int64_t>> reshape_form(const Rewrite& rw, const Shape& from, const Shape& to) {
  std::vector<int64_t> form;
  size_t open = 0;
  bool others_nonzero = true;
  for (size_t i = 0; i < to.size(); ++i) {
    const bool copied = i < from.size() && rw.equal(from[i], to[i]);
    if (to[i].is_literal() && !to[i].is(0)) form.push_back(to[i].literal());
    else if (copied) form.push_back(0), others_nonzero &= at_least_one(rw, to[i]);
    else if (to[i].is_literal()) return std::nullopt;
    else form.push_back(-1), ++open;
  }
  if (open > 1 || (open == 1 && !others_nonzero)) return std::nullopt;
  return form;
}

ValueId reshape_to(Rewrite& rw, ValueId x, const Shape& to) {
  if (rw.same_shape(rw.shape(x), to)) return x;
  const auto form = reshape_form(rw, rw.shape(x), to);
  if (!form) return {};
  const ValueId out = rw.on.Reshape(x, rw.on.ints(*form));
  rw.g.fact(out).type.shape = to;
  return out;
}

namespace {

bool is_view(const Rewrite& rw, ValueId v) {
  return rw.made_by<op::Reshape>(v) || rw.made_by<op::Squeeze>(v) || rw.made_by<op::Unsqueeze>(v) ||
         rw.made_by<op::Flatten>(v);
}

// A Reshape of a Reshape is one. Sizes that are copied mean other axes now, so the shape is said anew.
void view_of_view(Rewrite& rw) {
  if (!is_view(rw, rw.in(0))) return;
  ValueId x = rw.operand(rw.in(0), 0);
  if (!rw.has_rank(x) || !rw.has_rank(rw.out())) return;
  while (is_view(rw, x) && rw.has_rank(rw.operand(x, 0))) x = rw.operand(x, 0);
  const Shape to = rw.shape(rw.out());
  if (const ValueId v = reshape_to(rw, x, to)) return rw.replace(v);
  rw.no("more than one size is open");
}

// The target is computed, but has neither a 0 nor anything that refers to the input.
void computed_view_of_view(Rewrite& rw) {
  if (!is_view(rw, rw.in(0)) || rw.attrs<op::Reshape>().allowzero) return;
  const auto sizes = rw.fact(rw.in(1)).ints();
  if (!sizes || !std::all_of(sizes->begin(), sizes->end(), [&](Dim d) { return d.is(-1) || at_least_one(rw, d); }))
    return;
  const Shape to = rw.has_rank(rw.out()) ? rw.shape(rw.out()) : Shape();
  if (to.empty()) return;
  const ValueId v = rw.on.Reshape(rw.operand(rw.in(0), 0), rw.in(1));
  rw.g.fact(v).type.shape = to;
  rw.replace(v);
}

// Axes of the input by number, new ones by -1.
using Axes = std::vector<int64_t>;
bool follow(const Rewrite& rw, NodeId n, Axes& axes) {
  const auto rank = static_cast<int64_t>(axes.size());
  if (rw.g[n].is("Unsqueeze")) {
    const auto given = rw.ints(rw.g.input(n, 1));
    if (!given) return false;
    const int64_t full = rank + static_cast<int64_t>(given->size());
    const auto added = rw.axes(n, 1, full);
    if (!added) return false;
    Axes out(static_cast<size_t>(full), -2);
    for (const int64_t a : *added) out[static_cast<size_t>(a)] = -1;
    auto next = axes.begin();
    for (int64_t& a : out)
      if (a == -2) a = *next++;
    axes = std::move(out);
    return true;
  }
  const auto gone = rw.axes(n, 1, rank);
  if (!gone) return false;
  for (size_t i = gone->size(); i-- > 0;) axes.erase(axes.begin() + (*gone)[i]);
  return true;
}

// Pairs of Squeeze and Unsqueeze, whatever the sizes.
void axes_of_axes(Rewrite& rw) {
  const ValueId inner = rw.in(0);
  if (!rw.made_by<op::Squeeze>(inner) && !rw.made_by<op::Unsqueeze>(inner)) return;
  const ValueId x = rw.operand(inner, 0);
  if (!rw.has_rank(x)) return;
  Axes axes(static_cast<size_t>(rw.rank(x)));
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  if (!follow(rw, rw.maker(inner), axes) || !follow(rw, rw.node, axes)) return;
  Axes kept, added;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] < 0) added.push_back(static_cast<int64_t>(i));
    else kept.push_back(axes[i]);
  const bool all = kept.size() == static_cast<size_t>(rw.rank(x));
  rw.shape_is_kept();
  if (all && added.empty()) return rw.replace(x);
  if (all) return rw.replace(rw.on.Unsqueeze(x, rw.on.ints(added)));
  if (!added.empty()) return rw.no("axes are both dropped and added");
  Axes gone;
  for (int64_t i = 0; i < rw.rank(x); ++i)
    if (std::find(kept.begin(), kept.end(), i) == kept.end()) gone.push_back(i);
  rw.replace(rw.on.Squeeze(x, rw.on.ints(gone)));
}

// Elementwise operators do not care for the shape: Reshape(f(Reshape(x))) back to x's shape is f(x).
void views_around(Rewrite& rw) {
  const ValueId y = rw.in(0);
  const NodeId n = rw.maker(y);
  if (!rw.understood(n) || rw.g[n].inputs.empty() || rw.g[n].outputs.size() != 1) return;
  static constexpr std::string_view pointwise[] = {
      "Relu",      "Sigmoid", "Tanh",      "Erf",         "Gelu",     "Cast", "Neg",  "Abs", "Sqrt", "Exp", "Log",
      "LeakyRelu", "Elu",     "HardSwish", "HardSigmoid", "Softplus", "Not",  "Clip", "Mul", "Add",  "Sub", "Div"};
  if (std::none_of(std::begin(pointwise), std::end(pointwise), [&](std::string_view p) { return rw.g[n].is(p); }))
    return;
  if (!is_view(rw, rw.g[n].inputs[0]) || !rw.has_rank(rw.out()) || !rw.has_rank(y)) return;
  const ValueId view = rw.g[n].inputs[0], x = rw.operand(view, 0);
  if (!rw.has_rank(x) || !rw.same_shape(rw.shape(x), rw.shape(rw.out()))) return;
  std::vector<ValueId> operands = rw.g[n].inputs;
  operands[0] = x;
  for (size_t i = 1; i < operands.size(); ++i)
    if (operands[i] && (!rw.has_rank(operands[i]) || rw.rank(operands[i]) != 0)) {
      const auto one =
          rw.is_constant(operands[i]) && rw.has_rank(operands[i]) ? known_shape(rw.shape(operands[i])) : std::nullopt;
      if (!one || element_count(*one) != 1 || static_cast<int64_t>(one->size()) > std::min(rw.rank(x), rw.rank(y)))
        return;
    }
  const auto attrs = rw.g[n].attrs;
  const OpDef& same = def(*rw.g[n].op);
  rw.replace(rw.on.emit(same, attrs, std::move(operands), 1)[0]);
}

}  // namespace

std::vector<Rule> reshape_family_rules() {
  return {
      rule("squeeze-unsqueeze", {"Squeeze", "Unsqueeze"}, axes_of_axes).trading(),
      rule("reshape-reshape", {"Reshape", "Squeeze", "Unsqueeze", "Flatten"}, view_of_view).trading(),
      rule("reshape-reshape-computed", {"Reshape"}, computed_view_of_view).trading(),
      rule("reshape-around-elementwise", {"Reshape", "Squeeze", "Unsqueeze", "Flatten"}, views_around),
  };
}

}  // namespace cameo::passes
