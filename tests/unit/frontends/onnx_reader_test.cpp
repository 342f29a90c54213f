#include "frontends/onnx/reader.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "backends/onnx/writer.h"
#include "formats/mapped_file.h"
#include "formats/protobuf.h"
#include "frontends/onnx/datum.h"

namespace cameo::tests {

namespace {

namespace fs = std::filesystem;

// Small models are written with the protobuf writer itself, so that each test says exactly which bytes it means.
struct NodeText {
  std::string op;
  std::vector<std::string> in, out;
  std::string domain = "", name = "";
};

std::string node(const NodeText& n, const std::function<void(pb::Writer&)>& more = {}) {
  pb::Writer w;
  for (const auto& i : n.in) w.text(1, i);
  for (const auto& o : n.out) w.text(2, o);
  if (!n.name.empty()) w.text(3, n.name);
  w.text(4, n.op);
  if (more) more(w);
  if (!n.domain.empty()) w.text(7, n.domain);
  return w.take();
}

std::string value(const std::string& name, const std::vector<std::string>& dims = {}) {
  pb::Writer w;
  w.text(1, name);
  const auto type = w.begin(2), tensor = w.begin(1);
  w.int64(1, 1);
  const auto shape = w.begin(2);
  for (const auto& d : dims) {
    const auto dim = w.begin(1);
    if (!d.empty() && std::isdigit(static_cast<unsigned char>(d[0]))) w.int64(1, std::stoll(d));
    else if (!d.empty()) w.text(2, d);
    w.end(dim);
  }
  w.end(shape), w.end(tensor), w.end(type);
  return w.take();
}

std::string graph(const std::vector<std::string>& inputs, const std::vector<std::string>& nodes,
                  const std::vector<std::string>& outputs) {
  pb::Writer w;
  for (const auto& n : nodes) w.bytes(1, n);
  w.text(2, "g");
  for (const auto& i : inputs) w.bytes(11, i);
  for (const auto& o : outputs) w.bytes(12, o);
  return w.take();
}

std::string model(const std::string& graph, int64_t opset = 21) {
  pb::Writer w;
  w.int64(1, 8);
  w.bytes(7, graph);
  const auto import = w.begin(8);
  w.text(1, ""), w.int64(2, opset);
  w.end(import);
  return w.take();
}

Model read(const std::string& bytes) {
  DiagSink diags;
  return read_onnx(Bytes::own(bytes), "m.onnx", diags);
}

std::string code_of(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const Error& e) {
    return e.diag().code;
  }
  return "";
}

}  // namespace

TEST(OnnxReader, ResolvesNamesAndKeepsOrigins) {
  const Model m =
      read(model(graph({value("x", {"N", "8", ""})}, {node({"Relu", {"x"}, {"y"}, "", "r"})}, {value("y")})));
  const Graph& g = m.graph;
  ASSERT_EQ(g.node_count(), 1u);
  const NodeId n = g[g.main()].first;
  EXPECT_TRUE(g[n].is("Relu"));
  EXPECT_EQ(g[n].name, "r");
  EXPECT_EQ(g[n].inputs[0], g[g.main()].inputs[0]);
  EXPECT_EQ(g[g.main()].outputs[0], g[n].outputs[0]);
  ASSERT_NE(g[n].origin, UINT32_MAX);
  EXPECT_EQ(g.origins()[g[n].origin].bytes.text(), node({"Relu", {"x"}, {"y"}, "", "r"}));
  EXPECT_EQ(g.origins()[g[n].origin].opset, 21);
  const Shape& shape = g[g[n].inputs[0]].fact.shape();
  EXPECT_EQ(shape[0], g.dims().symbol("N"));
  EXPECT_TRUE(shape[1].is(8));
  EXPECT_TRUE(is_fresh(shape[2]));
}

TEST(OnnxReader, NamesFaultsWithTheNode) {
  EXPECT_EQ(code_of(model(graph({value("x")}, {node({"Relu", {"z"}, {"y"}})}, {value("y")}))), "model.undefined-value");
  EXPECT_EQ(
      code_of(model(graph({value("x")}, {node({"Relu", {"z"}, {"y"}}), node({"Relu", {"y"}, {"z"}})}, {value("y")}))),
      "model.not-sorted")
      << "nodes that wait for each other";
  EXPECT_EQ(
      code_of(model(graph({value("x")}, {node({"Relu", {"x"}, {"y"}}), node({"Abs", {"x"}, {"y"}})}, {value("y")}))),
      "model.duplicate-value");
  EXPECT_EQ(code_of(model(graph({value("x")}, {node({"Relu", {"x"}, {"y"}})}, {value("q")}))), "model.undefined-value");
  EXPECT_EQ(code_of(model(graph({value("x")}, {node({"Concat", {"x"}, {"y"}})}, {value("y")}))),
            "model.attribute-missing");
  EXPECT_EQ(code_of("garbage"), "file.damaged");
  EXPECT_EQ(code_of(""), "file.not-onnx");
}

TEST(OnnxReader, SortsNodes) {
  DiagSink diags;
  const std::string file = model(graph({value("x")},
                                       {node({"Relu", {"c"}, {"y"}}), node({"Abs", {"a"}, {"b"}}),
                                        node({"Neg", {"x"}, {"a"}}), node({"Sin", {"b"}, {"c"}})},
                                       {value("y")}));
  const Model m = read_onnx(Bytes::own(file), "", diags);
  std::string order;
  for (const NodeId n : m.graph.nodes(m.graph.main())) order += cat(m.graph[n].op->name, " ");
  EXPECT_EQ(order, "Neg Abs Sin Relu ");
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].code, "model.not-sorted");
  EXPECT_EQ(diags.all()[0].severity, Severity::warning);
  DiagSink again;
  read_onnx(Bytes::own(backends::write_onnx(m)), "", again);
  EXPECT_TRUE(again.all().empty()) << "what is written is sorted";
}

TEST(OnnxReader, BodiesSeeOuterNames) {
  const std::string body = graph({}, {node({"Relu", {"x"}, {"inner"}})}, {value("inner")});
  const auto branches = [&](pb::Writer& w) {
    for (const char* name : {"then_branch", "else_branch"}) {
      const auto a = w.begin(5);
      w.text(1, name), w.bytes(6, body), w.int64(20, 5);
      w.end(a);
    }
  };
  const Model m = read(model(graph({value("c"), value("x")}, {node({"If", {"c"}, {"y"}}, branches)}, {value("y")})));
  const Graph& g = m.graph;
  const Node& n = g[g[g.main()].first];
  ASSERT_EQ(n.regions.size(), 2u);
  const Region& r = g[n.regions[0]];
  EXPECT_EQ(r.parent, g.main());
  EXPECT_EQ(g[r.first].inputs[0], g[g.main()].inputs[1]);
  EXPECT_NE(n.origin, UINT32_MAX);
  EXPECT_NE(g[r.first].origin, n.origin);
}

TEST(OnnxReader, UnknownOperatorsAreOpaque) {
  const auto attr = [](pb::Writer& w) {
    const auto a = w.begin(5);
    w.text(1, "alpha"), w.float32(2, 1.5f), w.int64(20, 1);
    w.end(a);
  };
  const Model m =
      read(model(graph({value("x")}, {node({"Mystery", {"x", "", "x"}, {"y"}, "com.example"}, attr)}, {value("y")})));
  const Node& n = m.graph[m.graph[m.graph.main()].first];
  EXPECT_TRUE(n.op->is_opaque());
  ASSERT_TRUE(n.extra);
  EXPECT_EQ(std::get<float>(*find_attr(*n.extra, "alpha")), 1.5f);
  EXPECT_FALSE(n.inputs[1].valid());
}

TEST(OnnxReader, NewerOpsetsPassThroughWithAWarning) {
  DiagSink diags;
  const Model m = read_onnx(Bytes::own(model(graph({value("x")}, {node({"Relu", {"x"}, {"y"}})}, {value("y")}), 99)),
                            "m.onnx", diags);
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].code, "model.opset-newer");
  EXPECT_TRUE(m.graph[m.graph[m.graph.main()].first].op->is_opaque());
}

TEST(OnnxReader, EveryTruncationIsRefused) {
  const std::string whole = model(graph({value("x", {"N", "8"})},
                                        {node({"Relu", {"x"}, {"y"}}), node({"Concat", {"x", "y"}, {"z"}},
                                                                            [](pb::Writer& w) {
                                                                              const auto a = w.begin(5);
                                                                              w.text(1, "axis"), w.int64(3, 1),
                                                                                  w.int64(20, 2);
                                                                              w.end(a);
                                                                            })},
                                        {value("z")}));
  ASSERT_EQ(code_of(whole), "");
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto code = code_of(whole.substr(0, length));
    EXPECT_TRUE(code.starts_with("file.") || code == "model.opset-missing" || code == "model.opset")
        << length << " " << code;
  }
}

TEST(OnnxReader, TypedFieldsAreDecoded) {
  pb::Writer t;
  t.int64(1, 3), t.int64(2, 5);  // int16
  t.packed(5, std::vector<int32_t>{1, -2, 300});
  const Datum d = read_datum(Bytes::own(t.buffer()), Type::tensor(DType::i16));
  EXPECT_EQ(d.tensor.to_ints(), (std::vector<int64_t>{1, -2, 300}));
}

}  // namespace cameo::tests
