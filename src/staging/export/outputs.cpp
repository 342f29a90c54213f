#include "staging/export/outputs.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "lowering/complex.h"
#include "passes/rename_dims.h"
#include "staging/export/assumptions.h"
#include "staging/joins/staged_list.h"
#include "staging/machine/interpreter.h"
#include "support/free_names.h"

namespace cameo::staging {

Model begun_model(std::string path) {
  Model model;
  model.path = std::move(path);
  model.opsets[""] = newest_released_opset;
  model.producer_name = "cameo";
  model.graph.label(model.graph.main()).name = "main";
  return model;
}

void order_weights(Graph& g, size_t declared, const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, size_t> place;
  for (const std::string& name : names) place.emplace(name, place.size() + 1);
  const auto place_of = [&](ValueId v) {
    const auto it = place.find(g[v].name);
    return it == place.end() ? 0 : it->second;
  };
  for (size_t i = g[g.main()].inputs.size(); i-- > declared;)
    if (const ValueId v = g[g.main()].inputs[i]; place_of(v) && !g.used(v)) g.remove_region_input(g.main(), i);
  auto inputs = g[g.main()].inputs;
  std::stable_sort(inputs.begin() + static_cast<std::ptrdiff_t>(declared), inputs.end(),
                   [&](ValueId a, ValueId b) { return place_of(a) < place_of(b); });
  g.reorder_inputs(g.main(), std::move(inputs));
}

void flatten_outputs(Machine& s, const Value& v, const std::string& path, std::vector<Output>& out, DiagSink& sink) {
  const Machine::Part part_of(s);
  if (out.size() > s.options.max_outputs)
    s.fail("budget.outputs", cat("the model returns more than ", s.options.max_outputs, " values"));
  if (const auto* t = v.as<TensorRef>()) out.push_back({path, s.read(s.now(*t))});
  else if (const auto* f = v.as<StagedFloat>()) out.push_back({path, f->value});
  else if (const auto* b = v.as<StagedBool>()) out.push_back({path, b->value});
  else if (const auto* n = v.as<Dim>()) out.push_back({path, s.on.int_scalar(*n)});
  else if (v.is<bool>()) out.push_back({path, s.bool_value(v)});
  else if (const auto* x = v.as<double>()) out.push_back({path, s.on.number(*x, DType::f64)});
  else if (const auto* m = v.as<Maybe>()) {
    sink.note("export.optional-output", cat("output '", path, "' may be None: '", path, ".present' tells"));
    out.push_back({path + ".present", m->present});
    flatten_outputs(s, *m->value, path, out, sink);
  } else if (const auto* l = staged_of(s, v)) {
    const StagedList list = *l;
    const auto types = graph_types(list.element);
    for (size_t i = 0; i < list.arrays.size(); ++i) {
      const bool numbers = types[i].rank() == 0 && !list.element.is(Form::Kind::tensor);
      out.push_back({list.arrays.size() == 1 ? path : cat(path, ".", i),
                     numbers && !list.sequence ? list.arrays[i] : as_sequence(s, list, i)});
    }
  } else if (v.is<ListRef>() || v.is<Tuple>()) {
    const auto parts = s.items(v);
    const auto* tuple = v.as<Tuple>();
    const bool named = tuple && tuple->named;
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string_view field = named ? s.interpreter().field_name(*tuple, i) : std::string_view();
      const std::string key = field.empty() ? cat(i) : std::string(field);
      flatten_outputs(s, parts[i], path == "output" && named ? key : cat(path, ".", key), out, sink);
    }
  } else if (const auto* dict = v.as<DictRef>()) {
    const auto& cell = s.heap.get<DictCell>(dict->cell);
    if (cell.poison) s.fail("stage.unavailable", cat("output '", path, "': ", *cell.poison));
    const auto entries = cell.entries;
    for (size_t i = 0; i < entries.size(); ++i) {
      const auto* key = entries[i].first.as<std::string>();
      const std::string label = key ? *key : cat(i);
      flatten_outputs(s, entries[i].second, path == "output" ? label : cat(path, ".", label), out, sink);
    }
  } else if (const auto* p = lost_in(v)) {
    if (!p->reported || s.missing.empty()) s.fail("stage.unavailable", cat("output '", path, "': ", *p->why));
  } else sink.note("export.dropped-output", cat("output '", path, "' is ", v.kind(), " and not part of the model"));
}

void throw_missing(const std::map<std::string, Missing>& missing) {
  std::vector<Diag> all;
  for (const auto& [op, m] : missing) {
    Error e = error("lower.no-rule", cat(op, " is not supported (used ", m.count, m.count == 1 ? " time)" : " times)"));
    e.diag().where = m.first;
    const std::string near = nearest_operators(op);
    if (!near.empty()) e.diag().because = cat("what works and is nearest: ", near);
    const bool optimised = op.find("mkldnn") != op.npos || op.find("MKLDNN") != op.npos;
    if (optimised)
      e.diag().because =
          "torch.jit.optimize_for_inference made it for PyTorch on one kind of CPU; archives hold no weights in that "
          "form";
    e.diag().hint = optimised ? "export the module as it was before optimize_for_inference; torch.jit.freeze is fine"
                    : m.hint.empty()
                        ? "cameo ops lists what is supported; --fallback keeps unknown operators as custom nodes"
                        : m.hint;
    if (!m.user.empty()) e.diag().notes.push_back({cat("written at ", m.user), {}});
    std::string scopes;
    for (const std::string& scope : m.scopes) scopes += cat(scopes.empty() ? "" : ", ", scope);
    if (m.scopes.size() > 1) e.diag().notes.push_back({cat("used in ", scopes), {}});
    all.push_back(e.diag());
  }
  throw Error(std::move(all));
}

namespace {

// Names for axes of outputs: taken where the size has no name of its own.
void label_outputs(Graph& g, const ExportOptions& options, DiagSink& sink) {
  std::vector<Substitution> names;
  for (const DynamicAxis& a : options.dynamic_axes) {
    const auto named = [&](ValueId v) { return g[v].name == a.value; };
    const auto& region = g[g.main()];
    if (std::any_of(region.inputs.begin(), region.inputs.end(), named)) continue;
    const auto it = std::find_if(region.outputs.begin(), region.outputs.end(), named);
    if (it == region.outputs.end()) {
      sink.warn("export.dynamic-axes",
                cat("--dynamic-axes names '", a.value, "', which is neither an input nor an output"))
          .hint = "cameo show lists the names of the exported model";
      continue;
    }
    const Fact& f = g[*it].fact;
    if (!f.has_rank()) continue;
    const int64_t axis = a.axis < 0 ? a.axis + f.rank() : a.axis;
    if (axis < 0 || axis >= f.rank())
      throw error("use.dynamic-axes", cat("output '", a.value, "' has no axis ", a.axis))
          .why(cat("it has ", f.rank(), " axes"));
    const Dim d = f.shape()[static_cast<size_t>(axis)];
    if (d.is_symbol() && is_fresh(d)) names.push_back({d, g.dims().symbol(a.name)});
    else if (d.text() != a.name)
      sink.note("export.axis-name", cat("axis ", axis, " of output '", a.value, "' is ", d.text(),
                                        ", which is written in place of the name '", a.name, "'"));
  }
  if (!names.empty()) substitute_dims(g, names);
}

}  // namespace

namespace {
// ONNX has no assertion. A Gather of the only element does: where the condition fails, the index is outside.
V guarded(Machine& s, V value, const Machine::Check& check) {
  auto& on = s.on;
  const V index = on.to(on.Not(check.holds), DType::i64);
  const V out = on.Gather(on.unsqueeze(value, {0}), index, op::Gather{.axis = 0});
  s.graph.set_name(s.graph[out.id].def, cat("assert: ", check.message));
  return out;
}
}  // namespace

void set_outputs(Machine& s, std::vector<Output> outputs, const ExportOptions& options, DiagSink& sink) {
  Graph& g = s.graph;
  if (const auto first =
          std::find_if(outputs.begin(), outputs.end(),
                       [&](const Output& o) { return s.on.fact(o.value).type.is_tensor() && s.on.has_rank(o.value); });
      first != outputs.end()) {
    std::vector<Machine::Check> checks = s.checks();
    for (Machine::Check& guess : checks_of_guesses(s)) checks.push_back(std::move(guess));
    for (const Machine::Check& check : checks) first->value = guarded(s, first->value, check);
  }
  if (outputs.size() == 1 && outputs[0].name.starts_with("output.")) outputs[0].name = "output";
  if (options.output_names.size() > outputs.size())
    throw error("use.output-names", cat(options.output_names.size(), " output names are given, and the model has ",
                                        outputs.size(), outputs.size() == 1 ? " output" : " outputs"));
  for (const std::string& name : options.output_names)
    for (const ValueId v : g[g.main()].inputs)
      if (g[v].name == name)
        throw error("use.output-names", cat("an output cannot be called '", name, "': an input is"));
  // What a program returns may be called like an input, as a cache that it was given: "x", "x_1", ...
  support::FreeNames names(1);
  for (const std::string& name : options.output_names) names.take(name);
  for (const ValueId v : g[g.main()].inputs) names.take(g[v].name);
  std::vector<ValueId> ids;
  for (size_t i = 0; i < outputs.size(); ++i) {
    V v = outputs[i].value;
    if (is_complex(s.on.dtype(v))) {
      sink.note("export.complex",
                cat("output '", outputs[i].name, "' is complex: real and imaginary parts along a new last axis"));
      v = pair_of(s.on, v);
    }
    // A value that is an input, a constant or an output already needs a node of its own.
    const auto& value = g[v.id];
    if (value.kind != ir::Value::Kind::node_output || std::find(ids.begin(), ids.end(), v.id) != ids.end() ||
        !value.name.empty())
      v = s.copy_of(v, g.main());
    g.label(v.id).name = i < options.output_names.size() ? options.output_names[i] : names.give(outputs[i].name);
    ids.push_back(v);
  }
  g.set_region_outputs(g.main(), std::move(ids));
  label_outputs(g, options, sink);
}

void report_frozen(const Machine& s, const ExportOptions& options, DiagSink& sink) {
  std::vector<Diag> frozen;
  for (const DimFact& f : s.graph.facts.all()) {
    if (f.kind != DimFact::Kind::equal || f.origin.source == FactSource::user) continue;
    const Dim symbol = f.a.is_symbol() ? f.a : f.b, other = f.a.is_symbol() ? f.b : f.a;
    if (!symbol.is_symbol() || is_fresh(symbol) || !other.is_literal()) continue;
    Error e = error("export.frozen-dim",
                    cat("the program fixes the dynamic size '", symbol_name(symbol), "' at ", other.text()));
    e.diag().where = f.origin.where;
    e.diag().because = cat(f.origin.said, " needs it to be ", other.text());
    e.diag().hint = cat("give the size as the number ", other.text(), ", change that line, or pass --frozen allow");
    if (const std::string line = s.interpreter().user_line(f.origin.where); !line.empty())
      e.diag().notes.push_back({cat("written at ", line), {}});
    if (options.allow_frozen) e.diag().severity = Severity::warning;
    frozen.push_back(e.diag());
  }
  if (frozen.empty()) return;
  if (!options.allow_frozen) throw Error(std::move(frozen));
  for (Diag& d : frozen) sink.add(std::move(d));
}

}  // namespace cameo::staging
