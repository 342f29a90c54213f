// Statements and expressions of the printed language.
#include <algorithm>
#include <limits>

#include "staging/joins/staged_list.h"
#include "staging/machine/stager.h"
#include "support/budget.h"

namespace cameo::staging {

Stager::Stager(ts::Program& p, Model& m, const StageOptions& o, DiagSink& sink)
    : program(p),
      model(m),
      graph(m.graph),
      options(o),
      heap(journals),
      on(m.graph, m.graph.main()),
      conditions(journals, *this),
      missing(journals),
      told(journals),
      sink_(sink),
      recording_(journals, m.graph, on),
      notes_(journals, sink),
      generation_(journals),
      calls_(journals),
      objects_(journals),
      stored_(journals),
      tensors_(journals),
      quantized_(journals),
      checks_(journals) {
  if (p.has_root()) name_parameters(p.root(), "");
  on.on_note = [this](std::string_view code, std::string what) {
    sink_.note(std::string(code), std::move(what), here());
  };
  on.on_node = [this](NodeId n) {
    if (graph.node_capacity() > options.max_nodes)
      fail("budget.nodes", cat("more than ", options.max_nodes, " nodes were recorded"));
    const std::string base = scope().empty() ? std::string(graph[n].op->name) : cat(scope(), "/", graph[n].op->name);
    const size_t number = node_numbers_[base]++;
    graph.set_name(n, number ? cat(base, "_", number) : base);
    auto notes = std::make_shared<NodeNotes>();
    notes->where = here();
    graph.set_notes(n, std::move(notes));
    if (observer_) observer_(n, lowering_, pos_);
  };
  on.fold = options.fold;
  on.may_guess = options.assume;
}

void Stager::fail_as_raised(const Raised& r) const {
  fail("stage.raise", cat("the model raises an exception with these inputs: ", r.message),
       "check the shapes and values given with --input");
}

Value Stager::run(const ts::FunctionDef& method, std::vector<Value> args) {
  args.insert(args.begin(), root_object());
  try {
    return call_function(method, std::move(args));
  } catch (const Raised& r) {
    fail_as_raised(r);
  }
}

void Stager::place(Loc where) { placed_ = std::move(where); }

const std::string& Stager::scope() const {
  static const std::string root;
  return placed_ ? placed_->scope : calls_.empty() ? root : calls_.back().scope;
}

Loc Stager::here() const {
  if (placed_) return *placed_;
  Loc loc = program.locate(pos_);
  loc.scope = scope();
  return loc;
}

void Stager::fail(std::string_view code, std::string what, std::string hint) const {
  Error e = error(code, std::move(what)).at(here()).help(std::move(hint));
  if (const std::string line = user_line(e.diag().where); !line.empty())
    e.diag().notes.push_back({cat("written at ", line), {}});
  throw e;
}

// While it lives, a function of the program runs.
class Stager::Entered {
 public:
  Entered(Stager& s, Call call) : s_(s), caller_(s.pos_), depth_(s.calls_.size()), wanted_(s, 1) {
    s.calls_.push(std::move(call));
  }
  ~Entered() {
    s_.calls_.rewind(depth_);
    s_.pos_ = caller_;
  }
  Entered(const Entered&) = delete;

 private:
  Stager& s_;
  ts::Pos caller_;
  size_t depth_;
  ResultsWanted wanted_;
};

Value Stager::call_function(const ts::FunctionDef& f, std::vector<Value> args) {
  if (calls_.size() >= options.max_depth)
    fail("budget.depth", cat("calls are nested more than ", options.max_depth, " deep"));
  if (args.size() > f.params.size())
    fail("stage.arguments",
         cat(f.qualified_name, " takes ", f.params.size(), " arguments, ", args.size(), " were given"));
  FrameCell frame;
  frame.locals.resize(f.locals.size());
  frame.assigned.resize(f.locals.size(), false);
  for (size_t i = 0; i < f.params.size(); ++i) {
    if (i >= args.size() && !f.params[i].default_value)
      fail("stage.arguments", cat(f.qualified_name, ": argument '", f.params[i].name, "' is missing"));
    frame.locals[i] = i < args.size() ? std::move(args[i]) : eval(*f.params[i].default_value);
    frame.assigned[i] = true;
  }
  std::string path = scope();
  if (!f.params.empty())
    if (const auto* self = frame.locals[0].as<ObjectRef>(); self && f.owner)
      path = heap.get<ObjectCell>(self->cell).path;
  const Entered entered(*this, {heap.add(std::move(frame)), &f, std::move(path)});
  const auto result = block(f.body);
  return result ? *result : Value();
}

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

void Stager::step() {
  checkpoint();
  const size_t most = options.max_steps ? options.max_steps : limits().steps;
  if (++steps_ > most)
    fail("budget.steps", cat("more than ", most, " steps were run to export this program"),
         "--max-steps raises this limit");
}

void Stager::need_text(size_t bytes) const {
  if (bytes > options.max_text) fail("budget.text", cat("a string has more than ", options.max_text >> 20, " MiB"));
}

std::optional<Value> Stager::block(ts::Block statements) {
  for (size_t i = 0; i < statements.size(); ++i) {
    const ts::Stmt* s = statements[i];
    on.unpacked = names_for(statements, i);
    pos_ = s->pos;
    step();
    if (const auto* r = s->as<ts::Return>()) return r->value ? eval(*r->value) : Value();
    statement(*s);
  }
  return std::nullopt;
}

void Stager::statement(const ts::Stmt& s) {
  switch (s.kind) {
    case ts::StmtKind::assign: return assign(*s.as<ts::Assign>());
    case ts::StmtKind::set_attribute: {
      const auto& set = *s.as<ts::SetAttribute>();
      const Value object = eval(*set.object);
      Value v = eval(*set.value);
      const auto* ref = object.as<ObjectRef>();
      if (!ref) fail("stage.attribute", cat("an attribute of ", object.kind(), " cannot be set"));
      auto& attributes = heap.write<ObjectCell>(ref->cell).attributes;
      for (auto& [key, old] : attributes)
        if (key == set.name) {
          old = std::move(v);
          return;
        }
      attributes.emplace_back(set.name, std::move(v));
      return;
    }
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

void Stager::store(const ts::Target& t, Value v) {
  auto& frame = heap.write<FrameCell>(calls_.back().frame);
  frame.locals[static_cast<size_t>(t.slot)] = std::move(v);
  frame.assigned[static_cast<size_t>(t.slot)] = true;
}

void Stager::assign(const ts::Assign& a) {
  switch (a.form) {
    case ts::AssignForm::single: return store(a.targets[0], eval(*a.values[0]));
    case ts::AssignForm::parallel: {
      auto values = eval_all(a.values);
      for (size_t i = 0; i < values.size(); ++i) store(a.targets[i], std::move(values[i]));
      return;
    }
    case ts::AssignForm::results:
    case ts::AssignForm::unpack: {
      const ResultsWanted wanted(*this, a.form == ts::AssignForm::results ? a.targets.size() : 1);
      const Value all = eval(*a.values[0]);
      auto parts = unpack(all, a.targets.size());
      for (size_t i = 0; i < parts.size(); ++i) store(a.targets[i], std::move(parts[i]));
      return;
    }
  }
}

std::vector<Value> Stager::unpack(const Value& v, size_t count) {
  if (v.is<Poison>() || v.is<Uninitialized>()) return std::vector<Value>(count, v);
  if (const StagedList* l = staged_of(*this, v)) {
    const StagedList list = *l;
    std::vector<Value> out;
    for (size_t i = 0; i < count; ++i) out.push_back(element_at(*this, list, Dim(static_cast<int64_t>(i))));
    return out;
  }
  const auto& parts = items(v);
  if (parts.size() != count) fail("stage.unpack", cat(count, " values are needed, and there are ", parts.size()));
  return parts;
}

const std::vector<Value>& Stager::items(const Value& v) const {
  if (const auto* l = v.as<ListRef>()) {
    const auto& cell = heap.get<ListCell>(l->cell);
    if (cell.poison) fail("stage.unavailable", *cell.poison);
    if (cell.staged)
      fail("stage.list-length", "the length of this list depends on the inputs, and must be known here",
           "give the sizes it depends on as numbers");
    return cell.items;
  }
  if (const auto* t = v.as<Tuple>()) return *t->items;
  if (const auto* p = v.as<Poison>()) fail("stage.unavailable", *p->why);
  fail("stage.type", cat("a list or tuple is needed where ", v.kind(), " is"));
}

void Stager::if_else(const ts::If& s) {
  const Value condition = eval(*s.condition);
  if (const auto known = known_bool(condition)) {
    block(*known ? s.then_block : s.else_block);
    return;
  }
  branch_on(condition, s);
}

std::vector<Value> Stager::eval_all(ts::Exprs list) {
  std::vector<Value> out;
  out.reserve(list.size());
  for (const ts::Expr* e : list) out.push_back(eval(*e));
  return out;
}

namespace {

// Constants without axes are literals: they do not take part in promotion as tensors do.
Value constant_of(Stager& s, const ts::ConstantRef& c) {
  Value v = s.from_stored(s.program.constant(c.index));
  if (auto* t = std::get_if<TensorRef>(&v.data);
      t && s.graph[s.read(*t).id].fact.has_rank() && s.graph[s.read(*t).id].fact.rank() == 0)
    t->literal = true;
  return v;
}

Value global_of(Stager& s, const ts::GlobalName& g) {
  const ts::Resolved r = s.program.resolve(g.name);
  if (r.function) return Value(FunctionRef{r.function});
  if (r.cls && r.cls->kind == ts::ClassKind::enumeration)
    if (const auto* item = r.cls->item(r.rest)) return Value(Enum{r.cls, item});
  s.fail("stage.name", cat("'", g.name, "' is not known in the archive"));
}

}  // namespace

Value Stager::tuple_slice(const ts::Slice& s) {
  const auto all = items(eval(*s.object));
  const auto n = static_cast<int64_t>(all.size());
  const auto bound = [&](const ts::Expr* at, int64_t otherwise) {
    const Dim given = at ? int_from(eval(*at)) : Dim(otherwise);
    if (!given.is_literal()) fail("stage.index", "a tuple is cut at a place that depends on the inputs");
    const int64_t v = given.literal();
    return std::clamp<int64_t>(v < 0 ? v + n : v, 0, n);
  };
  const int64_t first = bound(s.first, 0), last = std::max(first, bound(s.last, n));
  return Value::tuple(std::vector<Value>(all.begin() + first, all.begin() + last));
}

Value Stager::dict_literal(const ts::DictLiteral& d) {
  std::vector<std::pair<Value, Value>> entries;
  for (size_t i = 0; i < d.keys.size(); ++i) {
    Value key = eval(*d.keys[i]);
    entries.emplace_back(std::move(key), eval(*d.values[i]));
  }
  return dict(std::move(entries));
}

Value Stager::eval(const ts::Expr& e) {
  switch (e.kind) {
    case ts::ExprKind::integer: return Dim(e.as<ts::IntegerLiteral>()->value);
    case ts::ExprKind::floating: return e.as<ts::FloatLiteral>()->value;
    case ts::ExprKind::complex:
      return std::complex<double>(e.as<ts::ComplexLiteral>()->real, e.as<ts::ComplexLiteral>()->imaginary);
    case ts::ExprKind::string: return std::string(e.as<ts::StringLiteral>()->value);
    case ts::ExprKind::boolean: return e.as<ts::BoolLiteral>()->value;
    case ts::ExprKind::none: return Value();
    case ts::ExprKind::name: return name(*e.as<ts::Name>());
    case ts::ExprKind::constant: return constant_of(*this, *e.as<ts::ConstantRef>());
    case ts::ExprKind::global: return global_of(*this, *e.as<ts::GlobalName>());
    case ts::ExprKind::op: fail("stage.name", "an operator can only be called");
    case ts::ExprKind::attribute: return attribute(eval(*e.as<ts::Attribute>()->object), e.as<ts::Attribute>()->name);
    case ts::ExprKind::index: {
      const Value object = eval(*e.as<ts::Index>()->object);
      return index(object, eval(*e.as<ts::Index>()->index));
    }
    case ts::ExprKind::slice: return tuple_slice(*e.as<ts::Slice>());
    case ts::ExprKind::call: return call(*e.as<ts::Call>());
    case ts::ExprKind::tuple: return Value::tuple(eval_all(e.as<ts::TupleLiteral>()->items));
    case ts::ExprKind::list: return list(eval_all(e.as<ts::ListLiteral>()->items));
    case ts::ExprKind::dict: return dict_literal(*e.as<ts::DictLiteral>());
    case ts::ExprKind::annotate: return annotated(*e.as<ts::Annotate>());
    case ts::ExprKind::unchecked_cast: {
      Value v = eval(*e.as<ts::UncheckedCast>()->value);
      const auto* m = v.as<Maybe>();
      const ts::Type* t = e.as<ts::UncheckedCast>()->target;
      return m && t && !t->is(ts::TypeKind::optional) && !t->is(ts::TypeKind::none) ? Value(*m->value) : v;
    }
    case ts::ExprKind::uninitialized: return Value(Uninitialized{});
    case ts::ExprKind::isinstance: {
      const auto& i = *e.as<ts::IsInstance>();
      const Value v = eval(*i.value);
      return std::any_of(i.types.begin(), i.types.end(), [&](const ts::Type* t) { return isinstance(v, *t); });
    }
  }
  return Value();
}

Value Stager::name(const ts::Name& n) {
  if (n.slot >= 0) {
    const auto& frame = heap.get<FrameCell>(calls_.back().frame);
    if (!frame.assigned[static_cast<size_t>(n.slot)])
      fail("stage.name", cat("'", n.name, "' is used before it has a value"));
    return frame.locals[static_cast<size_t>(n.slot)];
  }
  if (n.name == "inf") return std::numeric_limits<double>::infinity();
  if (n.name == "nan") return std::numeric_limits<double>::quiet_NaN();
  fail("stage.name", cat("'", n.name, "' is not known"));
}

// The implicit conversions of an annotation: a 0-d tensor read as a number, an int literal as a float.
Value Stager::annotated(const ts::Annotate& a) {
  Value v = eval(*a.value);
  const ts::Type* t = a.target;
  while (t->is(ts::TypeKind::optional) && !v.is_none()) t = t->element();
  if (v.is<TensorRef>()) {
    if (t->is(ts::TypeKind::integer)) return int_from(v);
    if (t->is(ts::TypeKind::floating)) return float_from(v);
    if (t->is(ts::TypeKind::number)) {
      const V tensor = read(v.need<TensorRef>());
      return on.is_float(tensor) ? float_from(v) : Value(int_from(v));
    }
    if (t->is(ts::TypeKind::boolean)) return bool_from(v);
  }
  if (const auto* l = v.as<ListRef>(); l && t->is(ts::TypeKind::list) && !staged_of(*this, v) && items(v).empty()) {
    const ts::Type& element = *t->element();
    heap.write<ListCell>(l->cell).of = element.is(ts::TypeKind::integer)   ? DType::i64
                                       : element.is(ts::TypeKind::boolean) ? DType::boolean
                                                                           : DType::undefined;
  }
  if (const auto* d = v.as<Dim>(); d && t->is(ts::TypeKind::floating) && d->is_literal())
    return static_cast<double>(d->literal());
  return v;
}

}  // namespace cameo::staging
