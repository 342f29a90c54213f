// An attempt at a piece of the program: what it did can be taken back whole.
#include "staging/machine/stager.h"

namespace cameo::staging {

Stager::Attempt Stager::attempt() {
  return {heap.mark(),    graph.mark(),      sink_.all().size(), frames_.size(), functions_.size(),
          scopes_.size(), on.guesses.size(), checks_.size(),     missing_};
}

void Stager::take_back(const Attempt& a) {
  heap.rewind(a.heap);
  graph.rollback(a.graph);
  on.forget_from(a.graph.values);
  on.guesses.resize(a.guesses);
  checks_.resize(a.checks);
  ++generation_;
  raised_ = false;
  sink_.all().resize(a.notes);
  missing_ = a.missing;
  frames_.resize(a.frames);
  functions_.resize(a.functions);
  scopes_.resize(a.scopes);
  const auto gone = [&](const Value& v) {
    if (const auto* t = v.as<TensorRef>()) return t->cell.index >= a.heap.cells;
    if (const auto* o = v.as<ObjectRef>()) return o->cell.index >= a.heap.cells;
    if (const auto* l = v.as<ListRef>()) return l->cell.index >= a.heap.cells;
    if (const auto* d = v.as<DictRef>()) return d->cell.index >= a.heap.cells;
    return v.is<Tuple>();  // its parts may be gone
  };
  std::erase_if(objects_, [&](const auto& e) { return gone(e.second); });
  std::erase_if(stored_, [&](const auto& e) { return gone(e.second); });
  std::erase_if(tensors_, [&](const auto& e) { return gone(e.second); });
  std::erase_if(quantized_, [&](const auto& e) { return e.first >= a.graph.values; });
  std::erase_if(conditions_, [&](const auto& e) { return e.first >= a.graph.values; });
  std::erase_if(assumed_, [&](const auto& e) { return e.first.id.index >= a.graph.values; });
}

}  // namespace cameo::staging
