// Values as lowerings see them: known numbers, symbolic ints, graph values, lists.
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/dim.h"
#include "ir/dtype.h"
#include "support/id.h"

namespace cameo::lowering {

// A tensor in the graph. Converts to and from ValueId, so that builder methods take it.
struct V {
  ValueId id;
  V() = default;
  V(ValueId v) : id(v) {}
  operator ValueId() const { return id; }
  bool valid() const { return id.valid(); }
};
using Vs = std::vector<V>;
template <class T>
using Opt = std::optional<T>;
using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;
using Str = std::string;

// A float or bool that depends on data: a 0-d graph value.
struct StagedFloat {
  V value;
};
struct StagedBool {
  V value;
};

struct Arg;
using ArgList = std::shared_ptr<const std::vector<Arg>>;

struct Arg {
  std::variant<std::monostate, bool, Dim, double, std::complex<double>, std::string, V, StagedFloat, StagedBool,
               ArgList>
      value;

  Arg() = default;
  template <class T>
  requires(!std::is_same_v<std::decay_t<T>, Arg>) Arg(T v) : value(std::move(v)) {}
  static Arg list(std::vector<Arg> items) {
    return Arg(ArgList(std::make_shared<const std::vector<Arg>>(std::move(items))));
  }

  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  std::string kind() const;  // "int", "float", "tensor", for messages
};

// A torch Scalar: bool, int (maybe symbolic), float, complex, or a number that depends on data.
class Num {
 public:
  Num() : value_(Dim(0)) {}
  Num(Arg a) : value_(std::move(a)) {}
  Num(int64_t v) : value_(Dim(v)) {}
  Num(double v) : value_(v) {}

  bool is(double v) const;  // a known number equal to v
  bool is_known() const;    // no symbols, no data
  bool is_bool() const { return value_.as<bool>() || value_.as<StagedBool>(); }
  bool is_integer() const { return value_.as<Dim>() || is_bool(); }
  bool is_float() const { return value_.as<double>() || value_.as<StagedFloat>(); }
  bool is_complex() const { return value_.as<std::complex<double>>() != nullptr; }
  double to_double() const;  // throws "lower.unknown-number" unless is_known()
  int64_t to_int() const;
  const Arg& arg() const { return value_; }

 private:
  Arg value_;
};

// Torch's ScalarType numbers.
std::optional<DType> dtype_from_torch(
    int64_t scalar_type);  // complex and quantized ones included where ONNX has a type
int64_t torch_from_dtype(DType t);

}  // namespace cameo::lowering
