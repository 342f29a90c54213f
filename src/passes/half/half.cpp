#include "passes/half/half.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/carrier.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace cameo::passes {

namespace {

class Halver {
 public:
  Halver(Graph& g, DType half, HalfWeights& made) : g_(g), half_(half), made_(made) {}

  void run(const std::vector<Unit>& units) {
    std::vector<ValueId> halves;
    for (const Unit& u : units)
      for (const ValueId v : u.gives)
        if ((is_half_[v] = u.form == Form::half)) halves.push_back(v);
    for (const Unit& u : units) {
      if (u.form == Form::half && u.node) convert_attributes(u);
      for (const Unit::Read& r : u.reads) connect(r, u.form == Form::half);
    }
    for (const auto& [r, outputs] : outputs_) g_.set_region_outputs(r, outputs);
    for (const ValueId v : halves) settle_type(v);
    touch_blind();
    drop_unused();
    drop_same_casts();
  }

  // What inference says of a value is what was decided; else a rule above does not know an operator.
  void check_types() const {
    for (const auto& [v, is_half] : is_half_) {
      if (g_[v].kind == Value::Kind::dead || g_[v].fact.type.is_unknown()) continue;
      const DType wanted = is_half ? half_ : DType::f32;
      if (g_[v].fact.type == with_element(g_[v].fact.type, wanted)) continue;
      throw error("convert.float", cat("an operator mixes the types: '", g_[v].name, "' would be ",
                                       g_[v].fact.type.text(), " instead of ", ir::name(wanted)))
          .help("name the node in --keep");
    }
  }

  HalfResult result;

 private:
  void convert_attributes(const Unit& u) {
    const Node& n = g_[u.node];
    if (u.gives.empty()) return;
    if (const auto* cast = n.as<op::Cast>()) {
      op::Cast to = *cast;
      to.to = static_cast<int64_t>(half_);
      g_.set_attrs(u.node, std::make_shared<const op::Cast>(to));
    } else if (const auto* filled = n.as<op::ConstantOfShape>()) {
      const Tensor value = filled->value ? *filled->value : full(DType::f32, {1}, 0);
      g_.set_attrs(u.node, std::make_shared<const op::ConstantOfShape>(
                               op::ConstantOfShape{.value = halved(value, g_[n.outputs[0]].name)}));
    } else if (n.as<op::SequenceEmpty>()) {
      g_.set_attrs(u.node,
                   std::make_shared<const op::SequenceEmpty>(op::SequenceEmpty{.dtype = static_cast<int64_t>(half_)}));
    }
  }

  Tensor halved(const Tensor& t, const std::string& name) {
    const double most = largest_half(half_);
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
      d.what = cat("'", name, "': ", beyond, " numbers beyond ", most, ", the most that ", ir::name(half_),
                   " holds, become that");
      result.notes.push_back(std::move(d));
    }
    return store(half_, t.shape(), out);
  }

  std::shared_ptr<const Weight> half_weight(ValueId v, const Tensor& value) {
    auto& made = made_[v];
    if (!made) made = std::make_shared<const Weight>(Weight::of(halved(value, g_[v].name)));
    return made;
  }

  void connect(const Unit::Read& r, bool wants_half) {
    const auto form = is_half_.find(r.value);
    const bool is_half = form != is_half_.end() && form->second;
    if (is_half == wants_half) {
      if (r.at.node && is_half) g_.touch(r.at.node);
      return;
    }
    const ValueId other = other_form(r.value, is_half);
    if (r.at.node) return g_.set_input(r.at.node, r.at.index, other);
    auto& outputs = outputs_.try_emplace(r.at.region, g_[r.at.region].outputs).first->second;
    if (r.at.region == g_.main() && g_[r.value].kind == Value::Kind::node_output && renamed_.insert(other).second)
      swap_names(r.value, other);
    outputs[r.at.index] = other;
  }

  void swap_names(ValueId a, ValueId b) {
    std::string of_a = g_[a].name, of_b = g_[b].name;
    g_.rename(a, std::move(of_b));
    g_.rename(b, std::move(of_a));
  }

  // The value in the form that it does not have by itself, made once.
  ValueId other_form(ValueId v, bool is_half) {
    if (const auto it = others_.find(v); it != others_.end()) return it->second;
    const Type type = with_element(g_[v].fact.type, is_half ? DType::f32 : half_);
    if (!type.is_tensor())
      throw error("convert.float",
                  cat("'", g_[v].name, "' is ", g_[v].fact.type.text(), ", and no operator casts that"))
          .help("leave out --keep-io, or the operator from --keep");
    ValueId out;
    if (g_[v].kind == Value::Kind::initializer) {
      const std::string name = g_[v].name;
      out = g_.add_initializer(g_[v].home, name.empty() ? "" : cat(name, "_", ir::name(half_)),
                               half_weight(v, g_[v].weight->dense()));
      ++result.weights;
    } else if (g_[v].def && g_[g_[v].def].as<op::Constant>()) {
      const Tensor value = half_weight(v, *g_.constant(v))->dense();
      out = after(v, op_of<op::Constant>(), std::make_shared<const op::Constant>(op::Constant{.value = value}), {});
      ++result.weights;
    } else {
      const DType to = is_half ? DType::f32 : half_;
      out =
          after(v, op_of<op::Cast>(), std::make_shared<const op::Cast>(op::Cast{.to = static_cast<int64_t>(to)}), {v});
      ++result.casts;
    }
    g_.fact(out).type = type;
    others_.emplace(v, out);
    return out;
  }

  ValueId after(ValueId v, const OpDef& op, std::shared_ptr<const void> attrs, std::vector<ValueId> inputs) {
    const NodeId before = g_[v].def ? g_[g_[v].def].next : g_[g_[v].home].first;
    return g_[g_.add_node(g_[v].home, op, std::move(attrs), std::move(inputs), 1, before)].outputs[0];
  }

  void settle_type(ValueId v) {
    Fact& f = g_.fact(v);
    ++result.values;
    f.type = with_element(f.type, half_);
    f.contents.reset();
    if (const Value& value = g_[v]; value.kind == Value::Kind::region_input && value.weight)
      g_.set_weight(v, half_weight(v, value.weight->dense()));
  }

  // What reads a value whatever its type is was written for the other one.
  void touch_blind() {
    for (const auto& [v, is_half] : is_half_)
      if (is_half)
        for (const Use& use : g_[v].uses)
          if (use.node) g_.touch(use.node);
  }

  // Constants whose f32 form is not read any more give their name to the new one.
  void drop_unused() {
    for (const auto& [v, other] : others_) {
      const bool initializer = g_[v].kind == Value::Kind::initializer;
      if (g_.used(v) || (!initializer && !(g_[v].def && g_[g_[v].def].as<op::Constant>()))) continue;
      const std::string name = g_[v].name;
      if (initializer) g_.erase_initializer(v);
      else g_.erase(g_[v].def);
      g_.label(other).name = name;
    }
  }

  // Casts that were there, from the type to itself now.
  void drop_same_casts() {
    const auto& outputs = g_[g_.main()].outputs;
    std::set<ValueId> kept(outputs.begin(), outputs.end());
    for (uint32_t i = 0; i < g_.node_capacity(); ++i) {
      const NodeId n(i);
      if (g_[n].dead || !g_[n].as<op::Cast>() || !g_.input(n, 0)) continue;
      const ValueId from = g_[n].inputs[0], to = g_[n].outputs[0];
      const DType type = g_[from].fact.type.elem;
      if (!g_[from].fact.type.is_tensor() || (type != half_ && type != DType::f32)) continue;
      if (static_cast<int64_t>(type) != g_[n].as<op::Cast>()->to || kept.contains(to)) continue;
      g_.replace_uses(to, from);
      g_.erase(n);
    }
  }

  Graph& g_;
  const DType half_;
  HalfWeights& made_;
  std::map<ValueId, bool> is_half_;
  std::map<ValueId, ValueId> others_;
  std::set<ValueId> renamed_;
  std::map<RegionId, std::vector<ValueId>> outputs_;
};

}  // namespace

double largest_half(DType half) { return half == DType::f16 ? 65504.0 : std::ldexp(255, 120); }

HalfResult apply_forms(Graph& g, const std::vector<Unit>& units, DType half, HalfWeights& made) {
  invariant(half == DType::f16 || half == DType::bf16, "half precision is f16 or bf16");
  Halver halver(g, half, made);
  halver.run(units);
  infer(g);
  halver.check_types();
  return std::move(halver.result);
}

}  // namespace cameo::passes
