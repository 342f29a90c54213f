#include "cameo/prepare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "cameo/edit.h"
#include "cameo/verify.h"

namespace cameo {
namespace {

Model model(const std::string& text) { return load_buffer({nullptr, text.data(), text.size()}, "net.onnxtxt"); }

const PrepareStep* step(const Prepared& p, const std::string& name) {
  for (const PrepareStep& s : p.ledger)
    if (s.step == name) return &s;
  return nullptr;
}

size_t count(const Model& m, const std::string& op) {
  const auto nodes = m.nodes();
  return static_cast<size_t>(std::count_if(nodes.begin(), nodes.end(), [&](const Node& n) { return n.op() == op; }));
}

std::string entrance(const std::string& convs) {
  return R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1,4,5,6] x) => (float[1,a,b,c] y)
<float[1,4,1,1] mean = {1,2,3,4}, float[1,4,1,1] std = {2,4,8,16}, float[4,4,1,1] k = {1,2,3,4, -1,2,5,1, 0,1,0,1, 3,3,3,3},
 float[4,2,1,1] half = {1,2, 3,4, -1,-2, 5,6}, float[8,1,3,3] each = {1,2,3,4,5,6,7,8,9, 1,0,0,0,1,0,0,0,1, 2,2,2,2,2,2,2,2,2,
  0,1,0,1,0,1,0,1,0, 1,1,1,0,0,0,1,1,1, 5,4,3,2,1,0,1,2,3, 1,2,1,2,1,2,1,2,1, 3,0,3,0,3,0,3,0,3}>
{
  s = Sub(x, mean)
  d = Div(s, std)
)" + convs +
         "\n}\n";
}

TEST(Prepare, FoldsANormalisationIntoConvolutionsOfEveryKind) {
  struct {
    const char* convs;
    bool offset;  // goes into the weights, too
  } cases[] = {
      {"y = Conv(d, k)", true},
      {"y = Conv<group=2>(d, half)", true},
      {"y = Conv<group=4>(d, each)", true},
      {"y = Conv<group=4, pads=[1,1,1,1]>(d, each)", false},
      {"y = Conv<group=4, auto_pad=\"SAME_UPPER\">(d, each)", false},
      {"a = Conv(d, k)\n b = Conv<group=2>(d, half)\n y = Add(a, b)", true},
      {"a = Conv(d, k)\n b = Conv<pads=[0,0,0,0]>(d, k)\n y = Add(a, b)", true},
  };
  for (const auto& c : cases) {
    const std::string text = entrance(c.convs);
    const Model before = model(text);
    PrepareSettings how;
    how.normalise = Normalise::fold;
    how.simplify = false;
    const Prepared p = prepare(before, how);
    ASSERT_NE(step(p, "normalise"), nullptr) << c.convs;
    EXPECT_NE(step(p, "normalise")->checked.find("outputs agree"), std::string::npos) << c.convs;
    EXPECT_EQ(count(p.model, "Div") + count(p.model, "Mul") + count(p.model, "Sub"), 0U) << c.convs;
    EXPECT_TRUE(verify(p.model, before).agree) << c.convs;
    EXPECT_EQ(step(p, "normalise")->what.find("factors") == std::string::npos, c.offset) << c.convs;
  }
}

TEST(Prepare, LeavesANormalisationThatHasOtherReaders) {
  for (const char* convs : {"c = Conv(d, k)\n y = Add(c, d)", "y = Relu(d)", "w = Relu(k)\n y = Conv(d, w)"}) {
    const std::string text = entrance(convs);
    PrepareSettings how;
    how.normalise = Normalise::fold;
    how.simplify = false;
    const Prepared p = prepare(model(text), how);
    if (std::string(convs).find("Relu(k)") != std::string::npos) continue;  // a constant that lint's cures may fold
    EXPECT_FALSE(step(p, "normalise")->why_not.empty()) << convs;
    EXPECT_EQ(count(p.model, "Div"), 1U);
  }
}

TEST(Prepare, TakesANormalisationOut) {
  const std::string text = entrance("y = Relu(d)");
  PrepareSettings how;
  how.normalise = Normalise::out;
  const Prepared p = prepare(model(text), how);
  EXPECT_EQ(step(p, "normalise")->what, "taken out: give 'x' as (x - 1/2/3/4) / 2/4/8/16");
  EXPECT_EQ(p.model.node_count(), 1U);
}

TEST(Prepare, DoesNotFollowValuesJoinedWithThemselvesForEver) {
  std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[1,20,6] x) => (float[1,20,6] y) {\n v0 = Relu(x)\n";
  for (int i = 0; i < 40; ++i)
    text += " s" + std::to_string(i) + " = Slice(v" + std::to_string(i) + ", from, to, axis)\n v" +
            std::to_string(i + 1) + " = Concat<axis=2>(s" + std::to_string(i) + ", s" + std::to_string(i) + ")\n";
  text += " y = Sigmoid(v40)\n}\n";
  text.insert(text.find("{\n v0"), "<int64[1] from = {0}, int64[1] to = {3}, int64[1] axis = {2}> ");
  PrepareSettings how;
  how.detections = Detections();
  how.simplify = false;
  EXPECT_EQ(step(prepare(model(text), how), "detections")->checked, "equal to plain code on made-up inputs");
}

TEST(Prepare, DoesNotBelieveHugeSizes) {
  for (const char* text : {
           "g (float[1,20,1000000000] x) => (float[1,20,1000000000] y) { y = Relu(x) }",
           "g (float[1,9999999999,4] b, float[1,9999999999,888888888] s) => (float[1,9999999999,4] boxes, "
           "float[1,9999999999,888888888] scores) { boxes = Identity(b) scores = Sigmoid(s) }",
           "g (float[1,3,4000000000,4000000000] x) => (float[1,3,4000000000,4000000000] y) { y = Relu(x) }",
       }) {
    const std::string whole = std::string("<ir_version: 8, opset_import: [\"\" : 17]> ") + text;
    PrepareSettings how;
    how.detections = Detections();
    how.verify = false;
    how.simplify = false;
    how.fix = false;
    try {
      prepare(model(whole), how);
    } catch (const Error& e) {
      EXPECT_EQ(e.exit_code(), 1) << e.what();
    }
    how.detections.reset();
    how.image = "mean=0.1/0.2/0.3";
    try {
      prepare(model(whole), how);
    } catch (const Error& e) {
      EXPECT_EQ(e.exit_code(), 1) << e.what();
    }
  }
  // More channels in the weights than colours.
  const std::string four =
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,c,2,2] x) => (float[1,1,2,2] y) "
      "<float[1,4,1,1] k = {1, 2, 3, 4}> { y = Conv(x, k) }";
  PrepareSettings how;
  how.image = "mean=0.1/0.2/0.3,std=0.1/0.2/0.3,order=bgr";
  EXPECT_THROW(prepare(model(four), how), Error);
}

TEST(Prepare, ReadsWords) {
  const Detections d = detections_of(
      "boxes=a,scores=b,format=cxcywh,normalised,classes=3,score=0.5,iou=0.1,max=7,agnostic,form=topk,labels=all");
  EXPECT_EQ(d.boxes, "a");
  EXPECT_EQ(d.format, "cxcywh");
  EXPECT_TRUE(d.normalised && *d.normalised && d.agnostic);
  EXPECT_EQ(d.max, 7);
  EXPECT_EQ(detections_of("objectness=obj").objectness_name, "obj");
  EXPECT_TRUE(detections_of("objectness").objectness.value_or(false));
  EXPECT_EQ(detections_of("objectness=no").objectness, std::optional(false));
  EXPECT_TRUE(is_detection_words("score=0.3,max=4") && is_detection_words("agnostic") && is_detection_words("auto"));
  EXPECT_FALSE(is_detection_words("out.onnx") || is_detection_words("boxes") || is_detection_words("") ||
               is_detection_words("max.onnx"));
  for (const char* wrong : {"score", "score=x", "max=1.5", "max=-1", "form=flut", "normalised=2", "labels=some"})
    EXPECT_THROW(detections_of(wrong), Error) << wrong;
}

}  // namespace
}  // namespace cameo
