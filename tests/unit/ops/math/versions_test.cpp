// Old encodings of math operators: lifted while reading, said again while writing.
#include "../on_graph.h"
#include "backends/onnx/encode.h"

namespace cameo::tests {
namespace {

// What becomes of a node read at `opset`: the canonical node, or the values that stand for it.
struct Lifted : Upgrade {
  Lifted(On& emit, std::string_view op, int64_t opset_read, std::vector<ValueId> operands, NamedAttrs attributes,
         size_t output_count = 1)
      : Upgrade(emit) {
    op_type = op;
    inputs = std::move(operands);
    attrs = std::move(attributes);
    outputs = output_count;
    opset = opset_read;
    for (int64_t version = opset + 1; version <= newest_opset && replacement.empty(); ++version)
      for (const Revision& r : find_op("", op)->rules.revisions)
        if (r.version == version && r.up) r.up(*this);
  }
};

// The operators emitted last, first to last.
std::string last_ops(const OnGraph& g, size_t count) {
  std::vector<std::string> names;
  for (const NodeId n : g.graph.nodes(g.graph.main())) names.emplace_back(g.graph[n].op->name);
  std::string out;
  for (size_t i = names.size() - std::min(count, names.size()); i < names.size(); ++i)
    out += (out.empty() ? "" : " ") + names[i];
  return out;
}

// The encoding at an opset as text: attributes and number of inputs, or why not.
std::string encoded(const OnGraph& g, ValueId v, int64_t opset) {
  const auto e = onnx::encode_node(g.graph, g.graph[v].def, opset);
  if (e.refusal) return "refused";
  std::string out = cat(e.node.inputs.size());
  for (const NamedAttr& a : e.node.attrs) {
    out += " " + a.name + "=";
    if (const auto* i = std::get_if<int64_t>(&a.value)) out += cat(*i);
    else if (const auto* f = std::get_if<float>(&a.value)) out += cat(*f);
    else if (const auto* s = std::get_if<std::string>(&a.value)) out += *s;
    else if (const auto* list = std::get_if<std::vector<int64_t>>(&a.value))
      for (const int64_t axis : *list) out += cat(axis, ",");
  }
  return out;
}

TEST(MathVersions, BroadcastingByAxis) {
  OnGraph g;
  const ValueId a = g.f32({"2", "3", "4", "5"});
  const Lifted lifted(g.on, "Add", 6, {a, g.f32({"3", "4"})}, {{"broadcast", int64_t{1}}, {"axis", int64_t{1}}});
  EXPECT_EQ(g.type(lifted.inputs[1]), "float[3,4,1]");
  EXPECT_TRUE(lifted.attrs.empty());
  EXPECT_EQ(code_of([&] {
              Lifted(g.on, "Add", 6, {g.graph.add_input(g.graph.main(), "", Type::tensor(DType::f32)), a},
                     {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}});
            }),
            "model.old-broadcast");
  for (const int64_t axis : {int64_t{5}, int64_t{-5}, INT64_MIN})
    EXPECT_EQ(code_of([&] {
                Lifted(g.on, "Add", 6, {a, g.f32({"3"})}, {{"broadcast", int64_t{1}}, {"axis", axis}});
              }),
              "model.old-broadcast");
  EXPECT_EQ(encoded(g, g.on.Add(a, g.f32({"4", "5"})), 6), "2 broadcast=1");
  EXPECT_EQ(encoded(g, g.on.Add(a, g.f32({"3", "1", "1"})), 6), "refused");
  EXPECT_EQ(encoded(g, g.on.Add(a, g.f32({"3", "1", "1"})), 7), "2");
}

TEST(MathVersions, SoftmaxWasFlat) {
  OnGraph g;
  const ValueId x = g.f32({"n", "3", "h"});
  EXPECT_EQ(Lifted(g.on, "Softmax", 9, {x}, {{"axis", int64_t{2}}}).replacement.size(), 0u);
  const Lifted flat(g.on, "Softmax", 9, {x}, {});
  EXPECT_EQ(last_ops(g, 4), "Flatten Softmax Shape Reshape");
  EXPECT_EQ(g.type(flat.replacement[0]), "float[n,3,h]");
  const Lifted narrow(g.on, "Softmax", 9, {g.f32({"n", "3", "1", "1"})}, {});
  EXPECT_EQ(std::get<int64_t>(*find_attr(narrow.attrs, "axis")), 1);
  EXPECT_EQ(encoded(g, g.on.Softmax(x), 12), "1 axis=-1");
  EXPECT_EQ(encoded(g, g.on.Softmax(x), 9), "1 axis=2");
  EXPECT_EQ(encoded(g, g.on.Softmax(x, {.axis = 0}), 12), "refused");
}

TEST(MathVersions, AttributesBecameInputs) {
  OnGraph g;
  const ValueId x = g.f32({"n", "3", "h"});
  const Lifted clip(g.on, "Clip", 6, {x}, {{"min", 0.0f}});
  EXPECT_EQ(clip.inputs.size(), 2u);
  const Lifted sum(g.on, "ReduceSum", 11, {x}, {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}});
  EXPECT_EQ(g.contents(sum.inputs[1]), "1");
  const Lifted best(g.on, "TopK", 9, {x}, {{"k", int64_t{2}}}, 2);
  EXPECT_EQ(g.type(best.inputs[1]), "int64[1]");
  const Lifted mask(g.on, "Dropout", 7, {x}, {{"ratio", 0.3f}}, 2);
  EXPECT_EQ(g.type(mask.replacement[1]), "float[n,3,h]");
  const Lifted cast(g.on, "Cast", 1, {x}, {{"to", std::string("INT64")}});
  EXPECT_EQ(std::get<int64_t>(*find_attr(cast.attrs, "to")), 7);
}

TEST(MathVersions, InputsBecomeAttributes) {
  OnGraph g;
  const ValueId x = g.f32({"n", "3", "h"});
  EXPECT_EQ(encoded(g, g.on.Clip(x, g.on.number(0, DType::f32), g.on.number(6, DType::f32)), 10), "1 max=6 min=0");
  EXPECT_EQ(encoded(g, g.on.ReduceMean(x, g.on.ints({-1})), 13), "1 axes=-1,");
  EXPECT_EQ(encoded(g, g.on.ReduceMean(x, g.on.ints({-1})), 9), "1 axes=2,");
  EXPECT_EQ(encoded(g, g.on.ReduceMean(x, g.i64({"1"})), 13), "refused");
  EXPECT_EQ(encoded(g, g.on.TopK(x, g.on.ints({2}), 2)[0], 9), "1 axis=2 k=2");
  EXPECT_EQ(encoded(g, g.on.TopK(x, g.on.ints({2}), 2, {.largest = 0})[0], 10), "refused");
  EXPECT_EQ(encoded(g, g.on.ArgMax(x, {.axis = -1}), 9), "1 axis=2");
  EXPECT_EQ(encoded(g, g.on.Cast(x, {.to = 7}), 5), "1 to=INT64");
  EXPECT_EQ(encoded(g, g.on.Dropout(x, 1, g.on.number(0.5, DType::f32))[0], 11), "1");
}

TEST(MathVersions, OperatorsSpelledOut) {
  OnGraph g;
  const auto spelled = [&](ValueId v, size_t which = 0) {
    const NodeId n = g.graph[v].def;
    const Expansion& x = def(*g.graph[n].op).rules.expansions[which];
    On before(g.graph, g.graph.main(), n);
    Expand e(before, g.graph, n, x.below - 1);
    x.expand(g.graph[n].attrs.get(), e);
    return e.refusal ? *e.refusal : g.type(e.replacement[0]);
  };
  const ValueId x = g.f32({"n", "3", "h"});
  EXPECT_EQ(spelled(g.on.Gelu(x)), "float[n,3,h]");
  EXPECT_EQ(spelled(g.on.CumSum(x, g.on.int_scalar(1))), "float[n,3,h]");
  EXPECT_EQ(spelled(g.on.CumSum(x, g.on.int_scalar(2))), "the length of the axis is not known");
  EXPECT_EQ(spelled(g.on.Einsum(std::vector{x, g.f32({"n", "h", "5"})}, {.equation = "bij,bjk->bik"})), "float[n,3,5]");
  EXPECT_EQ(spelled(g.on.Einsum(std::vector{x, x}, {.equation = "bij,bij->b"})), "float[n]");
  EXPECT_EQ(spelled(g.on.Softmax(x, {.axis = 1})), "float[n,3,h]");
  EXPECT_EQ(spelled(g.on.BitwiseAnd(g.i64({"n"}), g.on.int_scalar(255))), "int64[n]");
  EXPECT_EQ(spelled(g.on.ReduceSumSquare(x, {}, {.noop_with_empty_axes = 1})), "float[n,3,h]");
}

}  // namespace
}  // namespace cameo::tests
