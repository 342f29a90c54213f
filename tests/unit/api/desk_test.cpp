#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "api/page/periods.h"
#include "cameo/build.h"
#include "cameo/page.h"
#include "formats/json.h"
#include "support/error.h"

namespace cameo::page {

namespace {

constexpr std::string_view network = R"(
<ir_version: 8, opset_import: ["" : 18]>
net (float[batch,4] x) => (float[batch,2] y)
<float[4,4] w = {1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1}, float[4,2] v = {1,2,3,4,5,6,7,8}>
{
  ["enc.blocks.0/MatMul"] a = MatMul(x, w)
  ["enc.blocks.0/Relu"] b = Relu(a)
  ["enc.blocks.1/MatMul"] c = MatMul(b, w)
  ["enc.blocks.1/Relu"] d = Relu(c)
  ["enc.blocks.2/MatMul"] e = MatMul(d, w)
  ["enc.blocks.2/Relu"] f = Relu(e)
  ["again/Relu"] g = Relu(f)
  ["head/MatMul"] y = MatMul(g, v)
}
)";

// The reply's result; a failed call fails the test.
class Asked {
 public:
  Asked(Desk& desk, const std::string& request, const DeskCall& with = {})
      : text_(desk.call(request, with)), document_(support::Bytes::own(text_), "reply") {
    EXPECT_TRUE(document_.root()["ok"].boolean()) << text_;
  }
  json::Value operator*() const { return document_.root()["result"]; }
  json::Value operator[](std::string_view key) const { return document_.root()["result"][key]; }

 private:
  std::string text_;
  json::Document document_;
};

std::string first_code(const std::string& reply) {
  const json::Document d(support::Bytes::own(reply), "reply");
  EXPECT_FALSE(d.root()["ok"].boolean()) << reply;
  return std::string(d.root()["errors"][size_t{0}]["code"].text());
}

Desk open_desk() {
  Desk desk;
  desk.offer("net.onnxtxt", Buffer{nullptr, network.data(), network.size()});
  const Asked opened(desk, R"({"method":"open","params":{"file":"net.onnxtxt"}})");
  EXPECT_EQ(opened["model"].integer(), 1);
  EXPECT_EQ(opened["stats"]["nodes"].integer(), 8);
  return desk;
}

}  // namespace

TEST(Desk, OpensOnlyWhatItWasGiven) {
  Desk desk({.files = {"/nowhere/named.onnx"}});
  EXPECT_EQ(first_code(desk.call(R"({"method":"open","params":{"file":"/etc/passwd"}})")), "use.file");
  EXPECT_EQ(first_code(desk.call(R"({"method":"open","params":{"file":"/nowhere/../etc/passwd"}})")), "use.file");
  EXPECT_EQ(first_code(desk.call(R"({"method":"open","params":{"file":"/nowhere/named.onnx"}})")), "file.missing");
}

TEST(Desk, RefusesWhatIsNotARequest) {
  Desk desk;
  for (const char* bad : {"", "[]", "{}", R"({"method":3})", R"({"method":"graph","params":[]})", "\xff\xfe"})
    EXPECT_NE(first_code(desk.call(bad)), "") << bad;
  EXPECT_EQ(first_code(desk.call(R"({"method":"grph"})")), "use.method");
  EXPECT_EQ(first_code(desk.call(R"({"method":"graph","params":{"model":7}})")), "use.model");
  EXPECT_EQ(first_code(desk.call(R"({"method":"open","params":{"file":"x","blob":9}})")), "use.params");
}

TEST(Desk, DrawsModulesAndStacks) {
  Desk desk = open_desk();
  const Asked closed(desk, R"({"method":"graph","params":{"model":1,"open":[]}})");
  std::string titles;
  for (const json::Value b : closed["boxes"].elements()) titles += support::cat(b["title"].text(), "|");
  EXPECT_EQ(titles, "x|enc.blocks.0–2  ×3|Relu|MatMul|y|");
  const Asked all(desk, R"({"method":"graph","params":{"model":1,"all":true}})");
  EXPECT_EQ(all["boxes"].size(), 2u + 8 + 1 + 3);
  for (const json::Value l : all["lines"].elements()) {
    const json::Value p = l["p"];
    ASSERT_GE(p.size(), 4u);
    EXPECT_LE(p[1].number(), p[p.size() - 1].number());
  }
}

TEST(Desk, FindsBlocksWithoutModules) {
  EXPECT_TRUE(periods({1, 1, 1, 1, 1, 1}).empty());
  const auto found = periods({9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8, 4, 5, 6, 4, 5, 6});
  ASSERT_EQ(found.size(), 1u);  // twice is no repetition
  EXPECT_EQ(found[0].first, 1u);
  EXPECT_EQ(found[0].length, 3u);
  EXPECT_EQ(found[0].times, 3u);

  Builder b;
  Var x = b.input("x", "f32[2]");
  for (int i = 0; i < 5; ++i) x = b.op("Tanh", {b.op("Relu", {b.op("Sin", {x})})}) + x;
  b.output("y", b.op("Neg", {x}));
  const std::string bytes = b.bytes();
  Desk desk;
  desk.offer("net.onnx", Buffer{nullptr, bytes.data(), bytes.size()});
  Asked(desk, R"({"method":"open","params":{"file":"net.onnx"}})");
  const Asked closed(desk, R"({"method":"graph","params":{"model":1,"open":[]}})");
  std::string titles;
  for (const json::Value box : closed["boxes"].elements()) titles += support::cat(box["title"].text(), "|");
  EXPECT_EQ(titles, "x|block.0–4  ×5|Neg|y|");
  const Asked all(desk, R"({"method":"graph","params":{"model":1,"all":true}})");
  EXPECT_EQ(all["boxes"].size(), 2u + 21 + 1 + 5);
}

TEST(Desk, SimplifiesWithALedgerAndWithoutOneRewrite) {
  Desk desk = open_desk();
  const Asked made(desk, R"({"method":"simplify","params":{"model":1}})");
  EXPECT_EQ(made["model"].integer(), 2);
  EXPECT_EQ(made["from"].integer(), 1);
  EXPECT_LT(made["stats"]["nodes"].integer(), 8);
  ASSERT_GT(made["ledger"].size(), 0u);
  const json::Value one = made["ledger"][size_t{0}];
  const std::string key = support::cat(one["rule"].text(), "@", one["value"].text());
  const Asked fewer(
      desk, support::cat(R"({"method":"simplify","params":{"model":1,"settings":{"without":[")", key, R"("]}}})"));
  for (const json::Value r : fewer["ledger"].elements())
    EXPECT_NE(support::cat(r["rule"].text(), "@", r["value"].text()), key);
  EXPECT_NE(fewer["command"].text().find("--without"), std::string_view::npos);
}

TEST(Desk, APreviewLeavesNothing) {
  Desk desk = open_desk();
  const Asked seen(desk, R"({"method":"convert","params":{"model":1,"preview":true,"settings":{"float_type":"f16"}}})");
  EXPECT_EQ(seen["model"].integer(), 0);
  EXPECT_EQ(Asked(desk, R"({"method":"models"})")["models"].size(), 1u);
}

TEST(Desk, RunsAndKeepsValues) {
  Desk desk = open_desk();
  const Asked ran(desk, R"({"method":"run","params":{"model":1,"sizes":{"batch":3},"keep":["*"]}})");
  EXPECT_EQ(ran["outputs"].size(), 1u);
  EXPECT_GE(ran["inner"].size(), 5u);
  EXPECT_EQ(ran["outputs"][size_t{0}]["array"]["shape"][size_t{0}].integer(), 3);
  EXPECT_GT(ran["steps"].size(), 0u);
  std::vector<Buffer> blobs;
  const Asked value(desk, support::cat(R"({"method":"value","params":{"value":"y","run":)", ran["run"].integer(), "}}"),
                    {.results = &blobs});
  ASSERT_EQ(blobs.size(), 1u);
  EXPECT_EQ(blobs[0].size, 3u * 2 * 4);
}

TEST(Desk, TakesGivenInputs) {
  Desk desk = open_desk();
  const float x[4] = {1, 2, 3, 4};
  const Asked ran(
      desk, R"({"method":"run","params":{"model":1,"inputs":[{"name":"x","dtype":"f32","shape":[1,4],"blob":0}]}})",
      {.given = {{nullptr, x, sizeof x}}});
  EXPECT_EQ(ran["outputs"][size_t{0}]["array"]["first"][size_t{0}].number(), 1 + 6 + 15 + 28);
  EXPECT_EQ(first_code(desk.call(
                R"({"method":"run","params":{"model":1,"inputs":[{"name":"x","dtype":"f32","shape":[2,4],"blob":0}]}})",
                {.given = {{nullptr, x, sizeof x}}})),
            "use.array");
}

TEST(Desk, CommandsHaveWhatARunWasGiven) {
  Desk desk = open_desk();
  const auto command = [&](const std::string& params, const DeskCall& with = {}) {
    return std::string(
        Asked(desk, support::cat(R"({"method":"run","params":{"model":1,)", params, "}}"), with)["command"].text());
  };
  EXPECT_EQ(command(R"("seed":7,"sizes":{"batch":3},"keep":["*"])"),
            "cameo run net.onnxtxt --random 7 --dim batch=3 --keep-outputs '*'");
  const float x[4] = {1, 2, 3, 4};
  const std::string given = R"("inputs":[{"name":"x","dtype":"f32","shape":[1,4],"blob":0}])";
  EXPECT_EQ(command(given, {.given = {{nullptr, x, sizeof x}}}), "cameo run net.onnxtxt --inputs inputs.npz");
  EXPECT_EQ(command(given + R"(,"file":"my x.npy")", {.given = {{nullptr, x, sizeof x}}}),
            "cameo run net.onnxtxt --inputs 'my x.npy'");
  const Asked verified(
      desk, R"({"method":"verify","params":{"model":1,"reference":1,"settings":{"random":3,"sizes":{"batch":2}}}})");
  EXPECT_EQ(verified["command"].text(), "cameo verify net.onnxtxt net.onnxtxt --random 3 --dim batch=2");
}

TEST(Desk, ANameThatBeginsWithADashIsNoFlag) {
  Desk desk;
  desk.offer("-net.onnxtxt", Buffer{nullptr, network.data(), network.size()});
  EXPECT_EQ(Asked(desk, R"({"method":"open","params":{"file":"-net.onnxtxt"}})")["command"].text(),
            "cameo show ./-net.onnxtxt");
  EXPECT_EQ(Asked(desk, R"({"method":"simplify","params":{"model":1}})")["command"].text(),
            "cameo simplify ./-net.onnxtxt ./-net.simplified.onnx");
}

TEST(Desk, ValuesOfARunAreAnArchive) {
  Desk desk = open_desk();
  const int64_t run = Asked(desk, R"({"method":"run","params":{"model":1}})")["run"].integer();
  const auto values = [&](std::string_view of, std::string_view name) {
    return support::cat(R"({"method":"values","params":{"run":)", run, R"(,"of":")", of, R"(","name":")", name,
                        R"("}})");
  };
  std::vector<Buffer> in, out;
  EXPECT_EQ(Asked(desk, values("inputs", "in.npz"), {.results = &in})["files"][size_t{0}]["name"].text(), "in.npz");
  EXPECT_EQ(Asked(desk, values("outputs", "out.npz"), {.results = &out})["files"].size(), 1u);
  ASSERT_EQ(in.size(), 1u);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(first_code(desk.call(values("inputs", "../them.npz"))), "use.file");
  EXPECT_EQ(first_code(desk.call(values("both", "them.npz"))), "use.params");
  const Asked again(desk, R"({"method":"run","params":{"model":1,"npz":0}})", {.given = {in[0]}});
  EXPECT_EQ(again["inputs"].size(), 1u);
}

TEST(Desk, AHitSaysWhichNodeItIs) {
  Desk desk = open_desk();
  const Asked hits(desk, R"({"method":"search","params":{"model":1,"text":"relu"}})");
  EXPECT_EQ(hits["hits"].size(), 4u);  // one for each node
  EXPECT_EQ(hits["hits"][size_t{0}]["text"].text(), "Relu enc.blocks.0/Relu");
}

TEST(Desk, ACancelledCallSaysSo) {
  Desk desk = open_desk();
  const auto stop = [](const char*, uint64_t, uint64_t) { return false; };
  EXPECT_EQ(first_code(desk.call(R"({"method":"simplify","params":{"model":1}})", {.progress = stop})),
            "budget.interrupted");
  Asked(desk, R"({"method":"stats","params":{"model":1}})");
}

TEST(Desk, LooksAtNodesWeightsAndFindings) {
  Desk desk = open_desk();
  const Asked hits(desk, R"({"method":"search","params":{"model":1,"text":"matmul 0"}})");
  ASSERT_GT(hits["hits"].size(), 0u);
  const int64_t item = hits["hits"][size_t{0}]["item"].integer();
  const Asked node(desk, support::cat(R"({"method":"node","params":{"model":1,"item":)", item, "}}"));
  EXPECT_EQ(node["op"].text(), "MatMul");
  EXPECT_EQ(node["inputs"].size(), 2u);
  const Asked weight(desk, R"({"method":"weight","params":{"model":1,"value":"v"}})");
  EXPECT_EQ(weight["array"]["min"].number(), 1);
  EXPECT_EQ(weight["array"]["max"].number(), 8);
  EXPECT_EQ(weight["array"]["bins"].size(), 48u);
  EXPECT_EQ(Asked(desk, R"({"method":"check","params":{"model":1}})")["findings"].size(), 0u);
}

TEST(Desk, EditsComparesAndSaves) {
  Desk desk = open_desk();
  const Asked edited(desk,
                     R"({"method":"edit","params":{"model":1,"changes":[["set_operator","again/Relu","Tanh"]]}})");
  EXPECT_NE(edited["command"].text().find("--set-op again/Relu=Tanh"), std::string_view::npos);
  for (const auto& [changes, code] :
       {std::pair(R"([["load_weight","v","/etc/passwd"]])", "use.file"),
        std::pair(R"([{"change":"strip"}])", "use.settings"), std::pair(R"([["strip","v"]])", "use.settings"),
        std::pair(R"("strip")", "use.settings")})
    EXPECT_EQ(first_code(desk.call(support::cat(R"({"method":"edit","params":{"model":1,"changes":)", changes, "}}"))),
              code);
  const Asked differ(desk, R"({"method":"diff","params":{"model":1,"second":2}})");
  EXPECT_FALSE(differ["same"].boolean());
  EXPECT_FALSE(Asked(desk, R"({"method":"verify","params":{"model":2,"reference":1}})")["verified"]["same"].boolean());
  std::vector<Buffer> blobs;
  Asked(desk, R"({"method":"save","params":{"model":2}})", {.results = &blobs});
  ASSERT_EQ(blobs.size(), 1u);
  EXPECT_EQ(load_bytes(blobs[0].data, blobs[0].size).node_count(), 8u);
}

TEST(Desk, QuantizesFromSamplesThatComeWithTheCall) {
  Desk desk = open_desk();
  float rows[4][4];
  for (int i = 0; i < 16; ++i) rows[i / 4][i % 4] = static_cast<float>(i % 7) - 3;
  const Asked made(
      desk,
      R"({"method":"quantize","params":{"model":1,"samples":[[{"name":"x","dtype":"f32","shape":[4,4],"blob":0}]]}})",
      {.given = {{nullptr, rows, sizeof rows}}});
  EXPECT_EQ(made["report"]["samples"].integer(), 4);  // a row each
  EXPECT_EQ(made["verb"].text(), "quantize");
  EXPECT_GT(made["stats"]["operators"]["QuantizeLinear"].integer(), 0);
  EXPECT_EQ(first_code(desk.call(R"({"method":"quantize","params":{"model":1}})")), "quantize.samples");
}

TEST(Desk, LintsForTargets) {
  Desk desk = open_desk();
  const Asked told(desk, R"({"method":"lint","params":{"model":1,"settings":{"targets":["all"]}}})");
  EXPECT_GT(told["targets"].size(), 3u);
  for (const json::Value f : told["findings"].elements()) EXPECT_FALSE(f["finding"]["code"].text().empty());
  EXPECT_EQ(told["command"].text(), "cameo lint net.onnxtxt --target all");
  EXPECT_EQ(first_code(desk.call(R"({"method":"lint","params":{"model":1,"settings":{"targets":["no"]}}})")),
            "use.target");
}

TEST(Desk, WritesAndReadsOnlyWhereItMay) {
  const std::string folder = testing::TempDir() + "cameo_desk";
  std::filesystem::create_directories(folder);
  Desk desk({.out = folder});
  desk.offer("net.onnxtxt", Buffer{nullptr, network.data(), network.size()});
  Asked(desk, R"({"method":"open","params":{"file":"net.onnxtxt"}})");
  Asked(desk, R"({"method":"save","params":{"model":1,"name":"net.onnx"}})");
  const std::string path = folder + "/net.onnx";
  const std::string again = support::cat(R"({"method":"open","params":{"file":")", path, R"("}})");
  EXPECT_EQ(first_code(desk.call(again)), "use.file");
  desk.allow(path);
  EXPECT_EQ(Asked(desk, again)["stats"]["nodes"].integer(), 8);
  for (const std::string_view name : {"../net.onnx", "/tmp/net.onnx", ".onnx", ""})
    EXPECT_EQ(first_code(desk.call(support::cat(R"({"method":"save","params":{"model":1,"name":")", name, R"("}})"))),
              "use.file");
  std::filesystem::remove_all(folder);
}

TEST(Desk, WithoutAFolderFilesAreBlobs) {
  Desk desk = open_desk();
  std::vector<Buffer> blobs;
  const std::string save = R"({"method":"save","params":{"model":1,"name":"net.onnx","settings":{)";
  const Asked one(desk, save + "}}}", {.results = &blobs});
  EXPECT_EQ(one["files"].size(), 1u);
  ASSERT_EQ(blobs.size(), 1u);
  Desk again;
  again.offer("net.onnx", blobs[0]);  // what it holds can be read after its folder is gone
  EXPECT_EQ(Asked(again, R"({"method":"open","params":{"file":"net.onnx"}})")["stats"]["nodes"].integer(), 8);
  EXPECT_EQ(first_code(desk.call(save + R"("external_name":"../w.data","weights":"external"}}})")), "use.file");
}

TEST(Desk, TheWeightsFileIsABlobToo) {
  Builder b;
  b.output("y", b.op("MatMul", {b.input("x", "f32[1,32]"), b.weight("w", {32, 32}, std::vector<float>(1024, 0.5f))}));
  Desk desk;
  desk.offer("wide", b.model());
  Asked(desk, R"({"method":"open","params":{"file":"wide"}})");
  std::vector<Buffer> blobs;
  const Asked saved(
      desk,
      R"({"method":"save","params":{"model":1,"name":"wide.onnx","settings":{"weights":"external","external_name":"wide.data"}}})",
      {.results = &blobs});
  ASSERT_EQ(blobs.size(), 2u);
  EXPECT_EQ(saved["files"][size_t{1}]["name"].text(), "wide.data");
  EXPECT_EQ(blobs[1].size, 4096u);
}

TEST(Desk, AModelGetsTheNumberThatItHad) {
  Desk desk = open_desk();
  EXPECT_EQ(Asked(desk, R"({"method":"open","params":{"file":"net.onnxtxt","as":7}})")["model"].integer(), 7);
  EXPECT_EQ(Asked(desk, R"({"method":"open","params":{"file":"net.onnxtxt","as":7}})")["model"].integer(), 8);
  EXPECT_EQ(Asked(desk, R"({"method":"infer","params":{"model":7}})")["model"].integer(), 9);
}

TEST(Desk, AMovedOneSaysSo) {
  Desk desk = open_desk();
  const Desk other = std::move(desk);
  EXPECT_EQ(first_code(desk.call(R"({"method":"models"})")), "use.moved-from");  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(desk.offer("m", Buffer{}), Error);
}

// Settings of the library may name files; a page must not read them.
TEST(Desk, ReadsNoFilesByPath) {
  Desk desk = open_desk();
  for (const char* request :
       {R"({"method":"convert","params":{"model":1,"settings":{"float_type":"f16","calibrate":"/etc/passwd"}}})",
        R"({"method":"verify","params":{"model":1,"reference":1,"settings":{"inputs":"/etc/passwd"}}})",
        R"({"method":"export","params":{"model":1,"settings":{"example_inputs":"/etc/passwd"}}})",
        R"({"method":"export","params":{"model":1,"settings":{"rules":"/etc/passwd"}}})"})
    EXPECT_EQ(first_code(desk.call(request)), "use.file") << request;
}

// Names are data: they come back whole in JSON and escaped in pictures.
TEST(Desk, HostileNamesAreOnlyText) {
  const std::string evil = "</script><img src=x onerror=alert(1)>\" onload=\"x\n\x1b[31m";
  Builder b;
  b.output("y", b.op("Relu", {b.input(evil, "f32[2]")}));
  const std::string bytes = b.bytes();
  Desk desk;
  desk.offer(evil, Buffer{nullptr, bytes.data(), bytes.size()});
  json::Writer request;
  request.object().key("method").value("open").key("params").object().key("file").value(evil).end().end();
  Asked(desk, request.text());
  const std::string svg(Asked(desk, R"({"method":"picture","params":{"model":1}})")["svg"].text());
  EXPECT_EQ(svg.find("<img"), svg.npos);
  EXPECT_EQ(svg.find("</script"), svg.npos);
  EXPECT_EQ(svg.find('\x1b'), svg.npos);
}

}  // namespace cameo::page
