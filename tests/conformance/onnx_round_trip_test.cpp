// ONNX's own node models, written at the opset they came with: every node's bytes stay, and what is read back is equal.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "backends/onnx/writer.h"
#include "formats/mapped_file.h"
#include "formats/protobuf.h"
#include "conformance/node_models.h"
#include "frontends/onnx/reader.h"
#include "ir/equal.h"

namespace cameo::tests {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> node_bytes(std::string_view file) {
  std::vector<std::string> out;
  pb::Reader model(file);
  while (auto f = model.next())
    if (f.number == 7) {
      auto graph = f.message();
      while (auto n = graph.next())
        if (n.number == 1) out.emplace_back(n.bytes());
    }
  return out;
}

}  // namespace

TEST(OnnxRoundTrip, NodeModels) {
  const auto models = node_models();
  if (models.empty()) GTEST_SKIP() << "CAMEO_CONFORMANCE does not name the unpacked node cases";
  for (const fs::path& path : models) {
    SCOPED_TRACE(path.string());
    DiagSink diags;
    const Bytes file = map_file(path.string());
    const Model m = read_onnx(file, path.string(), diags);
    const std::string written = write_onnx(m);
    EXPECT_EQ(node_bytes(file.text()), node_bytes(written));
    EXPECT_EQ(difference(m, read_onnx(Bytes::own(written), path.string(), diags)).value_or(""), "");
    EXPECT_EQ(written, write_onnx(m));
  }
  EXPECT_GE(models.size(), 1884u);
}

// With every node touched, the encoder has to say it all itself.
TEST(OnnxRoundTrip, NodeModelsEncodedAnew) {
  const auto models = node_models();
  if (models.empty()) GTEST_SKIP() << "CAMEO_CONFORMANCE does not name the unpacked node cases";
  for (const fs::path& path : models) {
    if (path.parent_path().filename() == "test_scan_sum")
      continue;  // Scan of opset 8, over batches, is read but never made
    SCOPED_TRACE(path.string());
    DiagSink diags;
    const Model m = read_onnx(path.string(), diags);
    Model touched = m;
    for (uint32_t i = 0; i < touched.graph.node_capacity(); ++i) touched.graph.touch(NodeId(i));
    try {
      const Model back = read_onnx(Bytes::own(write_onnx(touched)), path.string(), diags);
      EXPECT_EQ(difference(m, back).value_or(""), "");
    } catch (const Error& e) {
      ADD_FAILURE() << e.diag().render();
    }
  }
}

}  // namespace cameo::tests
