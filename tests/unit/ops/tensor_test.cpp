#include "on_graph.h"

namespace cameo::tests {
namespace {

using Ints = std::vector<int64_t>;

TEST(TensorOps, ShapeArithmeticStaysKnown) {
  OnGraph g;
  const ValueId x = g.f32({"n", "3", "h", "w"});
  const ValueId shape = g.on.Shape(x);
  EXPECT_EQ(g.contents(shape), "n,3,h,w");
  EXPECT_EQ(g.contents(g.on.Shape(x, {.end = -1, .start = 2})), "h");
  EXPECT_EQ(g.contents(g.on.Gather(shape, g.on.int_scalar(-2))), "h");
  EXPECT_EQ(g.contents(g.on.Slice(shape, g.on.ints({2}), g.on.ints({INT64_MAX}))), "h,w");
  EXPECT_EQ(g.contents(g.on.Slice(shape, g.on.ints({-1}), g.on.ints({INT64_MIN}), g.on.ints({0}), g.on.ints({-1}))),
            "w,h,3,n");
  const auto halves = g.on.Split(shape, 2, {}, {.num_outputs = 2});
  EXPECT_EQ(g.contents(halves[1]), "h,w");
  EXPECT_EQ(g.contents(g.on.Concat(std::vector{halves[1], g.on.ints({7})}, {.axis = 0})), "h,w,7");
  EXPECT_EQ(g.contents(g.on.Transpose(g.on.Reshape(shape, g.on.ints({2, 2})))), "n,h,3,w");
  EXPECT_EQ(g.contents(g.on.Size(g.f32({"2", "5"}))), "10");
}

TEST(TensorOps, LiteralContentsFold) {
  OnGraph g;
  const ValueId shape = g.on.Shape(g.f32({"2", "5"}));
  EXPECT_NE(g.graph[shape].fact.tensor(), nullptr);
  EXPECT_EQ(g.contents(g.on.ConstantOfShape(shape, {.value = i64s({1}, {7})})), "7,7,7,7,7,7,7,7,7,7");
}

TEST(TensorOps, ReshapeSolvesTheOpenSize) {
  OnGraph g;
  const ValueId x = g.f32({"n", "12", "h", "64"});
  EXPECT_EQ(g.type(g.on.Reshape(x, g.on.ints({0, -1, 64}))), "float[n,12*h,64]");
  EXPECT_EQ(g.type(g.on.Reshape(x, g.on.ints({-1, 768}))), "float[h*n,768]");
  EXPECT_EQ(g.type(g.on.Reshape(x, g.on.ints({0, 0, 0, 8, -1}))), "float[n,12,h,8,8]");
  EXPECT_EQ(g.type(g.on.Reshape(g.f32({"4", "6"}), g.on.ints({3, -1}))), "float[3,8]");
  EXPECT_EQ(code_of([&] { g.on.Reshape(g.f32({"4", "6"}), g.on.ints({5, -1})); }), "infer.reshape");
  EXPECT_EQ(code_of([&] { g.on.Reshape(g.f32({"4", "6"}), g.on.ints({5, 5})); }), "infer.mismatch");
  const ValueId like = g.on.Shape(g.f32({"n", "h", "12", "64"}));
  EXPECT_EQ(g.type(g.on.Reshape(x, like)), "float[n,h,12,64]");
  EXPECT_EQ(g.type(g.on.Reshape(x, g.i64({"1"}))), "float[768*h*n]");
}

TEST(TensorOps, ReshapeKernel) {
  const Tensor x = f32s({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_op(op::Reshape{}, {x, i64s({2}, {-1, 2})})[0].tensor.shape(), (Ints{3, 2}));
  EXPECT_EQ(run_op(op::Reshape{.allowzero = 1}, {f32s({0, 3}, {}), i64s({2}, {3, 0})})[0].tensor.shape(), (Ints{3, 0}));
  EXPECT_EQ(code_of([&] { run_op(op::Reshape{}, {x, i64s({2}, {4, 2})}); }), "eval.reshape");
  EXPECT_EQ(code_of([&] { run_op(op::Reshape{}, {x, i64s({2}, {INT64_MAX, INT64_MAX})}); }), "eval.reshape");
}

TEST(TensorOps, SliceSizes) {
  OnGraph g;
  const ValueId x = g.f32({"n", "10"});
  const auto sliced = [&](int64_t start, int64_t end, int64_t axis, int64_t step) {
    return g.type(g.on.Slice(x, g.on.ints({start}), g.on.ints({end}), g.on.ints({axis}), g.on.ints({step})));
  };
  EXPECT_EQ(sliced(1, 100, 1, 1), "float[n,9]");
  EXPECT_EQ(sliced(-1, INT64_MIN, 1, -2), "float[n,5]");
  EXPECT_EQ(sliced(0, INT64_MAX, 0, 1), "float[n,10]");
  EXPECT_EQ(sliced(-1, INT64_MIN, 0, -1), "float[n,10]");
  EXPECT_EQ(sliced(0, 5, 0, 1), "float[min(5, n),10]");
  const ValueId last = g.on.Shape(g.f32({"n - 1"}));
  EXPECT_EQ(g.type(g.on.Slice(x, g.on.ints({0}), last)), "float[max(0, n - 1),10]");
  EXPECT_EQ(code_of([&] { sliced(0, 1, 1, 0); }), "infer.slice");
  EXPECT_EQ(code_of([&] { sliced(0, 1, 2, 1); }), "infer.axis");
  const Tensor v = i64s({5}, {0, 1, 2, 3, 4});
  const auto run = [&](int64_t start, int64_t end, int64_t step) {
    return run_op(op::Slice{}, {v, i64s({1}, {start}), i64s({1}, {end}), Datum(), i64s({1}, {step})})[0]
        .tensor.to_ints();
  };
  EXPECT_EQ(run(-2, INT64_MAX, 1), (Ints{3, 4}));
  EXPECT_EQ(run(INT64_MAX, INT64_MIN, -2), (Ints{4, 2, 0}));
  EXPECT_EQ(run(3, 1, 1), Ints{});
  EXPECT_EQ(run(0, 5, INT64_MAX), Ints{0});
}

TEST(TensorOps, SqueezeUnsqueezeExpandTile) {
  OnGraph g;
  const ValueId x = g.f32({"n", "1", "8"});
  EXPECT_EQ(g.type(g.on.Squeeze(x, g.on.ints({-2}))), "float[n,8]");
  EXPECT_FALSE(g.on.has_rank(g.on.Squeeze(x)));
  EXPECT_EQ(code_of([&] { g.on.Squeeze(x, g.on.ints({2})); }), "infer.mismatch");
  EXPECT_EQ(g.type(g.on.Unsqueeze(x, g.on.ints({-1, 0}))), "float[1,n,1,8,1]");
  EXPECT_EQ(code_of([&] { g.on.Unsqueeze(x, g.on.ints({0, 0})); }), "infer.axis");
  EXPECT_EQ(g.type(g.on.Expand(x, g.on.Shape(g.f32({"b", "n", "h", "8"})))), "float[b,n,h,8]");
  EXPECT_EQ(g.type(g.on.Tile(x, g.on.ints({2, 3, 1}))), "float[2*n,3,8]");
  EXPECT_EQ(run_op(op::Tile{}, {i64s({2, 2}, {1, 2, 3, 4}), i64s({2}, {1, 2})})[0].tensor,
            i64s({2, 4}, {1, 2, 1, 2, 3, 4, 3, 4}));
}

TEST(TensorOps, Split) {
  OnGraph g;
  const auto parts = g.on.Split(g.f32({"n", "7"}), 3, {}, {.axis = 1, .num_outputs = 3});
  EXPECT_EQ(g.type(parts[0]), "float[n,3]");
  EXPECT_EQ(g.type(parts[2]), "float[n,1]");
  const auto even = g.on.Split(g.f32({"4*n"}), 2, {}, {.num_outputs = 2});
  EXPECT_EQ(g.type(even[1]), "float[2*n]");
  EXPECT_EQ(code_of([&] { g.on.Split(g.f32({"7"}), 2, g.on.ints({3, 3})); }), "infer.mismatch");
  const auto run = run_op(op::Split{.axis = 0}, {i64s({3}, {1, 2, 3}), i64s({2}, {1, 2})}, 2);
  EXPECT_EQ(run[1].tensor, i64s({2}, {2, 3}));
}

TEST(TensorOps, GatherAndScatter) {
  OnGraph g;
  EXPECT_EQ(g.type(g.on.Gather(g.f32({"v", "64"}), g.i64({"n", "s"}))), "float[n,s,64]");
  EXPECT_EQ(code_of([&] { g.on.Gather(g.f32({"3"}), g.on.ints({3})); }), "infer.index");
  EXPECT_EQ(g.type(g.on.GatherND(g.f32({"n", "3", "8"}), g.i64({"n", "k", "1"}), {.batch_dims = 1})), "float[n,k,8]");
  EXPECT_EQ(g.type(g.on.ScatterND(g.f32({"n", "8"}), g.i64({"k", "1"}), g.f32({"k", "8"}))), "float[n,8]");
  const Tensor x = i64s({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_op(op::Gather{.axis = 1}, {x, i64s({}, {-1})})[0].tensor, i64s({2}, {3, 6}));
  EXPECT_EQ(run_op(op::GatherElements{.axis = 1}, {x, i64s({2, 1}, {2, 0})})[0].tensor, i64s({2, 1}, {3, 4}));
  EXPECT_EQ(run_op(op::GatherND{}, {x, i64s({1, 2}, {1, -1})})[0].tensor, i64s({1}, {6}));
  EXPECT_EQ(run_op(op::ScatterElements{.axis = 1, .reduction = "add"},
                   {x, i64s({2, 2}, {0, 0, 2, 2}), i64s({2, 2}, {1, 1, 1, 1})})[0]
                .tensor,
            i64s({2, 3}, {3, 2, 3, 4, 5, 8}));
  EXPECT_EQ(code_of([&] { run_op(op::ScatterND{}, {x, i64s({1, 1}, {2}), i64s({1, 3}, {0, 0, 0})}); }), "eval.index");
  EXPECT_EQ(code_of([&] { run_op(op::Gather{}, {x, i64s({1}, {INT64_MIN})}); }), "eval.index");
}

TEST(TensorOps, PadModes) {
  OnGraph g;
  EXPECT_EQ(g.contents(g.on.Pad(g.on.Shape(g.f32({"n", "h"})), g.on.ints({1, 0}))), "0,n,h");
  EXPECT_EQ(g.type(g.on.Pad(g.f32({"n", "h"}), g.on.ints({1, 2}), {}, g.on.ints({-1}))), "float[n,h + 3]");
  const auto padded = [](std::string mode, int64_t begin, int64_t end) {
    return run_op(op::Pad{.mode = mode}, {i64s({3}, {1, 2, 3}), i64s({2}, {begin, end})})[0].tensor.to_ints();
  };
  EXPECT_EQ(padded("constant", 1, -1), (Ints{0, 1, 2}));
  EXPECT_EQ(padded("reflect", 3, 3), (Ints{2, 3, 2, 1, 2, 3, 2, 1, 2}));
  EXPECT_EQ(padded("edge", 2, 0), (Ints{1, 1, 1, 2, 3}));
  EXPECT_EQ(padded("wrap", 4, 1), (Ints{3, 1, 2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(code_of([&] { padded("constant", -4, 0); }), "eval.pad");
  EXPECT_EQ(code_of([&] { padded("edge", INT64_MAX, 1); }), "eval.pad");
}

TEST(TensorOps, SizesThatDependOnData) {
  OnGraph g;
  const ValueId found = g.on.NonZero(g.f32({"n", "8"}));
  EXPECT_TRUE(g.on.shape(found)[0].is(2));
  EXPECT_TRUE(is_fresh(g.on.shape(found)[1]));
  const auto unique = run_op(op::Unique{.sorted = 0}, {i64s({6}, {2, 1, 1, 3, 4, 3})}, 4);
  EXPECT_EQ(unique[0].tensor.to_ints(), (Ints{2, 1, 3, 4}));
  EXPECT_EQ(unique[1].tensor.to_ints(), (Ints{0, 1, 3, 4}));
  EXPECT_EQ(unique[2].tensor.to_ints(), (Ints{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(unique[3].tensor.to_ints(), (Ints{1, 2, 2, 1}));
  const Tensor names({3}, {"b", "a", "b"});
  EXPECT_EQ(run_op(op::Unique{}, {names})[0].tensor, Tensor({2}, {"a", "b"}));
  EXPECT_EQ(run_op(op::Unique{}, {i64s({2}, {INT64_MAX, INT64_MIN})})[0].tensor.to_ints(),
            (Ints{INT64_MIN, INT64_MAX}));
}

TEST(TensorOps, OneHotTriluCol2Im) {
  OnGraph g;
  const ValueId depth = g.on.Gather(g.on.Shape(g.f32({"c"})), g.on.int_scalar(0));
  EXPECT_EQ(g.type(g.on.OneHot(g.i64({"n"}), depth, g.on.constant(f32s({2}, {0, 1})))), "float[n,c]");
  EXPECT_EQ(run_op(op::OneHot{}, {i64s({2}, {-1, 7}), i64s({}, {2}), i64s({2}, {0, 9})})[0].tensor,
            i64s({2, 2}, {0, 9, 0, 0}));
  EXPECT_EQ(run_op(op::Trilu{.upper = 0}, {i64s({2, 2}, {1, 2, 3, 4}), i64s({}, {-1})})[0].tensor,
            i64s({2, 2}, {0, 0, 3, 0}));
  EXPECT_EQ(g.type(g.on.Col2Im(g.f32({"n", "18", "l"}), g.on.ints({5, 5}), g.on.ints({3, 3}))), "float[n,2,5,5]");
  const auto image = run_op(op::Col2Im{}, {f32s({1, 2, 2}, {1, 2, 3, 4}), i64s({1}, {3}), i64s({1}, {2})});
  EXPECT_EQ(image[0].tensor, f32s({1, 1, 3}, {1, 5, 4}));
}

}  // namespace
}  // namespace cameo::tests
