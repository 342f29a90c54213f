// What bools of the graph say about sizes, and which of them are known to be true or false where the program is.
#pragma once

#include "staging/machine/undo.h"
#include "staging/machine/value.h"

namespace cameo::staging {

class Machine;

class Conditions {
 public:
  Conditions(Journals& journals, const Machine& s) : s_(s), said_(journals), assumed_(journals) {}

  // A comparison of sizes, or others combined.
  struct Condition {
    std::string_view op;  // "lt", "eq" ... over a and b; "and", "or", "not" over x and y
    Dim a, b;
    V x, y;
  };
  void remember(V value, const Condition& c) { said_.set(value.id.index, c); }

  // Records what holds where the condition is known to be `truth`.
  void assume(const Value& condition, bool truth, int depth = 0);
  bool hold(const Value& condition) const;  // on the way that is being staged, because a branch asked the same
  // While it lives, what is assumed is assumed for one side of a branch.
  class Side {
   public:
    Side(Conditions& all, const Value& condition, bool truth) : all_(all), before_(all.assumed_.mark()) {
      all.assume(condition, truth);
    }
    ~Side() { all_.assumed_.rewind(std::min(before_, all_.assumed_.size())); }
    Side(const Side&) = delete;

   private:
    Conditions& all_;
    size_t before_;
  };

  // A condition that asks whether a size is one number (n == 1, n > 0): what it is where the size is another.
  struct Special {
    Dim size;
    int64_t is;
    bool otherwise;
  };
  std::optional<Special> special_size(const Value& condition) const;

 private:
  const Condition* of(const Value& condition) const;
  bool same(V a, V b, int depth = 0) const;

  const Machine& s_;
  UndoMap<std::unordered_map<uint32_t, Condition>> said_;  // by ValueId::index
  UndoStack<std::pair<V, bool>> assumed_;                  // by the branches around, and by checks
};

}  // namespace cameo::staging
