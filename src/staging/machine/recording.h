// Journals of what an attempt records and says: parts that belong to other layers and do not know of attempts.
#pragma once

#include "lowering/lower.h"
#include "staging/machine/journal.h"

namespace cameo::staging {

// The graph's end, the region that nodes go to, and what the builder remembers of values and guesses.
class Recording {
 public:
  Recording(Journals& journals, Graph& graph, Lower& on) : graph_(graph), on_(on) { journals.add(*this); }
  Recording(const Recording&) = delete;

  struct Mark {
    GraphMark graph;
    RegionId region;
    size_t guesses;
  };
  Mark mark() const { return {graph_.mark(), on_.region(), on_.guesses.size()}; }
  void rewind(const Mark& m) {
    on_.move_to(m.region);
    graph_.rollback(m.graph);
    on_.forget_from(m.graph.values);
    on_.guesses.resize(m.guesses);
  }

 private:
  Graph& graph_;
  Lower& on_;
};

// Warnings and notes.
class Notes {
 public:
  Notes(Journals& journals, DiagSink& sink) : sink_(sink) { journals.add(*this); }
  Notes(const Notes&) = delete;
  size_t mark() const { return sink_.all().size(); }
  void rewind(size_t mark) { sink_.all().resize(mark); }

 private:
  DiagSink& sink_;
};

// What was derived and kept (a view's value) is valid in one generation only: taking back begins another.
class Generation {
 public:
  explicit Generation(Journals& journals) { journals.add(*this); }
  Generation(const Generation&) = delete;
  uint64_t now() const { return now_; }
  void next() { ++now_; }
  size_t mark() const { return 0; }
  void rewind(size_t) { next(); }

 private:
  uint64_t now_ = 1;
};

}  // namespace cameo::staging
