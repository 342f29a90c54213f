#include "staging/machine/journal.h"

#include <gtest/gtest.h>

#include <map>

#include "staging/machine/missing.h"
#include "staging/machine/undo.h"

namespace cameo::staging {
namespace {

using Numbers = UndoMap<std::map<std::string, int>>;

TEST(Journal, APartThatRegistersIsTakenBack) {
  struct Counter {
    explicit Counter(Journals& all) { all.add(*this); }
    int mark() const { return value; }
    void rewind(int before) { value = before; }
    int value = 1;
  };
  Journals all;
  Counter counter(all);
  const Attempt a = all.attempt();
  counter.value = 7;
  const Attempt b = all.attempt();
  counter.value = 8;
  all.take_back(b);
  EXPECT_EQ(counter.value, 7);
  all.take_back(a);
  EXPECT_EQ(counter.value, 1);
}

TEST(Journal, APartThatComesDuringAnAttemptIsABug) {
  Journals all;
  const Attempt a = all.attempt();
  UndoStack<int> late(all);
  EXPECT_THROW(all.take_back(a), Bug);
}

TEST(Journal, ContainersRegisterThemselves) {
  Journals all;
  UndoStack<int> stack(all);
  Numbers map(all);
  UndoOnce once(all);
  UndoValue<int> value(all, 3);
  EXPECT_EQ(all.size(), 4u);
  stack.push(1);
  map.set("a", 1);
  once.first("said");
  const Attempt a = all.attempt();
  stack.push(2);
  map.set("a", 2);
  map.set("a", 3);
  map.set("b", 4);
  EXPECT_TRUE(once.first("more"));
  value.change() = 5;
  all.take_back(a);
  EXPECT_EQ(stack.all(), std::vector<int>{1});
  EXPECT_EQ(map.all(), (std::map<std::string, int>{{"a", 1}}));
  EXPECT_FALSE(once.first("said"));
  EXPECT_TRUE(once.first("more"));
  EXPECT_EQ(*value, 3);
}

TEST(Journal, AttemptsNest) {
  Journals all;
  Numbers map(all);
  const Attempt outer = all.attempt();
  map.set("a", 1);
  const Attempt inner = all.attempt();
  map.set("a", 2);
  all.take_back(inner);
  EXPECT_EQ(*map.find("a"), 1);
  map.set("a", 3);  // the inner one is not used again
  all.take_back(outer);
  EXPECT_EQ(map.find("a"), nullptr);
}

TEST(Journal, UsesOfMissingOperatorsAreCountedBack) {
  Journals all;
  MissingOperators missing(all);
  EXPECT_TRUE(missing.use("aten::a", "layer1").first);
  const Attempt a = all.attempt();
  EXPECT_FALSE(missing.use("aten::a", "layer1").first);
  EXPECT_FALSE(missing.use("aten::a", "layer2").first);
  EXPECT_TRUE(missing.use("aten::b", "").first);
  all.take_back(a);
  ASSERT_EQ(missing.all().size(), 1u);
  const Missing& m = missing.all().at("aten::a");
  EXPECT_EQ(m.count, 1u);
  EXPECT_EQ(m.scopes, std::set<std::string>{"layer1"});
}

}  // namespace
}  // namespace cameo::staging
