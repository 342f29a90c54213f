// Statements of the printed language.
#include <algorithm>

#include "staging/joins/branch.h"
#include "staging/joins/truth.h"
#include "staging/script/interpreter.h"

namespace cameo::staging {

namespace {
// Into how many names a statement's value goes, here or in the statement after it: _0 = f(x); a, b, = _0
std::optional<int64_t> names_for(ts::Block statements, size_t i) {
  const auto* a = statements[i]->as<ts::Assign>();
  if (!a || a->form == ts::AssignForm::parallel) return std::nullopt;
  if (a->form != ts::AssignForm::single) return static_cast<int64_t>(a->targets.size());
  const auto* next = i + 1 < statements.size() ? statements[i + 1]->as<ts::Assign>() : nullptr;
  if (!next || next->form != ts::AssignForm::unpack) return std::nullopt;
  const auto* name = next->values[0]->as<ts::Name>();
  return name && name->slot == a->targets[0].slot ? std::optional(static_cast<int64_t>(next->targets.size()))
                                                  : std::nullopt;
}
}  // namespace

std::optional<Value> ScriptInterpreter::block(ts::Block statements) {
  for (size_t i = 0; i < statements.size(); ++i) {
    const ts::Stmt* s = statements[i];
    machine.on.unpacked = names_for(statements, i);
    pos_ = s->pos;
    machine.step();
    if (const auto* r = s->as<ts::Return>()) return r->value ? eval(*r->value) : Value();
    statement(*s);
  }
  return std::nullopt;
}

void ScriptInterpreter::statement(const ts::Stmt& s) {
  switch (s.kind) {
    case ts::StmtKind::assign: return assign(*s.as<ts::Assign>());
    case ts::StmtKind::set_attribute: return set_attribute(*s.as<ts::SetAttribute>());
    case ts::StmtKind::expression: eval(*s.as<ts::ExprStmt>()->value); return;
    case ts::StmtKind::if_else: return if_else(*s.as<ts::If>());
    case ts::StmtKind::for_range: return for_range(*s.as<ts::For>());
    case ts::StmtKind::while_loop: return while_loop(*s.as<ts::While>());
    case ts::StmtKind::with_block: {
      // no_grad, record_function and their like: nothing for inference; __enter__ may still give a value.
      const auto& with = *s.as<ts::With>();
      const Value context = eval(*with.context);
      if (with.target) store(*with.target, context);
      block(with.body);
      return;
    }
    case ts::StmtKind::closure: {
      const auto& c = *s.as<ts::Closure>();
      return store(c.target, Value(ClosureRef{c.function}));
    }
    case ts::StmtKind::return_value:
    case ts::StmtKind::pass: return;
  }
}

void ScriptInterpreter::set_attribute(const ts::SetAttribute& set) {
  const Value object = eval(*set.object);
  Value v = eval(*set.value);
  const auto* ref = object.as<ObjectRef>();
  if (!ref) machine.fail("stage.attribute", cat("an attribute of ", object.kind(), " cannot be set"));
  auto& attributes = machine.heap.write<ObjectCell>(ref->cell).attributes;
  const auto old =
      std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == set.name; });
  if (old != attributes.end()) old->second = std::move(v);
  else attributes.emplace_back(set.name, std::move(v));
}

void ScriptInterpreter::store(const ts::Target& t, Value v) {
  auto& frame = machine.heap.write<FrameCell>(calls_.back().frame);
  frame.locals[static_cast<size_t>(t.slot)] = std::move(v);
  frame.assigned[static_cast<size_t>(t.slot)] = true;
}

Leaf ScriptInterpreter::local(int32_t slot) const { return {calls_.back().frame, static_cast<size_t>(slot)}; }

void ScriptInterpreter::assign(const ts::Assign& a) {
  switch (a.form) {
    case ts::AssignForm::single: return store(a.targets[0], eval(*a.values[0]));
    case ts::AssignForm::parallel: {
      auto values = eval_all(a.values);
      for (size_t i = 0; i < values.size(); ++i) store(a.targets[i], std::move(values[i]));
      return;
    }
    case ts::AssignForm::results:
    case ts::AssignForm::unpack: {
      // An operator without a signature gives as many results, or a list of as many, as there are names for.
      const auto* call = a.values[0]->as<ts::Call>();
      const bool op = call && call->callee->kind == ts::ExprKind::op;
      const Machine::ResultsWanted wanted(machine, op ? a.targets.size() : 1);
      const Value all = eval(*a.values[0]);
      const bool alone = op && a.targets.size() == 1 && all.is<TensorRef>();
      auto parts = alone ? std::vector<Value>{all} : machine.unpack(all, a.targets.size());
      for (size_t i = 0; i < parts.size(); ++i) store(a.targets[i], std::move(parts[i]));
      return;
    }
  }
}

void ScriptInterpreter::if_else(const ts::If& s) {
  const Value condition = eval(*s.condition);
  if (const auto known = machine.known_bool(condition)) {
    block(*known ? s.then_block : s.else_block);
    return;
  }
  branch_on(condition, s);
}

void ScriptInterpreter::branch_on(const Value& condition, const ts::If& s) {
  const auto start = machine.attempt();
  const ts::Pos at = pos_;
  Branch branch(machine, condition);
  const auto then_raised = branch.stage(true, [&] { block(s.then_block); });
  const auto else_raised = branch.stage(false, [&] { block(s.else_block); });
  pos_ = at;
  if (then_raised && else_raised) throw *else_raised;
  if (then_raised || else_raised) {
    // The side that raises is assumed not to be taken, and its condition holds from here on.
    machine.take_back(start);
    machine.check(then_raised ? negated(machine, condition) : condition,
                  (then_raised ? then_raised : else_raised)->message);
    block(then_raised ? s.else_block : s.then_block);
    return;
  }
  if (condition.is<Poison>()) {
    machine.take_back(start);
    return branch.lose(condition.need<Poison>());
  }
  // `if n > 0: x = x.reshape(n, -1, 4)`: a number of axes cannot depend on a size.
  if (const auto special = machine.conditions.special_size(condition); special && branch.ranks_differ()) {
    machine.take_back(start);
    machine.on.where = here();
    machine.on.guess_not_equal(special->size, special->is, "a branch gives a tensor another number of axes");
    block(special->otherwise ? s.then_block : s.else_block);
    return;
  }
  branch.join();
}

}  // namespace cameo::staging
