// Inputs, outputs, names, shapes, weights.
#include "passes/edit.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "ir/node_name.h"
#include "ops/infer.h"
#include "support/error.h"
#include "support/free_names.h"
#include "support/near_name.h"

namespace cameo::passes {

namespace {

bool is_main(const Graph& g, const Value& v) { return v.kind != Value::Kind::dead && v.home == g.main(); }

std::string some_names(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < 12; ++i) out += cat(i ? ", " : "", names[i]);
  return names.size() > 12 ? cat(out, ", ... (", names.size(), " in all)") : out;
}

// "did you mean NAME? ", or nothing. A file may have more and longer names than anybody wants to wait for.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  constexpr size_t most_names = 10'000, longest = 200;
  std::vector<std::string_view> tried;
  for (size_t i = 0; i < names.size() && i < most_names; ++i)
    if (names[i].size() < longest) tried.push_back(names[i]);
  const auto close = word.size() < longest ? support::nearest(word, tried) : std::string_view();
  return close.empty() ? "" : cat("did you mean ", close, "? ");
}

Dim parse_size(Graph& g, std::string_view text) {
  int64_t n = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (r.ec == std::errc() && r.ptr == text.data() + text.size()) {
    if (n < 0) throw error("edit.size", cat("a size cannot be ", n));
    return Dim(n);
  }
  if (text == "?") return g.dims().fresh();
  try {
    return parse_dim(g.dims(), text);
  } catch (const Error&) {
    throw error("edit.size", cat("'", text, "' is not a size: a number, a name, or ? are"));
  }
}

}  // namespace

void infer_anew(Model& m, std::span<const ValueId> fixed) {
  Graph& g = m.graph;
  std::vector<Fact> before(g.value_capacity());
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const Value& v = g[ValueId(i)];
    if (v.kind == Value::Kind::dead || !v.def || g[v.def].op->is_opaque()) continue;
    before[i] = v.fact;
    if (std::find(fixed.begin(), fixed.end(), ValueId(i)) == fixed.end()) g.fact(ValueId(i)) = {};
  }
  InferResult result = infer(g, m.functions);
  // Declared shapes that do not fit are warnings: the computed ones are used.
  if (std::any_of(result.findings.begin(), result.findings.end(),
                  [](const Diag& d) { return d.severity == Severity::error; }))
    throw Error(std::move(result.findings));
  for (uint32_t i = 0; i < before.size(); ++i) {
    const Type &old = before[i].type, &now = g[ValueId(i)].fact.type;
    if (!old.is_unknown() && (now.is_unknown() || (now.is_tensor() && !now.has_rank() && old.has_rank())))
      g.fact(ValueId(i)) = before[i];
  }
}

bool has_value(const Graph& g, std::string_view name) {
  for (uint32_t i = 0; i < g.value_capacity(); ++i)
    if (const Value& v = g[ValueId(i)]; v.kind != Value::Kind::dead && v.name == name) return true;
  return false;
}

std::string free_name(const Graph& g, std::string_view wanted) {
  support::FreeNames names(2);
  for (uint32_t i = 0; i < g.value_capacity(); ++i)
    if (const Value& v = g[ValueId(i)]; v.kind != Value::Kind::dead) names.take(v.name);
  return names.give(wanted);
}

namespace {
// "%12", as a value without a name is shown.
ValueId find_unnamed(const Graph& g, std::string_view label) {
  uint32_t id = 0;
  const auto* const end = label.data() + label.size();
  if (!label.starts_with('%') || std::from_chars(label.data() + 1, end, id).ptr != end || label.size() < 2) return {};
  if (id >= g.value_capacity() || !is_main(g, g[ValueId(id)]) || !g[ValueId(id)].name.empty()) return {};
  return ValueId(id);
}
}  // namespace

ValueId find_value(const Graph& g, std::string_view name) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const Value& v = g[ValueId(i)];
    if (!is_main(g, v) || v.name.empty()) continue;
    if (v.name == name) return ValueId(i);
    names.push_back(v.name);
  }
  if (const ValueId v = find_unnamed(g, name)) return v;
  throw error("edit.no-value", cat("the model has no value '", name, "'"))
      .help(cat(did_you_mean(name, names), "its values are: ", some_names(names)));
}

NodeId find_node(const Graph& g, std::string_view name) {
  std::vector<std::string> names;
  for (const NodeId n : g.nodes(g.main())) {
    if (!g[n].name.empty() && g[n].name == name) return n;
    names.push_back(cat(g[n].name.empty() ? "-> " : "", node_name(g, n)));
  }
  for (const NodeId n : g.nodes(g.main()))
    for (const ValueId v : g[n].outputs)
      if (!name.empty() && g[v].name == name) return n;
  if (const ValueId v = find_unnamed(g, name); v && g[v].def) return g[v].def;
  throw error("edit.no-node", cat("the model has no node '", name, "'"))
      .help(cat(did_you_mean(name, names), "its nodes are: ", some_names(names)));
}

void add_output(Model& m, std::string_view name) {
  Graph& g = m.graph;
  const ValueId v = find_value(g, name);
  auto outputs = g[g.main()].outputs;
  if (std::find(outputs.begin(), outputs.end(), v) != outputs.end())
    throw error("edit.output", cat("'", name, "' is an output already"));
  if (g[v].fact.type.is_unknown() || !g[v].fact.type.has_rank()) infer(g, m.functions);
  outputs.push_back(v);
  g.set_region_outputs(g.main(), std::move(outputs));
}

void remove_output(Model& m, std::string_view name) {
  Graph& g = m.graph;
  auto outputs = g[g.main()].outputs;
  const auto it = std::find_if(outputs.begin(), outputs.end(), [&](ValueId v) { return g[v].name == name; });
  if (it == outputs.end()) throw error("edit.output", cat("the model has no output '", name, "'"));
  if (outputs.size() == 1) throw error("edit.output", cat("'", name, "' is the model's only output"));
  outputs.erase(it);
  g.set_region_outputs(g.main(), std::move(outputs));
}

void remove_input(Model& m, std::string_view name) {
  Graph& g = m.graph;
  const auto& inputs = g[g.main()].inputs;
  const auto it = std::find_if(inputs.begin(), inputs.end(), [&](ValueId v) { return g[v].name == name; });
  if (it == inputs.end()) throw error("edit.input", cat("the model has no input '", name, "'"));
  const ValueId v = *it;
  const auto index = static_cast<size_t>(it - inputs.begin());
  if (g[v].weight) g.replace_uses(v, g.add_initializer(g.main(), std::string(name), g[v].weight));
  else if (g.used(v))
    throw error("edit.input", cat("the input '", name, "' is used"))
        .help("extract a part that does not use it, or set an initializer of that name");
  g.remove_region_input(g.main(), index);
}

void rename(Model& m, std::string_view from, std::string_view to) {
  Graph& g = m.graph;
  if (to.empty()) throw error("edit.name", cat("'", from, "' needs a new name"));
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    if (g[ValueId(i)].kind == Value::Kind::dead || g[ValueId(i)].name != from) continue;
    if (has_value(g, to)) throw error("edit.name", cat("the model has a value '", to, "' already"));
    return g.rename(ValueId(i), std::string(to));
  }
  for (const NodeId n : g.nodes(g.main()))
    if (g[n].name == from && !from.empty()) return g.rename(n, std::string(to));
  const ValueId unnamed = find_value(g, from);
  if (has_value(g, to)) throw error("edit.name", cat("the model has a value '", to, "' already"));
  g.rename(unnamed, std::string(to));
}

void set_dim(Model& m, std::string_view name, int64_t axis, std::string_view size) {
  Graph& g = m.graph;
  const ValueId v = find_value(g, name);
  Type& t = g.fact(v).type;
  if (!t.is_tensor() || !t.has_rank()) throw error("edit.dim", cat("'", name, "' (", t.text(), ") has no known axes"));
  if (axis < -t.rank() || axis >= t.rank())
    throw error("edit.dim", cat("'", name, "' has ", t.rank(), " axes, and none is number ", axis));
  (*t.shape)[static_cast<size_t>(axis < 0 ? axis + t.rank() : axis)] = parse_size(g, size);
  infer_anew(m, std::array{v});
}

void fix_shape(Model& m, std::string_view name, const std::vector<std::string>& sizes) {
  Graph& g = m.graph;
  const ValueId v = find_value(g, name);
  Type& t = g.fact(v).type;
  if (!t.is_tensor()) throw error("edit.dim", cat("'", name, "' is not a tensor"));
  if (t.has_rank() && static_cast<size_t>(t.rank()) != sizes.size())
    throw error("edit.dim", cat("'", name, "' has ", t.rank(), " axes, and ", sizes.size(), " sizes are given"));
  Shape shape;
  for (const std::string& s : sizes) shape.push_back(parse_size(g, s));
  const auto fits = [](Dim asked, int64_t stored) { return !asked.is_literal() || asked.literal() == stored; };
  if (const Weight* w = g[v].weight.get();
      w && !std::equal(shape.begin(), shape.end(), w->shape.begin(), w->shape.end(), fits))
    throw error("edit.dim", cat("'", name, "' has a value of other sizes in the file"))
        .help("give it another value with edit --set-initializer first");
  t.shape = std::move(shape);
  infer_anew(m, std::array{v});
}

void set_initializer(Model& m, std::string_view name, const Tensor& value) {
  Graph& g = m.graph;
  const auto weight = std::make_shared<const Weight>(Weight::of(value));
  if (!has_value(g, name)) {
    g.add_initializer(g.main(), std::string(name), weight);
    return;
  }
  const ValueId v = find_value(g, name);
  if (!g[v].weight && g[v].kind != Value::Kind::region_input)
    throw error("edit.initializer", cat("'", name, "' is computed by a node, and no initializer"));
  if (g[v].kind == Value::Kind::region_input && !g[v].weight) {  // an input becomes a constant
    const ValueId fixed = g.add_initializer(g.main(), std::string(name), weight);
    g.replace_uses(v, fixed);
    const auto& inputs = g[g.main()].inputs;
    return g.remove_region_input(g.main(),
                                 static_cast<size_t>(std::find(inputs.begin(), inputs.end(), v) - inputs.begin()));
  }
  g.set_weight(v, weight);
  g.fact(v) = {Type::tensor(value.dtype(), Shape(value.shape().begin(), value.shape().end())), nullptr};
}

void set_metadata(Model& m, const std::string& key, const std::string& value) {
  for (auto& [k, v] : m.metadata)
    if (k == key) return void(v = value);
  m.metadata.emplace_back(key, value);
}

void strip(Model& m) {
  Graph& g = m.graph;
  m.doc.clear();
  for (LocalFunction& f : m.functions) f.doc.clear();
  for (uint32_t i = 0; i < g.region_capacity(); ++i) {
    if (g[RegionId(i)].dead) continue;
    if (!g[RegionId(i)].doc.empty() && g[RegionId(i)].owner) g.touch(g[RegionId(i)].owner);
    g.label(RegionId(i)).doc.clear();
  }
  for (uint32_t i = 0; i < g.value_capacity(); ++i) g.label(ValueId(i)).doc.clear();
  for (uint32_t i = 0; i < g.node_capacity(); ++i) {
    const Node& n = g[NodeId(i)];
    if (n.dead || !n.notes || n.notes->doc.empty()) continue;
    auto notes = std::make_shared<NodeNotes>(*n.notes);
    notes->doc.clear();
    g.set_notes(NodeId(i), std::move(notes));
    g.touch(NodeId(i));
  }
}

}  // namespace cameo::passes
