// What a value looks like where several ways meet: after an `if` on data, at the start of a loop's turn, as an element
// of a list whose length depends on data. A form says which parts of a value are graph values and which are fixed.
#pragma once

#include "ir/type.h"
#include "staging/machine/heap.h"

namespace cameo::staging {

class Machine;

struct Form {
  enum class Kind : uint8_t {
    unset,  // no value yet
    fixed,  // this very value, wherever it comes from
    tensor,
    integer,
    floating,
    boolean,
    choice,  // one of the strings or enums in `keys`
    maybe,   // parts[0], or None
    tuple,
    list,
    dict,
    staged_list,  // of parts[0], any number of them
    poison,       // not available; `value` says why
  };
  Kind kind = Kind::unset;
  Value value;    // of fixed and poison; of others the value it was taken from, for identity
  Type type;      // tensor
  Layout layout;  // tensor
  std::vector<Form> parts;
  std::vector<Value> keys;  // dict, choice
  const ts::ClassDef* named = nullptr;
  bool sequence =
      false;  // staged_list: elements differ in size, so they are an ONNX sequence; else stacked on a first axis
  std::vector<CellId> memory;  // staged_list: whose memory its elements may be

  bool is(Kind k) const { return kind == k; }
};

// A list whose length is known only at run time: for each graph value in its elements' form, all of them in one.
struct StagedList {
  Form element;
  bool sequence = false;
  std::vector<V> arrays;
  // Whose memory its elements may be: after a write there the arrays are of the past. The first is the list's own,
  // which stands for its elements: a write to one that was taken out is a write to that.
  std::vector<TensorCell::Source> sources = {};
  // Pieces of one tensor along an axis: an element that is taken out is a view.
  struct Pieces {
    TensorRef of;
    int64_t axis;
    std::optional<Dim> each;  // none: single places, without the axis
  };
  std::shared_ptr<const Pieces> pieces = nullptr;
};

Form form_of(Machine& s, const Value& v);
Form join(Machine& s, const Form& a, const Form& b);
// The same values that may come: what a loop's turns must settle on.
bool same_form(const Form& a, const Form& b);
// The same layouts: they do not change the graph values, but what is done with them.
bool same_layouts(const Form& a, const Form& b);
// Without identities: a form that outlives the values it was taken from.
Form without_values(Form f);
// The graph values of a form, in order, as types. Stacked lists have a fresh size of `dims` as their length (without:
// 0).
std::vector<Type> graph_types(const Form& f, DimContext* dims = nullptr);
// A value of this form as graph values, emitted where `s.on` stands.
void encode(Machine& s, const Form& f, const Value& v, std::vector<V>& out);
Value decode(Machine& s, const Form& f, std::span<const V>& in);
// Sizes in it that are symbols of this kind become others.
void map_dims(Form& f, const std::function<Dim(Dim)>& map);

}  // namespace cameo::staging
