#include "ops/control/body_types.h"
#include "ops/control/stack.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "support/budget.h"

namespace cameo::ops {

namespace {

struct Loop : Rules<op::Loop> {
  static constexpr bool partial = true;

  static void infer(const op::Loop&, Infer& c) {
    if (!c.region_id(0)) c.fail("infer.body", "there is no body");
    const Region& body = c.graph()[c.region_id(0)];
    const size_t carried = c.in_count() < 2 ? 0 : c.in_count() - 2;
    if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1)
      c.fail("infer.body", cat("a body of ", body.inputs.size(), " inputs and ", body.outputs.size(), " outputs for ",
                               carried, " carried values"));
    if (c.out_count() > body.outputs.size() - 1)
      c.fail("infer.body", cat("the body has ", body.outputs.size() - 1, " results for ", c.out_count(), " outputs"));
    // The body runs only while the condition holds, so inside it is true.
    const std::vector<Fact> before{
        {Type::tensor(DType::i64, Shape{}), nullptr},
        {Type::tensor(DType::boolean, Shape{}), std::make_shared<const Contents>(Tensor::bool_scalar(true))}};
    std::vector<Fact> initial;
    for (size_t i = 0; i < carried; ++i) initial.push_back(c.in(i + 2));
    const LoopTypes types = infer_carried(c, before, initial, {}, 1);
    const Dim trips = trip_count(c, types);
    // A loop that does not turn hands on what it was given, whatever its body would make of these sizes.
    for (size_t i = 0; i < carried; ++i) c.out(i, c.real && trips.is(0) ? initial[i].type : after(c, types, i));
    for (size_t i = carried; i < c.out_count(); ++i) {
      c.out(i, stacked(types.outside(types.outputs[i + 1].type, c), trips));
      set_stacked(c, i, trips);
    }
  }

  static Type after(Infer& c, const LoopTypes& types, size_t i) {
    const Type& produced = types.outputs[i + 1].type;
    // An optional that is filled by the first iteration.
    if (types.carried[i].is_optional() && !produced.is_optional() && !produced.is_unknown())
      return types.outside(produced, c);
    return types.outside(types.carried[i], c);
  }

  static Type stacked(Type each, Dim trips) {
    if (each.shape) each.shape->insert(each.shape->begin(), trips);
    return each;
  }

  // Known when no condition can end the loop early.
  static Dim trip_count(Infer& c, const LoopTypes& types) {
    const Tensor* at_first = c.has(1) ? c.constant(1) : nullptr;
    if (at_first && at_first->count() == 1 && at_first->int_at(0) == 0) return 0;
    const Tensor* goes_on = types.outputs[0].tensor();
    const auto most = c.ints(0);
    if ((c.has(1) && !at_first) || !goes_on || goes_on->count() != 1 || goes_on->int_at(0) == 0 || !most ||
        most->size() != 1)
      return c.fresh("trips");
    const DimFacts& facts = c.graph().facts;
    if ((*most)[0].is_literal()) need_turns((*most)[0].literal());
    return facts.less_equal(0, (*most)[0]) == Answer::yes ? (*most)[0] : max((*most)[0], Dim());
  }

  // Only the count ends such a loop: too many iterations are reported before the first.
  static void need_turns(int64_t turns) {
    if (turns > limits().turns)
      throw over_budget("turns", cat("a Loop of ", turns, " turns that nothing ends earlier"), "--max-turns");
  }

  static void eval(const op::Loop&, Eval& k) {
    const bool counted = k.has(0) && k.datum(0).kind == Datum::Kind::tensor;
    const int64_t most = counted ? k.int_scalar(0) : INT64_MAX;
    bool goes_on = !k.has(1) || k.datum(1).kind != Datum::Kind::tensor || k.int_scalar(1) != 0;
    const size_t carried = k.in_count() < 2 ? 0 : k.in_count() - 2;
    std::vector<Datum> state;
    for (size_t i = 0; i < carried; ++i) state.push_back(k.has(i + 2) ? k.datum(i + 2) : Datum());
    std::vector<Stack> stacks(k.out_count() > carried ? k.out_count() - carried : 0);
    for (int64_t i = 0; i < most && goes_on; ++i) {
      checkpoint();
      if (i >= limits().turns)
        throw over_budget("turns", cat("a Loop that goes on after ", i, " turns"), "--max-turns");
      std::vector<Datum> inputs{Datum(Tensor::int_scalar(i)), Datum(Tensor::bool_scalar(true))};
      inputs.insert(inputs.end(), state.begin(), state.end());
      const auto results = k.run_region(0, std::move(inputs));
      if (results.size() < 1 + carried + stacks.size() || results[0].tensor.count() != 1)
        k.fail("eval.body", "the body's outputs do not fit the loop");
      goes_on = results[0].tensor.int_at(0) != 0;
      for (size_t s = 0; s < carried; ++s) state[s] = results[1 + s];
      for (size_t s = 0; s < stacks.size(); ++s) stacks[s].add(results[1 + carried + s]);
    }
    for (size_t s = 0; s < carried; ++s) k.out(s, std::move(state[s]));
    for (size_t s = 0; s < stacks.size(); ++s)
      k.out(carried + s, stacks[s].joined(0, false, k.out_type ? k.out_type(carried + s) : Type()));
  }
};

constexpr OpRules table[] = {rules<Loop>()};

}  // namespace

std::span<const OpRules> loop_rules() { return table; }

}  // namespace cameo::ops
