// The interpreter of TorchScript: statements, expressions, functions, classes, loops and branches, run on the machine.
#pragma once

#include "frontends/torchscript/program.h"
#include "staging/joins/leaves.h"
#include "staging/machine/interpreter.h"
#include "staging/machine/machine.h"
#include "staging/script/stored.h"

namespace cameo::staging {

class ScriptInterpreter final : public Interpreter {
 public:
  ScriptInterpreter(ts::Program& program, Machine& machine);
  ScriptInterpreter(const ScriptInterpreter&) = delete;

  // Calls a method of the root module. Throws on errors; missing operators are collected by the machine.
  Value run(const ts::FunctionDef& method, std::vector<Value> args);
  Value root_object() { return stored.from(program.root()); }
  Value default_value(const ts::Param& p) { return eval(*p.default_value); }
  Value call_method(const Value& object, std::string_view name, std::vector<Value> args);
  Value eval(const ts::Expr& e);
  Value item_of(const ts::ClassDef& cls, const ts::EnumItem& item);  // of an enum
  ts::Pos position() const { return pos_; }

  Loc here() const override;
  const std::string& scope() const override;
  std::string user_line(const Loc& where) const override;
  void upgrade(std::string_view op, CallArgs& args) override;
  std::string_view field_name(const Tuple& t, size_t field) const override;

  ts::Program& program;
  Machine& machine;
  StoredValues stored;

 private:
  struct Call {
    CellId frame;
    const ts::FunctionDef* function;
    std::string scope;  // module path
  };
  class Entered;

  // Statements (statements.cpp, loops.cpp).
  std::optional<Value> block(ts::Block statements);
  void statement(const ts::Stmt& s);
  void assign(const ts::Assign& a);
  void set_attribute(const ts::SetAttribute& set);
  void store(const ts::Target& t, Value v);
  void if_else(const ts::If& s);
  void branch_on(const Value& condition, const ts::If& s);
  void for_range(const ts::For& s);
  bool unroll(const ts::For& s, int64_t count, bool bounded);  // false: too many nodes, everything taken back
  void while_loop(const ts::While& s);
  Leaf local(int32_t slot) const;
  // Expressions (expressions.cpp, objects.cpp).
  std::vector<Value> eval_all(ts::Exprs list);
  Value name(const ts::Name& n);
  Value constant(const ts::ConstantRef& c);
  Value global(const ts::GlobalName& g);
  Value tuple_slice(const ts::Slice& s);
  Value dict_literal(const ts::DictLiteral& d);
  Value annotated(const ts::Annotate& a);
  Value attribute(const Value& object, std::string_view name);
  Value index(const Value& object, const Value& at);
  Value module_at(const Value& container, const Value& at);
  bool isinstance(const Value& v, const ts::Type& t);
  // Calls (objects.cpp).
  Value call(const ts::Call& c);
  Value call_function(const ts::FunctionDef& f, std::vector<Value> args);
  Value call_global(const ts::Call& c, std::string_view name);
  Value call_builtin(std::string_view name, const ts::Call& c);
  Value construct(const ts::ClassDef& cls, const ts::Call& c, std::string_view rest);

  UndoStack<Call> calls_;
  ts::Pos pos_;
};

}  // namespace cameo::staging
