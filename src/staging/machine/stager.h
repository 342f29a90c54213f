// Staging: the model's program is run once with partly known values; what depends on input data is recorded as nodes.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <unordered_map>

#include "frontends/torchscript/program.h"
#include "lowering/row.h"
#include "staging/machine/conditions.h"
#include "staging/machine/heap.h"
#include "staging/machine/lent.h"
#include "staging/machine/missing.h"
#include "staging/machine/recording.h"
#include "staging/machine/undo.h"

namespace cameo::staging {

enum class Fallback : uint8_t {
  none,      // operators without a lowering are errors, all listed at once
  aten,      // they become org.pytorch.aten::ATen nodes
  all_aten,  // so does every operator
  custom,    // they become nodes of their own domain
};

struct StageOptions {
  bool assume = true;                    // false: what one model can do for some sizes only is an error, not a guess
  std::vector<std::string> assumptions;  // conditions on sizes that the user knows to hold: "t != 1"
  bool asserts = false;                  // what the program raises on, a run does too; else dropped, with a note
  bool unroll = false;                   // loops with a known count: unrolled instead of kept
  std::optional<bool> training;          // what self.training is; nullopt: as stored
  bool change_literals = false;    // training = True that stands in the program becomes False; else it is reported
  bool fold = true;                // constants, weights seen otherwise, convolution with batch norm; false: as recorded
  bool weights_as_inputs = false;  // parameters and buffers are inputs of the graph, after all others
  Fallback fallback = Fallback::none;
  std::shared_ptr<const Model> rules;         // its functions say what operators of the same name become; may be null
  std::shared_ptr<const HostLowerings> host;  // may be null
  std::shared_ptr<const LentWeights> lent;    // may be null
  // Budgets: statements run and parts of values visited (0: as limits() says); nodes recorded; calls inside calls;
  // nodes of an unrolled loop that could be kept; outputs that a returned value unfolds to; bytes of one string. The
  // heap has its own.
  size_t max_steps = 0, max_nodes = 2'000'000, max_depth = 400, max_unrolled_nodes = 4000, max_outputs = 10'000,
         max_text = size_t{16} << 20;
};

struct CallArgs {
  std::vector<Value> positional;
  std::vector<std::pair<std::string_view, Value>> keywords;
};

// How a tensor is quantized whose dequantized value is in the graph.
struct Quantization {
  V ints;               // none: not made yet
  V scale, zero_point;  // 0-d, or 1-d along `axis`
  DType dtype = DType::u8;
  int64_t axis = -1;
};

class Stager {
 public:
  Stager(ts::Program& program, Model& model, const StageOptions& options, DiagSink& sink);

  // Calls a method of the root module. Throws on errors; missing operators are collected instead (see `missing`).
  Value run(const ts::FunctionDef& method, std::vector<Value> args);

  // Values.
  Value tensor(V v, std::string name = "", Layout layout = {});  // a fresh cell
  Value list(std::vector<Value> items) { return Value(ListRef{heap.add(ListCell{std::move(items), {}, {}})}); }
  Value dict(std::vector<std::pair<Value, Value>> entries) {
    return Value(DictRef{heap.add(DictCell{std::move(entries), {}})});
  }
  const std::vector<Value>& items(const Value& list_or_tuple) const;
  // Tensors and their memory (storage.cpp).
  V read(const TensorRef& t);
  // `always` false: it is written or stays what it is, which the value has in it already.
  void write(const TensorRef& t, V value, const Schema& by, bool always = true);
  const Layout& layout_of(const TensorRef& t) const {
    return t.view ? t.view->layout : heap.get<TensorCell>(t.cell).layout;
  }
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
  // Lists and dicts that are changed, or may be one and the same (objects.cpp).
  ListCell& change_list(CellId cell);
  DictCell& change_dict(CellId cell);
  void twin(CellId a, CellId b);
  // An axis that is declared dynamic and had this size when the model was traced.
  void declare_example(Dim symbol, int64_t size) { examples_.emplace_back(symbol, size); }
  std::string user_line(
      const Loc& where) const;  // "model.py:57: x = self.conv(x)" of a place in the archive; may be empty
  Value root_object() { return from_stored_object(program.root()); }
  Value from_stored(const ts::StoredValue& v);
  // A weight over mapped bytes; sizes, strides and offset in elements, checked by the reader.
  struct Stored {
    DType dtype;
    std::span<const int64_t> sizes, strides;
    int64_t offset;
    Bytes storage;
  };
  Value weight(const Stored& stored, const std::string& name);
  Value default_value(const ts::Param& p) { return eval(*p.default_value); }

  // Calls.
  std::vector<Value> call_op(std::string_view ns, std::string_view name, CallArgs args, ts::Pos pos);
  // One overload, named; nullopt when it does not take these arguments.
  std::optional<std::vector<Value>> call_overload(const Schema& schema, const CallArgs& args);
  // Notes an operator that has no lowering; its results are poison.
  std::vector<Value> missing_op(const std::string& name, size_t results, std::string because = "",
                                std::string hint = "");
  Value call_function(const ts::FunctionDef& f, std::vector<Value> args);
  Value call_method(const Value& object, std::string_view name, std::vector<Value> args);
  Arg to_arg(const Value& v);
  Arg to_arg(const Value& v, const SchemaType& type);
  Value from_arg(const Arg& a);
  Dim int_from(const Value& v);       // int(v)
  int64_t known_int(const Value& v);  // of one that the inputs do not decide; throws stage.number
  Value float_from(const Value& v);
  Value bool_from(const Value& v);  // bool, or a staged one
  std::optional<bool> known_bool(const Value& v) const;
  V bool_value(const Value& v);  // 0-d bool in the graph
  Value compare_ints(std::string_view op, Dim a, Dim b);

  // An attempt at a piece of the program: everything that it changes can be taken back.
  Attempt attempt() { return journals.attempt(); }
  void take_back(const Attempt& a) { journals.take_back(a); }
  // One side of a branch or one turn of a loop ends: the heap and what is known of sizes are as they were, what was
  // recorded stays.
  void leave(const HeapMark& heap_before, size_t facts_before);
  // Called for every node, with the torch overload it comes from (empty: none) and its place in the program.
  using Observer = std::function<void(NodeId, std::string_view, ts::Pos)>;
  void observe(Observer o) { observer_ = std::move(o); }
  bool is_parameter(CellId tensor) const;  // a parameter or buffer of the archive
  bool is_module(CellId object) const;     // an object of the archive

  // One more statement run or part of a value visited; throws budget.steps.
  void step();
  void need_text(size_t bytes) const;  // throws budget.text where a string would be longer than max_text

  // Conditions that the program raises without, where the model is to check them.
  struct Check {
    V holds;
    std::string message;
  };
  const std::vector<Check>& checks() const { return checks_.all(); }
  // What holds from here on, or the program raises: told, kept as a check where that is wanted, and known afterwards.
  void check(const Value& truth, const std::string& message);

  // The program raises here: what is being evaluated ends, and the rest is not reached.
  struct Raised {
    std::string message;
  };
  [[noreturn]] void raise(std::string message) { throw Raised{std::move(message)}; }
  [[noreturn]] void fail_as_raised(const Raised& r) const;  // where nothing decides whether it gets there

  // Quantized tensors are their float values; these say which ones, and how (quantized.h).
  void mark_quantized(V value, const Quantization& q) { quantized_.set(value.id.index, q); }
  const Quantization* quantization(V value) const { return quantized_.find(value.id.index); }
  // While it lives, operators on quantized tensors give plain floats.
  struct FloatOnly {
    explicit FloatOnly(Stager& s) : stager(s) { ++s.float_only_; }
    ~FloatOnly() { --stager.float_only_; }
    Stager& stager;
  };
  ts::Pos position() const { return pos_; }

  // While it lives with `on`, numbers that the inputs decide must not pick modules or items: unrolling does better.
  struct Strict {
    Strict(Stager& s, bool on) : stager(s), by(on) { s.strict_ += by; }
    ~Strict() { stager.strict_ -= by; }
    Strict(const Strict&) = delete;
    Stager& stager;
    int by;
  };
  bool strict() const { return strict_ > 0; }
  // `If` nodes: of two staged sides, and of a value that can be made only where the condition holds.
  using Sides = std::array<RegionId, 2>;
  std::vector<V> if_of(V condition, const Sides& sides, const std::array<std::vector<V>, 2>& outs,
                       std::span<const Type> types);
  V if_of(V condition, const std::function<V()>& then, V otherwise);
  // How a tensor is seen in its memory, and that another cell is that very tensor where the graph's bool says so.
  std::shared_ptr<ViewStep> seen(const TensorRef& t);
  TensorCell::Tie tied(std::shared_ptr<ViewStep> step, V if_so, V own);
  // Two names that reach the same tensor or list where the condition holds; `whole`: they are that tensor. `who`
  // decides, for messages.
  void same_where(V condition, const Value& a, const Value& b, bool whole, std::string_view who);
  std::string another_name(
      std::string_view who) const;  // why a tensor cannot be read: which of two names it has, `who` decides
  std::set<uint32_t> made_since(const HeapMark& mark,
                                const Value& v) const;  // tensors, lists and dicts in it that are younger
  V copy_of(V v, RegionId region);                      // an Identity at the region's end, whatever is known of v
  // A region's outputs are values of its own, each once: others pass through an Identity.
  std::vector<ValueId> own_outputs(RegionId region, std::span<const V> values);
  Loc here() const;
  // Where the next calls stand, for programs that are lists of nodes and not text.
  void place(Loc where);
  // While it lives, calls of operators without a signature have so many results.
  struct ResultsWanted {
    ResultsWanted(Stager& s, size_t n) : stager(s), before(std::exchange(s.results_wanted_, n)) {}
    ~ResultsWanted() { stager.results_wanted_ = before; }
    ResultsWanted(const ResultsWanted&) = delete;
    Stager& stager;
    size_t before;
  };
  [[noreturn]] void fail(std::string_view code, std::string what, std::string hint = "") const;
  DiagSink& sink() { return sink_; }

  ts::Program& program;
  Model& model;
  Graph& graph;
  const StageOptions& options;
  Journals journals;  // before the parts that register
  Heap heap;
  Lower on;
  Conditions conditions;
  MissingOperators missing;
  UndoOnce told;  // what is said once

 private:
  friend class Branch;
  friend class LoopStager;

  // Statements (interpreter.cpp).
  std::optional<Value> block(ts::Block statements);
  void statement(const ts::Stmt& s);
  void assign(const ts::Assign& a);
  void store(const ts::Target& t, Value v);
  void if_else(const ts::If& s);
  void branch_on(const Value& condition, const ts::If& s);     // join.cpp
  void for_range(const ts::For& s);                            // loops.cpp
  bool unroll(const ts::For& s, int64_t count, bool bounded);  // false: too many nodes, everything taken back
  void while_loop(const ts::While& s);
  // Expressions.
  Value eval(const ts::Expr& e);
  Value name(const ts::Name& n);
  Value tuple_slice(const ts::Slice& s);
  Value dict_literal(const ts::DictLiteral& d);
  Value attribute(const Value& object, std::string_view name);
  Value index(const Value& object, const Value& at);
  Value call(const ts::Call& c);
  Value call_global(const ts::Call& c, std::string_view name);
  Value call_builtin(std::string_view name, const ts::Call& c);
  Value construct(const ts::ClassDef& cls, const ts::Call& c, std::string_view rest);
  bool isinstance(const Value& v, const ts::Type& t);
  Value annotated(const ts::Annotate& a);
  std::vector<Value> eval_all(ts::Exprs list);
  std::vector<Value> unpack(const Value& v, size_t count);

  // Operators (calls.cpp, match.cpp).
  void upgrade(std::string_view op, CallArgs& args);  // upgrade.cpp
  // An operator on strings or enums that the inputs pick among known ones: called for each. nullopt: there are none in
  // `args`.
  std::vector<Value> unavailable(const std::vector<Schema>& candidates, const CallArgs& args, const Value& poison);
  std::optional<std::vector<Value>> call_by_choice(std::string_view ns, std::string_view op, const CallArgs& args,
                                                   ts::Pos pos);
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
  Value wrap_result(const Schema& s, size_t i, const Arg& a, const std::vector<Value>& args, V first_input);
  Value shared_result(const Schema& s, V value, size_t index, const std::vector<Value>& args, V first_input);
  Value fresh_result(const Schema& s, const Arg& a, const std::vector<Value>& args);
  // as_strided and its like speak of memory: the first argument becomes all of it, in its order, and the offset is
  // said.
  void by_memory(const Schema& s, std::vector<Value>& args);
  V value_of(CellId cell);
  V where_tied(const MaybeView& m, const std::function<V()>& seen_there, V otherwise);
  bool is_visible(V v, uint64_t generation) const {
    return generation == generation_.now() && graph.is_inside(on.region(), graph[v.id].home);
  }

  void part_twins(std::vector<CellId> twins);  // objects.cpp

  // Stored things (stored.cpp).
  Value from_stored_object(const ts::StoredObject& o);
  Value from_stored_tensor(const ts::StoredTensor& t);
  Value from_quantized_tensor(const ts::StoredTensor& t, V ints, DType dtype);  // quantized.cpp
  Value from_packed_state(const ts::StoredObject& o);                           // of a C++ object; quantized.cpp
  void name_parameters(const ts::StoredObject& o, const std::string& path);

  // While it lives, nodes come from this overload.
  struct Lowering {
    Lowering(Stager& s, std::string name) : stager(s) { s.lowering_ = std::move(name); }
    ~Lowering() { stager.lowering_.clear(); }
    Lowering(const Lowering&) = delete;
    Stager& stager;
  };
  struct Call {
    CellId frame;
    const ts::FunctionDef* function;
    std::string scope;  // module path
  };
  class Entered;
  const std::string& scope() const;

  DiagSink& sink_;
  Recording recording_;
  Notes notes_;
  Generation generation_;
  Observer observer_;
  std::string lowering_;       // the overload being lowered
  size_t results_wanted_ = 1;  // by the assignment around the call; for operators without a signature
  UndoStack<Call> calls_;
  ts::Pos pos_;
  std::optional<Loc> placed_;  // instead of pos_
  UndoMap<std::unordered_map<const ts::StoredObject*, Value>> objects_;
  UndoMap<std::unordered_map<const void*, Value>> stored_;
  UndoStack<std::pair<const ts::StoredTensor*, Value>> tensors_;
  std::unordered_map<const ts::StoredObject*, std::string> object_paths_;
  std::unordered_map<const ts::StoredTensor*, std::string> parameter_names_;
  std::vector<std::pair<Dim, int64_t>> examples_;
  UndoMap<std::unordered_map<uint32_t, Quantization>> quantized_;  // by ValueId::index
  UndoStack<Check> checks_;
  int float_only_ = 0, strict_ = 0;
  // These only grow: what an attempt used up stays used up.
  size_t steps_ = 0;
  std::unordered_map<std::string, size_t> node_numbers_;
};

// Operators on host values: numbers, strings, lists, dicts, questions about tensors (host_*.cpp).
struct HostCall {
  Stager& s;
  std::vector<Value>& args;
  std::vector<std::pair<std::string_view, Value>>& keywords;
  size_t size() const { return args.size(); }
  const Value& operator[](size_t i) const {  // throws stage.arguments where the program gives fewer
    if (i >= args.size()) [[unlikely]]
      missing(i);
    return args[i];
  }
  [[noreturn]] void missing(size_t i) const;
  const Value* keyword(std::string_view name) const;
};
// Gives nullopt when the operator is not for the host with these arguments (tensors: a lowering).
using HostFunction = std::optional<std::vector<Value>> (*)(HostCall&);
struct HostRow {
  std::string_view name;  // "aten::append"; all overloads
  HostFunction call;
};
std::span<const HostFunction> find_host_ops(std::string_view name);  // each knows its kinds of arguments

// Overload resolution by the values' own kinds: the first schema that fits, without conversions first, then with.
struct Matched {
  const Schema* schema = nullptr;
  std::vector<Value> args;  // in schema order, defaults filled
};
std::optional<Matched> match(Stager& s, const std::vector<Schema>& candidates, const CallArgs& args);
std::optional<Matched> match_one(Stager& s, const Schema& candidate, const CallArgs& args);
// As old archives print calls: trailing defaults are left out until a signature fits.
std::optional<Matched> match_without_defaults(Stager& s, const std::vector<Schema>& candidates, CallArgs args);

// `a` where the condition holds, `b` elsewhere; of one shape.
V chosen(Lower& on, V condition, V a, V b);

}  // namespace cameo::staging
