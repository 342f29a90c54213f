// ONNX's own node models as text: what is printed reads back to the same model, and prints the same again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "backends/text/text_file.h"
#include "formats/mapped_file.h"
#include "conformance/node_models.h"
#include "frontends/onnx/reader.h"
#include "frontends/text/parse.h"
#include "ir/equal.h"
#include "ir/structure.h"
#include "backends/text/print.h"

namespace cameo::tests {

namespace {
namespace fs = std::filesystem;

}  // namespace

TEST(TextRoundTrip, NodeModels) {
  const auto models = node_models();
  if (models.empty()) GTEST_SKIP() << "CAMEO_CONFORMANCE does not name the unpacked node cases";
  size_t equal = 0;
  for (const fs::path& path : models) {
    SCOPED_TRACE(path.parent_path().filename().string());
    DiagSink diags;
    const Model m = read_onnx(path.string(), diags);
    TensorTable tensors;
    const std::string text = print_text(m, {.tensors = &tensors});
    try {
      const Model back = parse_text(text, "printed", diags, {.tensors = &tensors});
      const auto found = structural_difference(m, back, {.notes = true});
      EXPECT_EQ(found.value_or(""), "") << text.substr(0, 2000);
      equal += !found;
      TensorTable again;
      EXPECT_TRUE(print_text(back, {.tensors = &again}) == text) << text.substr(0, 2000);
    } catch (const Error& e) {
      ADD_FAILURE() << e.diag().render() << text.substr(0, 2000);
    }
  }
  EXPECT_EQ(equal, models.size());
  EXPECT_GE(models.size(), 1884u);
}

// The files themselves as text: the same messages, so the same names, opsets and notes.
TEST(TextRoundTrip, NodeFiles) {
  const auto models = node_models();
  if (models.empty()) GTEST_SKIP() << "CAMEO_CONFORMANCE does not name the unpacked node cases";
  for (const fs::path& path : models) {
    SCOPED_TRACE(path.parent_path().filename().string());
    DiagSink diags;
    const Bytes file = map_file(path.string());
    const std::string text = onnx_to_text(file, path.string());
    try {
      const Bytes back = text_to_onnx(text, "printed");
      EXPECT_EQ(difference(read_onnx(file, path.string(), diags), read_onnx(back, path.string(), diags)).value_or(""),
                "")
          << text.substr(0, 2000);
      EXPECT_TRUE(onnx_to_text(back, "printed") == text);
    } catch (const Error& e) {
      ADD_FAILURE() << e.diag().render() << text.substr(0, 2000);
    }
  }
}

}  // namespace cameo::tests
