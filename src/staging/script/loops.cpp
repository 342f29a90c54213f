// Loops. A known count may be unrolled; else, and by default where the body changes only tensors and numbers, the
// loop is recorded as `Loop` (joins/loop.cpp).
#include "staging/joins/loop.h"
#include "staging/script/interpreter.h"
#include "support/budget.h"

namespace cameo::staging {

namespace {
[[noreturn]] void cannot(const Machine& s, const Inexpressible& e, std::string_view which, std::string_view hint) {
  if (!e.cause) s.fail("stage.loop", cat(which, " cannot be expressed: ", e.why), std::string(hint));
  Error with_loop = *e.cause;
  with_loop.diag().notes.push_back({cat("inside ", which), s.here()});
  throw with_loop;
}
}  // namespace

// A loop of known count, written out.
bool ScriptInterpreter::unroll(const ts::For& s, int64_t count, bool bounded) {
  const auto start = machine.attempt();
  const size_t before = machine.graph.node_capacity();
  for (int64_t i = 0; i < count; ++i) {
    machine.step();
    store(s.target, Dim(i));
    block(s.body);
    const size_t nodes = machine.graph.node_capacity() - before;
    if (!bounded || nodes <= machine.options.max_unrolled_nodes || i + 1 == count) continue;
    machine.take_back(start);
    return false;
  }
  return true;
}

void ScriptInterpreter::for_range(const ts::For& s) {
  const Value counted = eval(*s.count);
  if (const auto* p = counted.as<Poison>()) {
    if (!p->reported) machine.fail("stage.unavailable", *p->why);
    return;
  }
  const Dim count = machine.graph.facts.simplify(machine.int_from(counted));
  const ts::Pos at = pos_;
  const LoopToRecord loop{&count, local(s.target.slot), std::nullopt, [&] { block(s.body); }};
  if (!count.is_literal()) {
    try {
      record_loop(machine, loop, false);
    } catch (const Inexpressible& e) {
      pos_ = at;
      cannot(machine, e, "a loop whose count depends on the inputs", "give the sizes it depends on as numbers");
    }
    return;
  }
  if (count.literal() <= 0) return;
  const auto keep = [&](bool strict) {
    try {
      record_loop(machine, loop, strict);
      return true;
    } catch (const Inexpressible&) {
      return false;
    }
  };
  if (!machine.options.unroll && count.literal() > 1 && keep(true)) return;
  const bool bounded = !machine.options.unroll && count.literal() > 1;
  if (unroll(s, count.literal(), bounded)) return;
  if (keep(false)) return;
  machine.sink().note("stage.unrolled", cat("a loop of ", count.literal(), " turns is unrolled"), here());
  unroll(s, count.literal(), false);
}

void ScriptInterpreter::while_loop(const ts::While& s) {
  const auto* name_expr = s.condition->as<ts::Name>();
  Heap::Turns turns(machine.heap);
  const size_t before = machine.graph.node_capacity(), most = before + machine.options.max_nodes / 20;
  for (;;) {
    machine.step();
    if (machine.graph.node_capacity() > most)
      throw over_budget("nodes",
                        cat("a while loop whose condition stays true records more than ", most - before, " nodes"), "")
          .at(here());
    const Value condition = eval(*s.condition);
    if (const auto* p = condition.as<Poison>()) {
      if (!p->reported) machine.fail("stage.unavailable", *p->why);
      return;
    }
    const auto known = machine.known_bool(condition);
    if (known && !*known) return;
    const auto start = machine.attempt();
    const ts::Pos at = pos_;
    if (known) {
      // A turn that leaves the condition known is simply run.
      block(s.body);
      const Value next = eval(*s.condition);
      if (next.is<Poison>() || machine.known_bool(next)) {
        turns.done();
        continue;
      }
      machine.take_back(start);
    }
    if (!name_expr || name_expr->slot < 0)
      machine.fail("stage.loop", "a while loop on this condition cannot be expressed");
    try {
      record_loop(machine, {nullptr, std::nullopt, local(name_expr->slot), [&] { block(s.body); }}, false);
      return;
    } catch (const Inexpressible& e) {
      pos_ = at;
      cannot(machine, e, "a while loop whose condition depends on the inputs", "");
    }
  }
}

}  // namespace cameo::staging
