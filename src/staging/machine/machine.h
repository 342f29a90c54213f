// The machine that programs are staged on: a heap of values, a graph that is recorded, calls of operators. It knows no
// language; an interpreter (script/, nodes/) runs a program on it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "staging/machine/calls.h"
#include "staging/machine/conditions.h"
#include "staging/machine/heap.h"
#include "staging/machine/lent.h"
#include "staging/machine/missing.h"
#include "staging/machine/recording.h"
#include "staging/machine/undo.h"
#include "staging/options.h"

namespace cameo::staging {

class Interpreter;

// How a tensor is quantized whose dequantized value is in the graph.
struct Quantization {
  V ints;               // none: not made yet
  V scale, zero_point;  // 0-d, or 1-d along `axis`
  DType dtype = DType::u8;
  int64_t axis = -1;
};

// While it lives, the result of an operator is taken apart into so many names.
struct Unpacked {
  Unpacked(lowering::Lower& lower, std::optional<int64_t> names)
      : on(lower), before(std::exchange(on.unpacked, names)) {}
  ~Unpacked() { on.unpacked = before; }
  Unpacked(const Unpacked&) = delete;
  lowering::Lower& on;
  std::optional<int64_t> before;
};

// The program raises: what is being evaluated ends, and the rest is not reached.
struct Raised {
  std::string message;
  Loc where;
};

class Machine {
 public:
  Machine(Model& model, const StageOptions& options, DiagSink& sink);
  Machine(const Machine&) = delete;

  // Places and errors (machine.cpp).
  void run_by(Interpreter& interpreter) { interpreter_ = &interpreter; }  // which tells where the program is
  const Interpreter& interpreter() const { return *interpreter_; }
  Loc here() const;
  [[noreturn]] void fail(std::string_view code, std::string what, std::string hint = "") const;
  [[noreturn]] void raise(std::string message) { throw Raised{std::move(message), here()}; }
  [[noreturn]] void fail_as_raised(const Raised& r) const;  // where nothing decides whether it gets there
  DiagSink& sink() { return sink_; }
  // Called for every node, with the torch overload it comes from (empty: none).
  using Observer = std::function<void(NodeId, std::string_view)>;
  void observe(Observer o) { observer_ = std::move(o); }

  // Budgets. One more statement run or part of a value visited; throws budget.steps.
  void step();
  // A part of a value, while it is visited: a step, and a level deeper. Lists and dicts of a hostile program may hold
  // themselves. Throws budget.depth.
  struct Part {
    explicit Part(Machine& s);
    ~Part() { --machine.level_; }
    Part(const Part&) = delete;
    Machine& machine;
  };
  void need_text(size_t bytes) const;  // throws budget.text where a string would be longer than max_text

  // An attempt at a piece of the program: everything that it changes can be taken back.
  Attempt attempt() { return journals.attempt(); }
  void take_back(const Attempt& a) { journals.take_back(a); }
  // One side of a branch or one turn of a loop ends: the heap and what is known of sizes are as they were, what was
  // recorded stays.
  void leave(const HeapMark& heap_before, size_t facts_before);
  // While it lives with `on`, numbers that the inputs decide must not pick modules or items: unrolling does better.
  struct Strict {
    Strict(Machine& s, bool on) : machine(s), by(on) { s.strict_ += by; }
    ~Strict() { machine.strict_ -= by; }
    Strict(const Strict&) = delete;
    Machine& machine;
    int by;
  };
  bool strict() const { return strict_ > 0; }

  // Lists, tuples and dicts (containers.cpp).
  Value list(std::vector<Value> items) { return Value(ListRef{heap.add(ListCell{std::move(items), {}, {}})}); }
  Value dict(std::vector<std::pair<Value, Value>> entries) {
    return Value(DictRef{heap.add(DictCell{std::move(entries), {}})});
  }
  const std::vector<Value>& items(const Value& list_or_tuple) const;
  std::vector<Value> unpack(const Value& v, size_t count);
  Value item(const Value& container, const Value& at);  // container[at]
  ListCell& change_list(CellId cell);
  DictCell& change_dict(CellId cell);
  void twin(CellId a, CellId b);  // they may be one and the same

  // Tensors and their memory (memory/storage.cpp).
  Value tensor(V v, std::string name = "", Layout layout = {});  // a fresh cell
  // A weight over mapped bytes; sizes, strides and offset in elements, checked by the reader.
  struct Stored {
    DType dtype;
    std::span<const int64_t> sizes, strides;
    int64_t offset;
    Bytes storage;
  };
  Value weight(const Stored& stored, const std::string& name);
  V read(const TensorRef& t);
  // A tensor as the program names it: t_, unsqueeze_ and their like may have given it another shape since.
  TensorRef now(const TensorRef& t) const;
  Value now(const Value& v) const;
  // `always` false: it is written or stays what it is, which the value has in it already.
  void write(const TensorRef& t, V value, const Schema& by, bool always = true);
  const Layout& layout_of(const TensorRef& t) const {
    return t.view ? t.view->layout : heap.get<TensorCell>(t.cell).layout;
  }
  V value_of(CellId cell);                                    // of a whole tensor
  void doubt(CellId cell, std::shared_ptr<const Doubt> why);  // reading it is an error from here on
  void trust(CellId cell);                                    // what others wrote to its sources so far, it has seen
  const Doubt* doubt_about(CellId cell) const;                // why it cannot be read; null: it can
  // The cells whose memory this one may share, other than itself.
  std::vector<TensorCell::Source> origins(CellId cell) const;
  // All that the tensors in a value may be views of, themselves included.
  std::vector<TensorCell::Source> memory_of(const Value& v) const;
  uint64_t version_of(CellId cell) const;  // grows with every write that its value may depend on
  // From here on its tensors may share memory with these.
  void may_share_with(const Value& v, std::vector<TensorCell::Source> sources, std::string_view code, std::string why);
  V holds(const SizeCondition& condition);  // 0-d bool in the graph
  // How a tensor is seen in its memory, and that another cell is that very tensor where the graph's bool says so.
  std::shared_ptr<ViewStep> seen(const TensorRef& t);
  TensorCell::Tie tied(std::shared_ptr<ViewStep> step, V if_so, V own);
  V where_tied(const MaybeView& m, const std::function<V()>& seen_there, V otherwise);
  // Two names that reach the same tensor or list where the condition holds; `whole`: they are that tensor. `who`
  // decides, for messages.
  void same_where(V condition, const Value& a, const Value& b, bool whole, std::string_view who);
  // Why a tensor cannot be read: which of two names it has, `who` decides.
  std::string another_name(std::string_view who) const;
  // Tensors, lists and dicts in a value that are younger.
  std::set<uint32_t> made_since(const HeapMark& mark, const Value& v) const;

  // Calls of operators (calls.cpp, in_place.cpp, fallback.cpp).
  std::vector<Value> call_op(std::string_view ns, std::string_view name, CallArgs args);
  // One overload, named; nullopt when it does not take these arguments.
  std::optional<std::vector<Value>> call_overload(const Schema& schema, const CallArgs& args);
  // Notes an operator that has no lowering; its results are poison.
  std::vector<Value> missing_op(const std::string& name, size_t results, std::string because = "",
                                std::string hint = "");
  // While it lives, calls of operators without a signature have so many results.
  struct ResultsWanted {
    ResultsWanted(Machine& s, size_t n) : machine(s), before(std::exchange(s.results_wanted_, n)) {}
    ~ResultsWanted() { machine.results_wanted_ = before; }
    ResultsWanted(const ResultsWanted&) = delete;
    Machine& machine;
    size_t before;
  };
  Arg to_arg(const Value& v);
  Arg to_arg(const Value& v, const SchemaType& type);
  Value from_arg(const Arg& a);
  // An axis that is declared dynamic and had this size when the model was traced.
  void declare_example(Dim symbol, int64_t size) { examples_.emplace_back(symbol, size); }

  // Numbers (numbers.cpp).
  Dim int_from(const Value& v);       // int(v)
  int64_t known_int(const Value& v);  // of one that the inputs do not decide; throws stage.number
  Value float_from(const Value& v);
  Value bool_from(const Value& v);  // bool, or a staged one
  std::optional<bool> known_bool(const Value& v) const;
  V bool_value(const Value& v);  // 0-d bool in the graph
  Value compare_ints(std::string_view op, Dim a, Dim b);

  // Conditions that the program raises without, where the model is to check them (joins/branch.cpp).
  struct Check {
    V holds;
    std::string message;
  };
  const std::vector<Check>& checks() const { return checks_.all(); }
  // What holds from here on, or the program raises: told, kept as a check where that is wanted, and known afterwards.
  void check(const Value& truth, const std::string& message);

  // Quantized tensors are their float values; these say which ones, and how (quantized.h).
  void mark_quantized(V value, const Quantization& q) { quantized_.set(value.id.index, q); }
  const Quantization* quantization(V value) const { return quantized_.find(value.id.index); }
  // While it lives, operators on quantized tensors give plain floats.
  struct FloatOnly {
    explicit FloatOnly(Machine& s) : machine(s) { ++s.float_only_; }
    ~FloatOnly() { --machine.float_only_; }
    Machine& machine;
  };

  // Regions of If and Loop (joins/if_node.cpp): of two staged sides, and of a value that can be made only where the
  // condition holds.
  using Sides = std::array<RegionId, 2>;
  std::vector<V> if_of(V condition, const Sides& sides, const std::array<std::vector<V>, 2>& outs,
                       std::span<const Type> types);
  V if_of(V condition, const std::function<V()>& then, V otherwise);
  V copy_of(V v, RegionId region);  // an Identity at the region's end, whatever is known of v
  // A region's outputs are values of its own, each once: others pass through an Identity.
  std::vector<ValueId> own_outputs(RegionId region, std::span<const V> values);

  Model& model;
  Graph& graph;
  const StageOptions& options;
  Journals journals;  // before the parts that register
  Heap heap;
  Lower on;
  Conditions conditions;
  MissingOperators missing;
  UndoOnce told;  // what is said once

  void set_type(V v, const Type& type);  // of a value that nothing infers (fallback.cpp)

 private:
  // Calls (calls.cpp).
  std::vector<Value> unavailable(const std::vector<Schema>& candidates, const CallArgs& args, const Value& poison);
  // An operator on strings or enums that the inputs pick among known ones: called for each. nullopt: there are none in
  // `args`.
  std::optional<std::vector<Value>> call_by_choice(std::string_view ns, std::string_view op, const CallArgs& args);
  std::vector<Value> lower_op(const Schema& s, std::vector<Value> args);
  std::vector<Value> lower_functional(const Schema& s, const Row& row, const std::vector<Value>& args);
  std::vector<Value> lower_inplace(const Schema& s, std::vector<Value> args);
  std::vector<Value> reshape_in_place(const Schema& s, const TensorRef& self, const TensorRef& result);
  std::vector<Value> lower_out(const Schema& s, std::vector<Value> args);
  void suspect_frozen(const Schema& s, const std::vector<Value>& args);  // report.cpp
  void carry_quantization(const Schema& s, const std::vector<Value>& args, std::vector<Arg>& results);
  // In place of a lowering (fallback.cpp).
  void training_literals(const Schema& s, std::vector<Value>& args);
  std::vector<Value> foreign_op(const std::string& full, const Schema* s, const CallArgs& args);
  const LocalFunction* user_lowering(std::string_view full) const;  // null: none
  std::vector<Value> apply_user_lowering(const LocalFunction& f, const std::string& full, const Schema* s,
                                         const CallArgs& args);
  // What the user said this operator becomes, in one way or the other; nullopt: nothing.
  std::optional<std::vector<Value>> by_user(const std::string& full, const Schema* s, const CallArgs& args);
  struct Before {
    const Attempt& all;
    GraphMark graph;
  };
  std::vector<Arg> as_aten(const Schema& s, std::vector<Arg> lowered, const Before& before,
                           const std::vector<Value>& args);
  // While it lives, nodes come from this overload.
  struct Lowering {
    Lowering(Machine& s, std::string name) : machine(s) { s.lowering_ = std::move(name); }
    ~Lowering() { machine.lowering_.clear(); }
    Lowering(const Lowering&) = delete;
    Machine& machine;
  };
  // Results and their memory (memory/storage.cpp).
  Value wrap_result(const Schema& s, size_t i, const Arg& a, const std::vector<Value>& args, V first_input);
  struct Piece {  // of a list of results
    size_t index = 0;
    std::optional<int64_t> of;
  };
  Value shared_result(const Schema& s, V value, Piece piece, const std::vector<Value>& args, V first_input);
  Value fresh_result(const Schema& s, const Arg& a, const std::vector<Value>& args);
  // as_strided and its like speak of memory: the first argument becomes all of it, in its order, and the offset is
  // said.
  void by_memory(const Schema& s, std::vector<Value>& args);
  bool is_visible(V v, uint64_t generation) const {
    return generation == generation_.now() && graph.is_inside(on.region(), graph[v.id].home);
  }
  [[noreturn]] void fail_at(Loc where, std::string_view code, std::string what, std::string hint) const;
  void part_twins(std::vector<CellId> twins);
  const std::string& scope() const;
  void stamp(NodeId n);  // a name and a place for a new node

  DiagSink& sink_;
  Interpreter* interpreter_ = nullptr;
  Recording recording_;
  Notes notes_;
  Generation generation_;
  UndoMap<std::unordered_map<uint32_t, Quantization>> quantized_;  // by ValueId::index
  using Name = std::pair<uint32_t, std::shared_ptr<ViewStep>>;     // of a tensor: its cell and view
  // Those that got another shape in place: what they are now, or nothing where that is not known.
  UndoMap<std::map<Name, std::optional<TensorRef>>> turned_;
  // Those of which a view that changes nothing was made: in PyTorch another tensor, here the same name.
  UndoMap<std::map<Name, bool>> named_twice_;
  UndoStack<Check> checks_;
  // Set and given back by guards.
  std::string lowering_;       // the overload being lowered
  size_t results_wanted_ = 1;  // by the assignment around the call; for operators without a signature
  int float_only_ = 0, strict_ = 0;
  // Settled before anything is run.
  Observer observer_;
  std::vector<std::pair<Dim, int64_t>> examples_;
  // These only grow: what an attempt used up stays used up.
  size_t steps_ = 0, level_ = 0;
  std::unordered_map<std::string, size_t> node_numbers_;
};

// `a` where the condition holds, `b` elsewhere; of one shape.
V chosen(Lower& on, V condition, V a, V b);

}  // namespace cameo::staging
