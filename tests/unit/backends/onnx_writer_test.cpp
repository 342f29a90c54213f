#include "backends/onnx/writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "formats/mapped_file.h"
#include "formats/protobuf.h"
#include "frontends/onnx/reader.h"
#include "ir/equal.h"
#include "ops/on.h"

namespace cameo::tests {

namespace {

namespace fs = std::filesystem;

class OnnxWriter : public testing::Test {
 protected:
  OnnxWriter() {
    folder_ = fs::temp_directory_path() /
              cat("cameo-writer-", ::getpid(), "-", testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  ~OnnxWriter() override { fs::remove_all(folder_); }
  std::string file(const char* name) const { return (folder_ / name).string(); }
  // The data file beside a model; empty where there is none, or several.
  fs::path data_of(const char* model) const {
    const fs::path path = file(model);
    fs::path found;
    for (const auto& entry : fs::directory_iterator(path.parent_path())) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(path.filename().string() + ".") || !name.ends_with(".data")) continue;
      if (!found.empty()) return {};
      found = entry.path();
    }
    return found;
  }
  fs::path folder_;
};

Tensor ramp(int64_t n) {
  std::vector<float> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i);
  return Tensor::of<float>(DType::f32, {n}, v);
}

// y = Relu(x + w), with a weight of `n` floats.
Model small_model(int64_t n) {
  Model m;
  m.opsets[""] = 21;
  Graph& g = m.graph;
  const ValueId x = g.add_input(g.main(), "x", Type::tensor(DType::f32, {g.dims().symbol("N"), Dim(n)}));
  const ValueId w = g.add_constant(ramp(n), "w");
  On on(g, g.main());
  const ValueId y = on.Relu(on.Add(x, w));
  g.rename(y, "y");
  g.set_region_outputs(g.main(), {y});
  return m;
}

Model read(const std::string& bytes) {
  DiagSink diags;
  return read_onnx(Bytes::own(bytes), "m.onnx", diags);
}
Model read_file_model(const std::string& path) {
  DiagSink diags;
  return read_onnx(path, diags);
}

}  // namespace

TEST_F(OnnxWriter, WhatIsWrittenIsReadBack) {
  const Model m = small_model(8);
  const std::string bytes = write_onnx(m);
  EXPECT_EQ(bytes, write_onnx(m));
  const Model back = read(bytes);
  EXPECT_EQ(back.ir_version, 10);
  EXPECT_EQ(difference(m, back, {.names = false, .types = false}).value_or(""), "");
  EXPECT_EQ(back.graph[back.graph[back.graph[back.graph.main()].first].outputs[0]].name, "Add_0");
  EXPECT_EQ(write_onnx(back), bytes);
}

TEST_F(OnnxWriter, UntouchedNodesKeepTheirBytes) {
  // Attributes at their default are said nowhere by our encoder: copying is the only way they survive.
  pb::Writer node;
  node.text(1, "x"), node.text(2, "y"), node.text(4, "Selu");
  const auto a = node.begin(5);
  node.text(1, "alpha"), node.float32(2, 1.6732631921768188f), node.int64(20, 1);
  node.end(a);
  node.text(6, "a note");
  Model m = small_model(4);
  std::string bytes = write_onnx(m);
  Model read_back = read(bytes);
  pb::Writer w;
  {
    pb::Reader in(bytes);
    while (auto f = in.next()) {
      if (f.number != 7) {
        w.raw(f.raw());
        continue;
      }
      const auto g = w.begin(7);
      auto graph = f.message();
      while (auto field = graph.next())
        if (field.number != 1) w.raw(field.raw());
        else if (field.raw().find("Relu") != std::string::npos) w.bytes(1, node.buffer());
      w.end(g);
    }
  }
  const std::string changed = w.take();
  EXPECT_NE(write_onnx(read(changed)).find(node.buffer()), std::string::npos);
  Model touched = read(changed);
  touched.graph.touch(touched.graph[touched.graph.main()].first);
  EXPECT_EQ(write_onnx(touched).find(node.buffer()), std::string::npos);
}

TEST_F(OnnxWriter, ExternalWeightsAreAlignedAndStayWhenTheModelIsRewritten) {
  const Model m = small_model(5000);
  WriteOptions external;
  external.weights = WeightMode::external;
  write_onnx(m, file("m.onnx"), external);
  const fs::path data = data_of("m.onnx");
  EXPECT_EQ(fs::file_size(data), 20032u);
  Model back = read_file_model(file("m.onnx"));
  EXPECT_EQ(difference(m, back, {.names = false, .types = false}).value_or(""), "");
  const auto before = fs::last_write_time(data);
  back.doc = "edited";
  write_onnx(back, file("edited.onnx"));
  EXPECT_EQ(data_of("edited.onnx"), "");
  EXPECT_EQ(fs::last_write_time(data), before);
  EXPECT_LT(fs::file_size(file("edited.onnx")), 1000u);
  EXPECT_EQ(difference(back, read_file_model(file("edited.onnx"))).value_or(""), "");
  // Elsewhere the data goes along; embedded it is one file.
  fs::create_directories(folder_ / "other");
  write_onnx(back, file("other/m.onnx"));
  EXPECT_EQ(data_of("other/m.onnx").filename(), data.filename()) << "the same contents, the same name";
  WriteOptions embed;
  embed.weights = WeightMode::embed;
  write_onnx(back, file("one.onnx"), embed);
  EXPECT_EQ(difference(back, read_file_model(file("one.onnx"))).value_or(""), "");
}

TEST_F(OnnxWriter, RefusesToOverwriteTheModelsOwnWeights) {
  WriteOptions external;
  external.weights = WeightMode::external;
  write_onnx(small_model(5000), file("m.onnx"), external);
  const Model back = read_file_model(file("m.onnx"));
  const fs::path data = data_of("m.onnx");
  EXPECT_THROW(write_onnx(back, data.string()), Error);
  EXPECT_EQ(fs::file_size(data), 20032u);
}

TEST_F(OnnxWriter, ADataFileOfAGivenNameIsNeverReplacedByOtherWeights) {
  WriteOptions external;
  external.weights = WeightMode::external;
  external.external_name = "weights.bin";
  write_onnx(small_model(5000), file("m.onnx"), external);
  EXPECT_EQ(fs::file_size(file("weights.bin")), 20000u);
  write_onnx(small_model(5000), file("again.onnx"), external);
  const auto code = [&] {
    try {
      write_onnx(small_model(6000), file("m.onnx"), external);
    } catch (const Error& e) {
      return e.diag().code;
    }
    return std::string();
  };
  EXPECT_EQ(code(), "write.exists");
  EXPECT_EQ(
      difference(small_model(5000), read_file_model(file("m.onnx")), {.names = false, .types = false}).value_or(""),
      "");
  fs::remove(file("weights.bin"));
  EXPECT_EQ(code(), "");
  EXPECT_EQ(fs::file_size(file("weights.bin")), 24000u);
}

TEST_F(OnnxWriter, TiedWeightsAreWrittenOnce) {
  Model m = small_model(5000);
  Graph& g = m.graph;
  const ValueId w = g[g.main()].initializers[0];
  const ValueId again = g.add_initializer(g.main(), "w2", g[w].weight);
  On on(g, g.main());
  g.set_region_outputs(g.main(), {on.Add(g[g.main()].outputs[0], again)});
  WriteOptions external;
  external.weights = WeightMode::external;
  write_onnx(m, file("m.onnx"), external);
  EXPECT_EQ(fs::file_size(data_of("m.onnx")), 20032u);
}

TEST_F(OnnxWriter, OldFilesListInitializersAsInputs) {
  WriteOptions options;
  options.opset = 8;
  const Model back = read(write_onnx(small_model(4), options));
  EXPECT_EQ(back.ir_version, 3);
  EXPECT_EQ(back.graph[back.graph.main()].inputs.size(), 2u);
}

TEST_F(OnnxWriter, EncodingKnowsTypesThatTheFileDoesNotDeclare) {
  Model m = small_model(4);
  Graph& g = m.graph;
  On on(g, g.main());
  g.set_region_outputs(g.main(), {on.Softmax(g[g.main()].outputs[0], op::Softmax{.axis = -1})});
  const Model plain = read(write_onnx(m));
  WriteOptions options;
  options.opset = 11;  // where the axis must count from the front
  const Model back = read(write_onnx(plain, options));
  EXPECT_EQ(back.opsets.at(""), 11);
}

TEST_F(OnnxWriter, IrVersionsFollowOpsets) {
  EXPECT_EQ(ir_version_for(7), 3);
  EXPECT_EQ(ir_version_for(9), 4);
  EXPECT_EQ(ir_version_for(13), 7);
  EXPECT_EQ(ir_version_for(18), 8);
  EXPECT_EQ(ir_version_for(22), 10);
  EXPECT_EQ(ir_version_for(27), 13);
}

TEST_F(OnnxWriter, NamesThatWouldBeTakenForEachOtherAreKeptApart) {
  Model m = small_model(4);
  Graph& g = m.graph;
  On on(g, g.main());
  const ValueId first = on.Abs(g[g.main()].inputs[0]), second = on.Neg(first);
  g.rename(first, "same"), g.rename(second, "same");
  g.set_region_outputs(g.main(), {second});
  const Model back = read(write_onnx(m));
  EXPECT_EQ(difference(m, back, {.names = false, .types = false}).value_or(""), "");
}

}  // namespace cameo::tests
