#include "operators/probe.h"

#include <algorithm>

#include "backends/onnx/legalise.h"
#include "lowering/complex.h"
#include "operators/call_text.h"
#include "ops/schema.h"
#include "passes/dce.h"
#include "support/error.h"

namespace cameo::tests {

namespace {

using Kind = SchemaType::Kind;

// One way to make arguments up.
struct Plan {
  std::vector<int64_t> shape;  // of tensors that nothing special is known about
  DType dtype = DType::f32;
  int weight = 0;          // 0: as a convolution's, 1: one per channel, 2: a matrix
  bool optionals = false;  // give optional tensors too
  int64_t number = 1;      // ints without a default
};

std::vector<Plan> plans() {
  std::vector<Plan> out;
  static const std::vector<std::vector<int64_t>> shapes = {{2, 3, 4, 4}, {2, 3, 4}, {4, 4}, {4}, {2, 3, 4, 4, 4}, {}};
  for (const bool optionals : {false, true})
    for (const int64_t number : {1, 0, 2})
      for (const int weight : {0, 1, 2})
        for (const DType dtype : {DType::f32, DType::i64, DType::boolean})
          for (const auto& shape : shapes)
            if (weight == 0 || dtype == DType::f32) out.push_back({shape, dtype, weight, optionals, number});
  return out;
}

class Maker {
 public:
  Maker(Lower& on, const Schema& s, const Plan& p) : on_(on), s_(s), p_(p) {}

  std::vector<Arg> all() {
    std::vector<Arg> out;
    for (const SchemaParam& p : s_.params) out.push_back(make(p));
    return out;
  }

 private:
  Arg make(const SchemaParam& p) {
    const SchemaType* t = &p.type;
    const bool optional = t->kind == Kind::optional;
    while (t->kind == Kind::optional) t = &t->args[0];
    const bool giving = p_.optionals && (t->kind == Kind::tensor || t->kind == Kind::list);
    if (p.has_default && !(giving && optional)) return default_argument(p);
    if (optional && !giving) return Arg();
    return of(*t, p);
  }

  Arg of(const SchemaType& t, const SchemaParam& p) {
    switch (t.kind) {
      case Kind::tensor: return Arg(tensor(p.name));
      case Kind::integer: return Arg(t.is_dtype ? Dim(6) : Dim(p_.number));
      case Kind::number: return p_.dtype == DType::f32 ? Arg(0.5) : Arg(Dim(p_.number));
      case Kind::floating: return Arg(0.5);
      case Kind::boolean: return Arg(p_.number == 1);
      case Kind::string:
        return Arg(std::string(p.name == "equation"   ? "ij,jk->ik"
                               : p.name == "reduce"   ? "sum"
                               : p.name == "indexing" ? "ij"
                                                      : "none"));
      case Kind::list: return list(t.args[0], p, t.fixed_size);
      default: return Arg();
    }
  }

  Arg list(const SchemaType& t, const SchemaParam& p, int fixed) {
    std::vector<Arg> items;
    const bool sizes = p.name == "size" || p.name == "shape" || p.name == "sizes" || p.name == "normalized_shape";
    if (sizes && p.name != "normalized_shape")
      for (const int64_t d : p_.shape) items.emplace_back(Dim(d));
    else if (t.kind == Kind::tensor || t.kind == Kind::optional)
      for (int i = 0; i < 2; ++i) items.emplace_back(tensor(p.name));
    else if (p.name == "pad" || p.name == "padding") items.assign(fixed ? static_cast<size_t>(fixed) : 2, Arg(Dim(1)));
    else if (p.name == "dims" && s_.name == "aten::permute")
      for (size_t i = p_.shape.size(); i-- > 0;) items.emplace_back(Dim(static_cast<int64_t>(i)));
    else if (p.name == "normalized_shape") items.emplace_back(Dim(p_.shape.empty() ? 1 : p_.shape.back()));
    else items.assign(fixed ? static_cast<size_t>(fixed) : 1, of(t, p));
    return Arg::list(std::move(items));
  }

  V tensor(const std::string& name) {
    const int64_t channels = p_.shape.size() > 1 ? p_.shape[1] : p_.shape.empty() ? 1 : p_.shape[0];
    DType dtype = p_.dtype;
    std::vector<int64_t> shape = p_.shape;
    const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
    if (has("target") && s_.name.find("nll") != s_.name.npos && shape.size() > 1) shape.erase(shape.begin() + 1);
    if (has("ind") || has("offset") || (has("target") && s_.name.find("nll") != s_.name.npos)) dtype = DType::i64;
    if (has("mask") || has("condition")) dtype = DType::boolean;
    if (has("running") || has("bias")) shape = {channels};
    if (has("weight")) {
      if (p_.weight == 0) {
        shape.assign(p_.shape.size(), 1);
        if (shape.size() > 1) shape[0] = shape[1] = channels;
      } else if (p_.weight == 1) shape = {channels};
      else shape = {4, p_.shape.empty() ? 1 : p_.shape.back()};
    }
    return on_.graph().add_input(on_.graph().main(), name, Type::tensor(dtype, Shape(shape.begin(), shape.end())));
  }

  Lower& on_;
  const Schema& s_;
  const Plan& p_;
};

int64_t oldest_opset(const Model& m) {
  for (int64_t opset = 7; opset <= newest_released_opset; ++opset) {
    Model copy = m;
    if (onnx::legalise(copy, opset).refusals.empty()) return opset;
  }
  return 0;
}

const std::vector<Plan>& all_plans() {
  static const std::vector<Plan> all = plans();
  return all;
}

}  // namespace

size_t plan_count() { return all_plans().size(); }

std::optional<std::string> call_that_works(const Row& row, const Schema& s, size_t plan) try {
  Graph g;
  Lower on(g, g.main());
  LoweredCall call{&s, Maker(on, s, all_plans()[plan]).all()};
  std::string text = call_text(s, call.args, g);
  lower_call(on, row, std::move(call));
  return text;
} catch (const std::exception&) {
  return std::nullopt;
}

namespace {

template <class MakeCall>
Probe probed(MakeCall make_call) {
  Model m;
  m.opsets[""] = newest_released_opset;
  Lower on(m.graph, m.graph.main());
  on.fold = false;  // what becomes a constant where all is known shows what it is otherwise
  ParsedCall made = make_call(on);
  std::vector<ValueId> outputs;
  add_results(lower_call(on, *made.row, std::move(made.call)), outputs);
  for (ValueId& v : outputs)
    if (is_complex(on.dtype(v))) v = pair_of(on, v);
  m.graph.set_region_outputs(m.graph.main(), std::move(outputs));
  remove_dead_code(m.graph);
  Probe probe;
  for (uint32_t i = 0; i < m.graph.node_capacity(); ++i)
    if (const Node& n = m.graph[NodeId(i)]; !n.dead)
      probe.onnx.insert(n.op->domain.empty() ? std::string(n.op->name) : cat(n.op->domain, "::", n.op->name));
  if (!probe.onnx.empty()) probe.from_opset = oldest_opset(m);
  return probe;
}

}  // namespace

std::optional<Probe> probe_lowering(const Row& row, const Schema& s, size_t plan) try {
  return probed([&](Lower& on) { return ParsedCall{&row, {&s, Maker(on, s, all_plans()[plan]).all()}}; });
} catch (const std::exception&) {  // also what nonsense makes of containers
  return std::nullopt;
}

std::optional<Probe> probe_call(std::string_view text) try {
  return probed([&](Lower& on) { return parse_call(text, on); });
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace cameo::tests
