// Building models from nothing. docs/build-a-model.md has a whole program.
//
//   cameo::Builder g("line");
//   auto x = g.input("x", "f32[batch,8]");
//   g.output("y", 2.0 * x + g.weight("b", {8}, std::vector<float>(8, 0.5f)));
//   g.save("line.onnx");
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cameo/diag.h"

namespace cameo {

class Builder;

// A value of the graph being built: a handle that may be copied freely and lives as long as its Builder's graph.
// A Var that holds nothing stands for an absent optional operand.
class Var {
 public:
  Var() = default;
  explicit operator bool() const { return builder_ != nullptr; }
  std::string type() const;  // as inferred: "f32[batch,8]", "?" while unknown
  Builder& owner() const;    // throws build.absent when it holds nothing

 private:
  friend class Builder;
  Var(Builder* builder, uint32_t id) : builder_(builder), id_(id) {}
  Builder* builder_ = nullptr;
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

// {"axis", 1}, {"alpha", 0.5}, {"mode", "linear"}, {"pads", {1, 1, 1, 1}}
struct Attribute {
  using Value = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;
  std::string name;
  Value value;

  Attribute(std::string n, int v) : name(std::move(n)), value(int64_t{v}) {}
  Attribute(std::string n, int64_t v) : name(std::move(n)), value(v) {}
  Attribute(std::string n, double v) : name(std::move(n)), value(v) {}
  Attribute(std::string n, const char* v) : name(std::move(n)), value(std::string(v)) {}
  Attribute(std::string n, std::string v) : name(std::move(n)), value(std::move(v)) {}
  Attribute(std::string n, std::initializer_list<int> v) : name(std::move(n)), value(std::vector<int64_t>(v.begin(), v.end())) {}
  Attribute(std::string n, std::initializer_list<double> v) : name(std::move(n)), value(std::vector<double>(v)) {}
  Attribute(std::string n, std::initializer_list<const char*> v) : name(std::move(n)), value(std::vector<std::string>(v.begin(), v.end())) {}
  Attribute(std::string n, std::vector<int64_t> v) : name(std::move(n)), value(std::move(v)) {}
  Attribute(std::string n, std::vector<double> v) : name(std::move(n)), value(std::move(v)) {}
  Attribute(std::string n, std::vector<std::string> v) : name(std::move(n)), value(std::move(v)) {}
};

// One graph. Operators are those of ONNX's newest released opset; saving at an older one says the same in its words.
// Every call infers types and shapes at once and throws cameo::Error where they do not fit.
class Builder {
 public:
  explicit Builder(std::string name = "graph");
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // "f32[batch,3,224,224]": an element type (f32 f16 bf16 f64 i8 .. u64 bool str ...) and sizes: numbers, names, or
  // expressions of names such as 4*h + 2. "f32[]" is a scalar.
  Var input(std::string name, std::string_view type);
  // Constants. Precondition: as many values as the shape takes, else throws build.weight.
  Var weight(std::string name, std::vector<int64_t> shape, std::vector<float> values);
  Var weight(std::string name, std::vector<int64_t> shape, std::vector<int64_t> values);
  // Of any element type, from little-endian, row-major bytes, which are copied.
  Var weight(std::string name, std::string_view dtype, std::vector<int64_t> shape, const void* bytes, size_t size);
  Var ints(std::vector<int64_t> values);  // a 1-D int64 constant, as shapes and axes are
  Var number(double v, Var like);         // a scalar of the element type of `like`

  // Any operator: op("Conv", {x, w}, {{"pads", {1, 1, 1, 1}}}). Other domains: "com.example.Op", whose outputs have no type.
  Var op(std::string_view op_type, std::vector<Var> inputs, std::vector<Attribute> attributes = {});
  std::vector<Var> op_outputs(size_t outputs, std::string_view op_type, std::vector<Var> inputs, std::vector<Attribute> attributes = {});

  void output(std::string name, Var value);

  // The text form; see docs/text-form.md.
  std::string text() const;
  // Opset 0 is the default, 18. Throws convert.* where the opset cannot say it, write.* where the file cannot be written.
  std::string bytes(int opset = 0) const;
  void save(const std::string& path, int opset = 0) const;

 private:
  friend class Var;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cameo
