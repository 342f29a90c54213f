#include "staging/machine/heap.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace cameo::staging {
namespace {

CellId list_of(Heap& heap, int64_t v) { return heap.add(ListCell{{Value(Dim(v))}, {}, {}}); }
int64_t held(const Heap& heap, CellId id) { return heap.get<ListCell>(id).items[0].need<Dim>().literal(); }
void put(Heap& heap, CellId id, int64_t v) { heap.write<ListCell>(id).items[0] = Value(Dim(v)); }

TEST(Heap, TurnsThatAreDoneAreTakenBackTogether) {
  Heap heap;
  const CellId a = list_of(heap, 1), b = list_of(heap, 2);
  const HeapMark before = heap.mark();
  Heap::Turns turns(heap);
  for (int64_t i = 10; i < 20; ++i) {
    heap.mark();  // every turn is an attempt
    put(heap, a, i);
    if (i == 15) put(heap, b, i);
    turns.done();
  }
  EXPECT_EQ(held(heap, a), 19);
  EXPECT_EQ(heap.changes(before).size(), 2u);
  heap.rewind(before);
  EXPECT_EQ(held(heap, a), 1);
  EXPECT_EQ(held(heap, b), 2);
}

TEST(Heap, ATurnThatIsTakenBackLeavesThoseBefore) {
  Heap heap;
  const CellId a = list_of(heap, 1);
  const HeapMark before = heap.mark();
  Heap::Turns turns(heap);
  heap.mark();
  put(heap, a, 2);
  turns.done();
  const HeapMark turn = heap.mark();
  put(heap, a, 3);
  heap.rewind(turn);
  EXPECT_EQ(held(heap, a), 2);
  heap.rewind(before);
  EXPECT_EQ(held(heap, a), 1);
}

TEST(Heap, PastItsBudgetItStops) {
  Heap heap;
  heap.most_bytes = 1 << 20;
  const auto fill = [&] {
    for (;;) heap.add(ListCell{std::vector<Value>(100), {}, {}});
  };
  try {
    fill();
  } catch (const Error& e) {
    EXPECT_EQ(e.diag().code, "budget.heap");
  }
}

TEST(Heap, ManyTurnsTakeNoMemory) {
  Heap heap;
  heap.most_bytes = 1 << 20;
  const CellId a = list_of(heap, 0);
  heap.mark();
  Heap::Turns turns(heap);
  for (int64_t i = 0; i < 100'000; ++i) {
    heap.mark();
    put(heap, a, i);
    turns.done();
  }
  EXPECT_EQ(held(heap, a), 99'999);
}

TEST(Value, OfTheWrongKindIsAFinding) {
  const Value number(Dim(3));
  EXPECT_EQ(number.need<Dim>().literal(), 3);
  EXPECT_THROW(number.need<std::string>(), Error);
}

}  // namespace
}  // namespace cameo::staging
