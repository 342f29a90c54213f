// Building models from nothing. docs/build-a-model.md has a whole program.
//
//   cameo::Builder g("line");
//   auto x = g.input("x", "f32[batch,8]");
//   g.output("y", 2.0 * x + g.weight("b", {8}, std::vector<float>(8, 0.5f)));
//   g.save("line.onnx");
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cameo/model.h"

namespace cameo {

class NodeBuilder;
struct NodeBuilderState;

// A value of the graph being built: a handle that may be copied freely and lives as long as its builder's graph.
// An empty Var is an absent optional operand.
class Var {
 public:
  Var() = default;
  explicit operator bool() const { return builder_ != nullptr; }
  std::string type() const;                               // as inferred: "f32[batch,8]", "?" while unknown
  std::string dtype() const;                              // "f32"; empty if unknown or not a tensor
  std::optional<std::vector<std::string>> shape() const;  // as Value's
  std::optional<SharedArray> constant() const;            // its contents, where they are known
  NodeBuilder& owner() const;                             // throws build.absent when it holds nothing
  uint32_t number() const { return id_; }                 // in its graph
  friend bool operator==(const Var&, const Var&) = default;

 private:
  friend class NodeBuilder;
  friend struct NodeBuilderState;
  Var(NodeBuilder* builder, uint32_t id) : builder_(builder), id_(id) {}
  NodeBuilder* builder_ = nullptr;
  uint32_t id_ = 0;
};

// Add, Sub, Mul, Div, Neg. A number takes the element type of the value beside it.
Var operator+(Var a, Var b);
Var operator-(Var a, Var b);
Var operator*(Var a, Var b);
Var operator/(Var a, Var b);
Var operator-(Var a);
Var operator+(Var a, double b);
Var operator-(Var a, double b);
Var operator*(Var a, double b);
Var operator/(Var a, double b);
Var operator+(double a, Var b);
Var operator-(double a, Var b);
Var operator*(double a, Var b);
Var operator/(double a, Var b);

// Adds nodes to a graph: what a Builder and a lowering (lowering.h) have in common. Operators are those of ONNX's
// newest released opset. Every call infers types and shapes at once and throws cameo::Error if they do not fit.
class NodeBuilder {
 public:
  ~NodeBuilder();
  NodeBuilder(const NodeBuilder&) = delete;
  NodeBuilder& operator=(const NodeBuilder&) = delete;

  Var constant(const SharedArray& value);  // its memory is not copied
  Var ints(std::vector<int64_t> values);   // a 1-D int64 constant, as shapes and axes are
  Var number(double v, Var like);          // a scalar of the element type of `like`

  // Any operator: op("Conv", {x, w}, {{"pads", {1, 1, 1, 1}}}). Other domains: "com.example::Op", whose outputs have no
  // type until set_type sets it.
  Var op(std::string_view op_type, std::vector<Var> inputs, std::vector<Attribute> attributes = {});
  // `opset` above 0: the operator has the meaning that it has in that opset.
  std::vector<Var> op_outputs(size_t outputs, std::string_view op_type, std::vector<Var> inputs,
                              std::vector<Attribute> attributes = {}, int opset = 0);

  // As for Builder::input.
  void set_type(Var value, std::string_view type);

 protected:
  explicit NodeBuilder(std::unique_ptr<NodeBuilderState> state);
  friend class Var;
  friend struct NodeBuilderState;
  std::unique_ptr<NodeBuilderState> state_;
};

// Builds one graph. Saving at an older opset converts it. It stays where it was made, since its Vars refer to it: a
// function that builds returns the model().
class Builder : public NodeBuilder {
 public:
  explicit Builder(std::string name = "graph");
  ~Builder();

  // "f32[batch,3,224,224]": an element type (f32 f16 bf16 f64 i8 .. u64 bool str ...) and sizes: numbers, names, or
  // expressions of names such as 4*h + 2. "f32[]" is a scalar, "?" an unknown size, "f32[...]" any number of axes;
  // "seq(f32[n,4])", "optional(...)" and "map(i64, f32[])" are the other types.
  Var input(std::string name, std::string_view type);
  // Constants with a name. Precondition: as many values as the shape takes, else throws build.weight.
  Var weight(std::string name, std::vector<int64_t> shape, std::vector<float> values);
  Var weight(std::string name, std::vector<int64_t> shape, std::vector<int64_t> values);
  template <Element T>
  Var weight(std::string name, std::vector<int64_t> shape, const std::vector<T>& values) {
    return weight(std::move(name), Array::of(std::move(shape), values));
  }
  Var weight(std::string name, const ArrayView& value);  // copied
  // Of any element type, from little-endian, row-major bytes, which are copied.
  Var weight(std::string name, std::string_view dtype, std::vector<int64_t> shape, const void* bytes, size_t size);
  // Not copied.
  Var weight(std::string name, const SharedArray& value);

  // Control flow. Nodes made inside the functions belong to the body; values from outside can be used directly.
  //   auto y = g.if_else(c, [&] { return std::vector{x + 1.0}; }, [&] { return std::vector{x}; })[0];
  using Body = std::function<std::vector<Var>()>;
  std::vector<Var> if_else(Var condition, const Body& then, const Body& otherwise);
  // One iteration: whether to continue (absent: until the count is reached), the carried values, and the scan outputs.
  struct Turn {
    Var go_on = {};
    std::vector<Var> carried = {}, gathered = {};
  };
  using LoopBody = std::function<Turn(Var counter, const std::vector<Var>& carried)>;
  // `count` or `condition` may be absent. Returns the carried values, then the scan outputs, stacked along a new first
  // axis.
  std::vector<Var> loop(Var count, Var condition, const std::vector<Var>& carried, const LoopBody& body);

  void output(std::string name, Var value);

  // The text form; see docs/text-form.md.
  std::string text() const;
  Model model(int opset = 0) const;  // as it is now; opset 0 is opsets::standard (opset.h)
  // Throws convert.* if the opset cannot express the graph, write.* if the file cannot be written.
  std::string bytes(int opset = 0) const;
  void save(const std::string& path, int opset = 0) const;

 private:
  struct Content;
  class Attempt;
  std::unique_ptr<Content> content_;
};

}  // namespace cameo
