// The interpreter of torch.export graphs: flat lists of operator calls over named values. Values, operators, mutation
// and views are the machine's; here are arguments, scalar operators, higher-order operators and the archive's metadata.
#pragma once

#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>

#include "frontends/pt2/program.h"
#include "frontends/pt2/symbols.h"
#include "staging/machine/interpreter.h"
#include "staging/machine/machine.h"

namespace cameo::staging {

// One graph's names. Nested graphs see none of their surroundings: everything is handed in.
struct NodeScope {
  json::Value graph;
  std::unordered_map<std::string_view, Value> values;
  struct Comparison {
    std::string_view op;  // "ge"
    Dim a, b;
  };
  std::unordered_map<std::string_view, Comparison> comparisons;  // of sizes, by the name of their result
};

class NodeInterpreter final : public Interpreter {
 public:
  NodeInterpreter(const pt2::Program& program, Machine& machine);
  NodeInterpreter(const NodeInterpreter&) = delete;

  Loc here() const override { return *place_; }
  const std::string& scope() const override { return place_->scope; }
  bool has_types() const override { return true; }

  void run(NodeScope& scope);
  Value argument(json::Value arg, const NodeScope& scope);  // a tagged Argument
  Value lookup(std::string_view name, const NodeScope& scope, json::Value at) const;

  // Symbols of the archive and what they are here.
  void bind_symbol(std::string_view name, Dim d) { symbols_.set(std::string(name), d); }
  std::optional<Dim> symbol(std::string_view name) const;
  std::optional<Dim> size(const pt2::SymInt& v) const;

  // How often staged types were compared with the archive's, and how often they differed (reported as warnings).
  struct Agreement {
    size_t checked = 0, dtypes = 0, sizes = 0;
  };
  const Agreement& agreement() const { return *agreement_; }

  // Whether some way leads from "torch.ops.aten.add.Tensor" or "_operator.add" to ONNX, as far as the name tells.
  static bool lowers(std::string_view target);

  Machine& s;

 private:
  using Results = std::vector<Value>;
  void run(const std::vector<json::Value>& nodes, size_t at, size_t end, NodeScope& scope);
  void node(json::Value n, NodeScope& scope);
  void place(json::Value n);
  Results call(json::Value n, NodeScope& scope);
  Results operator_call(std::string_view ns, std::string_view op, std::string_view overload, CallArgs args);
  std::optional<Results> values_without_vectors(std::string_view op, CallArgs& args);
  std::optional<Results> scalar_call(std::string_view target, json::Value n, NodeScope& scope);
  std::optional<Results> assertion(std::string_view op, const CallArgs& args, json::Value n, NodeScope& scope);
  void assume(const NodeScope::Comparison& c);
  void bind(json::Value outputs, Results results, NodeScope& scope);
  void bind_one(std::string_view name, Value v, NodeScope& scope);
  void compare_with_metadata(std::string_view name, const Value& v, NodeScope& scope);
  Value number_as_tensor(const Value& v);
  struct Target {
    std::string_view ns, op, overload;
  };
  static std::optional<Target> target_of(std::string_view text);  // "torch.ops.mylib.bump.default", its head or not
  Results unsigned_call(const Target& target, CallArgs args, size_t results);  // of what has no signature here
  Results custom_call(const Target& target, json::Value n, CallArgs args);
  bool is_foreign(V value) const;
  void type_from_metadata(V value, std::optional<DType> dtype, json::Value sizes);

  // Higher-order operators (node_control.cpp).
  struct HigherOrder {
    json::Value node;
    std::vector<json::Value> positional;  // tagged Arguments
    NodeScope& scope;
    json::Value at(size_t i) const {
      if (i >= positional.size()) node.fail(cat("operand ", i + 1, " of a higher-order operator is missing"));
      return positional[i];
    }
  };
  static bool is_dropped(std::string_view op);  // an effect that means nothing to a model: assertions, prints
  static bool takes_higher_order(std::string_view op);
  Results higher_order(std::string_view op, json::Value n, NodeScope& scope);
  Results conditional(const HigherOrder& h);
  Results while_loop(const HigherOrder& h);
  enum class Scanned { carry, map, associative };
  Results scan(const HigherOrder& h, Scanned kind);
  Results turns(const std::function<Results(Results)>& turn, const Results& start, const Results& xs,
                const Results& extra, bool give_carried);
  Results body(json::Value graph, std::vector<Value> operands);
  std::vector<Value> operands(const HigherOrder& h, size_t first);
  json::Value graph_argument(const HigherOrder& h, size_t at) const;
  size_t vmapped(const std::vector<json::Value>& nodes, size_t at, NodeScope& scope);  // (vmap.cpp)
  // Regions and custom operators (node_regions.cpp).
  Results inlined(const HigherOrder& h);
  Results autocast(const HigherOrder& h);
  Results functionalized(const HigherOrder& h);
  Results with_effects(const HigherOrder& h);
  void apply_autocast(std::string_view op, json::Value n, CallArgs& args, const NodeScope& scope);
  Value cast_float(const Value& v, DType to);

  const pt2::Program& program_;
  DiagSink& sink_;
  UndoValue<Loc> place_;  // of the node that is run now
  UndoMap<std::map<std::string, Dim, std::less<>>> symbols_;
  UndoValue<Agreement> agreement_;
  bool autocast_ = false;  // inside a region that casts
};

}  // namespace cameo::staging
