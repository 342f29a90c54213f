#include "support/budget.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "support/bytes.h"

#include "cameo/progress.h"

namespace cameo::tests {
namespace {

std::string code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.diag().code;
  }
  return "";
}

TEST(Budget, NothingStopsWithoutLimits) {
  checkpoint();
  EXPECT_EQ(limits().turns, Limits().turns);
}

TEST(Budget, TimeIsStickyAndEndsWithItsScope) {
  {
    const LimitScope within({.seconds = 1e-6});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(code_of(checkpoint), "budget.time");
    EXPECT_EQ(code_of(checkpoint), "budget.time");
  }
  checkpoint();
}

TEST(Budget, TimeIsOfTheThreadThatSetIt) {
  const LimitScope within({.seconds = 1e-6});
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::thread([] { checkpoint(); }).join();
  EXPECT_EQ(code_of(checkpoint), "budget.time");
}

TEST(Budget, TheInnerScopeCounts) {
  const LimitScope outer({.turns = 5});
  {
    const LimitScope inner({.turns = 7});
    EXPECT_EQ(limits().turns, 7);
  }
  EXPECT_EQ(limits().turns, 5);
}

TEST(Budget, AnInterruptStopsEveryThreadUntilResumed) {
  interrupt();
  EXPECT_TRUE(interrupted());
  EXPECT_EQ(code_of(checkpoint), "budget.interrupted");
  std::string other;
  std::thread([&] { other = code_of(checkpoint); }).join();
  EXPECT_EQ(other, "budget.interrupted");
  resume();
  checkpoint();
}

TEST(Budget, DestructorsFinishThoughInterrupted) {
  struct Last {
    ~Last() { checkpoint(); }
  };
  EXPECT_EQ(code_of([] {
              const Last last;
              interrupt();
              checkpoint();
            }),
            "budget.interrupted");
  resume();
}

TEST(Budget, AQuestionIsAskedNowAndThen) {
  static bool stop = false;
  const StopScope asking([] { return stop; });
  for (int i = 0; i < 100; ++i) checkpoint();
  stop = true;
  const auto asked = [] {
    for (int i = 0; i < 1000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      checkpoint();
    }
  };
  EXPECT_EQ(code_of(asked), "budget.interrupted");
}

TEST(Budget, LargeBytesAreCountedAndGivenBack) {
  const uint64_t before = memory_taken();
  constexpr uint64_t size = 4 << 20;
  {
    const LimitScope within({.memory_bytes = before + size + size / 2});
    const Bytes one = Bytes::own(std::vector<std::byte>(size));
    EXPECT_EQ(code_of([] { Bytes::own(std::vector<std::byte>(size)); }), "budget.memory");
  }
  EXPECT_EQ(memory_taken(), before);
}

TEST(Budget, AFindingNamesItsBudgetAndWhatRaisesIt) {
  const Error e = over_budget("turns", "too many", "--max-turns");
  EXPECT_EQ(e.diag().code, "budget.turns");
  EXPECT_NE(e.diag().hint.find("--max-turns"), std::string::npos);
  EXPECT_TRUE(is_budget(e));
  EXPECT_EQ(e.exit_code(), 1);
}

}  // namespace
}  // namespace cameo::tests
