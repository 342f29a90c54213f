#include "engine/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace cameo::engine {
namespace {

// Adds one for each part that was done, and the numbers of the parts.
struct Count {
  std::atomic<int> parts{0}, sum{0};
  static void work(void* p, int part, int) {
    auto& c = *static_cast<Count*>(p);
    ++c.parts;
    c.sum += part;
  }
};

// Pools are never ended, nor are their threads.
ThreadPool& pool_of(int threads) { return *new ThreadPool(threads); }

TEST(ThreadPool, DoesEachPartOnce) {
  ThreadPool& pool = pool_of(3);
  for (int team = 1; team < 200; ++team) {
    Count c;
    pool.run(Count::work, &c, team);
    EXPECT_EQ(c.parts, team);
    EXPECT_EQ(c.sum, team * (team - 1) / 2);
  }
}

TEST(ThreadPool, OneThreadDoesAll) {
  Count c;
  pool_of(1).run(Count::work, &c, 5);
  EXPECT_EQ(c.parts, 5);
}

TEST(ThreadPool, CallersAtTheSameTimeHaveTheirOwnWork) {
  ThreadPool& pool = pool_of(4);
  std::vector<std::thread> callers;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        Count c;
        pool.run(Count::work, &c, 4);
        right += c.parts == 4 && c.sum == 6;
      }
    });
  for (auto& t : callers) t.join();
  EXPECT_EQ(right, 2000);
}

TEST(ThreadPool, KnowsItsOwnThreads) {
  EXPECT_FALSE(ThreadPool::inside());
  std::atomic<int> in{0};
  pool_of(2).run([](void* p, int, int) { *static_cast<std::atomic<int>*>(p) += ThreadPool::inside(); }, &in, 8);
  EXPECT_EQ(in, 8);
  EXPECT_FALSE(ThreadPool::inside());
}

}  // namespace
}  // namespace cameo::engine
