// Archives that torch.export wrote, exported, run with the reference kernels and compared with what PyTorch computed.
#include <gtest/gtest.h>

#include <cmath>

#include "backends/onnx/writer.h"
#include "formats/mapped_file.h"
#include "formats/npy.h"
#include "frontends/onnx/reader.h"
#include "frontends/pt2/symbols.h"
#include "ir/order.h"
#include "runtime/arrays.h"
#include "runtime/reference.h"
#include "staging/export.h"

namespace cameo::tests {

namespace {

std::string sample(std::string_view file) { return cat(CAMEO_SOURCE_DIR, "/tests/data/pt2/", file); }

Model exported(std::string_view name, DiagSink& sink, const ExportOptions& options = {}) {
  auto program = pt2::read_pt2(sample(cat(name, ".pt2")));
  return export_pt2(program, options, sink);
}

void expect_right(std::string_view name) {
  DiagSink sink;
  const Model model = exported(name, sink);
  std::vector<Datum> inputs, outputs;
  for (const auto& [key, array] : npy::load(sample(cat(name, ".npz"))))
    (key[0] == 'x' ? inputs : outputs).emplace_back(to_tensor(npy::plain(array), DType::undefined, key));
  WriteOptions write;
  write.opset = 18;
  const Model again = read_onnx(Bytes::own(write_onnx(model, write)), "", sink);
  for (const Model* m : {&model, &again}) {
    const auto got = run_reference(*m, inputs);
    ASSERT_EQ(got.size(), outputs.size()) << name;
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].tensor.shape(), outputs[i].tensor.shape()) << name << " output " << i;
      ASSERT_EQ(got[i].tensor.dtype(), outputs[i].tensor.dtype()) << name << " output " << i;
      for (int64_t k = 0; k < got[i].tensor.count(); ++k)
        if (const double a = got[i].tensor.double_at(k), b = outputs[i].tensor.double_at(k);
            a != b) {  // infinities are equal
          EXPECT_NEAR(a, b, 1e-4) << name;
        }
    }
  }
  for (const Diag& d : sink.all()) EXPECT_FALSE(d.code.starts_with("pt2.")) << name << ": " << d.render();
}

std::vector<std::string> names(const Model& m, const std::vector<ValueId>& values) {
  std::vector<std::string> out;
  for (const ValueId v : values) out.push_back(cat(m.graph[v].name, " ", m.graph[v].fact.type.text()));
  return out;
}

}  // namespace

TEST(ExportPt2, SamplesAreRight) {
  for (const auto name :
       {"linear", "convolutions", "convolutions_decomposed", "branch", "counter", "counter_decomposed", "nested",
        "views", "chosen", "scan", "turns", "autocast", "associative"})
    expect_right(name);
}

// Archives that other releases wrote, each in its own layout and schema.
TEST(ExportPt2, ArchivesOfAllReleasesAreRight) {
  for (const auto release : {"2.1", "2.2", "2.6", "2.8"})
    for (const auto name : {"conv", "const", "cond", "nested"}) expect_right(cat("releases/", name, "_", release));
  for (const auto name : {"conv", "nested"}) expect_right(cat("releases/", name, "_2.15"));
  expect_right("releases/types_2.8");
}

TEST(ExportPt2, NamesComeFromTheArchive) {
  DiagSink sink;
  const Model m = exported("nested", sink);
  const auto& main = m.graph[m.graph.main()];
  EXPECT_EQ(names(m, main.inputs),
            (std::vector<std::string>{"batch_ids int64[2]", "batch_emb_0 float[2]", "batch_emb_1 float[2]"}));
  EXPECT_EQ(names(m, main.outputs), (std::vector<std::string>{"sum float[2]", "extra.0 float[2]"}));
}

TEST(ExportPt2, SymbolsGetTheNamesThatOneAsksFor) {
  DiagSink sink;
  const Model plain = exported("convolutions", sink);
  EXPECT_EQ(names(plain, plain.graph[plain.graph.main()].inputs),
            std::vector<std::string>{"x float[x_dim0,3,x_dim2,x_dim3]"});
  ExportOptions options;
  options.inputs.push_back(parse_input_spec("x=f32[batch,3,h,20]"));
  const Model named = exported("convolutions", sink, options);
  EXPECT_EQ(names(named, named.graph[named.graph.main()].inputs), std::vector<std::string>{"x float[batch,3,h,20]"});
  EXPECT_EQ(names(named, named.graph[named.graph.main()].outputs), std::vector<std::string>{"output float[batch,8]"});
}

TEST(ExportPt2, AFixedSizeCannotBecomeDynamic) {
  DiagSink sink;
  ExportOptions options;
  options.inputs.push_back(parse_input_spec("input=f32[batch,3]"));
  try {
    exported("linear", sink, options);
    FAIL() << "the archive fixes the batch";
  } catch (const Error& e) {
    EXPECT_EQ(e.diag().code, "export.frozen-dim");
  }
}

TEST(ExportPt2, WritesToBuffersAreTold) {
  for (const auto name : {"counter", "counter_decomposed"}) {
    DiagSink sink;
    exported(name, sink);
    bool told = false;
    for (const Diag& d : sink.all()) told = told || d.code == "export.dropped-state";
    EXPECT_TRUE(told) << name;
    ExportOptions options;
    options.state_outputs = true;
    const Model m = exported(name, sink, options);
    EXPECT_EQ(names(m, m.graph[m.graph.main()].outputs),
              (std::vector<std::string>{"output float[3]", "count_out float[3]"}));
  }
}

// A custom operator that writes to a slice of its argument: the node gives the slice's new value after its result.
TEST(ExportPt2, CustomOperatorsThatWrite) {
  DiagSink sink;
  EXPECT_THROW(exported("custom", sink), Error);
  ExportOptions options;
  options.stage.fallback = staging::Fallback::custom;
  const Model m = exported("custom", sink, options);
  EXPECT_EQ(names(m, m.graph[m.graph.main()].outputs),
            (std::vector<std::string>{"output.0 float[4,3]", "output.1 float[3,3]"}));
  size_t custom = 0;
  CanonicalOrder order(m.graph);
  for (const NodeId n : order.nodes(m.graph.main()))
    if (m.graph[n].op->domain == "sample") {
      ++custom;
      EXPECT_EQ(m.graph[n].outputs.size(), 2u);
    }
  EXPECT_EQ(custom, 1u);
}

TEST(ExportPt2, OneOfSeveralPrograms) {
  EXPECT_EQ(pt2::read_pt2(sample("several.pt2"), "decode").model_name(), "decode");
  EXPECT_EQ(pt2::read_pt2(sample("linear.pt2")).models().size(), 1u);
  for (const auto wanted : {"forward", "train"}) try {
      pt2::read_pt2(sample("several.pt2"), wanted);
      FAIL() << wanted;
    } catch (const Error& e) {
      EXPECT_EQ(e.diag().code, "use.method");
      EXPECT_EQ(e.diag().hint, "say which with --method: encode, decode");
    }
}

TEST(Pt2Symbols, BothSpellingsOfExpressions) {
  DimContext dims;
  const auto symbol = [&](std::string_view name) { return std::optional(dims.symbol(name)); };
  const auto text = [&](std::string_view e) {
    const auto d = pt2::dim_of(e, symbol);
    return d ? d->text() : "none";
  };
  const Dim s = dims.symbol("s53");
  EXPECT_EQ(
      pt2::dim_of("Add(FloorDiv(Add(Symbol('s53', positive=True, integer=True), Integer(-1)), Integer(2)), Integer(1))",
                  symbol),
      floor_div(s - Dim(1), Dim(2)) + Dim(1));
  EXPECT_EQ(pt2::dim_of("(((s53 - 1)//2)) + 1", symbol), floor_div(s - Dim(1), Dim(2)) + Dim(1));
  EXPECT_EQ(pt2::dim_of("Mul(Integer(2), Pow(Symbol('s53', integer=True), Integer(2)))", symbol), Dim(2) * s * s);
  EXPECT_EQ(text("Max(1, s53)"), max(Dim(1), s).text());
  EXPECT_EQ(text("FloorDiv(s53, 0)"), "none");
  EXPECT_EQ(text("TruncToInt(Symbol('s53'))"), "none");
  EXPECT_EQ(text("Add(s53,"), "none");
  EXPECT_EQ(pt2::bare_symbol("Symbol('s77', positive=True, integer=True)"), "s77");
  EXPECT_EQ(pt2::bare_symbol("2*s77"), "");
}

TEST(Pt2Archive, DamageIsAnErrorAndNothingElse) {
  for (const auto name : {"nested.pt2", "convolutions.pt2", "turns.pt2"}) {
    const Bytes whole = map_file(sample(name));
    DiagSink sink;
    const auto attempt = [&](Bytes data) {
      try {
        auto program = pt2::read_pt2(std::move(data), name);
        export_pt2(program, {}, sink);
      } catch (const Error& e) {
        EXPECT_NE(e.exit_code(), 4) << e.what();
      }
    };
    for (size_t length = 0; length < whole.size(); length += 97) attempt(whole.slice(0, length));
    for (size_t at = 0; at < whole.size(); at += 61) {
      std::vector<std::byte> bad(whole.span().begin(), whole.span().end());
      bad[at] ^= static_cast<std::byte>(1 << (at % 8));
      attempt(Bytes::own(std::move(bad)));
    }
  }
}

}  // namespace cameo::tests
