// Loops. A known count may be unrolled; else, and by default where the body changes only tensors and numbers, the
// loop is recorded as `Loop` (loop_stager.cpp).
#include "staging/joins/loop.h"
#include "support/budget.h"

namespace cameo::staging {

namespace {
[[noreturn]] void cannot(const Stager& s, const Inexpressible& e, std::string_view which, std::string_view hint) {
  if (!e.cause) s.fail("stage.loop", cat(which, " cannot be expressed: ", e.why), std::string(hint));
  Error with_loop = *e.cause;
  with_loop.diag().notes.push_back({cat("inside ", which), s.here()});
  throw with_loop;
}
}  // namespace

void Stager::for_range(const ts::For& s) {
  const Value counted = eval(*s.count);
  if (const auto* p = counted.as<Poison>()) {
    if (!p->reported) fail("stage.unavailable", *p->why);
    return;
  }
  const Dim count = graph.facts.simplify(int_from(counted));
  const ts::Pos at = pos_;
  if (!count.is_literal()) {
    try {
      record_loop(*this, {&count, &s.target, -1, s.body}, false);
    } catch (const Inexpressible& e) {
      pos_ = at;
      cannot(*this, e, "a loop whose count depends on the inputs", "give the sizes it depends on as numbers");
    }
    return;
  }
  if (count.literal() <= 0) return;
  const auto keep = [&](bool strict) {
    try {
      record_loop(*this, {&count, &s.target, -1, s.body}, strict);
      return true;
    } catch (const Inexpressible&) {
      return false;
    }
  };
  if (!options.unroll && count.literal() > 1 && keep(true)) return;
  const bool bounded = !options.unroll && count.literal() > 1;
  if (unroll(s, count.literal(), bounded)) return;
  if (keep(false)) return;
  sink_.note("stage.unrolled", cat("a loop of ", count.literal(), " turns is unrolled"), here());
  unroll(s, count.literal(), false);
}

void Stager::while_loop(const ts::While& s) {
  const auto* name_expr = s.condition->as<ts::Name>();
  Heap::Turns turns(heap);
  const size_t before = graph.node_capacity(), most = before + options.max_nodes / 20;
  for (;;) {
    step();
    if (graph.node_capacity() > most)
      throw over_budget("nodes",
                        cat("a while loop whose condition stays true records more than ", most - before, " nodes"), "")
          .at(here());
    const Value condition = eval(*s.condition);
    if (const auto* p = condition.as<Poison>()) {
      if (!p->reported) fail("stage.unavailable", *p->why);
      return;
    }
    const auto known = known_bool(condition);
    if (known && !*known) return;
    const auto start = attempt();
    const ts::Pos at = pos_;
    if (known) {
      // A turn that leaves the condition known is simply run.
      block(s.body);
      const Value next = eval(*s.condition);
      if (next.is<Poison>() || known_bool(next)) {
        turns.done();
        continue;
      }
      take_back(start);
    }
    if (!name_expr || name_expr->slot < 0) fail("stage.loop", "a while loop on this condition cannot be expressed");
    try {
      record_loop(*this, {nullptr, nullptr, name_expr->slot, s.body}, false);
      return;
    } catch (const Inexpressible& e) {
      pos_ = at;
      cannot(*this, e, "a while loop whose condition depends on the inputs", "");
    }
  }
}

}  // namespace cameo::staging
