// Archives that PyTorch wrote, exported, run with the reference kernels and compared with what PyTorch computed.
#include "staging/export.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "frontends/onnx/reader.h"
#include "formats/npy.h"
#include "backends/onnx/writer.h"
#include "staging/machine/missing.h"
#include "passes/simplify.h"
#include "runtime/arrays.h"
#include "runtime/reference.h"

namespace cameo::tests {

namespace {

std::string sample(std::string_view file) { return cat(CAMEO_SOURCE_DIR, "/tests/data/export/", file); }

struct Recorded {
  std::vector<Datum> inputs, outputs;
};

Recorded recorded(std::string_view name) {
  Recorded out;
  for (const auto& [key, array] : npy::load(sample(cat(name, ".npz"))))
    (key[0] == 'x' ? out.inputs : out.outputs).emplace_back(to_tensor(npy::plain(array), DType::undefined, key));
  return out;
}

Model exported(std::string_view name, std::vector<std::string> inputs, DiagSink& sink, bool unroll = false) {
  auto program = torchscript::read_torchscript(sample(cat(name, ".pt")));
  ExportOptions options;
  for (const auto& text : inputs) options.inputs.push_back(parse_input_spec(text));
  options.stage.unroll = unroll;
  options.stage.training = false;
  return export_torchscript(program, options, sink);
}

double largest_error(const std::vector<Datum>& got, const std::vector<Datum>& want) {
  if (got.size() != want.size()) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].tensor.shape() != want[i].tensor.shape() || got[i].tensor.dtype() != want[i].tensor.dtype())
      return INFINITY;
    for (int64_t k = 0; k < got[i].tensor.count(); ++k)
      worst = std::max(worst, std::fabs(got[i].tensor.double_at(k) - want[i].tensor.double_at(k)));
  }
  return worst;
}

size_t count(const Model& m, std::string_view op) {
  size_t n = 0;
  for (uint32_t i = 0; i < m.graph.node_capacity(); ++i) n += !m.graph[NodeId(i)].dead && m.graph[NodeId(i)].is(op);
  return n;
}

bool all_read(const Model& m, std::string_view op, DType dtype) {
  bool all = true;
  for (uint32_t i = 0; i < m.graph.node_capacity(); ++i)
    if (const Node& n = m.graph[NodeId(i)]; !n.dead && n.is(op)) all &= m.graph[n.inputs[0]].fact.dtype() == dtype;
  return all;
}

// Exported, written at opset 18, read back and run: all of it must agree with PyTorch.
void expect_right(std::string_view name, std::vector<std::string> inputs = {}, bool unroll = false,
                  double most = 1e-4) {
  DiagSink sink;
  const Model model = exported(name, std::move(inputs), sink, unroll);
  const Recorded r = recorded(name);
  EXPECT_LT(largest_error(run_reference(model, r.inputs), r.outputs), most) << name;
  WriteOptions write;
  write.opset = 18;
  const std::string bytes = write_onnx(model, write);
  const Model again = read_onnx(Bytes::own(bytes), "", sink);
  EXPECT_LT(largest_error(run_reference(again, r.inputs), r.outputs), most) << name << " at opset 18";
}

}  // namespace

TEST(Export, TracedModelsNeedNoFlags) {
  for (const auto name : {"convolutions", "shapes", "indices", "layers"}) expect_right(name);
}

TEST(Export, ScriptedModelsWithControlFlow) {
  expect_right("convolutions_scripted", {"x=f32[batch,3,h,w]"});
  expect_right("counted", {"x=f32[b,3]", "n=3"});
  expect_right("counted", {"x=f32[b,3]", "n=3"}, true);
  expect_right("branches", {"x=f32[b,3]"});
  expect_right("search", {"x=f32[b,3]"});
}

TEST(Export, ScriptedLoopsStayLoopsOfOneStructure) {
  DiagSink sink;
  const Model two = exported("counted", {"x=f32[b,3]", "n=2"}, sink),
              three = exported("counted", {"x=f32[b,3]", "n=3"}, sink);
  EXPECT_EQ(count(two, "Loop"), 1u);
  EXPECT_EQ(two.graph.node_count(), three.graph.node_count());
  EXPECT_EQ(count(exported("counted", {"x=f32[b,3]", "n=3"}, sink, true), "Loop"), 0u);
}

TEST(Export, ListsOfUnknownLengthAndOptionals) {
  expect_right("collected", {"x=f32[t,3]"});
  expect_right("collected", {"x=f32[5,3]"});
  DiagSink sink;
  const Model m = exported("collected", {"x=f32[t,3]"}, sink);
  EXPECT_EQ(count(m, "Loop"), 1u);
  EXPECT_EQ(count(m, "SequenceInsert"), 1u) << "only the list of different sizes is a sequence";
}

TEST(Export, OldArchivesMeanWhatTheyMeant) {
  expect_right("upgraded", {"x=i64[n]", "y=i64[n]"});
  expect_right("old_convolutions", {"x=f32[batch,3,h,w]"});
  expect_right("old_collected", {"x=f32[t,3]"});
  expect_right("old_layers", {"x=f32[2,7,16]"});
}

TEST(Export, QuantizedModelsKeepTheirInts) {
  constexpr double step = 0.01;  // one step of the output's grid: ties may round the other way
  expect_right("quantized", {"x=f32[batch,3,h,w]"}, false, step);
  expect_right("old_quantized", {"x=f32[batch,3,h,w]"}, false, step);
  expect_right("quantized_dynamic", {"input=f32[batch,6]"}, false, 1e-4);
  DiagSink sink;
  const Model m = exported("quantized", {"x=f32[batch,3,h,w]"}, sink);
  EXPECT_EQ(count(m, "Conv"), 2u);
  EXPECT_GE(count(m, "QuantizeLinear"), 5u);
}

TEST(Export, RecurrentLayersKeepTheirSmallWeights) {
  constexpr double noise = 0.02;  // PyTorch rounds inputs and states to 7 bits: steps of 2 / 127
  expect_right("quantized_recurrent", {"x=f32[t,b,4]"}, false, noise);
  expect_right("half_recurrent", {"x=f32[t,b,4]"}, false, 1e-5);
  DiagSink sink;
  const Model ints = exported("quantized_recurrent", {"x=f32[t,b,4]"}, sink),
              halves = exported("half_recurrent", {"x=f32[t,b,4]"}, sink);
  EXPECT_EQ(count(ints, "DequantizeLinear"), 8u) << "three layers and a cell, each of its input and of its state";
  EXPECT_EQ(count(halves, "Cast"), 8u);
  EXPECT_TRUE(all_read(ints, "DequantizeLinear", DType::i8));
  EXPECT_TRUE(all_read(halves, "Cast", DType::f16));
}

TEST(Export, WhatIsMissingIsListedAtOnceWithTheUsersLine) {
  DiagSink sink;
  try {
    exported("branches", {"x=f32[b,3]", "y=f32[2]"}, sink);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), 2);
  }
  EXPECT_NE(staging::nearest_operators("aten::reluu").find("aten::relu"), std::string::npos);
}

TEST(Export, ConvolutionAndBatchNormBecomeOne) {
  DiagSink sink;
  Model m = exported("convolutions", {}, sink);
  simplify(m);
  EXPECT_EQ(count(m, "Conv"), 2u);
  EXPECT_EQ(count(m, "BatchNormalization"), 0u);
}

TEST(Export, SizesStayExpressions) {
  DiagSink sink;
  const Model m = exported("shapes", {"x=f32[batch,3,h,5]"}, sink);
  const Graph& g = m.graph;
  EXPECT_EQ(g[g[g.main()].outputs[0]].fact.type.text(), "float[batch,15*h]");
  EXPECT_EQ(g[g[g.main()].outputs[1]].fact.type.text(), "float[batch,2,h]");
}

TEST(Export, AScriptedArchiveWithoutShapesSaysWhatToWrite) {
  DiagSink sink;
  try {
    exported("branches", {}, sink);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.diag().code, "use.input-missing");
    EXPECT_EQ(e.exit_code(), 2);
    EXPECT_NE(e.diag().hint.find("--input 'x=f32[...]'"), std::string::npos);
  }
}

TEST(InputSpec, TakesTypesNamesRangesAndValues) {
  const InputSpec s = parse_input_spec("x=f32[batch,3,h:1..64,w:%32]");
  EXPECT_EQ(s.dtype, DType::f32);
  EXPECT_EQ(s.dims, (std::vector<std::string>{"batch", "3", "h:1..64", "w:%32"}));
  EXPECT_EQ(parse_input_spec("n=3").fixed, "3");
  EXPECT_EQ(parse_input_spec("s=i64[]").dims.size(), 0u);
  EXPECT_THROW(parse_input_spec("x"), Error);
  EXPECT_THROW(parse_input_spec("x=f99[2]"), Error);
}

}  // namespace cameo::tests
