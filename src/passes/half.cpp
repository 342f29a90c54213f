#include "passes/half.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kernels/carrier.h"
#include "ops/infer.h"
#include "ops/inline.h"
#include "ops/on.h"
#include "ops/soundness.h"

namespace cameo::passes {

namespace {

const Type* innermost(const Type& t) { return t.inner && !t.is_tensor() ? innermost(*t.inner) : &t; }

bool is_f32(const Type& t) {
  const Type* inner = innermost(t);
  return inner->is_tensor() && inner->elem == DType::f32;
}

Type with_element(Type t, DType to) {
  if (t.inner && !t.is_tensor()) t.inner = std::make_shared<const Type>(with_element(*t.inner, to));
  else t.elem = to;
  return t;
}

class Halver {
 public:
  Halver(Model& m, const HalfOptions& options) : g_(m.graph), options_(options) {}

  void run() {
    collect(g_.main());
    for (const NodeId n : nodes_) convert_node(n);
    for (const NodeId n : nodes_) connect_inputs(n);
    for (const RegionId r : regions_) connect_outputs(r);
    for (const auto& [v, is_half] : halves_) settle_type(v, is_half);
    drop_unused();
  }

  HalfResult result;

 private:
  void collect(RegionId r) {
    regions_.push_back(r);
    for (const ValueId v : g_[r].inputs)
      if (is_f32(g_[v].fact.type)) halves_[v] = !(options_.keep_io && r == g_.main());
    for (const ValueId v : g_[r].initializers)
      if (is_f32(g_[v].fact.type)) halves_[v] = false;
    for (const NodeId n : g_.nodes(r)) {
      nodes_.push_back(n);
      for (const RegionId body : g_[n].regions)
        if (body) collect(body);
    }
  }

  bool stays(const Node& n) const {
    return n.op->is_opaque() || !n.op->domain.empty() ||
           std::find(options_.keep.begin(), options_.keep.end(), n.op->name) != options_.keep.end();
  }

  // Whether the operand may be of the new type; other types than f32 do not ask.
  bool takes_half(const Node& n, const Formal* f) const {
    return !stays(n) && f && admits(def(*n.op).newest().types_of(*f), Type::tensor(options_.to));
  }

  static constexpr std::string_view makers[] = {"Bernoulli",     "BlackmanWindow",   "EyeLike",      "HammingWindow",
                                                "HannWindow",    "MelWeightMatrix",  "RandomNormal", "RandomNormalLike",
                                                "RandomUniform", "RandomUniformLike"};
  // Operators that name their result's type go on making f32, which is cast.
  bool makes_f32(const Node& n) const {
    return std::find(std::begin(makers), std::end(makers), n.op->name) != std::end(makers);
  }

  void convert_node(NodeId id) {
    const Node& n = g_[id];
    const SchemaVersion* schema = n.op->is_opaque() ? nullptr : &def(*n.op).newest();
    bool touched = false;
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      const Type& t = g_[n.outputs[i]].fact.type;
      if (!is_f32(t)) continue;
      const bool structured = !t.is_tensor() || !n.regions.empty();
      halves_[n.outputs[i]] = structured || (schema && takes_half(n, schema->output(i)) && !makes_f32(n));
      touched |= halves_[n.outputs[i]];
    }
    if (touched) convert_attributes(id);
  }

  void convert_attributes(NodeId id) {
    const Node& n = g_[id];
    if (const auto* cast = n.as<op::Cast>()) {
      op::Cast to = *cast;
      to.to = static_cast<int64_t>(options_.to);
      g_.set_attrs(id, std::make_shared<const op::Cast>(to));
    } else if (n.as<op::Constant>()) {
      if (const auto value = g_.constant(n.outputs[0]))
        g_.set_attrs(
            id, std::make_shared<const op::Constant>(op::Constant{.value = halved(*value, g_[n.outputs[0]].name)}));
    } else if (const auto* filled = n.as<op::ConstantOfShape>()) {
      const Tensor value = filled->value ? *filled->value : full(DType::f32, {1}, 0);
      g_.set_attrs(id, std::make_shared<const op::ConstantOfShape>(
                           op::ConstantOfShape{.value = halved(value, g_[n.outputs[0]].name)}));
    } else if (n.as<op::SequenceEmpty>()) {
      g_.set_attrs(
          id, std::make_shared<const op::SequenceEmpty>(op::SequenceEmpty{.dtype = static_cast<int64_t>(options_.to)}));
    }
  }

  Tensor halved(const Tensor& t, const std::string& name) {
    const double most = options_.to == DType::f16 ? 65504.0 : std::ldexp(255, 120);
    const Loaded<float> in(t);
    std::vector<float> out(in.span().begin(), in.span().end());
    size_t beyond = 0;
    for (float& v : out) {
      if (!std::isfinite(v) || std::fabs(static_cast<double>(v)) <= most) continue;
      v = static_cast<float>(std::copysign(most, static_cast<double>(v)));
      ++beyond;
    }
    if (beyond) {
      Diag d;
      d.severity = Severity::note;
      d.code = "convert.range";
      d.what = cat("'", name, "': ", beyond, " numbers beyond ", most, ", the most that ", ir::name(options_.to),
                   " holds, become that");
      result.notes.push_back(std::move(d));
    }
    return store(options_.to, t.shape(), out);
  }

  void connect_inputs(NodeId id) {
    const SchemaVersion* schema = g_[id].op->is_opaque() ? nullptr : &def(*g_[id].op).newest();
    for (size_t i = 0; i < g_[id].inputs.size(); ++i) {
      const ValueId v = g_[id].inputs[i];
      const auto at = v ? halves_.find(v) : halves_.end();
      if (at == halves_.end()) continue;
      const bool structured = !g_[v].fact.type.is_tensor() || !g_[id].regions.empty();
      const bool wants = structured || (schema && takes_half(g_[id], schema->input(i)));
      if (wants != at->second) g_.set_input(id, i, other_form(v));
      else g_.touch(id);
    }
  }

  void connect_outputs(RegionId r) {
    const bool keep = options_.keep_io && r == g_.main();
    std::vector<ValueId> outputs = g_[r].outputs;
    for (ValueId& v : outputs) {
      const auto at = v ? halves_.find(v) : halves_.end();
      if (at == halves_.end() || at->second == !keep) continue;
      const ValueId given = other_form(v);
      if (r == g_.main() && g_[v].kind == Value::Kind::node_output) swap_names(v, given);
      v = given;
    }
    g_.set_region_outputs(r, outputs);
  }

  void swap_names(ValueId a, ValueId b) {
    std::string of_a = g_[a].name, of_b = g_[b].name;
    g_.rename(a, std::move(of_b));
    g_.rename(b, std::move(of_a));
  }

  // The value in the form that it does not have by itself, made once.
  ValueId other_form(ValueId v) {
    if (const auto it = others_.find(v); it != others_.end()) return it->second;
    if (!g_[v].fact.type.is_tensor())
      throw error("convert.float",
                  cat("'", g_[v].name, "' is ", g_[v].fact.type.text(), ", and no operator casts that"))
          .help("leave out --keep-io, or the operator from --keep");
    ValueId out;
    if (g_[v].kind == Value::Kind::initializer) {
      const std::string name = g_[v].name;
      auto weight = std::make_shared<const Weight>(Weight::of(halved(g_[v].weight->dense(), name)));
      out =
          g_.add_initializer(g_[v].home, name.empty() ? "" : cat(name, "_", ir::name(options_.to)), std::move(weight));
      g_.fact(out).type = with_element(g_[v].fact.type, options_.to);
      ++result.weights;
    } else {
      const NodeId before = g_[v].def ? g_[g_[v].def].next : g_[g_[v].home].first;
      const DType to = halves_.at(v) ? DType::f32 : options_.to;
      const NodeId caster =
          g_.add_node(g_[v].home, op_of<op::Cast>(),
                      std::make_shared<const op::Cast>(op::Cast{.to = static_cast<int64_t>(to)}), {v}, 1, before);
      out = g_[caster].outputs[0];
      g_.fact(out).type = with_element(g_[v].fact.type, to);
      ++result.casts;
    }
    others_.emplace(v, out);
    return out;
  }

  void settle_type(ValueId v, bool is_half) {
    Fact& f = g_.fact(v);
    if (!is_half) return;
    ++result.values;
    f.type = with_element(f.type, options_.to);
    f.contents.reset();
    if (const Value& value = g_[v]; value.kind == Value::Kind::region_input && value.weight)
      g_.set_weight(v, std::make_shared<const Weight>(Weight::of(halved(value.weight->dense(), value.name))));
  }

  // Initializers whose f32 form is not read any more give their name to the new one.
  void drop_unused() {
    for (const auto& [v, other] : others_) {
      if (g_[v].kind != Value::Kind::initializer || g_.used(v)) continue;
      const std::string name = g_[v].name;
      g_.erase_initializer(v);
      g_.label(other).name = name;
    }
  }

  Graph& g_;
  const HalfOptions& options_;
  std::vector<NodeId> nodes_;
  std::vector<RegionId> regions_;
  std::map<ValueId, bool> halves_;  // of every f32 value: whether it becomes half
  std::map<ValueId, ValueId> others_;
};

}  // namespace

HalfResult to_half(Model& m, const HalfOptions& options) {
  invariant(options.to == DType::f16 || options.to == DType::bf16, "half precision is f16 or bf16");
  for (const std::string& op : options.keep)
    if (!find_op("", op)) throw error("use.value", cat("there is no operator ", op));
  inline_functions(m);
  admit(m);
  Halver halver(m, options);
  halver.run();
  const InferResult after = infer(m.graph);
  for (const Diag& d : after.findings)
    if (d.code == "infer.declared")
      throw error("convert.float", cat("an operator mixes the types: ", d.what)).help("name it in --keep");
  return std::move(halver.result);
}

}  // namespace cameo::passes
