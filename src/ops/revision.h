// Versions at the borders. Inside there is one encoding; the reader upgrades older ones step by step, the writer first
// expands what the target lacks, then lowers the encoding step by step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace cameo::ops {

class On;

// A node on its way between encodings: the canonical operator's name, operands and loose attributes.
class EncodedNode {
 public:
  std::string op_type;
  std::vector<ValueId> inputs;
  size_t outputs = 1;
  NamedAttrs attrs;

  // Attributes: `take` removes what it returns; the fallback is the old schema's default.
  bool has(std::string_view attr) const { return find_attr(attrs, attr) != nullptr; }
  std::optional<int64_t> take_int(std::string_view attr);
  std::optional<float> take_float(std::string_view attr);
  std::optional<std::string> take_string(std::string_view attr);
  std::optional<std::vector<int64_t>> take_ints(std::string_view attr);
  std::optional<std::vector<float>> take_floats(std::string_view attr);
  void drop(std::string_view attr);
  void set(std::string_view attr, AttrValue value);
  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : ValueId(); }
  void set_input(size_t i, ValueId v);  // grows
  void trim_inputs();                   // drops absent inputs at the end
};

// One step up, while reading: from the encoding before `Revision::version` to the one at it.
class Upgrade : public EncodedNode {
 public:
  On& on;                             // emits canonical nodes before this one, for what one node cannot express
  int64_t opset = 0;                  // of the file
  std::vector<ValueId> replacement;   // when set, these values stand for the node's outputs and the node is dropped
  NodeId body_owner;                  // with a replacement: the node that takes the dropped node's bodies
  std::function<void(ValueId)> know;  // the reader's: infers what leads to the value, which few steps ask for
  explicit Upgrade(On& o) : on(o) {}

  ValueId constant(const Tensor& t);               // a synthetic initializer
  std::optional<Tensor> contents(size_t i) const;  // of input `i`, where they can never differ
  const Fact& fact(ValueId v) const;               // what is inferred from the nodes before; steps ask here, not `on`
  // The attribute becomes input number `i` (ints: 1-D int64; int or float: 0-d); nothing when absent.
  void attr_to_input(std::string_view attr, size_t i);
  void replace(std::vector<ValueId> values) { replacement = std::move(values); }
};

// One step down, while writing: from the encoding at `Revision::version` to the one before it.
class Downgrade : public EncodedNode {
 public:
  const Graph& graph;
  int64_t target = 0;
  std::optional<std::string> refusal;  // set: it cannot be expressed before `version`, and why
  explicit Downgrade(const Graph& g) : graph(g) {}

  const Fact& fact(ValueId v) const { return graph[v].fact; }
  // The input becomes an attribute; refuses when it is not constant. Absent inputs give no attribute.
  void input_to_ints(size_t i, std::string_view attr);
  void input_to_int(size_t i, std::string_view attr);
  void input_to_float(size_t i, std::string_view attr);
  std::optional<Tensor> constant(size_t i);  // refuses when the input is there but not constant
  void refuse(std::string why) {
    if (!refusal) refusal = std::move(why);
  }
  // Counting from the back was not allowed: the attribute (an axis, or a list of them) is rewritten for operand 0,
  // whose rank counts as `extra_rank` more. Refuses when the rank is unknown.
  void nonnegative_axes(std::string_view attr, int64_t extra_rank = 0);
  // The attribute did not exist before: fine at its default, else refused.
  void drop_default(std::string_view attr, const AttrValue& meaning_of_old);
};

struct Revision {
  int version;                         // the encoding or meaning changed at this opset of the operator's domain
  void (*up)(Upgrade&) = nullptr;      // null: the old encoding is also a new one
  void (*down)(Downgrade&) = nullptr;  // null: a node in the new encoding is also one in the old
};

enum class Exactness : uint8_t { exact, rounding, domain, approximate };

// Replaces a canonical node by equivalent canonical nodes.
class Expand {
 public:
  On& on;  // emits before the node
  const Graph& graph;
  NodeId node;
  int64_t target = 0;
  std::optional<std::string> refusal;
  std::vector<ValueId> replacement;
  bool judged =
      true;  // the node's shape rule ran; else nothing holds between its operands, and their shapes are not known

  Expand(On& o, const Graph& g, NodeId n, int64_t t) : on(o), graph(g), node(n), target(t) {}
  ValueId in(size_t i) const { return graph.input(node, i); }
  bool has(size_t i) const { return in(i).valid(); }
  const Fact& fact(size_t i) const;
  DType dtype(size_t i) const { return fact(i).dtype(); }
  size_t outputs() const { return graph[node].outputs.size(); }
  bool wants(size_t output) const;  // it has a use
  void replace(std::vector<ValueId> values) { replacement = std::move(values); }
  void refuse(std::string why) {
    if (!refusal) refusal = std::move(why);
  }
};

struct Expansion {
  int below;  // applies when the target opset is below this
  Exactness exactness;
  void (*expand)(const void* attrs, Expand& e);
  // Whether this node needs it at that target (null: always). For meanings that changed only in some cases.
  bool (*needed)(const void* attrs, const Graph& g, NodeId n, int64_t target) = nullptr;
};

// expansion<op::Gelu>(20, Exactness::rounding, [](const op::Gelu& a, Expand& e) { ... })
template <class Attrs, class F>
constexpr Expansion expansion(int below, Exactness exactness, F) {
  return {below, exactness, [](const void* a, Expand& e) { F{}(*static_cast<const Attrs*>(a), e); }, nullptr};
}
template <class Attrs, class F, class N>
constexpr Expansion expansion(int below, Exactness exactness, F, N) {
  return {
      below, exactness, [](const void* a, Expand& e) { F{}(*static_cast<const Attrs*>(a), e); },
      [](const void* a, const Graph& g, NodeId n, int64_t t) { return N{}(*static_cast<const Attrs*>(a), g, n, t); }};
}

}  // namespace cameo::ops
