#include "staging/machine/machine.h"

#include "staging/machine/interpreter.h"
#include "support/budget.h"
#include "support/progress.h"

namespace cameo::staging {

Machine::Machine(Model& m, const StageOptions& o, DiagSink& sink)
    : model(m),
      graph(m.graph),
      options(o),
      heap(journals),
      on(m.graph, m.graph.main()),
      conditions(journals, *this),
      missing(journals),
      told(journals),
      sink_(sink),
      recording_(journals, m.graph, on),
      notes_(journals, sink),
      generation_(journals),
      quantized_(journals),
      turned_(journals),
      named_twice_(journals),
      checks_(journals) {
  on.on_note = [this](std::string_view code, std::string what) {
    sink_.note(std::string(code), std::move(what), here());
  };
  on.on_node = [this](NodeId n) { stamp(n); };
  on.fold = options.fold;
  on.may_guess = options.assume;
}

void Machine::stamp(NodeId n) {
  if (graph.node_capacity() > options.max_nodes)
    fail("budget.nodes", cat("more than ", options.max_nodes, " nodes were recorded"));
  const std::string base = scope().empty() ? std::string(graph[n].op->name) : cat(scope(), "/", graph[n].op->name);
  const size_t number = node_numbers_[base]++;
  graph.set_name(n, number ? cat(base, "_", number) : base);
  auto notes = std::make_shared<NodeNotes>();
  notes->where = here();
  graph.set_notes(n, std::move(notes));
  if (observer_) observer_(n, lowering_);
}

Loc Machine::here() const { return interpreter_ ? interpreter_->here() : Loc{.file = model.path}; }

const std::string& Machine::scope() const {
  static const std::string root;
  return interpreter_ ? interpreter_->scope() : root;
}

void Machine::fail(std::string_view code, std::string what, std::string hint) const {
  fail_at(here(), code, std::move(what), std::move(hint));
}

void Machine::fail_as_raised(const Raised& r) const {
  fail_at(r.where, "stage.raise", cat("the model raises an exception with these inputs: ", r.message),
          "check the shapes and values given with --input");
}

void Machine::fail_at(Loc where, std::string_view code, std::string what, std::string hint) const {
  const std::string line = interpreter_ ? interpreter_->user_line(where) : "";
  Error e = error(code, std::move(what)).at(std::move(where)).help(std::move(hint));
  if (!line.empty()) e.diag().notes.push_back({cat("written at ", line), {}});
  throw e;
}

void Machine::step() {
  constexpr size_t told_every = 256;
  if (steps_ % told_every == 0) tell_progress("running the program", steps_, 0);
  checkpoint();
  const size_t most = options.max_steps ? options.max_steps : limits().steps;
  if (++steps_ > most)
    fail("budget.steps", cat("more than ", most, " steps were run to export this program"),
         "--max-steps raises this limit");
}

Machine::Part::Part(Machine& s) : machine(s) {
  s.step();
  check_value_depth(s.level_ + 1);
  ++s.level_;
}

void Machine::need_text(size_t bytes) const {
  if (bytes > options.max_text) fail("budget.text", cat("a string has more than ", options.max_text >> 20, " MiB"));
}

void Machine::leave(const HeapMark& heap_before, size_t facts_before) {
  heap.rewind(heap_before);
  graph.facts.rewind(facts_before);
  generation_.next();  // views that were derived knowing them
}

void Machine::check(const Value& truth, const std::string& message) {
  if (const auto known = known_bool(truth)) {
    if (!*known) raise(message);
    return;
  }
  const bool keep = options.asserts && on.region() == graph.main();
  sink_.note("stage.assumed", cat("assumed that the model does not raise here: ", message), here()).hint =
      keep              ? ""
      : options.asserts ? "checks inside loops and branches cannot be kept"
                        : "--asserts keep makes runs fail where it would";
  if (keep) checks_.push({bool_value(truth), message});
  else conditions.assume(truth, true);  // what is checked must not be known
}

}  // namespace cameo::staging
