#include "../on_graph.h"

namespace cameo::tests {
namespace {

using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;

// x0 <= 1.5 ? (x1 <= 0 ? 10 : 20) : 30
op::TreeEnsembleRegressor small_tree() {
  op::TreeEnsembleRegressor a;
  a.n_targets = 1;
  a.nodes_treeids = Ints{0, 0, 0, 0, 0};
  a.nodes_nodeids = {0, 1, 2, 3, 4};
  a.nodes_featureids = {0, 1, 0, 0, 0};
  a.nodes_modes = {"BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"};
  a.nodes_values = {1.5f, 0, 0, 0, 0};
  a.nodes_truenodeids = {1, 3, 0, 0, 0};
  a.nodes_falsenodeids = {2, 4, 0, 0, 0};
  a.target_treeids = {0, 0, 0};
  a.target_nodeids = {3, 4, 2};
  a.target_ids = {0, 0, 0};
  a.target_weights = {10, 20, 30};
  return a;
}

TEST(Learners, Trees) {
  const Tensor x = f32s({3, 2}, {1, -1, 1, 1, 2, 0});
  EXPECT_EQ(run_op(small_tree(), {x})[0].tensor, f32s({3, 1}, {10, 20, 30}));
  auto circle = small_tree();
  circle.nodes_truenodeids = {0, 3, 0, 0, 0};
  EXPECT_EQ(code_of([&] { run_op(circle, {x}); }), "model.attribute");
  auto short_list = small_tree();
  short_list.nodes_values->pop_back();
  EXPECT_EQ(code_of([&] { run_op(short_list, {x}); }), "model.attribute");
  EXPECT_EQ(code_of([&] { run_op(small_tree(), {f32s({1, 1}, {0})}); }), "model.attribute");  // feature 1 is not there
}

TEST(Learners, Classifiers) {
  op::LinearClassifier linear;
  linear.coefficients = {1, -1};
  linear.intercepts = {0.5f};
  linear.classlabels_strings = {"no", "yes"};
  const auto out = run_op(linear, {f32s({2, 2}, {1, 0, 0, 3})}, 2);
  EXPECT_EQ(out[0].tensor, Tensor({2}, Strings{"yes", "no"}));
  EXPECT_EQ(out[1].tensor, f32s({2, 2}, {-1.5f, 1.5f, 2.5f, -2.5f}));

  op::SVMClassifier svm;
  svm.kernel_type = "LINEAR";
  svm.coefficients = {1, -1};
  svm.support_vectors = {1, 0, -1, 0};
  svm.vectors_per_class = {1, 1};
  svm.rho = {0};
  svm.classlabels_ints = {7, 8};
  EXPECT_EQ(run_op(svm, {f32s({2, 2}, {2, 0, -2, 0})}, 2)[0].tensor.to_ints(), (Ints{7, 8}));
}

TEST(Learners, Categories) {
  op::LabelEncoder encoder;
  encoder.keys_strings = {"a", "b"};
  encoder.values_int64s = {5, 6};
  EXPECT_EQ(run_op(encoder, {Tensor({3}, Strings{"b", "c", "a"})})[0].tensor, i64s({3}, {6, -1, 5}));
  EXPECT_EQ(code_of([&] { run_op(encoder, {i64s({1}, {0})}); }), "eval.type");
  op::ZipMap zip;
  zip.classlabels_strings = {"z", "a"};
  const auto maps = run_op(zip, {f32s({1, 2}, {1, 2})});
  ASSERT_EQ(maps[0].items->size(), 1u);
  const auto& entries = *(*maps[0].items)[0].entries;
  EXPECT_EQ(entries[0].first.tensor.strings()[0], "a");  // sorted by key
  EXPECT_EQ(entries[0].second.tensor, Tensor::float_scalar(2));
}

}  // namespace
}  // namespace cameo::tests
