// What shape rules refuse, since kernels rely on it: one row per precondition.
#include <gtest/gtest.h>

#include "frontends/text/parse.h"
#include "ops/infer.h"
#include "support/error.h"

namespace cameo::tests {

namespace {

struct Refusal {
  const char *name, *code, *text;
};

class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, AreFindings) {
  DiagSink sink;
  Model m = parse_text(GetParam().text, "case", sink);
  const InferResult result = infer(m.graph);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings.front().code, GetParam().code) << result.findings.front().what;
}

constexpr Refusal refusals[] = {
    {"ConcatSizes", "infer.mismatch", "g (float[2,3] a, float[2,4] b) => (y) { y = Concat<axis=0>(a, b) }"},
    {"ConcatAxis", "infer.axis", "g (float[2] a) => (y) { y = Concat<axis=1>(a) }"},
    {"SplitAxis", "infer.axis", "g (float[4] a) => (y, z) { y, z = Split<axis=-2, num_outputs=2>(a) }"},
    {"SplitSum", "infer.mismatch", "g (float[4] a) => (y, z) <int64[2] s = {3, 3}> { y, z = Split(a, s) }"},
    {"PermTwice", "infer.perm", "g (float[2,3] a) => (y) { y = Transpose<perm=[0,0]>(a) }"},
    {"BlockMode", "model.attribute", "g (float[1,4,2,2] a) => (y) { y = DepthToSpace<blocksize=2, mode=\"x\">(a) }"},
    {"DepthMode", "model.attribute", "g (float[1,4,2,2] a) => (y) { y = SpaceToDepth<blocksize=2, mode=\"x\">(a) }"},
    {"ScatterMode", "model.attribute",
     "g (float[1,4,2] a, float[1,1,2] u) => (y) { y = TensorScatter<mode=\"x\">(a, u) }"},
    {"ScatterLonger", "infer.mismatch", "g (float[1,4,2] a, float[1,5,2] u) => (y) { y = TensorScatter(a, u) }"},
    {"ScatterWrites", "infer.mismatch",
     "g (float[2,4,2] a, float[2,1,2] u, int64[3] w) => (y) { y = TensorScatter(a, u, w) }"},
    {"ReverseAxes", "infer.axis",
     "g (float[2,3] a, int64[2] l) => (y) { y = ReverseSequence<batch_axis=9223372036854775807, time_axis=2>(a, l) }"},
    {"BlockCount", "infer.mismatch",
     "g (float[1,4,5] a) => (y) <int64[2] i = {4, 4}, int64[2] b = {2, 2}> { y = Col2Im(a, i, b) }"},
    {"BlockStride", "eval.shape",
     "g (float[1,4,9] a) => (y) <int64[2] i = {4, 4}, int64[2] b = {2, 2}> { y = Col2Im<strides=[0,1]>(a, i, b) }"},
    {"PadMode", "model.attribute", "g (float[2] a, int64[2] p) => (y) { y = Pad<mode=\"x\">(a, p) }"},
    {"PadCount", "infer.pad", "g (float[2,2] a, int64[3] p) => (y) { y = Pad(a, p) }"},
    {"PadLeast", "eval.pad", "g (float[2] a) => (y) <int64[2] p = {-9223372036854775808, 0}> { y = Pad(a, p) }"},
    {"PadOfNothing", "eval.pad", "g (float[0] a) => (y) <int64[2] p = {1, 0}> { y = Pad<mode=\"edge\">(a, p) }"},
    {"CropCount", "infer.shape", "g (float[2,2] a, int64[3] s) => (y) { y = CenterCropPad(a, s) }"},
    {"GatherOffAxis", "infer.mismatch", "g (float[2,3] a, int64[3,3] i) => (y) { y = GatherElements<axis=1>(a, i) }"},
    {"ScatterOffAxis", "infer.mismatch",
     "g (float[2,3] a, int64[3,3] i, float[3,3] u) => (y) { y = ScatterElements<axis=1>(a, i, u) }"},
    {"ScatterReduction", "model.attribute",
     "g (float[2] a, int64[1] i, float[1] u) => (y) { y = ScatterElements<reduction=\"x\">(a, i, u) }"},
    {"ScatterNDReduction", "model.attribute",
     "g (float[2] a, int64[1,1] i, float[1] u) => (y) { y = ScatterND<reduction=\"x\">(a, i, u) }"},
    {"DepthIsNaN", "infer.shape", "g (int64[2] a, float[2] v) => (y) <float d = {nan}> { y = OneHot(a, d, v) }"},
    {"OneHotValues", "infer.mismatch", "g (int64[2] a, int64 d, float[3] v) => (y) { y = OneHot(a, d, v) }"},
    {"TwoDiagonals", "infer.mismatch", "g (float[2,2] a, int64[2] k) => (y) { y = Trilu(a, k) }"},
    {"TileCount", "infer.rank", "g (float[2] a, int64[2] r) => (y) { y = Tile(a, r) }"},
    {"TileLess", "infer.shape", "g (float[0] a) => (y) <int64[1] r = {-1}> { y = Tile(a, r) }"},
    {"SqueezeCount", "infer.axis", "g (float[1] a, int64[2] x) => (y) { y = Squeeze(a, x) }"},
    {"PartsOfNothing", "infer.split", "g (float[4] a) => (y) <int64 s = {0}> { y = SplitToSequence(a, s) }"},
    {"PartsSum", "infer.mismatch", "g (float[4] a) => (y) <int64[2] s = {2, 3}> { y = SplitToSequence(a, s) }"},
    {"PartsRank", "infer.rank", "g (float[4] a, int64[1,2] s) => (y) { y = SplitToSequence(a, s) }"},
    {"NoFeatures", "infer.shape", "g (float[3,0] a) => (y) { y = ai.onnx.ml.Normalizer<norm=\"L1\">(a) }"},
    {"Norm", "model.attribute", "g (float[3,2] a) => (y) { y = ai.onnx.ml.Normalizer<norm=\"x\">(a) }"},
    {"Coefficients", "infer.attribute",
     "g (float[3,2] a) => (y, z) { y, z = ai.onnx.ml.LinearClassifier<coefficients=[1.0,2.0,3.0]>(a) }"},
    {"Targets", "model.attribute",
     "g (float[3,2] a) => (y) { y = ai.onnx.ml.LinearRegressor<targets=-1, coefficients=[1.0,2.0]>(a) }"},
    {"TargetCoefficients", "infer.mismatch",
     "g (float[3,2] a) => (y) { y = ai.onnx.ml.LinearRegressor<coefficients=[1.0]>(a) }"},
    {"VectorizedRows", "infer.mismatch",
     "g (float[3,2] a, float[2,2] b) => (y) { y = ai.onnx.ml.FeatureVectorizer(a, b) }"},
    {"VectorizedWidth", "infer.attribute",
     "g (float[3,2] a) => (y) { y = ai.onnx.ml.FeatureVectorizer<inputdimensions=[1099511627776]>(a) }"},
    {"ImputedValues", "infer.mismatch",
     "g (float[3,2] a) => (y) { y = ai.onnx.ml.Imputer<imputed_value_floats=[1.0,2.0,3.0]>(a) }"},
    {"Scales", "infer.mismatch", "g (float[3,2] a) => (y) { y = ai.onnx.ml.Scaler<offset=[1.0,2.0,3.0]>(a) }"},
    {"KeysAndValues", "infer.attribute",
     "g (int64[3] a) => (y) { y = ai.onnx.ml.LabelEncoder<keys_int64s=[1,2], values_int64s=[1]>(a) }"},
    {"MappedLists", "model.attribute", "g (int64[3] a) => (y) { y = ai.onnx.ml.CategoryMapper<cats_int64s=[1,2]>(a) }"},
    {"CategoriesOfText", "infer.type",
     "g (int64[3] a) => (y) { y = ai.onnx.ml.OneHotEncoder<cats_strings=[\"a\"]>(a) }"},
    {"ZippedLabels", "infer.mismatch", "g (float[3,2] a) => (y) { y = ai.onnx.ml.ZipMap<classlabels_int64s=[1]>(a) }"},
    {"SupportVectors", "model.attribute",
     "g (float[3,2] a) => (y) { y = ai.onnx.ml.SVMRegressor<coefficients=[1.0], n_supports=1, rho=[1.0], "
     "support_vectors=[1.0]>(a) }"},
    {"MachineLists", "model.attribute",
     "g (float[3,2] a) => (y, z) { y, z = ai.onnx.ml.SVMClassifier<classlabels_ints=[0,1], coefficients=[1.0], "
     "rho=[1.0]>(a) }"},
    {"NoLabels", "model.attribute", "g (float[3,2] a) => (y, z) { y, z = ai.onnx.ml.TreeEnsembleClassifier(a) }"},
    {"FarIndex", "model.attribute",
     "g (int64[3] a) => (y) { y = TfIdfVectorizer<max_gram_length=1, max_skip_count=0, min_gram_length=1, mode=\"TF\", "
     "ngram_counts=[0], ngram_indexes=[2147483647], pool_int64s=[1]>(a) }"},
    {"StateShape", "infer.mismatch",
     "g (float r, int64 t, float[2] x, float[2] g, float[3] v) => (y, z) { y, z = "
     "ai.onnx.preview.training.Momentum<alpha=1.0, beta=1.0, mode=\"standard\", norm_coefficient=0.0>(r, t, x, g, v) "
     "}"},
    {"StateType", "infer.type",
     "g (float r, int64 t, float[2] x, float[2] g, double[2] h) => (y, z) { y, z = ai.onnx.preview.training.Adagrad(r, "
     "t, x, g, h) }"},
    {"TwoRates", "infer.mismatch",
     "g (float[2] r, int64 t, float[2] x, float[2] g, float[2] h) => (y, z) { y, z = "
     "ai.onnx.preview.training.Adagrad(r, t, x, g, h) }"},
};

TEST(Refusal, OutputsThatTheSchemaLacks) {  // readers refuse them too
  Graph g;
  const ValueId x = g.add_input(g.main(), "x", Type::tensor(DType::f32, {2}));
  const NodeId n = g.add_node(g.main(), *find_op("", "Relu"), nullptr, {x}, 2);
  EXPECT_THROW(infer_node(g, n), Error);
}

INSTANTIATE_TEST_SUITE_P(Rules, Refusals, testing::ValuesIn(refusals),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace

}  // namespace cameo::tests
