#include "support/text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/error.h"
#include "support/random.h"

namespace cameo::tests {
namespace {

std::string json(std::string_view s) {
  std::string out;
  append_json_string(out, s);
  return out;
}

TEST(Text, OnlyPrintableCharactersStandForThemselves) {
  EXPECT_EQ(printable("plain 'name' \"q\" \\ é 漢 😀"), "plain 'name' \"q\" \\ é 漢 😀");
  EXPECT_EQ(printable("a\x1b[2J\n\r\tb\x7f"), "a\\x1b[2J\\n\\r\\tb\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x85\xc2\x9b"), "\\xc2\\x85\\xc2\\x9b");                    // C1
  EXPECT_EQ(printable("\xe2\x80\xae\xe2\x81\xa9"), "\\xe2\\x80\\xae\\xe2\\x81\\xa9");  // direction
  EXPECT_EQ(printable("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");                             // line separator
  EXPECT_EQ(printable("a\xff\xed\xa0\x80z"), "a\\xff\\xed\\xa0\\x80z");                // no UTF-8, a surrogate
  EXPECT_EQ(printable_lines("a\n\tb\r\x1b"), "a\n\tb\\r\\x1b");
}

TEST(Text, JsonStringsHoldNothingElseEither) {
  EXPECT_EQ(json("a\"\\\n\t\r"), "\"a\\\"\\\\\\n\\t\\r\"");
  EXPECT_EQ(json("\x1b\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8"), "\"\\u001b\\u007f\\u009b\\u202e\\u2028\"");
  EXPECT_EQ(json("\xff"), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(json("é😀"), "\"é😀\"");
}

TEST(Text, WhateverComesInWhatIsShownIsText) {
  Random random{11};
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (uint64_t n = random.next() % 40; n-- > 0;) bytes += static_cast<char>(random.next() % 256);
    for (const std::string& shown : {printable(bytes), json(bytes)}) {
      ASSERT_TRUE(is_utf8(shown));
      for (size_t pos = 0; pos < shown.size();) ASSERT_TRUE(is_printable(next_character(shown, pos)));
    }
  }
}

TEST(Text, NoNameMakesALineOfAFinding) {
  const std::string name = "a\nerror[forged.code]: b\x1b[2J";
  Error e = error("file.x", name)
                .at({.file = name, .line = 1, .scope = name, .source = name})
                .why(name)
                .help(name)
                .note(name, {.file = name});
  const std::string shown = e.diag().render();
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 7);
  EXPECT_EQ(shown.find("\nerror["), shown.npos);
  EXPECT_EQ(shown.find('\x1b'), shown.npos);
  EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
  EXPECT_EQ(e.diag().what, name);  // the finding itself has the name as the file has it
}

}  // namespace
}  // namespace cameo::tests
