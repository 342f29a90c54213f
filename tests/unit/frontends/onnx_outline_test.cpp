#include "frontends/onnx/outline.h"

#include <gtest/gtest.h>

#include "frontends/onnx/proto.h"

namespace cameo::onnx {
namespace {

constexpr uint64_t large = 1000;

std::string tensor(std::string_view name, size_t bytes, char fill) {
  pb::Writer w;
  w.int64(1, static_cast<int64_t>(bytes));
  w.int64(2, 2);
  w.bytes(9, std::string(bytes, fill));
  w.text(8, name);
  return w.take();
}

std::string model(const std::vector<std::string>& tensors) {
  pb::Writer w;
  w.int64(1, 8);
  const size_t graph = w.begin(7);
  w.text(2, "g");
  for (const std::string& t : tensors) w.bytes(5, t);
  w.end(graph);
  w.text(2, "a writer");
  return w.take();
}

Bytes bytes_of(const std::string& text) { return Bytes::own(text); }

TEST(OnnxOutline, LeavesOutLargeWeightsAndTellsWhereTheyAre) {
  const std::string file = model({tensor("a", 5000, 'a'), tensor("small", 10, 's'), tensor("b", 100'000, 'b')});
  const auto outline = outline_of(bytes_of(file), large);
  ASSERT_TRUE(outline);
  EXPECT_LT(outline->text.text().size(), 200u);
  const ModelProto read{pb::Reader(outline->text.text())};
  EXPECT_EQ(read.producer_name, "a writer");
  const GraphProto graph(read.graphs.at(0).message());
  ASSERT_EQ(graph.initializers.size(), 3u);
  const auto check = [&](size_t i, std::string_view name, size_t bytes, char fill) {
    const TensorProto t = read_tensor(graph.initializers[i].message());
    EXPECT_EQ(t.name, name);
    EXPECT_TRUE(t.raw_data->empty());
    const Outline::Cut& cut = outline->cuts.at(t.raw_data->data());
    EXPECT_EQ(file.substr(cut.data, cut.data_length), std::string(bytes, fill));
    EXPECT_EQ(file.substr(cut.tensor, cut.tensor_length), tensor(name, bytes, fill));
  };
  check(0, "a", 5000, 'a');
  check(2, "b", 100'000, 'b');
  EXPECT_EQ(read_tensor(graph.initializers[1].message()).raw_data->size(), 10u);
  EXPECT_EQ(outline->cuts.size(), 2u);
}

TEST(OnnxOutline, IsNotMadeOfFilesWithoutLargeWeightsOrCutAnywhere) {
  EXPECT_FALSE(outline_of(bytes_of(model({tensor("small", 10, 's')})), large));
  EXPECT_FALSE(outline_of(bytes_of("no model"), large));
  const std::string file = model({tensor("a", 2000, 'a'), tensor("b", 3000, 'b')});
  const size_t end_of_graph = file.size() - std::string_view(
                                                "\x12\x08"
                                                "a writer")
                                                .size();
  for (size_t length = 0; length < end_of_graph; ++length)
    EXPECT_FALSE(outline_of(bytes_of(file.substr(0, length)), large)) << length;
  EXPECT_TRUE(outline_of(bytes_of(file.substr(0, end_of_graph)), large));
}

TEST(OnnxOutline, OfATensorHasAllButItsData) {
  const std::string whole = tensor("a", 5000, 'a');
  const Bytes text = outline_of_tensor(bytes_of(whole), large);
  const TensorProto t = read_tensor(pb::Reader(text.text()));
  EXPECT_EQ(t.name, "a");
  EXPECT_EQ(t.dims, std::vector<int64_t>{5000});
  EXPECT_TRUE(t.raw_data->empty());
}

}  // namespace
}  // namespace cameo::onnx
