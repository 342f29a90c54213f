#include "formats/json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/error.h"

namespace cameo::json {

// Writes a value back, so that one comparison checks a whole tree.
static void rewrite(Writer& w, Value v) {
  switch (v.kind()) {
    case Kind::null: w.null(); break;
    case Kind::boolean: w.value(v.boolean()); break;
    case Kind::integer: w.value(v.integer()); break;
    case Kind::number: w.value(v.number()); break;
    case Kind::string: w.value(v.text()); break;
    case Kind::array:
      w.array();
      for (const Value e : v.elements()) rewrite(w, e);
      w.end();
      break;
    case Kind::object:
      w.object();
      for (const auto& [key, value] : v.members()) rewrite(w.key(key), value);
      w.end();
      break;
  }
}

static std::string again(std::string_view text, Options options = {}) {
  const Document doc(Bytes::own(text), "j", options);
  Writer w;
  rewrite(w, doc.root());
  return w.text();
}

static std::string fault(std::string_view text, Options options = {}) {
  try {
    again(text, options);
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), 3);
    return cat(e.diag().what.substr(e.diag().what.find(": ") + 2), " @", e.diag().where.offset.value_or(999));
  }
  return "";
}

TEST(Json, ReadsWhatItWrites) {
  const std::string text =
      R"({"a":[1,-2,9223372036854775807,0.5,1e+300],"b":{"c":null,"d":[true,false],"e":{}},"f":"ü\n\"\\ \u0001","g":[]})";
  EXPECT_EQ(again(text), text);
  EXPECT_EQ(again(" [ 1 , { \"a\" : \"\\u00fc\\ud834\\udd1e\\/\" } ] "), "[1,{\"a\":\"ü𝄞/\"}]");
  EXPECT_EQ(again("18446744073709551616"), "18446744073709551616.0") << "past 64 bits it is a double";
  EXPECT_EQ(again("-0.0"), "-0.0");
  EXPECT_EQ(again("[1e-999, 5e-324]"), "[0.0,5e-324]");
}

TEST(Json, AnswersQuestions) {
  const Document doc(Bytes::own(R"({"n": 3, "x": 1.5, "none": null, "list": [10, 20]})"), "m.json");
  const Value v = doc.root();
  EXPECT_EQ(v["n"].integer(), 3);
  EXPECT_EQ(v["n"].number(), 3.0);
  EXPECT_EQ(v["list"][1].integer(), 20);
  EXPECT_EQ(v["list"].size(), 2u);
  EXPECT_EQ(v.size(), 4u);
  EXPECT_TRUE(v.find("none"));
  EXPECT_FALSE(v.present("none"));
  EXPECT_FALSE(v.find("absent"));
  try {
    v["x"].integer();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.diag().render(),
              "error[file.schema]: this is a number where an integer belongs\n  --> m.json at byte 14\n");
  }
  EXPECT_THROW(v["absent"], Error);
  EXPECT_THROW(v["list"][2], Error);
  EXPECT_THROW(v["n"]["deeper"], Error);
}

TEST(Json, LongValuesBetweenKeys) {
  const std::string filler(10000, 'x');
  const Document doc(Bytes::own(cat("{\"a\":\"", filler, "\\n\",\"\\u0062\":{\"c\":[1]},\"d\":2}")), "j");
  const Value v = doc.root();
  for (int again = 0; again < 2; ++again) {  // the second time by the index
    EXPECT_EQ(v["d"].integer(), 2);
    EXPECT_EQ(v["b"]["c"][0].integer(), 1);
    EXPECT_EQ(v["a"].text(), filler + "\n");
    EXPECT_FALSE(v.find("e"));
  }
  EXPECT_EQ(v["a"].raw(), filler + "\\n");
  EXPECT_EQ(unescape(v["a"].raw().substr(9999)), "x\n");
}

TEST(Json, FindsKeysOfLargeObjects) {
  Writer w;
  w.object();
  for (int i = 0; i < 1000; ++i) w.key(cat("key", (i * 7919) % 1000)).value(i);
  w.end();
  const Document doc(Bytes::own(w.text()), "j");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(doc.root()[cat("key", (i * 7919) % 1000)].integer(), i);
  EXPECT_FALSE(doc.root().find("key"));
  EXPECT_FALSE(doc.root().find("zzz"));
}

TEST(Json, SaysWhereItIsWrong) {
  EXPECT_EQ(fault(""), "it ends too early @0");
  EXPECT_EQ(fault("[1,]"), "a value belongs here @3");
  EXPECT_EQ(fault("[1 2]"), "a list lacks its ',' or ']' @3");
  EXPECT_EQ(fault("{1:2}"), "a key belongs here @1");
  EXPECT_EQ(fault(R"({"a" 1})"), "a ':' belongs here @5");
  EXPECT_EQ(fault(R"({"a":1,"a":2})"), "the key a comes twice @7");
  EXPECT_EQ(fault("1 2"), "something follows the value @2");
  EXPECT_EQ(fault("01"), "something follows the value @1");
  EXPECT_EQ(fault("1."), "a digit belongs here @2");
  EXPECT_EQ(fault("\"ab"), "a string has no end @0");
  EXPECT_EQ(fault("\"a\nb\""), "a control character in a string @2");
  EXPECT_EQ(fault("\"\xff\""), "a string is not UTF-8 @0");
  EXPECT_EQ(fault(R"("\ud800")"), "half a surrogate pair in a string @7");
  EXPECT_EQ(fault(R"("\u00g0")"), "an escape needs four hex digits @3");
  EXPECT_EQ(fault(R"("\x")"), "an unknown escape in a string @2");
  EXPECT_EQ(fault("nul"), "a value belongs here @0");
  EXPECT_EQ(fault("NaN"), "a value belongs here @0");
  EXPECT_EQ(fault(std::string(100000, '[')), "it is nested too deep @513");
}

TEST(Json, LargeObjectsRefuseTwinsToo) {
  std::string text = "{";
  for (int i = 0; i < 40; ++i) text += cat("\"k", i % 39, "\":0,");
  text.back() = '}';
  EXPECT_NE(fault(text).find("comes twice"), std::string::npos);
}

TEST(Json, PythonNumbersOnRequest) {
  const Document doc(Bytes::own("[NaN, Infinity, -Infinity, -1]"), "j", {.python_numbers = true});
  EXPECT_TRUE(std::isnan(doc.root()[0].number()));
  EXPECT_EQ(doc.root()[1].number(), INFINITY);
  EXPECT_EQ(doc.root()[2].number(), -INFINITY);
  EXPECT_EQ(doc.root()[3].integer(), -1);
}

TEST(Json, WriterKeepsTextValid) {
  Writer w;
  w.array().value("\xff\xfe ok").value(0.1).value(NAN).value(uint64_t{1} << 63).end();
  EXPECT_EQ(w.text(), "[\"\xef\xbf\xbd\xef\xbf\xbd ok\",0.1,null,9223372036854775808]");
  EXPECT_EQ(fault(w.text()), "");
}

TEST(Json, EveryTruncationAndBitFlipEnds) {
  const std::string text =
      R"({"graph":{"nodes":[{"target":"aten.add","args":[{"as_int":-3},{"as_float":1.5e-3}]}],"t":"\u00e9\n"},"n":null})";
  for (size_t n = 0; n < text.size(); ++n) EXPECT_NE(fault(text.substr(0, n)), "");
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    fault(flipped);
  }
}

}  // namespace cameo::json
