#include "support/name_table.h"

#include <gtest/gtest.h>

#include <string>

namespace cameo::tests {
namespace {

TEST(NameTable, FindsWhatWasPutIn) {
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i)
    names.push_back(std::string(static_cast<size_t>(i % 40), 'a' + static_cast<char>(i % 3)) + std::to_string(i));
  NameTable<int> table;
  EXPECT_EQ(table.find("x"), nullptr);
  for (int i = 0; i < 3000; ++i) EXPECT_TRUE(table.emplace(names[static_cast<size_t>(i)], i).second);
  EXPECT_EQ(table.size(), 3000u);
  for (int i = 0; i < 3000; ++i) {
    const int* found = table.find(names[static_cast<size_t>(i)]);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, i);
  }
  EXPECT_EQ(table.find("b"), nullptr);
}

TEST(NameTable, TheFirstValueStaysUnlessSet) {
  NameTable<int> table;
  EXPECT_TRUE(table.emplace("a", 1).second);
  EXPECT_FALSE(table.emplace("a", 2).second);
  EXPECT_EQ(*table.find("a"), 1);
  table.set("a", 3);
  EXPECT_EQ(*table.find("a"), 3);
}

TEST(NameTable, TheEmptyNameIsAName) {
  NameTable<int> table;
  table.reserve(100);
  EXPECT_EQ(table.find(""), nullptr);
  EXPECT_TRUE(table.emplace(std::string_view(), 7).second);
  EXPECT_FALSE(table.emplace("", 8).second);
  EXPECT_EQ(*table.find(""), 7);
}

}  // namespace
}  // namespace cameo::tests
