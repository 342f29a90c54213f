// A whole program is run, taken back and run again: what some part of staging did not take back shows in its state, or
// in what the second run records and says.
#include <gtest/gtest.h>

#include "frontends/pt2/program.h"
#include "staging/export/outputs.h"
#include "staging/nodes/interpreter.h"
#include "staging/script/inputs.h"

namespace cameo::staging {
namespace {

std::string sample(std::string_view file) { return cat(CAMEO_SOURCE_DIR, "/tests/data/", file); }

// What the machine has besides counters that only grow.
std::string state_of(Machine& s) {
  const GraphMark g = s.graph.mark();
  std::string out = cat("nodes ", g.nodes, " values ", g.values, " regions ", g.regions, " facts ", g.facts, " region ",
                        s.on.region().index, " guesses ", s.on.guesses.size(), " checks ", s.checks().size(), " notes ",
                        s.sink().all().size(), " missing ", s.missing.all().size(), " strict ", s.strict(), " scope ",
                        s.interpreter().scope(), "\n");
  for (const DimFact& f : s.graph.facts.all()) out += cat(f.a.text(), " ", f.b.text(), "; ");
  for (const ValueId v : s.graph[s.graph.main()].initializers) out += cat(s.graph[v].name, "; ");
  return out;
}

// What was recorded and said, without names: those are numbered on.
std::string recorded(Machine& s, const std::vector<Output>& outputs) {
  std::string out;
  for (uint32_t i = 0; i < s.graph.node_capacity(); ++i) {
    const Node& n = s.graph[NodeId(i)];
    out += cat(n.dead ? "-" : "", n.op->name, "(");
    for (const ValueId v : n.inputs) out += cat(v.index, " ");
    out += ") ";
  }
  for (const Output& o : outputs) out += cat("\n", o.name, " ", o.value.id.index);
  for (const Diag& d : s.sink().all()) out += cat("\n", d.code, " ", d.where.line);
  for (const auto& [op, m] : s.missing.all()) out += cat("\n", op, " ", m.count, " ", m.scopes.size());
  return cat(out, "\n", s.checks().size(), " ", s.on.guesses.size());
}

// `run` with the machine's state around it: once, or taken back and once more.
std::string staged(Machine& s, bool twice, const std::function<std::vector<Output>()>& run) {
  if (twice) {
    const std::string before = state_of(s);
    const Attempt a = s.attempt();
    const HeapMark heap = s.heap.mark();
    run();
    s.take_back(a);
    EXPECT_EQ(state_of(s), before);
    EXPECT_TRUE(s.heap.changes(heap).empty());
  }
  const auto outputs = run();
  return recorded(s, outputs);
}

std::string script(std::string_view file, const std::vector<std::string>& inputs, bool twice, bool fallback) {
  auto program = torchscript::read_torchscript(sample(file));
  ExportOptions options;
  for (const auto& text : inputs) options.inputs.push_back(parse_input_spec(text));
  if (fallback) options.stage.fallback = Fallback::custom;
  Model model;
  DiagSink sink;
  Machine machine(model, options.stage, sink);
  ScriptInterpreter script(program, machine);
  const ts::FunctionDef* method = program.root().cls->method("forward");
  const auto args = stage_inputs(script, options, *method, sink, nullptr);
  return staged(machine, twice, [&] {
    std::vector<Output> out;
    flatten_outputs(machine, script.run(*method, args), "output", out, sink);
    return out;
  });
}

// A tensor of the archive's sizes, which are numbers.
Value input(pt2::Program& program, const pt2::GraphInput& in, Machine& s) {
  if (in.kind != pt2::InputKind::user) {
    const pt2::Payload p = program.payload(in);
    return s.weight({*dtype_from_torch(static_cast<int64_t>(p.dtype)), p.sizes, p.strides, p.offset, p.storage},
                    in.target);
  }
  const json::Value meta = program.graph()["tensor_values"].find(in.value);
  Shape shape;
  for (const json::Value v : meta["sizes"].elements()) shape.push_back(Dim(pt2::sym_int(v).literal.value_or(3)));
  const auto dtype = dtype_from_torch(static_cast<int64_t>(*pt2::dtype_of(meta["dtype"].integer())));
  return s.tensor(s.graph.add_input(s.graph.main(), std::string(in.value), Type::tensor(*dtype, shape)));
}

std::string nodes(std::string_view file, bool twice) {
  pt2::Program program = pt2::read_pt2(sample(file));
  const StageOptions options;
  Model model;
  DiagSink sink;
  Machine machine(model, options, sink);
  NodeInterpreter interpreter(program, machine);
  NodeScope given;
  given.graph = program.graph();
  for (const pt2::GraphInput& in : program.inputs()) given.values[in.value] = input(program, in, machine);
  return staged(machine, twice, [&] {
    NodeScope scope = given;
    interpreter.run(scope);
    std::vector<Output> out;
    for (const pt2::GraphOutput& o : program.outputs())
      flatten_outputs(machine, interpreter.argument(o.arg, scope), "output", out, sink);
    return out;
  });
}

TEST(Attempt, AScriptTakenBackLeavesNoTrace) {
  struct Case {
    std::string_view name;
    std::vector<std::string> inputs;
  };
  const Case cases[] = {{"convolutions_scripted", {"x=f32[batch,3,h,w]"}},
                        {"counted", {"x=f32[b,3]", "n=3"}},
                        {"branches", {"x=f32[b,3]"}},
                        {"search", {"x=f32[b,3]"}},
                        {"collected", {"x=f32[t,3]"}},
                        {"upgraded", {"x=i64[n]", "y=i64[n]"}},
                        {"quantized", {"x=f32[batch,3,h,w]"}},
                        {"quantized_recurrent", {"x=f32[t,b,4]"}},
                        {"state", {"x=f32[b,3]"}},
                        {"custom", {"x=f32[2,3]"}},
                        {"training", {}}};
  for (const Case& c : cases)
    for (const bool fallback : {false, true}) {
      SCOPED_TRACE(c.name);
      const std::string file = cat("export/", c.name, ".pt");
      EXPECT_EQ(script(file, c.inputs, true, fallback), script(file, c.inputs, false, fallback));
    }
}

TEST(Attempt, NodesTakenBackLeaveNoTrace) {
  for (const std::string_view name : {"branch", "turns", "scan", "linear"}) {
    SCOPED_TRACE(name);
    const std::string file = cat("pt2/", name, ".pt2");
    EXPECT_EQ(nodes(file, true), nodes(file, false));
  }
}

}  // namespace
}  // namespace cameo::staging
