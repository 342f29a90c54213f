// A miniature of staging on the core's own API, nothing else: attempts that are rolled back, branches that are joined,
// symbols whose values live at a place in the graph, and facts that hold only where they were learned.
#include <functional>
#include <map>

#include "on_graph.h"
#include "ir/verify.h"
#include "ops/schema_check.h"
#include "runtime/reference.h"

namespace cameo::tests {
namespace {

struct Miniature {
  Model model;
  Graph& graph = model.graph;
  On on{graph, graph.main()};
  std::map<const DimExpr*, ValueId> homes;  // where the value of a symbol is computed

  ValueId input(std::string name, DType dtype, Shape shape) {
    return graph.add_input(graph.main(), std::move(name), Type::tensor(dtype, std::move(shape)));
  }
  Dim size(std::string_view name) { return graph.dims().symbol(name); }

  // A 0-d integer of the graph becomes a number that sizes can be computed with; the value is that symbol's home.
  Dim number(std::string_view name, ValueId value) {
    const Dim symbol = graph.dims().symbol(name, SymbolKind::number);
    homes[symbol.expr()] = value;
    graph.fact(value).contents = std::make_shared<const Contents>(std::vector<Dim>{symbol});
    return symbol;
  }
  ValueId vector_of(Dim symbol) { return on.Unsqueeze(homes.at(symbol.expr()), on.ints({0})); }

  // Takes back everything recorded since the mark, remembered constants and homes included.
  void roll_back(const GraphMark& mark) {
    graph.rollback(mark);
    on.forget_constants_from(mark.values);
    std::erase_if(homes, [&](const auto& home) { return home.second.index >= mark.values; });
  }

  // Stages one side of a branch into its own region; facts learned inside do not leave it.
  RegionId side(NodeId owner, size_t index, const std::function<ValueId()>& body) {
    const RegionId outer = on.region();
    const RegionId region = graph.add_region(outer, owner);
    graph.set_region(owner, index, region);
    on.move_to(region);
    const size_t facts = graph.facts.mark();
    ValueId result = body();
    if (graph[result].home != region) result = on.Identity(result);
    graph.facts.rewind(facts);
    graph.set_region_outputs(region, {result});
    on.move_to(outer);
    return region;
  }
  ValueId branch(ValueId condition, const std::function<ValueId()>& then_side,
                 const std::function<ValueId()>& else_side) {
    const NodeId node = graph.add_node(on.region(), op_of<op::If>(), nullptr, {condition}, 1);
    side(node, 0, else_side);  // in the order of the attributes' names: else_branch, then_branch
    side(node, 1, then_side);
    infer_node(graph, node);
    return graph[node].outputs[0];
  }

  // x[:, n:] = 0, written back to the whole of x.
  ValueId zero_from(ValueId x, Dim n) {
    constexpr int64_t end = INT64_MAX;
    const ValueId axis = on.ints({1}), from = vector_of(n);
    const ValueId view = on.Slice(x, from, on.ints({end}), axis);
    const ValueId zeros = on.Expand(on.number_like(0, x), on.Shape(view));
    const ValueId kept = on.Slice(x, on.ints({0}), from, axis);
    return on.Concat(std::vector<ValueId>{kept, zeros}, {.axis = 1});
  }

  void finish(std::vector<ValueId> outputs) {
    graph.set_region_outputs(graph.main(), std::move(outputs));
    EXPECT_EQ(schema_findings(model).size(), 0u);
    verify(model, "after staging");
    const InferResult result = infer(graph);
    EXPECT_TRUE(result.findings.empty()) << result.findings[0].render();
    verify(model, "after inference");
  }
  Tensor run(std::vector<Datum> inputs) { return run_reference(model, inputs)[0].tensor; }
};

struct AssignedSlice : Miniature {
  ValueId x = input("x", DType::f32, {size("b"), size("w")});
  ValueId condition = input("condition", DType::boolean, {});
  ValueId at = input("at", DType::i64, {});
  Dim n = number("n", at);
};

TEST(StagingOnCore, AnAttemptIsTakenBackWithoutATrace) {
  AssignedSlice s;
  const uint32_t nodes = s.graph.node_capacity(), values = s.graph.value_capacity(),
                 regions = s.graph.region_capacity();
  const GraphMark mark = s.graph.mark();
  s.graph.facts.assume_range(s.n, 0, 7, {FactSource::program, "the attempt", {}});
  ASSERT_EQ(s.graph.facts.less_equal(0, s.n), Answer::yes);
  s.branch(
      s.condition, [&] { return s.zero_from(s.x, s.n); }, [&] { return s.x; });
  s.number("m", s.on.Add(s.at, s.on.int_scalar(1)));
  s.roll_back(mark);

  EXPECT_EQ(s.graph.node_capacity(), nodes);
  EXPECT_EQ(s.graph.value_capacity(), values);
  EXPECT_EQ(s.graph.region_capacity(), regions);
  for (const ValueId v : {s.x, s.condition, s.at}) EXPECT_FALSE(s.graph.used(v));
  EXPECT_TRUE(s.graph[s.graph.main()].initializers.empty());
  EXPECT_EQ(s.graph.facts.less_equal(0, s.n), Answer::unknown);
  EXPECT_EQ(s.homes.size(), 1u);
  verify(s.model, "after a rollback");
}

TEST(StagingOnCore, AssignmentToASliceInsideABranch) {
  AssignedSlice s;
  const GraphMark mark = s.graph.mark();
  s.zero_from(s.x, s.n);  // as if the condition were known
  s.roll_back(mark);
  s.graph.facts.assume_range(s.n, 0, std::nullopt, {FactSource::user, "--input at", {}});
  size_t facts_inside = 0;
  const ValueId y = s.branch(
      s.condition,
      [&] {
        s.graph.facts.assume_range(s.n, 0, 100, {FactSource::program, "assert at <= 100", {}});
        facts_inside = s.graph.facts.all().size();
        return s.zero_from(s.x, s.n);
      },
      [&] { return s.x; });
  EXPECT_EQ(facts_inside, 2u);
  EXPECT_EQ(s.graph.facts.all().size(), 1u);  // what the branch assumed, it assumed for itself
  s.finish({y});
  // Both parts of the row have symbolic sizes; their sum is known to be the row.
  EXPECT_EQ(s.graph[y].fact.type.text(), "float[b,w]");

  const Tensor rows = f32s({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto run = [&](bool condition, int64_t at) {
    return s.run({rows, Tensor::bool_scalar(condition), Tensor::int_scalar(at)}).to_doubles();
  };
  EXPECT_EQ(run(true, 1), (std::vector<double>{1, 0, 0, 4, 0, 0}));
  EXPECT_EQ(run(true, 0), (std::vector<double>{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(run(true, 9), rows.to_doubles());
  EXPECT_EQ(run(false, 1), rows.to_doubles());
}

// for i in range(count): found = nonzero(x > i); total += found's number; kept = x[found]
TEST(StagingOnCore, ALoopWithANonZeroInItsBody) {
  Miniature s;
  const ValueId x = s.input("x", DType::f32, {s.size("w")});
  const ValueId count = s.input("count", DType::i64, {});
  const NodeId loop =
      s.graph.add_node(s.graph.main(), op_of<op::Loop>(), nullptr, {count, {}, s.on.int_scalar(0), x}, 3);

  // The first attempt takes the carried vector's size for granted; the body shows that it changes.
  Dim carried_size = s.size("w");
  RegionId body;
  ValueId kept, each;
  int attempts = 0;
  for (bool stable = false; !stable; ++attempts) {
    ASSERT_LT(attempts, 3);
    const GraphMark mark = s.graph.mark();
    body = s.graph.add_region(s.graph.main());
    s.on.move_to(body);
    const ValueId i = s.graph.add_input(body, "i", Type::tensor(DType::i64, {}));
    const ValueId go = s.graph.add_input(body, "go", Type::tensor(DType::boolean, {}));
    const ValueId total = s.graph.add_input(body, "total", Type::tensor(DType::i64, {}));
    const ValueId current = s.graph.add_input(body, "current", Type::tensor(DType::f32, {carried_size}));
    const ValueId found = s.on.NonZero(s.on.Greater(current, s.on.cast(i, DType::f32)));
    each = s.on.Squeeze(s.on.Shape(found, {.end = 2, .start = 1}), s.on.ints({0}));
    kept = s.on.Gather(current, s.on.Squeeze(found, s.on.ints({0})));
    const ValueId sum = s.on.Add(total, each);
    const Dim now = s.on.shape(kept)[0];
    EXPECT_TRUE(is_fresh(now));  // how many are found depends on data
    stable = is_fresh(carried_size);
    if (stable) {
      s.graph.set_region(loop, 0, body);
      s.graph.set_region_outputs(body, {s.on.Identity(go), sum, kept, s.on.Identity(each)});
    } else {
      s.roll_back(mark);
      carried_size = s.graph.dims().fresh("carried");
    }
    s.on.move_to(s.graph.main());
  }
  EXPECT_EQ(attempts, 2);
  infer_node(s.graph, loop);
  s.finish(s.graph[loop].outputs);

  const Shape& after = s.on.shape(s.graph[loop].outputs[1]);
  EXPECT_TRUE(is_fresh(after[0]));
  EXPECT_NE(after[0], s.on.shape(kept)[0]);  // the body's symbol has its home in the body: it must not leave it
  EXPECT_NE(after[0], carried_size);
  EXPECT_EQ(s.graph[s.graph[loop].outputs[0]].fact.type.text(), "int64[]");

  const auto run = [&](int64_t trips) {
    return run_reference(s.model, std::vector<Datum>{f32s({5}, {0.5, 3, 1.5, -1, 2.5}), Tensor::int_scalar(trips)});
  };
  EXPECT_EQ(run(3)[0].tensor.to_ints(), (std::vector<int64_t>{4 + 3 + 2}));
  EXPECT_EQ(run(3)[1].tensor.to_doubles(), (std::vector<double>{3, 2.5}));
  EXPECT_EQ(run(3)[2].tensor.to_ints(), (std::vector<int64_t>{4, 3, 2}));
  EXPECT_EQ(run(0)[1].tensor.shape(), (std::vector<int64_t>{5}));
  EXPECT_EQ(run(0)[2].tensor.shape(), (std::vector<int64_t>{0}));
}

}  // namespace
}  // namespace cameo::tests
