#include "staging/export.h"

#include <algorithm>

#include "passes/dce.h"
#include "staging/export/assumptions.h"
#include "staging/export/foreign_types.h"
#include "staging/script/inputs.h"
#include "staging/export/outputs.h"

namespace cameo::staging {

namespace {

namespace ts = torchscript;
using staging::Machine;
using staging::ScriptInterpreter;
using StagedValue = staging::Value;
using staging::HeapMark;

[[noreturn]] void no_method(const ts::ClassDef* cls, const std::string& wanted) {
  std::string names;
  if (cls)
    for (const ts::FunctionDef* f : cls->methods) names += cat(names.empty() ? "" : ", ", f->name);
  throw error("use.method", cat("the archive's root module has no method '", wanted, "'"))
      .help(names.empty() ? "it has none" : cat("it has: ", names));
}

void record(ExportTrace& trace, ts::Program& program, NodeId n, std::string_view op, ts::Pos pos) {
  if (trace.nodes.size() <= n.index) trace.nodes.resize(n.index + 1);
  trace.nodes[n.index].op = op;
  if (const auto user = program.user_frame(pos)) trace.nodes[n.index].user = *user;
}

// What the program wrote into the module: buffers in place, attributes anew.
void written_state(ScriptInterpreter& script, const HeapMark& before, std::vector<staging::Output>& outputs,
                   const ExportOptions& options, DiagSink& sink) {
  Machine& s = script.machine;
  std::string dropped;
  const auto add = [&](const std::string& name, const StagedValue& v) {
    if (options.state_outputs) staging::flatten_outputs(s, v, cat(name, "_out"), outputs, sink);
    else dropped += cat(dropped.empty() ? "" : ", ", name);
  };
  for (const auto& change : s.heap.changes(before)) {
    const auto& now = s.heap[change.cell];
    if (const auto* tensor = std::get_if<staging::TensorCell>(&now)) {
      if (script.stored.is_parameter(change.cell) &&
          tensor->value.id != std::get<staging::TensorCell>(*change.before).value.id)
        add(tensor->name, StagedValue(staging::TensorRef{change.cell, nullptr, false}));
      continue;
    }
    const auto* object = std::get_if<staging::ObjectCell>(&now);
    if (!object || !script.stored.is_module(change.cell)) continue;
    const auto& old = std::get<staging::ObjectCell>(*change.before).attributes;
    for (size_t i = 0; i < object->attributes.size(); ++i) {
      const auto& [name, value] = object->attributes[i];
      if (i < old.size() && same(old[i].second, value)) continue;
      add(object->path.empty() ? std::string(name) : cat(object->path, ".", name), value);
    }
  }
  if (!dropped.empty())
    sink.warn("export.dropped-state",
              cat("the program writes ", dropped, " of the module, and a model keeps nothing between runs: dropped"))
        .hint = "--state outputs gives them as outputs";
}

// In state_dict order.
std::vector<std::string> weight_names(ts::Program& program) {
  std::vector<std::string> out;
  for (const auto& t : ts::named_tensors(program.root())) out.push_back(t.name);
  return out;
}

}  // namespace

Model export_torchscript(ts::Program& program, const ExportOptions& options, DiagSink& sink, ExportTrace* trace) {
  Model model = begun_model(program.path());
  const ts::ClassDef* cls = program.root().cls;
  const ts::FunctionDef* method = cls ? cls->method(options.method) : nullptr;
  if (!method) no_method(cls, options.method);
  Machine machine(model, options.stage, sink);
  ScriptInterpreter script(program, machine);
  if (trace) machine.observe([&](NodeId n, std::string_view op) { record(*trace, program, n, op, script.position()); });
  auto args = stage_inputs(script, options, *method, sink, trace);
  staging::take_assumptions(machine);
  const size_t declared = model.graph[model.graph.main()].inputs.size();
  script.root_object();  // its making is no change of it
  const HeapMark before = machine.heap.mark();
  const StagedValue result = script.run(*method, std::move(args));
  std::vector<staging::Output> outputs;
  staging::flatten_outputs(machine, result, "output", outputs, sink);
  if (!machine.missing.empty()) staging::throw_missing(machine.missing.all());
  if (outputs.empty()) throw error("export.no-output", "nothing that the model returns depends on a tensor");
  written_state(script, before, outputs, options, sink);
  staging::set_outputs(machine, std::move(outputs), options, sink);
  remove_dead_code(model.graph);
  if (options.stage.weights_as_inputs) order_weights(model.graph, declared, weight_names(program));
  staging::report_frozen(machine, options, sink);
  staging::tell_assumptions(machine);
  report_unused_types(machine, sink);
  return model;
}

}  // namespace cameo::staging
