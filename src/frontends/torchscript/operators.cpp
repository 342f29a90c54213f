#include "frontends/torchscript/operators.h"

#include <map>

namespace cameo::torchscript {

namespace {

class Counter {
 public:
  std::map<std::string, size_t> counts;

  void block(Block b) {
    for (const Stmt* s : b) statement(*s);
  }

 private:
  void statement(const Stmt& s) {
    if (const auto* x = s.as<Assign>()) exprs(x->values);
    else if (const auto* a = s.as<SetAttribute>()) expr(a->object), expr(a->value);
    else if (const auto* e = s.as<ExprStmt>()) expr(e->value);
    else if (const auto* i = s.as<If>()) expr(i->condition), block(i->then_block), block(i->else_block);
    else if (const auto* f = s.as<For>()) expr(f->count), block(f->body);
    else if (const auto* w = s.as<While>()) expr(w->condition), block(w->body);
    else if (const auto* c = s.as<With>()) expr(c->context), block(c->body);
    else if (const auto* r = s.as<Return>()) expr(r->value);
    else if (const auto* d = s.as<Closure>()) block(d->function->body);
  }

  void exprs(Exprs list) {
    for (const Expr* e : list) expr(e);
  }

  void expr(const Expr* e) {
    if (!e) return;
    if (const auto* a = e->as<Attribute>()) expr(a->object);
    else if (const auto* i = e->as<Index>()) expr(i->object), expr(i->index);
    else if (const auto* s = e->as<Slice>()) expr(s->object), expr(s->first), expr(s->last);
    else if (const auto* c = e->as<Call>()) call(*c);
    else if (const auto* t = e->as<TupleLiteral>()) exprs(t->items);
    else if (const auto* l = e->as<ListLiteral>()) exprs(l->items);
    else if (const auto* d = e->as<DictLiteral>()) exprs(d->keys), exprs(d->values);
    else if (const auto* n = e->as<Annotate>()) expr(n->value);
    else if (const auto* u = e->as<UncheckedCast>()) expr(u->value);
    else if (const auto* q = e->as<IsInstance>()) expr(q->value);
  }

  void call(const Call& c) {
    if (const auto* op = c.callee->as<OpName>()) ++counts[cat(op->ns, "::", op->name)];
    else expr(c.callee);
    exprs(c.args);
    for (const Keyword& k : c.keywords) expr(k.value);
  }
};

}  // namespace

std::vector<OperatorCount> operators(Program& program) {
  Counter counter;
  for (const SourceFile* file : program.all_sources()) {
    for (const FunctionDef* f : file->functions) counter.block(f->body);
    for (const ClassDef* c : file->classes)
      for (const FunctionDef* f : c->methods) counter.block(f->body);
  }
  std::vector<OperatorCount> out;
  for (const auto& [name, count] : counter.counts) out.push_back({name, count});
  return out;
}

}  // namespace cameo::torchscript
