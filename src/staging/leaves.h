// The single values inside a changed cell: a local, an attribute, a tensor, an item.
#pragma once

#include "staging/stager.h"

namespace cameo::staging {

struct Leaf {
  CellId cell;
  size_t slot = 0;  // of a frame, object, list or dict; 0 for a tensor
};

// The leaves of a cell whose values differ between two states. nullopt: the structure itself differs (lengths, keys).
std::optional<std::vector<Leaf>> differing(CellId cell, const CellData& a, const CellData& b);
// A tensor cell's value is given as a TensorRef to nothing: use tensor_of.
Value value_at(const CellData& data, size_t slot);
bool assigned_at(const CellData& data, size_t slot);
void set_at(Heap& heap, const Leaf& leaf, Value v);
inline const TensorCell* tensor_of(const CellData& data) { return std::get_if<TensorCell>(&data); }

}  // namespace cameo::staging
