#include <algorithm>

#include "ops/control/body_types.h"
#include "ops/control/stack.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "support/budget.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

// Entry `i` of an optional list that is all zeros when absent.
int64_t entry(const std::optional<std::vector<int64_t>>& list, size_t i) {
  return list && i < list->size() ? (*list)[i] : 0;
}

// Opset 8 ran the body per sample of a batch: axis 0 of everything was the batch, axis 1 of scanned values the
// sequence. Now an outer Scan walks the batch and holds the inner one, which takes the body.
void up_from_batched(Upgrade& u) {
  if (u.input(0))
    throw error("model.old-encoding", "Scan of opset 8 with sequence lengths")
        .why("the newer Scan runs all sequences to the same length")
        .help("save the model with opset 9 or newer");
  Graph& g = u.on.graph();
  const auto scans = u.take_int("num_scan_inputs").value_or(0);
  const auto directions = u.take_ints("directions");
  const std::vector<ValueId> operands(u.inputs.begin() + (u.inputs.empty() ? 0 : 1), u.inputs.end());
  const NodeId outer =
      g.add_node(u.on.region(), op_of<op::Scan>(),
                 std::make_shared<const op::Scan>(op::Scan{.num_scan_inputs = static_cast<int64_t>(operands.size())}),
                 operands, u.outputs);
  const RegionId sample = g.add_region(u.on.region(), outer);
  g.set_region(outer, 0, sample);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < operands.size(); ++i) inputs.push_back(g.add_input(sample, cat("sample_", i), {}));
  const NodeId inner = g.add_node(
      sample, op_of<op::Scan>(),
      std::make_shared<const op::Scan>(op::Scan{.num_scan_inputs = scans, .scan_input_directions = directions}), inputs,
      u.outputs);
  g.set_region_outputs(sample, g[inner].outputs);
  u.body_owner = inner;
  u.replace(g[outer].outputs);
}

struct Scan : Rules<op::Scan> {
  static void infer(const op::Scan& a, Infer& c) {
    if (!c.region_id(0)) c.fail("infer.body", "there is no body");
    const Region& body = c.graph()[c.region_id(0)];
    const size_t count = c.in_count();
    if (a.num_scan_inputs < 1 || a.num_scan_inputs > static_cast<int64_t>(count))
      c.fail("infer.body", cat(a.num_scan_inputs, " scanned inputs of ", count));
    const size_t states = count - static_cast<size_t>(a.num_scan_inputs);
    if (body.inputs.size() != count || body.outputs.size() < states || c.out_count() > body.outputs.size())
      c.fail("infer.body", cat("a body of ", body.inputs.size(), " inputs and ", body.outputs.size(), " outputs for ",
                               count, " inputs and ", c.out_count(), " outputs"));
    std::vector<Fact> initial, slices;
    for (size_t i = 0; i < states; ++i) initial.push_back(c.in(i));
    std::optional<Dim> length;
    for (size_t i = states; i < count; ++i) {
      Type slice = c.type(i);
      const int64_t axis = c.axis(entry(a.scan_input_axes, i - states), c.rank(i));
      length = length ? c.same(*length, c.dim(i, axis), "lengths of scanned inputs") : c.dim(i, axis);
      slice.shape->erase(slice.shape->begin() + axis);
      slices.push_back({std::move(slice), nullptr});
    }
    const LoopTypes types = infer_carried(c, {}, initial, slices, 0);
    const bool still = c.real && length->is(0);  // what it is given stays, whatever the body would make of these sizes
    if (!still) check_states(c, types, initial, slices);
    for (size_t i = 0; i < states; ++i) c.out(i, still ? initial[i].type : types.outside(types.carried[i], c));
    for (size_t i = states; i < c.out_count(); ++i) {
      Type t = types.outside(types.outputs[i].type, c);
      if (t.shape) {
        const int64_t axis = c.axis(entry(a.scan_output_axes, i - states), static_cast<int64_t>(t.shape->size()) + 1);
        t.shape->insert(t.shape->begin() + axis, *length);
      }
      c.out(i, std::move(t));
      set_stacked(c, i, *length);
    }
  }

  // Unlike a Loop's, states keep their shape from iteration to iteration.
  static void check_states(Infer& c, const LoopTypes& types, const std::vector<Fact>& initial,
                           const std::vector<Fact>& slices) {
    const auto changed = [&](size_t i) { return initial[i].has_rank() && !types.carried[i].has_rank(); };
    bool any = !types.widened.empty();
    for (size_t i = 0; i < initial.size(); ++i) any |= changed(i);
    if (!any) return;
    std::vector<Fact> inputs = initial;
    inputs.insert(inputs.end(), slices.begin(), slices.end());
    BodySnapshot before(c, c.region_id(0));
    const auto first = c.region(0, std::move(inputs));
    before.restore();
    for (size_t i = 0; i < initial.size(); ++i) {
      if (!initial[i].has_rank() || !first[i].has_rank()) continue;
      const Shape &from = initial[i].shape(), &to = first[i].shape();
      const bool fits = std::equal(from.begin(), from.end(), to.begin(), to.end(),
                                   [](Dim a, Dim b) { return !a.is_literal() || !b.is_literal() || a == b; });
      if (!fits)
        c.fail("infer.mismatch", cat("state ", i, " begins as ", initial[i].type.text(), ", and an iteration makes it ",
                                     first[i].type.text()));
    }
  }

  static void eval(const op::Scan& a, Eval& k) {
    const auto scans = static_cast<size_t>(a.num_scan_inputs);
    if (a.num_scan_inputs < 1 || scans > k.in_count())
      k.fail("eval.body", cat(a.num_scan_inputs, " scanned inputs of ", k.in_count()));
    const size_t states = k.in_count() - scans;
    std::vector<Datum> state;
    for (size_t i = 0; i < states; ++i) state.push_back(k.datum(i));
    std::vector<size_t> axes;
    int64_t length = 0;
    for (size_t i = 0; i < scans; ++i) {
      const Tensor& x = k.in(states + i);
      axes.push_back(static_cast<size_t>(k.axis(entry(a.scan_input_axes, i), x.rank())));
      const int64_t size = x.shape()[axes[i]];
      if (i > 0 && size != length) k.fail("eval.shape", cat("scanned inputs of lengths ", length, " and ", size));
      length = size;
    }
    if (length > limits().turns)  // of slices without elements a small file has as many as it likes
      throw over_budget("turns", cat("a Scan of ", length, " turns"), "--max-turns");
    std::vector<Stack> stacks(k.out_count() > states ? k.out_count() - states : 0);
    for (int64_t t = 0; t < length; ++t) {
      checkpoint();
      std::vector<Datum> inputs = state;
      for (size_t i = 0; i < scans; ++i)
        inputs.emplace_back(slice(k.in(states + i), axes[i], entry(a.scan_input_directions, i) ? length - 1 - t : t));
      auto results = k.run_region(0, std::move(inputs));
      if (results.size() < states + stacks.size()) k.fail("eval.body", "the body's outputs do not fit the scan");
      for (size_t i = 0; i < states; ++i) state[i] = results[i];
      for (size_t i = 0; i < stacks.size(); ++i) stacks[i].add(results[states + i]);
    }
    for (size_t i = 0; i < states; ++i) k.out(i, std::move(state[i]));
    for (size_t i = 0; i < stacks.size(); ++i)
      k.out(states + i, stacks[i].joined(entry(a.scan_output_axes, i), entry(a.scan_output_directions, i) != 0,
                                         k.out_type ? k.out_type(states + i) : Type()));
  }

  static Tensor slice(const Tensor& x, size_t axis, int64_t at) {
    auto shape = x.shape(), strides = row_major_strides(shape);
    const int64_t start = at * strides[axis];
    shape.erase(shape.begin() + static_cast<int64_t>(axis));
    strides.erase(strides.begin() + static_cast<int64_t>(axis));
    return strided(x, shape, strides, start);
  }

  static constexpr Revision revisions[] = {
      {9, up_from_batched, [](Downgrade& d) { d.refuse("Scan worked on batches there"); }},
      {11, nullptr,
       [](Downgrade& d) {
         for (const auto attr : {"scan_input_axes", "scan_output_axes"})
           if (const auto* v = find_attr(d.attrs, attr); v && std::holds_alternative<std::vector<int64_t>>(*v))
             for (const int64_t axis : std::get<std::vector<int64_t>>(*v))
               if (axis < 0) d.refuse("an axis could not count from the back there");
       }},
  };
};

constexpr OpRules table[] = {rules<Scan>()};

}  // namespace

std::span<const OpRules> scan_rules() { return table; }

}  // namespace cameo::ops
