#include "frontends/torchscript/local_names.h"

#include <algorithm>

namespace cameo::torchscript {

uint32_t LocalNames::hash(std::string_view name) {
  uint32_t h = 2166136261u;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return h ^ (h >> 15);
}

void LocalNames::clear() {
  if (names_.size() * 4 < table_.size() && table_.size() > 256) table_.assign(64, 0);  // do not drag a giant along
  else std::fill(table_.begin(), table_.end(), 0);
  names_.clear();
}

int32_t LocalNames::find(std::string_view name) const {
  if (table_.empty()) return -1;
  const size_t mask = table_.size() - 1;
  for (size_t i = hash(name) & mask; table_[i]; i = (i + 1) & mask)
    if (names_[static_cast<size_t>(table_[i] - 1)] == name) return table_[i] - 1;
  return -1;
}

int32_t LocalNames::add(std::string_view name) {
  if (const auto known = find(name); known >= 0) return known;
  names_.push_back(name);
  if (names_.size() * 2 > table_.size()) {
    rehash(std::max<size_t>(64, table_.size() * 2));
  } else {
    const size_t mask = table_.size() - 1;
    size_t i = hash(name) & mask;
    while (table_[i]) i = (i + 1) & mask;
    table_[i] = static_cast<int32_t>(names_.size());
  }
  return static_cast<int32_t>(names_.size() - 1);
}

void LocalNames::rehash(size_t size) {
  table_.assign(size, 0);
  const size_t mask = size - 1;
  for (size_t slot = 0; slot < names_.size(); ++slot) {
    size_t i = hash(names_[slot]) & mask;
    while (table_[i]) i = (i + 1) & mask;
    table_[i] = static_cast<int32_t>(slot + 1);
  }
}

}  // namespace cameo::torchscript
