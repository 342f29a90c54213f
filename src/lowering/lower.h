// What a lowering writes with: the builder of ONNX nodes, and numbers and sizes as graph values.
#pragma once

#include <functional>
#include <unordered_map>

#include "ir/size_relation.h"
#include "lowering/arg.h"
#include "lowering/promotion.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace cameo::lowering {

class Lower : public On {
 public:
  Lower(Graph& graph, RegionId region) : On(graph, region) {}

  // Emits, infers, and folds: a node whose inputs are all known and whose result is small becomes a constant.
  std::vector<ValueId> emit(const OpDef& op, std::shared_ptr<const void> attrs, std::vector<ValueId> inputs,
                            size_t outputs) override;

  // Facts about tensors.
  bool is_bool(V x) const { return dtype(x) == DType::boolean; }
  bool is_int(V x) const { return ir::is_int(dtype(x)); }
  bool is_float(V x) const { return ir::is_float(dtype(x)); }
  int64_t rank(V x) const;                 // throws "lower.unknown-rank"
  Dim dim(V x, int64_t axis) const;        // axis may be negative
  const ir::Shape& shape(V x) const;       // throws "lower.unknown-rank"
  int64_t axis(V x, int64_t dim) const;    // normalised; a 0-d tensor counts as 1-d, as in torch
  Ints axes(V x, const Ints& dims) const;  // normalised, in order
  Ints all_axes(V x) const;
  void need_rank(V x, int64_t least,
                 std::string_view what) const;  // throws "lower.unsupported-value": "a matrix of 1 axis"
  Opt<int64_t> known_dim(V x, int64_t axis) const { return dim(x, axis).known(); }

  // Numbers and sizes as graph values.
  V number(double v, DType t) { return is_complex(t) ? scalar(Num(v), t) : V(On::number(v, t)); }
  V number_like(double v, V x) { return number(v, dtype(x)); }
  V scalar(const Num& n, DType t);  // 0-d, of dtype t
  V scalar_like(const Num& n, V x) { return scalar(n, dtype(x)); }
  V int_scalar(Dim d);                   // 0-d int64
  V int_vector(std::span<const Dim> d);  // 1-D int64, built in the cheapest form
  V int_vector(const Dims& d) { return int_vector(std::span<const Dim>(d)); }
  V zeros_like(V x) { return full(shape_dims(x), 0.0, dtype(x)); }
  V full(Dims sizes, const Num& value, DType t);
  Dims shape_dims(V x) const { return shape(x); }

  // Common forms. Each emits nothing when it would change nothing. Sizes come by value: shape(x) does not outlive an
  // emission.
  V to(V x, DType t) { return On::cast(x, t); }
  V reshape(V x, Dims sizes);  // sizes are final: no -1
  V expand(V x, Dims sizes);   // numpy broadcast to exactly `sizes`
  V transpose(V x, const Ints& perm);
  V squeeze(V x, const Ints& axes);
  V unsqueeze(V x, const Ints& axes);                                // axes of the result
  V slice(V x, int64_t axis, Dim start, Dim end, int64_t step = 1);  // 0 <= start <= end <= size where step > 0
  V concat(const Vs& parts, int64_t axis);
  V Where(V condition, V a, V b);                 // also of bools, for which engines lack the operator
  V gather_scalar(V x, int64_t axis, Dim index);  // torch.select: the axis is removed

  // Sequences of different lengths, packed: where the padded tensor [time, batch, features] and the lengths are.
  struct Packed {
    V padded, lengths;
  };
  void remember_packed(V data, Packed p) { packed_[data.id.index] = p; }
  const Packed* packed_of(V data) const;

  // An Identity that stays one, of a constant too: a region's output has to be its own.
  V copied(V x);

  // What is assumed so that an operator makes sense: recorded as a fact; a contradiction throws "lower.shape".
  void assume_equal(Dim a, Dim b, std::string_view said);
  // What is guessed because ONNX cannot express both cases, such as a number of axes that a size decides. Throws
  // "stage.guess" where guesses are not wanted, or where the user's own range says that the size may be `b`.
  void guess_not_equal(Dim a, int64_t b, std::string_view because);
  struct Guess {
    SizeRelation condition;
    std::string because;  // what happens where it does not hold: "squeeze drops an axis"
    Loc where;
  };
  std::vector<Guess> guesses;
  bool may_guess = true;
  Answer equal(Dim a, Dim b) const { return graph().facts.equal(a, b); }
  bool provably(Dim a, Dim b) const { return graph().facts.equal(a, b) == Answer::yes; }

  // A symbol bound to a 0-d int64 value (item()), or the value's known contents as an expression.
  Dim int_of(V scalar);
  // Where a symbol's value can be read: an axis of a value, or a 0-d value. Made by the front end for inputs; emission
  // adds what new nodes bring.
  void bind_axis(Dim d, V x, int64_t axis);
  void bind_scalar(Dim symbol, V value);
  bool available(Dim d) const;  // could be made a graph value here: every symbol in it has a visible source

  // A weight seen otherwise: another recipe over the same bytes, made once; none when `x` is not a weight.
  Opt<V> permuted_weight(V x, const Ints& perm);
  Opt<V> sliced_weight(V x, int64_t axis, Dim start, Dim end);
  V weight_value(Weight w, V like);  // an initializer of that recipe, named after the one it comes from

  // Drops what is remembered about values that a rollback removed.
  void forget_from(uint32_t first_value);

  void note(std::string_view code, std::string what) const {
    if (on_note) on_note(code, std::move(what));
  }

  bool fold = true;                     // false: nodes of constants stay, weights are used as they are
  Loc where;                            // of the statement being lowered
  std::string scope;                    // module path
  std::function<void(NodeId)> on_node;  // stamps names and places
  Opt<int64_t> unpacked;                // into how many names the program takes the result of this call apart
  std::function<void(std::string_view code, std::string what)> on_note;  // what the user should know

 private:
  struct Source {
    V value;
    int64_t axis = -1;  // -1: the value itself, 0-d
  };
  V int_piece(Dim d);  // 1-D, one element
  V build(Dim d);
  std::optional<V> extremum_of_numbers(Dim d);
  V divisor(Dim d);
  const Source* source_of(Dim d) const;

  std::unordered_map<const DimExpr*, std::vector<Source>> sources_;
  std::unordered_map<const DimExpr*, std::vector<V>> pieces_;
  std::vector<V> derived_weights_;
  std::unordered_map<uint32_t, Packed> packed_;
};

[[noreturn]] void unsupported(std::string what, std::string hint = "");  // throws "lower.unsupported-value"

}  // namespace cameo::lowering
