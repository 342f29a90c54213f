// The walk of `check_onnx` over a file's messages: one finding per broken rule, without stopping.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "frontends/onnx/attributes.h"
#include "ops/op_def.h"
#include "support/error.h"

namespace cameo::onnx {

// Types that inference found, by name; nothing where values of one name have different types.
using TypesByName = std::unordered_map<std::string, std::optional<Type>>;

class Checker {
 public:
  Checker(TensorSource& source, const TypesByName& types, DiagSink& diags, bool strict)
      : source_(source), types_(types), diags_(diags), strict_(strict) {}

  void model(const ModelProto& m);

 private:
  using Opsets = std::map<std::string, int64_t, std::less<>>;
  struct Scope {
    const Scope* parent = nullptr;
    std::unordered_set<std::string_view> names;
    std::unordered_set<std::string_view> later;  // what the graph's nodes compute, for telling disorder from absence
    bool has(std::string_view name) const;
  };
  struct FunctionId {
    std::string_view domain, name, overload;
    auto operator<=>(const FunctionId&) const = default;
  };

  // checker_graph.cpp
  void header(const ModelProto& m);
  Opsets imports(const std::vector<OpsetProto>& list, const std::string& who);
  void graph(const GraphProto& g, const Scope* parent, const std::string& what);
  void value_info(const ValueInfoProto& v, bool main, const std::string& what);
  void initializers(const GraphProto& g, Scope& scope, const std::vector<ValueInfoProto>& inputs);
  void nodes(const std::vector<pb::Field>& fields, Scope& scope);
  void function(const FunctionProto& f);
  void function_versions(const FunctionProto& f, const Opsets& own);
  void function_cycles(const std::vector<std::unique_ptr<FunctionProto>>& functions);

  // checker_node.cpp
  void node(const NodeProto& n, const Scope& scope);
  void against_schema(const NodeProto& n, const OpDef& op, int64_t version);
  void arity(const NodeProto& n, const SchemaVersion& s);
  void schema_attributes(const NodeProto& n, const SchemaVersion& s);
  void operand_types(const NodeProto& n, const SchemaVersion& s);
  void attribute(const NodeProto& n, const AttributeProto& a, const Scope& scope);
  void body_outputs(const NodeProto& n, const GraphProto& body);
  const Type* type_of(std::string_view name) const;

  // checker_tensor.cpp
  void tensor(const TensorProto& t, const Loc& where);
  void sparse_tensor(const SparseTensorProto& t, const Loc& where);
  void sparse_contents(const SparseTensor& t, const Loc& where);

  Diag& err(std::string_view code, std::string what, const Loc& where) {
    return diags_.err(code, std::move(what), where);
  }
  // Against the rules, but onnx.checker and the engines take it.
  Diag& accepted(std::string_view code, std::string what, const Loc& where) {
    return strict_ ? err(code, std::move(what), where) : diags_.warn(code, std::move(what), where);
  }
  Loc at(const NodeProto& n) const;
  Loc at(std::string_view scope) const { return {.file = source_.path, .scope = std::string(scope)}; }

  TensorSource& source_;
  const TypesByName& types_;
  DiagSink& diags_;
  bool strict_;
  int64_t ir_version_ = 0;
  Opsets model_opsets_;
  const Opsets* opsets_ = nullptr;
  std::set<FunctionId> functions_;
  const FunctionProto* inside_ = nullptr;  // the local function being walked
};

}  // namespace cameo::onnx
