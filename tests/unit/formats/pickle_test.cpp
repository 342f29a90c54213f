#include "formats/pickle.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace cameo::pickle {
namespace {

using namespace std::string_literals;

Document parse(const std::string& body, const Limits& limits = {}) {
  return read(Bytes::own("\x80\x02" + body + "."), "test.pkl", limits);
}

std::string code_of(const std::string& bytes, const Limits& limits = {}) {
  try {
    read(Bytes::own(bytes), "test.pkl", limits);
    return "fine";
  } catch (const Error& e) {
    return e.diag().code;
  }
}

std::string code_of_body(const std::string& body, const Limits& limits = {}) {
  return code_of("\x80\x02" + body + ".", limits);
}

TEST(Pickle, ReadsNumbers) {
  const auto d = parse("(K\x07M\x01\x02J\xFF\xFF\xFF\xFF\x8A\x02\x00\x80\x8A\x00G\x3F\xF8\x00\x00\x00\x00\x00\x00t"s);
  const auto items = d.root().items;
  ASSERT_EQ(items.size(), 6u);
  EXPECT_EQ(items[0]->integer, 7);
  EXPECT_EQ(items[1]->integer, 513);
  EXPECT_EQ(items[2]->integer, -1);
  EXPECT_EQ(items[3]->integer, -32768);
  EXPECT_EQ(items[4]->integer, 0);
  EXPECT_EQ(items[5]->floating, 1.5);
}

TEST(Pickle, KeepsNumbersOfMoreThan64BitsAsBytes) {
  const auto d = parse("\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19"s);
  EXPECT_EQ(d.root().kind, Kind::big_integer);
  EXPECT_EQ(d.root().text.size(), 10u);
}

TEST(Pickle, SharesWhatTheMemoShares) {
  const auto d = parse(
      "(]q\x00(K\x01"
      "eq\x01h\x00h\x01t"s);
  const auto items = d.root().items;
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0], items[1]);
  EXPECT_EQ(items[0], items[2]);
  EXPECT_EQ(items[0]->items.size(), 1u);
}

TEST(Pickle, RecordsCallsAndObjectsWithoutMakingThem) {
  const auto d = parse("cos\nsystem\nX\x02\x00\x00\x00ls\x85R"s);
  EXPECT_TRUE(d.root().is_call_of("os", "system"));
  EXPECT_EQ(d.root().args()->items[0]->text, "ls");
  const auto o = parse("c__torch__.a\nNet\n)\x81}(X\x01\x00\x00\x00wK\x01ub"s);
  EXPECT_EQ(o.root().kind, Kind::object);
  EXPECT_EQ(o.root().callee()->module(), "__torch__.a");
  EXPECT_EQ(o.root().callee()->name(), "Net");
  EXPECT_EQ(o.root().state()->items[1]->integer, 1);
}

TEST(Pickle, FillsTheResultOfACall) {
  const auto d = parse("ccollections\nOrderedDict\n)R(X\x01\x00\x00\x00wK\x01u}b"s);
  EXPECT_TRUE(d.root().is_call_of("collections", "OrderedDict"));
  EXPECT_EQ(d.root().items.size(), 2u);
  EXPECT_EQ(d.root().state()->kind, Kind::dict);
}

TEST(Pickle, ReadsProtocol4) {
  const auto d = read(Bytes::own("\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00\x8C\x01"
                                 "a\x94\x8C\x01"
                                 "b\x93."s),
                      "p", {});
  EXPECT_TRUE(d.root().is_global("a", "b"));
}

TEST(Pickle, RefusesValuesThatHoldThemselves) {
  EXPECT_EQ(code_of_body("]q\x00h\x00"
                         "a"s),
            "file.pickle-damaged");
  EXPECT_EQ(code_of_body("]q\x00(h\x00te"s), "file.pickle-damaged");
  EXPECT_EQ(code_of_body("]q\x00h\x00\x85q\x01h\x00h\x01"
                         "a"s),
            "file.pickle-damaged");
}

TEST(Pickle, RefusesUnknownInstructions) {
  EXPECT_EQ(code_of_body("(ios\nsystem\n"), "file.pickle-opcode");
  EXPECT_EQ(code_of_body("\x82\x01"), "file.pickle-opcode");
  EXPECT_EQ(code_of_body("I1\n"), "file.pickle-opcode");
}

TEST(Pickle, RefusesStackFaults) {
  for (const auto& body : {""s, "t"s, "e"s, "(e"s, "R"s, "K\x01R"s, "b"s,
                           "K\x01K\x02"
                           "b"s,
                           "a"s,
                           "(K\x01"
                           "K\x02"s,
                           "h\x05"s, "K\x01r\xFF\xFF\xFF\xFF"s, "(K\x01\x86"s, "}(K\x01u"s, "Q"s, "0"s, "1"s, "2"s})
    EXPECT_EQ(code_of_body(body), "file.pickle-damaged") << body;
}

TEST(Pickle, HasLimits) {
  EXPECT_EQ(code_of_body("K\x01" + std::string(600, '\x85')), "file.pickle-limit");
  EXPECT_EQ(code_of_body("(" + std::string(300, ']') + "t", {.values = 100}), "file.pickle-limit");
  EXPECT_EQ(code_of_body("X\xFF\xFF\xFF\x7F"), "file.pickle-damaged");
}

TEST(Pickle, ManyTimesSharedStaysSmall) {
  std::string body = "K\x01q"s + '\0';
  for (char i = 0; i < 100; ++i) body += "h"s + i + "h" + i + "\x86q" + static_cast<char>(i + 1);
  EXPECT_EQ(parse("(" + body + "t").root().items.back()->depth, 100);
}

TEST(Pickle, EveryTruncationIsAnError) {
  const std::string whole =
      "\x80\x02(c__torch__\nNet\nq\x00)\x81}(X\x01\x00\x00\x00wq\x01K\x05X\x01\x00\x00\x00vM\x01\x02"
      "u"
      "bJ\x01\x02\x03\x04"
      "\x8A\x08\x01\x02\x03\x04\x05\x06\x07\x08](K\x01"
      "eG\x3F\xF8\x00\x00\x00\x00\x00\x00t."s;
  EXPECT_EQ(code_of(whole), "fine");
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(code_of(whole.substr(0, n)), "fine") << n;
}

}  // namespace
}  // namespace cameo::pickle
