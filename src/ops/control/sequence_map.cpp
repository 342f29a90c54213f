#include "ir/clone.h"
#include "ops/computed.h"
#include "ops/control/body_types.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "support/budget.h"

namespace cameo::ops {

namespace {

struct SequenceMap : Rules<op::SequenceMap> {
  static constexpr bool partial = true;

  static void infer(const op::SequenceMap&, Infer& c) {
    if (!c.region_id(0)) c.fail("infer.body", "there is no body");
    if (c.graph()[c.region_id(0)].inputs.size() != c.in_count())
      c.fail("infer.body", cat("a body of ", c.graph()[c.region_id(0)].inputs.size(), " inputs for ", c.in_count()));
    if (const size_t made = c.graph()[c.region_id(0)].outputs.size(); made < c.out_count())
      c.fail("infer.body", cat("a body of ", made, " outputs for ", c.out_count()));
    std::vector<Fact> elements;
    for (size_t i = 0; i < c.in_count(); ++i) {
      const Type& t = c.type(i);
      elements.push_back(t.is_sequence() ? Fact{*t.inner, nullptr} : c.in(i));
    }
    BodySnapshot before(c, c.region_id(0));
    const auto results = c.region(0, elements);
    before.forget_dims();
    for (size_t i = 0; i < results.size(); ++i) c.out(i, Type::sequence(results[i].type));
  }

  static void eval(const op::SequenceMap&, Eval& k) {
    if (k.datum(0).kind != Datum::Kind::sequence) k.fail("eval.input", "input 0 is not a sequence");
    const size_t length = k.datum(0).items->size();
    std::vector<std::vector<Datum>> outputs(k.out_count());
    for (size_t step = 0; step < length; ++step) {
      checkpoint();
      std::vector<Datum> inputs;
      for (size_t i = 0; i < k.in_count(); ++i) {
        const Datum& d = k.datum(i);
        if (d.kind != Datum::Kind::sequence) inputs.push_back(d);
        else if (d.items->size() != length)
          k.fail("eval.input", cat("sequences of ", length, " and ", d.items->size(), " elements"));
        else inputs.push_back((*d.items)[step]);
      }
      auto results = k.run_region(0, std::move(inputs));
      for (size_t i = 0; i < outputs.size() && i < results.size(); ++i) outputs[i].push_back(std::move(results[i]));
    }
    for (size_t i = 0; i < outputs.size(); ++i) k.out(i, Datum::sequence(std::move(outputs[i])));
  }

  // A loop over the places of the sequence that inserts into the results.
  static void expand(Expand& e) {
    On& on = e.on;
    const Node node = e.graph[e.node];
    if (e.target < 13) return e.refuse("a Loop carries no sequences before opset 13");
    std::vector<ValueId> results;
    for (const ValueId v : node.outputs) {
      const Type& t = e.graph[v].fact.type;
      if (!t.is_sequence() || !t.inner->is_tensor() || t.inner->elem == DType::undefined)
        return e.refuse("the type of a result is not known");
      results.push_back(on.SequenceEmpty(op::SequenceEmpty{.dtype = static_cast<int64_t>(t.inner->elem)}));
    }
    e.replace(repeat(
        on, on.SequenceLength(node.inputs[0]), results, [&](On& o, ValueId i, const std::vector<ValueId>& before) {
          std::vector<ValueId> inputs;
          for (const ValueId v : node.inputs) inputs.push_back(o.fact(v).type.is_sequence() ? o.SequenceAt(v, i) : v);
          const auto made =
              clone_body(o.graph(), node.regions[0], o.graph(), inputs, o.region(), {}, {.keep_names = false});
          std::vector<ValueId> after;
          for (size_t k = 0; k < before.size(); ++k) after.push_back(o.SequenceInsert(before[k], made[k]));
          return after;
        }));
  }
  static constexpr Expansion expansions[] = {
      expansion<op::SequenceMap>(17, Exactness::exact, [](const op::SequenceMap&, Expand& e) { expand(e); })};
};

constexpr OpRules table[] = {rules<SequenceMap>()};

}  // namespace

std::span<const OpRules> sequence_map_rules() { return table; }

}  // namespace cameo::ops
