#include <gtest/gtest.h>

#include <random>

#include "engine/plan.h"

namespace cameo::engine {
namespace {

struct Life {
  uint32_t first, last;
};

// A plan whose step i makes buffer i, and whose step lives[i].last reads it for the last time.
Plan plan_of(const std::vector<Life>& lives, std::mt19937& random) {
  Plan p;
  p.steps.resize(lives.size());
  for (SlotId s = 0; s < lives.size(); ++s) {
    Slot slot;
    slot.desc = {DType::u8, {static_cast<int64_t>(1 + random() % 4096)}, nullptr};
    slot.root = s;
    p.slots.push_back(std::move(slot));
    p.steps[s].out.push_back(s);
    p.steps[lives[s].last].in.push_back(s);
  }
  plan_memory(p);
  return p;
}

std::vector<Life> random_lives(uint32_t count, std::mt19937& random) {
  std::vector<Life> out;
  for (uint32_t i = 0; i < count; ++i)
    out.push_back({i, std::min(count - 1, i + 1 + static_cast<uint32_t>(random() % (random() % 50 ? 8 : 3000)))});
  return out;
}

void expect_apart(const Plan& p, const std::vector<Life>& lives) {
  for (SlotId a = 0; a < lives.size(); ++a)
    for (SlotId b = a + 1; b < lives.size() && lives[b].first <= lives[a].last; ++b) {
      const uint64_t x = p.slots[a].offset, y = p.slots[b].offset;
      ASSERT_TRUE(x + p.slots[a].desc.bytes() <= y || y + p.slots[b].desc.bytes() <= x) << a << " and " << b;
    }
}

TEST(PlannedMemory, BuffersThatLiveTogetherAreApart) {
  for (const uint32_t count : {500u, 20000u}) {  // placed by size, and as the steps come
    std::mt19937 random(count);
    const std::vector<Life> lives = random_lives(count, random);
    expect_apart(plan_of(lives, random), lives);
  }
}

TEST(PlannedMemory, LargePlansUseGapsToo) {
  std::mt19937 random(3);
  const std::vector<Life> lives = random_lives(20000, random);
  const Plan p = plan_of(lives, random);
  uint64_t all = 0;
  for (const Slot& s : p.slots) {
    all += s.desc.bytes();
    EXPECT_LE(s.offset + s.desc.bytes(), p.arena_bytes);
  }
  EXPECT_LT(p.arena_bytes, all / 50);
}

}  // namespace
}  // namespace cameo::engine
