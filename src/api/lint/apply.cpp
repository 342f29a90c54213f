#include <algorithm>
#include <map>
#include <set>

#include "backends/onnx/legalise.h"
#include "ir/node_name.h"
#include "ops/op_def.h"
#include "passes/single.h"
#include "passes/whole_casts.h"

#include "api/lint/fix.h"
#include "cameo/convert.h"
#include "cameo/edit.h"
#include "cameo/simplify.h"
#include "cameo/verify.h"

namespace cameo::linting {

namespace {

struct Work {
  const cameo::Model& model;
  const Cure& cure;
  const Diagnosis& diagnosis;
  const LintFixSettings& settings;

  std::vector<const Ailment*> mine() const {
    std::vector<const Ailment*> out;
    for (const Ailment& a : diagnosis.all)
      if (a.found.cure == cure) out.push_back(&a);
    return out;
  }
};

cameo::Model to_opset(const Work& w) { return convert(w.model, {.opset = std::stoi(w.cure.words[0])}).model; }

cameo::Model simplified(const Work& w) { return simplify(w.model).model; }

cameo::Model inlined(const Work& w) { return convert(w.model, {.inline_functions = true}).model; }

// Named sizes get those that were given, or some at which the model works.
cameo::Model with_fixed_sizes(const Work& w) {
  SimplifySettings how;
  const ir::Graph& g = ModelState::onnx(w.model).graph;
  const auto sizes = free_sizes(w.model, w.settings.sizes);
  for (const ValueId v : g[g.main()].inputs) {
    const Type& t = g[v].fact.type;
    if (g[v].weight || !t.is_tensor() || !t.has_rank()) continue;
    std::vector<std::string> shape;
    const auto given = w.settings.input_shapes.find(g[v].name);
    for (size_t i = 0; i < t.shape->size(); ++i) {
      const Dim d = (*t.shape)[i];
      const auto named = d.is_literal() ? sizes.end() : sizes.find(d.text());
      if (given != w.settings.input_shapes.end() && i < given->second.size()) shape.push_back(given->second[i]);
      else if (named != sizes.end()) shape.push_back(cat(named->second));
      else shape.push_back(d.is_literal() ? cat(d.literal()) : "1");
    }
    how.input_shapes[g[v].name] = std::move(shape);
  }
  return simplify(w.model, how).model;
}

cameo::Model with_attribute(const Work& w) {
  Editor editor(w.model);
  const size_t equals = w.cure.words[0].find('=');
  for (const Ailment* a : w.mine()) {
    const ir::Graph& g = w.diagnosis.file.model.graph;
    const NodeId n = a->found.node->id;
    const std::string& name = ir::node_name(g, n);
    editor.set_attribute(name, w.cure.words[0].substr(0, equals), w.cure.words[0].substr(equals + 1));
  }
  return editor.apply();
}

cameo::Model in_f32(const Work& w) {
  ModelState s = ModelState::changed(w.model);
  passes::to_single(s.model);
  s.inferred.reset();
  return ModelState::make(std::move(s));
}

// Nodes get that many outputs, each with a name.
cameo::Model with_outputs(const Work& w) {
  ModelState s = ModelState::changed(w.model);
  s.model = w.diagnosis.file.model;
  ir::Graph& g = s.model.graph;
  const auto wanted = static_cast<size_t>(std::stoi(w.cure.words[0]));
  for (const Ailment* a : w.mine()) {
    const NodeId n = a->found.node->id;
    if (g[n].outputs.empty()) continue;  // a node that gives nothing
    const std::string first = g[g[n].outputs[0]].name;
    while (g[n].outputs.size() < wanted) {
      const ValueId v = g.add_output(n);
      g.rename(v, cat(first, "_", g[n].outputs.size() - 1));
    }
  }
  s.inferred.reset();
  return ModelState::make(std::move(s));
}

// The element types that every asking target takes, of a type variable.
struct Allowed {
  std::map<std::pair<std::string, int>, std::set<const Facts*>> asked;  // by operator and version

  TypeSet operator()(const std::string& op, const SchemaVersion& schema, const ops::Formal& f) const {
    TypeSet out = schema.types_of(f);
    const auto it = asked.find({op, schema.since});
    if (it == asked.end() || f.type_var < 0) return out;
    const auto names = ops::schema_type_names();
    for (const Facts* facts : it->second) {
      const OperatorFacts* known = facts->find(op, schema.since);
      const auto tried = known->by_type.find(schema.types[static_cast<size_t>(f.type_var)].name);
      if (tried == known->by_type.end()) continue;
      for (int i = 0; i < static_cast<int>(names.size()); ++i)
        if (out.has(i) && !takes(tried->second, names[static_cast<size_t>(i)])) drop(out, i);
    }
    return out;
  }

 private:
  static bool takes(const TriedTypes& tried, std::string_view schema_name) {
    if (!schema_name.starts_with("tensor(")) return true;
    const auto dtype = dtype_from_onnx_name(schema_name.substr(7, schema_name.size() - 8));
    return dtype && tried.yes.contains(name(*dtype));
  }
  static void drop(TypeSet& set, int i) {
    if (i < 64) set.low &= ~(uint64_t{1} << i);
    else set.high &= ~(uint64_t{1} << (i - 64));
  }
};

// Operators that a target lacks are expanded, element types that it lacks are widened: both by legalising for limits.
cameo::Model within_limits(const Work& w) {
  std::set<std::string> lacked;
  std::set<NodeId> forms;  // of operators that the target has
  Allowed allowed;
  for (const Ailment* a : w.mine()) {
    const FileNode& n = *a->found.node;
    if (w.cure.name == "expand" && a->found.rule == "operator") lacked.insert(n.op);
    else if (w.cure.name == "expand") forms.insert(n.id);
    else if (a->target->facts.find(n.op, n.since())) allowed.asked[{n.op, n.since()}].insert(&a->target->facts);
  }
  onnx::EngineLimits limits;
  limits.lacks = [&](const ir::Graph& g, NodeId n) {
    return forms.contains(n) || lacked.contains(std::string(g[n].op->name));
  };
  ModelState s = ModelState::changed(w.model);
  ir::Model changed = w.diagnosis.file.model;
  const ir::Graph& graph = changed.graph;
  limits.admits = [&](NodeId n, const SchemaVersion& schema, const ops::Formal& f) {
    return allowed(std::string(graph[n].op->name), schema, f);
  };
  onnx::LegaliseOptions how;
  how.limits = &limits;
  auto result = onnx::legalise(changed, opset_of(s), how);
  if (!result.refusals.empty()) throw Error(std::move(result.refusals));
  if (!result.expanded && !result.widened)
    throw support::error("lint.no-cure", "no other form of these nodes is known");
  s.model = std::move(changed);
  s.inferred.reset();
  return ModelState::make(std::move(s));
}

bool computes_on_a_grid(const ir::Graph& g, NodeId n) {
  constexpr std::string_view products[] = {"DynamicQuantizeLinear", "MatMulInteger", "QLinearMatMul"};
  if (std::any_of(std::begin(products), std::end(products), [&](auto op) { return g[n].is(op); })) return true;
  if (g[n].is("DequantizeLinear")) return is_int(g[g[n].inputs[0]].fact.dtype());
  return g[n].is("QuantizeLinear") && is_int(g[g[n].outputs[0]].fact.dtype());
}

// What operators on integers of 8 bits do, in f32: the same numbers.
cameo::Model on_the_same_grid(const Work& w) {
  onnx::EngineLimits limits;
  limits.lacks = computes_on_a_grid;
  limits.admits = [](NodeId, const SchemaVersion& schema, const ops::Formal& f) { return schema.types_of(f); };
  ModelState s = ModelState::changed(w.model);
  ir::Model changed = w.diagnosis.file.model;
  auto result = onnx::legalise(changed, opset_of(s), {.limits = &limits});
  if (!result.refusals.empty()) throw Error(std::move(result.refusals));
  passes::keep_whole_floats(changed);
  s.model = std::move(changed);
  s.inferred.reset();
  return simplify(ModelState::make(std::move(s))).model;
}

struct Treatment {
  std::string_view name;
  cameo::Model (*apply)(const Work& w);
};

// In the order in which they are tried.
constexpr Treatment treatments[] = {
    {"inline", inlined},
    {"opset", to_opset},
    {"fixed-sizes", with_fixed_sizes},
    {"simplify", simplified},
    {"attr", with_attribute},
    {"outputs", with_outputs},
    {"f32", in_f32},
    {"float-grid", on_the_same_grid},
    {"expand", within_limits},
    {"widen", within_limits},
};

}  // namespace

int order_of(const Cure& cure) {
  const auto* it = std::find_if(std::begin(treatments), std::end(treatments),
                                [&](const Treatment& t) { return t.name == cure.name; });
  return static_cast<int>(it - std::begin(treatments));
}

cameo::Model cured(const cameo::Model& model, const Cure& cure, const Diagnosis& diagnosis,
                   const LintFixSettings& settings) {
  return treatments[order_of(cure)].apply({model, cure, diagnosis, settings});
}

}  // namespace cameo::linting
