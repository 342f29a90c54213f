#include "frontends/text/parse.h"

#include <gtest/gtest.h>

#include <random>

#include "ir/structure.h"
#include "ops/op_def.h"
#include "ops/versions.h"
#include "backends/text/print.h"

namespace cameo::tests {

namespace {

Model parse(std::string_view text) {
  DiagSink diags;
  return parse_text(text, "t.onnxtxt", diags);
}

// Something of everything.
constexpr std::string_view sample =
    R"(<ir_version: 10, opset_import: ["" : 21, "my" : 1], producer_name: "hand", metadata_props: ["k": "v"]>
<doc_string: "the graph"> g (bool c, float[N, 4*h + 2] x, float[2] d = {5, 6}) => (float[N, ?] y, seq(float) s) # comment
<float[4] k = {1, 2.5, inf, -1e-5}, float16[2] small = {1.5, 2}, string[2] w = {"a", "\"b\""}, float[N] t [doc_string: "inner"]> {
  [first] z = my.scale:fast<by=2.0, l=[1, 2], e: ints = [], ty: type_proto = optional(float[N])>(x, , k)
  y = If(c) <then_branch = t () => (p) { p = Add(z, k) }, else_branch = e () => (q) <int64 i = {3}> { q = Neg(z) }>
  s = SequenceConstruct(z)
  t = com.example.Op<t=int64[2] {1, 2}, sp=sparse_tensor(float[3,4]) float[1] {1} int64[1] {0}>(x, small, w)
}
<domain: "my", overload: "fast", opset_import: ["" : 21]>
scale <by, l: ints = [1]> (x, float y, z) => (r) <float[N] m> { k = Constant<value_float: float = @by>() r = Mul(x, k) }
)";

}  // namespace

TEST(ParseText, ReadsAModel) {
  const Model m = parse(sample);
  EXPECT_EQ(m.opsets.at(""), 21);
  EXPECT_EQ(m.ir_version, 10);
  EXPECT_EQ(m.producer_name, "hand");
  ASSERT_EQ(m.functions.size(), 1u);
  EXPECT_EQ(m.functions[0].overload, "fast");
  const Region& main = m.graph[m.graph.main()];
  EXPECT_EQ(main.doc, "the graph");
  ASSERT_EQ(main.inputs.size(), 3u);
  EXPECT_TRUE(m.graph[main.inputs[2]].weight);
  const NodeId first = main.first;
  EXPECT_EQ(m.graph[first].name, "first");
  EXPECT_FALSE(m.graph[first].inputs[1]);
  EXPECT_EQ(m.graph[first].notes->where.line, 4u);
  EXPECT_EQ(m.graph[first].notes->where.column, 3u);
}

TEST(ParseText, BytesInStrings) {
  const auto read = [](std::string_view quoted) {
    return parse(cat("<ir_version: 10, opset_import: [\"\" : 21], doc_string: \"", quoted,
                     "\"> g (float[2] x) => (y) { y = Relu(x) }"))
        .doc;
  };
  EXPECT_EQ(read("\\x1b[\\xff"), "\x1b[\xff");
  EXPECT_EQ(read("\\\\x1b"), "\\x1b");        // an escaped backslash
  EXPECT_EQ(read("\\n\\xg1\\\""), "nxg1\"");  // any other character is itself
}

TEST(ParseText, DefaultsToTheNewestReleasedOpset) {
  const Model m = parse("g (float[2] x) => (y) { a = Relu(x) y = ai.onnx.ml.Binarizer(a) }");
  EXPECT_EQ(m.opsets.at(""), newest_released_opset);
  EXPECT_EQ(m.opsets.at("ai.onnx.ml"), newest_version("ai.onnx.ml"));
  EXPECT_FALSE(m.graph[m.graph[m.graph.main()].last].op->is_opaque());
}

TEST(ParseText, PrintsBack) {
  const Model m = parse(sample);
  DiagSink diags;
  TensorTable tensors;
  for (const bool one_line : {false, true}) {
    const std::string text = print_text(m, {.one_line = one_line, .tensors = &tensors});
    const Model back = parse_text(text, "printed", diags, {.tensors = &tensors});
    EXPECT_EQ(structural_difference(m, back, {.notes = true}).value_or(""), "") << text;
    EXPECT_EQ(print_text(back, {.one_line = one_line, .tensors = &tensors}), text);
  }
}

TEST(ParseText, LargeTensorsTravelInATable) {
  std::vector<float> elements(100, 1.5f);
  Model m;
  const ValueId w = m.graph.add_constant(Tensor::of<float>(DType::f32, {100}, elements), "w");
  m.graph.set_region_outputs(m.graph.main(), {w});
  TensorTable tensors;
  const std::string text = print_text(m, {.tensors = &tensors});
  EXPECT_NE(text.find("w = #"), std::string::npos);
  EXPECT_EQ(tensors.size(), 1u);
  DiagSink diags;
  EXPECT_TRUE(same_structure(m, parse_text(text, "", diags, {.tensors = &tensors})));
  EXPECT_THROW(parse_text(text, "", diags), Error);
  EXPECT_NE(print_text(m, {.max_elements = 100}).find("{1.5, 1.5"), std::string::npos);
}

// The first character that is missing is an error with a place, never a crash; a prefix is never a whole model.
TEST(ParseText, EveryTruncationIsAnError) {
  const std::string_view graph = sample.substr(0, sample.find("<domain:"));
  for (size_t n = 0; n + 2 < graph.size(); ++n) {
    try {
      parse(graph.substr(0, n));
      ADD_FAILURE() << "a prefix of " << n << " characters was read";
    } catch (const Error& e) {
      EXPECT_EQ(e.exit_code(), 3) << n << ": " << e.diag().render();
      EXPECT_GT(e.diag().where.line, 0u);
    }
  }
}

TEST(ParseText, ChangedCharactersNeverCrash) {
  std::mt19937 random(7);
  constexpr std::string_view characters = "()<>{}[]=,:.\"#@?-+*'\\ \n0aZ";
  for (int i = 0; i < 3000; ++i) {
    std::string text(sample);
    for (int k = 0; k < 3; ++k) text[random() % text.size()] = characters[random() % characters.size()];
    try {
      const Model m = parse(text);
      TensorTable tensors;
      DiagSink diags;
      const std::string printed = print_text(m, {.tensors = &tensors});
      const Model back = parse_text(printed, "", diags, {.tensors = &tensors});
      EXPECT_EQ(structural_difference(m, back, {.notes = true}).value_or(""), "") << text << printed;
    } catch (const Error& e) {
      EXPECT_LT(e.exit_code(), 4) << e.diag().render() << text;
    }
  }
}

TEST(ParseText, NestingIsBounded) {
  std::string types = "g (", bodies = "g (bool c) => (y) { y = If(c) <then_branch = ";
  for (int i = 0; i < 10000; ++i) types += "seq(", bodies += "t () => (z) { z = If(c) <then_branch = ";
  for (const auto& text : {types, bodies}) {
    try {
      parse(text);
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_EQ(e.diag().what, "this is nested too deeply");
    }
  }
}

TEST(ParseText, FindingsOfTheReaderHaveLines) {
  try {
    parse(
        "g (float x) => (y) {\n  a = Relu(x)\n  y = If(a) <then_branch = t () => (p) {\n    p = Add(a, nothing)\n  "
        "}>\n}");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.diag().where.line, 4u);
    EXPECT_EQ(e.diag().where.column, 5u);
    EXPECT_EQ(e.diag().where.file, "t.onnxtxt");
  }
}

}  // namespace cameo::tests
