#include "passes/half/widen.h"

#include <algorithm>

#include "kernels/carrier.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "passes/half/units.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }
bool is_half(int64_t t) { return is_half(dtype_from_number(t).value_or(DType::undefined)); }

class Widener {
 public:
  explicit Widener(Graph& g) : g_(g) {}

  size_t run() {
    for (const ValueId v : std::vector<ValueId>(g_[g_.main()].inputs)) cast_input(v);
    for (uint32_t i = 0; i < g_.value_capacity(); ++i) widen(ValueId(i));
    for (uint32_t i = 0; i < g_.node_capacity(); ++i)
      if (const NodeId n(i); !g_[n].dead) widen_attributes(n);
    cast_outputs();
    if (changed_) infer(g_);
    check();
    return changed_;
  }

 private:
  // Types inside sequences and optionals are widened with them.
  bool holds_half(ValueId v) const {
    for (const Type* t = &g_[v].fact.type; t; t = t->inner.get())
      if (!t->is_unknown() && is_half(t->elem)) return true;
    return false;
  }

  void cast_input(ValueId v) {
    const DType type = g_[v].fact.type.elem;
    if (!holds_half(v)) return;
    if (!g_[v].fact.type.is_tensor()) throw refused(v);
    const ValueId wide = cast(v, DType::f32, g_[g_.main()].first);
    const NodeId by = g_[wide].def;
    for (const Use& u : std::vector<Use>(g_[v].uses))
      if (u.node && u.node != by) g_.set_input(u.node, u.index, wide);
    inputs_.emplace_back(v, type);
    ++changed_;
  }

  ValueId cast(ValueId v, DType to, NodeId before) {
    const NodeId n =
        g_.add_node(g_.main(), op_of<op::Cast>(),
                    std::make_shared<const op::Cast>(op::Cast{.to = static_cast<int64_t>(to)}), {v}, 1, before);
    const ValueId out = g_[n].outputs[0];
    g_.fact(out).type = with_element(g_[v].fact.type, to);
    casts_.push_back(n);
    return out;
  }

  void widen(ValueId v) {
    const Value& value = g_[v];
    if (value.kind == Value::Kind::dead || !holds_half(v)) return;
    if (std::any_of(inputs_.begin(), inputs_.end(), [v](const auto& i) { return i.first == v; })) return;
    const auto& ends = g_[g_.main()].outputs;
    if (std::find(ends.begin(), ends.end(), v) != ends.end()) outputs_.emplace_back(v, value.fact.type.elem);
    if (value.weight) g_.set_weight(v, std::make_shared<const Weight>(Weight::of(widened(value.weight->dense()))));
    Fact& fact = g_.fact(v);
    fact.type = with_element(fact.type, DType::f32);
    fact.contents.reset();
    ++changed_;
    for (const Use& u : std::vector<Use>(g_[v].uses))
      if (u.node) g_.touch(u.node);
    if (g_[v].def) g_.touch(g_[v].def);
  }

  void widen_attributes(NodeId n) {
    if (std::find(casts_.begin(), casts_.end(), n) != casts_.end()) return;
    const Node& node = g_[n];
    const auto typed = [&]<class Op>(const Op* a, auto member) {
      if (!a || !is_half(a->*member)) return;
      Op wide = *a;
      wide.*member = static_cast<int64_t>(DType::f32);
      g_.set_attrs(n, std::make_shared<const Op>(wide));
    };
    typed(node.as<op::Cast>(), &op::Cast::to);
    typed(node.as<op::RandomNormal>(), &op::RandomNormal::dtype);
    typed(node.as<op::RandomUniform>(), &op::RandomUniform::dtype);
    optional(n, node.as<op::EyeLike>(), &op::EyeLike::dtype);
    optional(n, node.as<op::RandomNormalLike>(), &op::RandomNormalLike::dtype);
    optional(n, node.as<op::RandomUniformLike>(), &op::RandomUniformLike::dtype);
    optional(n, node.as<op::SequenceEmpty>(), &op::SequenceEmpty::dtype);
    if (const auto* c = node.as<op::Constant>(); c && c->value && is_half(c->value->dtype()))
      g_.set_attrs(n, std::make_shared<const op::Constant>(op::Constant{.value = widened(*c->value)}));
    if (const auto* c = node.as<op::ConstantOfShape>(); c && c->value && is_half(c->value->dtype()))
      g_.set_attrs(n, std::make_shared<const op::ConstantOfShape>(op::ConstantOfShape{.value = widened(*c->value)}));
  }

  template <class Op>
  void optional(NodeId n, const Op* a, std::optional<int64_t> Op::*member) {
    if (!a || !(a->*member) || !is_half(*(a->*member))) return;
    Op wide = *a;
    wide.*member = static_cast<int64_t>(DType::f32);
    g_.set_attrs(n, std::make_shared<const Op>(wide));
  }

  static Tensor widened(const Tensor& t) {
    const Loaded<float> numbers(t);
    return Tensor::of<float>(DType::f32, t.shape(), numbers.span());
  }

  void cast_outputs() {
    std::vector<ValueId> ends = g_[g_.main()].outputs;
    for (const auto& [v, type] : outputs_) {
      if (!g_[v].fact.type.is_tensor()) throw refused(v);
      const ValueId narrow = cast(v, type, {});
      std::string name = g_[v].name;
      g_.rename(v, name.empty() ? "" : cat(name, "_f32"));
      g_.rename(narrow, std::move(name));
      std::replace(ends.begin(), ends.end(), v, narrow);
    }
    if (!outputs_.empty()) g_.set_region_outputs(g_.main(), ends);
  }

  void check() const {
    for (uint32_t i = 0; i < g_.value_capacity(); ++i) {
      const ValueId v(i);
      if (g_[v].kind == Value::Kind::dead || !holds_half(v)) continue;
      if (std::any_of(inputs_.begin(), inputs_.end(), [v](const auto& in) { return in.first == v; })) continue;
      const NodeId by = g_[v].def;
      if (by && std::find(casts_.begin(), casts_.end(), by) != casts_.end()) continue;
      throw refused(v);
    }
  }
  Error refused(ValueId v) const {
    return error("convert.float", cat("'", g_[v].name, "' is ", g_[v].fact.type.text(), " and has no form in f32"));
  }

  Graph& g_;
  size_t changed_ = 0;
  std::vector<std::pair<ValueId, DType>> inputs_, outputs_;
  std::vector<NodeId> casts_;
};

}  // namespace

size_t widen_halves(Graph& g) { return Widener(g).run(); }

}  // namespace cameo::passes
