// What a program's values are while it is staged: known things, structures whose parts are values, symbolic ints, and
// graph values.
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lowering/arg.h"
#include "staging/memory/layout.h"
#include "support/id.h"

// Handles that the machine carries and never opens.
namespace cameo::torchscript {
struct ClassDef;
struct FunctionDef;
}  // namespace cameo::torchscript

namespace cameo::staging {

namespace ts = torchscript;
using CellId = Id<struct CellTag>;

struct ViewStep;

// A tensor: a cell (what may be written), seen through a chain of views.
struct TensorRef {
  CellId cell;
  std::shared_ptr<ViewStep> view;  // null: the cell itself
  bool literal = false;            // a number that tracing turned into a 0-d tensor: promotes like a number
};
struct ListRef {
  CellId cell;
};
struct DictRef {
  CellId cell;
};
struct ObjectRef {
  CellId cell;
};
struct FunctionRef {
  const ts::FunctionDef* function = nullptr;
};
struct ClosureRef {
  const ts::FunctionDef* function = nullptr;
};
struct Device {
  std::string name;
};
struct Uninitialized {};
// A value that is not available (a missing operator, branches that cannot be joined): an error only when it is used in
// earnest, and then one that says why.
struct Poison {
  std::shared_ptr<const std::string> why;
  bool reported = false;                         // the cause is in the report already
  std::shared_ptr<const std::string> text = {};  // of a string with unknown parts: how a message shows it
};

struct Value;
// An item of an enum.
struct Enum {
  const ts::ClassDef* cls = nullptr;
  std::string_view name;
  std::shared_ptr<const Value> value = {};
};
// None or a value, which one is known only at run time.
struct Maybe {
  V present;  // 0-d bool
  std::shared_ptr<const Value> value;
};
// One of some known strings or enums; which one is known only at run time.
struct Choice {
  V index;  // 0-d int64, in `options`
  std::shared_ptr<const std::vector<Value>> options;
};
// A string with ints that only a run knows (joins/open_text.h).
struct OpenText {
  std::shared_ptr<const std::vector<Value>> parts;  // strings and ints
  Poison lost;                                      // what it is to whoever needs the string itself
};
struct Tuple {
  std::shared_ptr<const std::vector<Value>> items;
  const ts::ClassDef* named = nullptr;  // a NamedTuple's class
  size_t depth = 1;                     // of tuples in tuples
};

struct Value {
  std::variant<std::monostate, bool, Dim, double, std::complex<double>, std::string, TensorRef, StagedFloat, StagedBool,
               ListRef, DictRef, Tuple, ObjectRef, FunctionRef, ClosureRef, Device, Enum, Uninitialized, Poison, Maybe,
               Choice, OpenText>
      data;

  Value() = default;
  template <class T>
  requires(!std::is_same_v<std::decay_t<T>, Value>) Value(T v) : data(std::move(v)) {}
  static Value tuple(std::vector<Value> items, const ts::ClassDef* named = nullptr);  // throws budget.depth

  bool is_none() const { return std::holds_alternative<std::monostate>(data); }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  // The same of what a program must hold here; throws stage.type.
  template <class T>
  const T& need() const {
    if (const T* v = as<T>()) [[likely]]
      return *v;
    wrong_kind(Value(T()).kind());
  }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(data);
  }
  bool is_number() const {
    return is<bool>() || is<Dim>() || is<double>() || is<std::complex<double>>() || is<StagedFloat>() ||
           is<StagedBool>();
  }
  std::string kind() const;  // for messages: "Tensor", "int", "List"

 private:
  [[noreturn]] void wrong_kind(const std::string& wanted) const;
};

Value poison(std::string why);
const Poison* lost_in(const Value& v);  // null: the value is there
void check_value_depth(size_t depth);   // throws budget.depth
// Provably the same value: equal numbers, the same cell and view. Throws budget.steps where shared tuples unfold
// without end.
bool same(const Value& a, const Value& b);

// One call whose result is a view: enough to derive it again after the base was written, and to write through it.
struct ViewStep {
  TensorRef parent;
  std::string op;                 // "aten::slice.Tensor"
  std::vector<Arg> args;          // without the first
  size_t index = 0;               // which of a list of views
  std::optional<int64_t> pieces;  // how many are in that list
  Layout layout;
  V value;                  // derived last
  uint64_t version = 0;     // of the cell then
  uint64_t made = 0;        // version of the cell when the view was made
  uint64_t generation = 0;  // of the graph then
  size_t depth = 1;         // of views of views
};

std::optional<CellId> container_of(const Value& v);  // the list or dict that it is

}  // namespace cameo::staging
