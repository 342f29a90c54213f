// The graph: nodes, values and regions in flat arrays, addressed by typed ids. Bodies of If, Loop, Scan and of local
// functions are regions in the same arena, so a captured value is an ordinary use and use lists are complete.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cameo/diag.h"
#include "ir/dim_facts.h"
#include "ir/op_info.h"
#include "ir/tensor.h"
#include "ir/type.h"
#include "support/id.h"

namespace cameo::ir {

// What is known of a value's elements: all of them (a tensor), or ints that may be symbolic, in row-major order.
using Contents = std::variant<Tensor, std::vector<Dim>>;

// What is known of a value: its type and, where small and known, its contents.
struct Fact {
  Type type;
  std::shared_ptr<const Contents> contents;

  bool has_rank() const { return type.is_tensor() && type.has_rank(); }
  int64_t rank() const { return type.rank(); }
  DType dtype() const { return type.elem; }
  const Shape& shape() const { return *type.shape; }
  const Tensor* tensor() const { return contents ? std::get_if<Tensor>(contents.get()) : nullptr; }
  // The elements as ints, symbolic or not; nullopt when unknown or not integers.
  std::optional<std::vector<Dim>> ints() const;
};

struct Use {
  NodeId node;         // the user, or none
  RegionId region;     // set when the value is an output of that region
  uint32_t index = 0;  // operand or output number
  friend bool operator==(const Use&, const Use&) = default;
};

// What is said about a value. Anybody may change it: the graph does not depend on it.
struct ValueLabel {
  std::string name;  // may be empty: the writer then makes one
  std::shared_ptr<const std::vector<std::pair<std::string, std::string>>> metadata;
  std::string doc;
  bool synthetic = false;  // made by the reader's upgrade: written only if a node that was touched uses it
};

struct Value : ValueLabel {
  enum class Kind : uint8_t { node_output, region_input, initializer, dead };
  Kind kind = Kind::dead;
  uint32_t def_index = 0;  // output number of `def`, or input number of `home`
  NodeId def;
  RegionId home;
  Fact fact;
  std::shared_ptr<const Weight> weight;  // an initializer's data; on a region input, its default
  std::vector<Use> uses;
};

// What a node remembers of where it came from.
struct NodeNotes {
  std::string doc, overload;
  std::vector<std::pair<std::string, std::string>> metadata;
  Loc where;
};

struct Node {
  const OpInfo* op = nullptr;
  std::shared_ptr<const void> attrs;        // op->attrs_tag's struct; null for opaque operators
  std::shared_ptr<const NamedAttrs> extra;  // opaque operators' attributes; references inside local functions
  std::vector<ValueId> inputs;              // none for an absent optional input
  std::vector<ValueId> outputs;             // always valid; the name may be empty
  std::vector<RegionId> regions;            // by op->graph_attrs; none where absent. Opaque operators name theirs
                                            // by entries of `extra` without a value, in this order
  RegionId home;
  NodeId prev, next;
  uint32_t origin = UINT32_MAX;  // index into Graph::origins while untouched since it was read
  bool dead = false;
  std::string name;
  std::shared_ptr<const NodeNotes> notes;

  template <class T>
  const T* as() const {
    return op->attrs_tag == &type_tag<T> ? static_cast<const T*>(attrs.get()) : nullptr;
  }
  // ONNX's operator of that name, at a version that is understood.
  bool is(std::string_view op_name) const { return op->name == op_name && op->domain.empty() && !op->is_opaque(); }
};

// What is said about a region, and where it comes from.
struct RegionLabel {
  std::string name, doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  Bytes origin;  // the GraphProto as read
};

struct Region : RegionLabel {
  RegionId parent;  // none: the main graph, or a local function's body
  NodeId owner;
  std::vector<ValueId> inputs, outputs;
  std::vector<ValueId> initializers;
  NodeId first, last;
  bool dead = false;
};

// The bytes one NodeProto was read from. Upgrading may have made several nodes of it: they share the origin.
struct Origin {
  Bytes bytes;
  uint32_t node_count = 0;
  bool intact = true;
  bool verbatim = false;  // one node was made of it, with all the operands that it names
  int64_t opset = 0;      // the version of its domain that the bytes are written in
};

struct GraphMark {
  uint32_t nodes, values, regions;
  size_t facts;
};

class Graph {
 public:
  Graph();
  Graph(const Graph&) = default;  // dims stay shared
  Graph(Graph&&) = default;
  Graph& operator=(const Graph&) = default;
  Graph& operator=(Graph&&) = default;
  Graph empty_like() const;  // without nodes and values, over the same dims and facts

  RegionId main() const { return RegionId(0); }
  DimContext& dims() const { return *dims_; }
  DimFacts facts;

  const Node& operator[](NodeId n) const { return nodes_[n.index]; }
  const Value& operator[](ValueId v) const { return values_[v.index]; }
  const Region& operator[](RegionId r) const { return regions_[r.index]; }
  uint32_t node_capacity() const { return static_cast<uint32_t>(nodes_.size()); }  // ids below this are in use or dead
  uint32_t value_capacity() const { return static_cast<uint32_t>(values_.size()); }
  uint32_t region_capacity() const { return static_cast<uint32_t>(regions_.size()); }

  // Building. Names need not be unique or present: the writer makes them so.
  void reserve(size_t nodes, size_t values);  // memory for so many more
  RegionId add_region(RegionId parent, NodeId owner = {});
  ValueId add_input(RegionId region, std::string name, Type type);
  ValueId add_initializer(RegionId region, std::string name, std::shared_ptr<const Weight> weight);
  ValueId add_constant(const Tensor& t, std::string name = "", RegionId region = RegionId(0));  // an initializer
  // Appends to `region`, or inserts before `before` when that is valid. The outputs are fresh values of unknown type.
  // Precondition: `attrs` is the operator's struct (null: its defaults).
  NodeId add_node(RegionId region, const OpInfo& op, std::shared_ptr<const void> attrs, std::vector<ValueId> inputs,
                  size_t outputs = 1, NodeId before = {});
  // Binds region number `i` of a node. The region's owner and parent become the node and its home.
  void set_region(NodeId n, size_t i, RegionId r);

  // Changing. Each clears the origin of the nodes it touches.
  void set_input(NodeId n, size_t i, ValueId v);  // grows the operand list when needed
  void set_inputs(NodeId n, std::vector<ValueId> inputs);
  ValueId add_output(NodeId n);
  void drop_last_output(NodeId n);  // precondition: it has no uses
  void set_attrs(NodeId n, std::shared_ptr<const void> attrs);
  void set_op(NodeId n, const OpInfo& op, std::shared_ptr<const void> attrs);
  void set_extra(NodeId n, NamedAttrs extra);
  void set_region_outputs(RegionId r, std::vector<ValueId> outputs);
  void remove_region_input(RegionId r, size_t i);               // precondition: it has no uses
  void reorder_inputs(RegionId r, std::vector<ValueId> order);  // precondition: the same inputs
  void promote_to_initializer(ValueId v);  // an input with a default: nobody can give another value any more
  void set_weight(ValueId v, std::shared_ptr<const Weight> weight);  // of an initializer, or an input's default
  void replace_uses(ValueId old, ValueId replacement);
  void rename(ValueId v, std::string name);
  void rename(NodeId n, std::string name);
  void erase(NodeId n);               // precondition: no output is used; its regions die with it
  void erase_initializer(ValueId v);  // precondition: no uses
  void kill_region(RegionId r);  // with all that is in it; precondition: no node holds it, or that one dies with it
  void move_before(NodeId n, NodeId before);  // within any region; none appends to n's region
  void touch(NodeId n);                       // forget the bytes it was read from, and its owners'

  // Facts, labels and notes: these do not touch origins.
  Fact& fact(ValueId v) { return values_[v.index].fact; }
  ValueLabel& label(ValueId v) { return values_[v.index]; }
  RegionLabel& label(RegionId r) { return regions_[r.index]; }
  void set_notes(NodeId n, std::shared_ptr<const NodeNotes> notes) { nodes_[n.index].notes = std::move(notes); }
  void set_name(NodeId n, std::string name) { nodes_[n.index].name = std::move(name); }
  void set_origin(NodeId n, uint32_t origin);
  std::vector<Origin>& origins() { return origins_; }
  const std::vector<Origin>& origins() const { return origins_; }

  // Questions.
  ValueId input(NodeId n, size_t i) const;  // none when absent
  bool used(ValueId v) const { return !values_[v.index].uses.empty(); }
  // The dense contents when they can never differ at run time: an initializer that is not an input, or a Constant's.
  // Weights over `budget_bytes` give nullopt.
  std::optional<Tensor> constant(ValueId v, uint64_t budget_bytes = UINT64_MAX) const;
  bool is_constant(ValueId v) const;
  bool is_inside(RegionId inner, RegionId outer) const;  // the same counts

  // Iteration in order: for (NodeId n : graph.nodes(region)). Erasing the current node is allowed.
  class NodeRange {
   public:
    class iterator {
     public:
      iterator(const Graph* g, NodeId n) : g_(g), n_(n), next_(n ? (*g)[n].next : NodeId()) {}
      NodeId operator*() const { return n_; }
      iterator& operator++() {
        n_ = next_;
        next_ = n_ ? (*g_)[n_].next : NodeId();
        return *this;
      }
      bool operator!=(const iterator& o) const { return n_ != o.n_; }

     private:
      const Graph* g_;
      NodeId n_, next_;
    };
    NodeRange(const Graph* g, RegionId r) : g_(g), r_(r) {}
    iterator begin() const { return {g_, (*g_)[r_].first}; }
    iterator end() const { return {g_, NodeId()}; }

   private:
    const Graph* g_;
    RegionId r_;
  };
  NodeRange nodes(RegionId r) const { return {this, r}; }
  size_t node_count() const;  // living nodes, bodies and functions included

  // Staging backs out of attempts: everything added since the mark goes. Precondition: nothing older was changed
  // except by gaining uses and by nodes appended to its regions.
  GraphMark mark() const;
  void rollback(const GraphMark& m);

 private:
  void link(NodeId n, RegionId region, NodeId before);
  void unlink(NodeId n);
  void drop_use(ValueId v, const Use& use);

  std::shared_ptr<DimContext> dims_;
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<Region> regions_;
  std::vector<Origin> origins_;
};

struct LocalFunction {
  std::string domain, name, overload, doc;
  std::vector<std::string> attributes;  // without defaults
  NamedAttrs attribute_defaults;
  std::map<std::string, int64_t> opsets;
  std::vector<std::pair<std::string, std::string>> metadata;
  RegionId body;  // its inputs and outputs are the formal parameters
};

// A model: a graph and what a file says around it.
struct Model {
  Graph graph;
  std::vector<LocalFunction> functions;
  std::map<std::string, int64_t> opsets;  // as read or as asked for; "" is ai.onnx
  int64_t ir_version = 0;
  std::string producer_name, producer_version, domain, doc;
  int64_t model_version = 0;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string path;  // where it was read from; external data lie beside it
  std::vector<Bytes>
      kept;  // whole fields of the file that Cameo does not interpret: training info, device configurations
};

}  // namespace cameo::ir
