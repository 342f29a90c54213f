// Graphs, bodies and local functions from their messages: names become values, old encodings canonical nodes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "frontends/onnx/attributes.h"
#include "ops/on.h"
#include "ops/revision.h"
#include "ops/versions.h"
#include "support/error.h"
#include "support/name_table.h"

namespace cameo::onnx {

using Opsets = std::map<std::string, int64_t>;

class GraphReader {
 public:
  // With `sorting`, nodes are brought into order before they are read.
  GraphReader(Graph& graph, TensorSource& source, DiagSink& diags, bool sorting = false)
      : g_(graph), source_(source), diags_(diags), types_(graph.dims()), sorting_(sorting) {}

  // Calls of these are opaque, whatever their name is.
  void declare_function(std::string_view domain, std::string_view name) { functions_.emplace(domain, name); }
  void read_main(const GraphProto& proto, const Opsets& opsets);
  void read_function(const FunctionProto& proto, LocalFunction& out);

 private:
  struct Scope {
    RegionId region;
    const Scope* parent = nullptr;
    NameTable<ValueId> values;
    NameTable<const ValueInfoProto*> infos;
    const std::vector<pb::Field>* nodes = nullptr;
    std::unordered_set<std::string_view> later;  // outputs of all nodes, filled when a name is missing
  };
  struct BodyField {
    std::string name;
    pb::Field field;
    bool list;
  };
  // Where a finding is; turned into words only when there is one.
  struct Place {
    const NodeProto* node = nullptr;
    std::string_view name{};
  };

  void read_graph(const GraphProto& proto, Scope& scope);
  void read_inputs(const std::vector<ValueInfoProto>& inputs, Scope& scope);
  void read_initializers(const GraphProto& proto, Scope& scope);
  void read_initializer(const TensorProto& t, Scope& scope);
  void read_sparse_initializer(const SparseTensorProto& t, Scope& scope);
  void read_outputs(const std::vector<std::string_view>& names, Scope& scope);
  void read_nodes(const std::vector<pb::Field>& nodes, Scope& scope);

  void read_node(const NodeProto& p, Scope& scope);
  void collect_attributes(const NodeProto& p, NamedAttrs& attrs, std::vector<BodyField>& bodies);
  const OpDef* operator_of(const NodeProto& p, std::string_view domain, int64_t version);
  int64_t imported_version(std::string_view domain);  // 0 when the file does not import it
  // What came of a message: the canonical node; none when the upgrade replaced it by the values in `replacement`.
  struct Made {
    NodeId node, body_owner;  // the node that takes the bodies: itself, or one that the upgrade made
    std::vector<ValueId> replacement;
    bool verbatim = false;  // nothing had to be upgraded
  };
  Made canonical(const NodeProto& p, const OpDef* op, int64_t opset, EncodedNode&& encoded, Scope& scope);
  Made upgraded(const NodeProto& p, const OpDef* op, int64_t opset, EncodedNode&& encoded, Scope& scope);
  const OpDef* upgrade(Upgrade& u, const OpDef* op, int64_t opset, const Place& where);
  NodeId add_known(const OpDef& op, EncodedNode&& encoded, RegionId region, const Place& where);
  NodeId add_opaque(const NodeProto& p, EncodedNode&& encoded, RegionId region);
  void read_bodies(NodeId n, const std::vector<BodyField>& bodies, Scope& scope, const Place& where);
  void check_bodies(NodeId n, const Place& where);
  void name_outputs(const NodeProto& p, NodeId n, const std::vector<ValueId>& replacement, uint32_t first_node,
                    Scope& scope);
  void keep_origin(const NodeProto& p, RegionId region, uint32_t first_node, uint32_t first_value, int64_t opset,
                   bool verbatim);
  void infer_operands(std::span<const ValueId> values);

  void define(std::string_view name, ValueId v, Scope& scope, const Place& where);
  ValueId resolve(std::string_view name, Scope& scope, const Place& where);
  static const ValueId* find(std::string_view name, const Scope& scope);  // none inside: its node is in error
  void describe_value(ValueId v, const ValueInfoProto& info);
  std::optional<int64_t> version_of(std::string_view domain, const Place& where);
  Loc loc(const Place& place) const;

  Graph& g_;
  TensorSource& source_;
  DiagSink& diags_;
  TypeReader types_;
  bool sorting_;
  const Opsets* opsets_ = nullptr;
  std::set<std::pair<std::string_view, std::string_view>> functions_;
  std::set<std::string, std::less<>> warned_domains_;
  std::vector<bool> inferred_;  // by node
  struct {
    const Opsets* opsets = nullptr;
    std::string domain;
    int64_t imported = 0;
    std::optional<int64_t> understood;
  } last_;  // the domain of the node before: nearly always this one's
};

}  // namespace cameo::onnx
