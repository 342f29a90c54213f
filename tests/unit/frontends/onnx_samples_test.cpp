// The sample models of tests/data/onnx: read, written back equal, and damaged in every way that is cheap to try.
#include <gtest/gtest.h>

#include <filesystem>

#include "backends/onnx/writer.h"
#include "formats/mapped_file.h"
#include "frontends/onnx/reader.h"
#include "ir/equal.h"
#include "ops/infer.h"
#include "ops/inline.h"
#include "ops/on.h"

namespace cameo::tests {

namespace {

namespace fs = std::filesystem;

std::string sample(const char* name) { return cat(CAMEO_SOURCE_DIR, "/tests/data/onnx/", name); }

std::vector<fs::path> samples() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(sample("")))
    if (entry.path().extension() == ".onnx") out.push_back(entry.path());
  return out;
}

Model read(const std::string& path) {
  DiagSink diags;
  return read_onnx(path, diags);
}

// Reads and, where that works, infers and writes; only findings about the input may come of it.
void try_model(const std::string& bytes, const std::string& path) {
  try {
    DiagSink diags;
    Model m = read_onnx(Bytes::own(bytes), path, diags);
    infer(m.graph, m.functions);
    WriteOptions options;
    options.weights = WeightMode::embed;
    write_onnx(m, options);
  } catch (const Error& e) {
    EXPECT_NE(e.exit_code(), 4) << e.diag().render();
  }
}

}  // namespace

TEST(OnnxSamples, AreReadAndWrittenBackEqual) {
  for (const fs::path& path : samples()) {
    SCOPED_TRACE(path.string());
    const Model m = read(path.string());
    DiagSink diags;
    const std::string bytes = write_onnx(m);
    EXPECT_EQ(difference(m, read_onnx(Bytes::own(bytes), path.string(), diags)).value_or(""), "");
  }
}

TEST(OnnxSamples, EveryTruncationIsAFinding) {
  for (const fs::path& path : samples()) {
    SCOPED_TRACE(path.string());
    const std::string bytes(read_file(path.string()).text());
    for (size_t length = 0; length < bytes.size(); ++length) try_model(bytes.substr(0, length), path.string());
  }
}

TEST(OnnxSamples, EveryFlippedBitIsAFindingOrAnotherModel) {
  for (const fs::path& path : samples()) {
    SCOPED_TRACE(path.string());
    std::string bytes(read_file(path.string()).text());
    const size_t step = bytes.size() > 500 ? 3 : 1;
    for (size_t bit = 0; bit < bytes.size() * 8; bit += step) {
      const char was = bytes[bit / 8];
      bytes[bit / 8] = static_cast<char>(was ^ (1 << (bit % 8)));
      try_model(bytes, path.string());
      bytes[bit / 8] = was;
    }
  }
}

TEST(OnnxSamples, TypedFieldsHoldWhatTheySay) {
  const Model m = read(sample("typed.onnx"));
  const auto tensor = [&](std::string_view name) {
    for (const ValueId v : m.graph[m.graph.main()].initializers)
      if (m.graph[v].name == name) return m.graph[v].weight->dense();
    return Tensor();
  };
  for (const char* name : {"f32", "f64", "f16", "bf16", "f8"})
    EXPECT_EQ(tensor(name).to_doubles(), (std::vector<double>{1.5, -2})) << name;
  for (const char* name : {"i32", "i16", "i8"})
    EXPECT_EQ(tensor(name).to_ints(), (std::vector<int64_t>{7, -7})) << name;
  EXPECT_EQ(tensor("i4").to_ints(), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(tensor("u32").int_at(0), int64_t{1} << 31);
  EXPECT_EQ(tensor("text").strings()[1], "bc");
  EXPECT_EQ(tensor("raw").shape(), (std::vector<int64_t>{2, 3}));
}

TEST(OnnxSamples, OldEncodingsBecomeCanonicalOnes) {
  for (int opset = 7; opset <= 12; ++opset) {
    SCOPED_TRACE(opset);
    Model m = read(sample(cat("old", opset, ".onnx").c_str()));
    const auto result = infer(m.graph, m.functions);
    EXPECT_TRUE(result.findings.empty()) << result.findings[0].render();
    for (const NodeId n : m.graph.nodes(m.graph.main()))
      if (m.graph[n].is("Unsqueeze")) {
        EXPECT_EQ(m.graph[n].inputs.size(), 2u);
      }
    EXPECT_EQ(m.graph[m.graph[m.graph.main()].outputs[0]].fact.type.text(), "float[2]");
  }
}

TEST(OnnxSamples, OpsetsGoUpAndDown) {
  for (const int from : {7, 9, 12})
    for (const int to : {7, 10, 13, 18, 24}) {
      SCOPED_TRACE(cat(from, " to ", to));
      DiagSink diags;
      WriteOptions options;
      options.opset = to;
      try {
        Model m =
            read_onnx(Bytes::own(write_onnx(read(sample(cat("old", from, ".onnx").c_str())), options)), "", diags);
        EXPECT_EQ(m.opsets[""], to);
        infer(m.graph);
        EXPECT_EQ(m.graph[m.graph[m.graph.main()].outputs[0]].fact.type.text(), "float[2]");
      } catch (const Error& e) {
        ADD_FAILURE() << e.diag().render();
      }
    }
}

TEST(OnnxSamples, FunctionsAreInferredPerCall) {
  Model m = read(sample("functions.onnx"));
  const auto result = infer(m.graph, m.functions);
  EXPECT_TRUE(result.findings.empty()) << result.findings[0].render();
  EXPECT_EQ(m.graph[m.graph[m.graph.main()].outputs[0]].fact.type.text(), "float[N,8]");
}

TEST(OnnxSamples, FunctionsAreInlined) {
  Model m = read(sample("functions.onnx"));
  inline_functions(m);
  EXPECT_TRUE(m.functions.empty());
  const Graph& g = m.graph;
  std::vector<std::string> ops;
  for (const NodeId n : g.nodes(g.main())) ops.emplace_back(g[n].op->name);
  EXPECT_EQ(ops, (std::vector<std::string>{"LeakyRelu", "Add", "Concat"}));
  EXPECT_EQ(g[g[g.main()].first].as<op::LeakyRelu>()->alpha, 0.5f);
  EXPECT_EQ(g[g[g.main()].outputs[0]].name, "y");
}

TEST(OnnxSamples, FunctionsThatNobodyCallsAreDropped) {
  Model m = read(sample("functions.onnx"));
  m.opsets["unneeded"] = 1;
  const size_t all = m.functions.size();
  drop_uncalled(m);
  EXPECT_EQ(m.functions.size(), all);  // called, directly or by one another
  EXPECT_FALSE(m.opsets.contains("unneeded"));
  Graph& g = m.graph;
  LocalFunction idle = m.functions[0];
  idle.name = "idle";
  idle.body = g.add_region(g[idle.body].parent);
  m.functions.push_back(idle);
  m.kept.push_back(Bytes::own("training"));
  drop_uncalled(m);
  EXPECT_EQ(m.functions.size(), all + 1);  // who knows what that calls
  m.kept.clear();
  drop_uncalled(m);
  EXPECT_EQ(m.functions.size(), all);
}

TEST(OnnxSamples, FunctionsAreKeptGoingUpAndInlinedGoingDown) {
  DiagSink diags;
  WriteOptions options;
  options.opset = 21;
  EXPECT_EQ(read_onnx(Bytes::own(write_onnx(read(sample("functions.onnx")), options)), "", diags).functions.size(), 2u);
  options.opset = 13;
  const Model down = read_onnx(Bytes::own(write_onnx(read(sample("functions.onnx")), options)), "", diags);
  EXPECT_TRUE(down.functions.empty());
  EXPECT_EQ(down.graph.node_count(), 3u);
}

}  // namespace cameo::tests
