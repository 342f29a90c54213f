#include "staging/machine/journal.h"

namespace cameo::staging {

Attempt Journals::attempt() {
  Attempt a;
  a.marks_.reserve(all_.size());
  for (const auto& journal : all_) a.marks_.push_back(journal->mark());
  return a;
}

void Journals::take_back(const Attempt& a) {
  invariant(a.marks_.size() == all_.size(), "a part was registered while an attempt was under way");
  for (size_t i = 0; i < all_.size(); ++i) all_[i]->rewind(a.marks_[i]);
}

}  // namespace cameo::staging
