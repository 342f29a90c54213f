// Names to small values: open addressing over views, for tables that are filled once and asked often.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace cameo {

// The names must outlive the table. Nothing is ever taken out.
template <class V>
class NameTable {
 public:
  // The value of the name, and whether it is new; an older value stays.
  std::pair<V*, bool> emplace(std::string_view name, V value) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow((used_ + 1) * 2);
    Slot& s = slots_[place(name, hash(name))];
    if (s.name.data()) return {&s.value, false};
    s = {name.data() ? name : std::string_view("", 0), hash(name), std::move(value)};
    ++used_;
    return {&s.value, true};
  }
  const V* find(std::string_view name) const {
    if (used_ == 0) return nullptr;
    const Slot& s = slots_[place(name, hash(name))];
    return s.name.data() ? &s.value : nullptr;
  }
  void set(std::string_view name, V value) { *emplace(name, value).first = value; }
  bool empty() const { return used_ == 0; }
  size_t size() const { return used_; }
  void reserve(size_t names) {
    if (names * 4 > slots_.size() * 3) grow(names * 4 / 3);
  }

 private:
  struct Slot {
    std::string_view name;  // without data: free
    uint64_t hash = 0;
    V value{};
  };

  static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
  }
  static uint64_t hash(std::string_view s) {
    uint64_t h = s.size();
    const char* p = s.data();
    size_t left = s.size();
    for (; left > 8; left -= 8, p += 8) {
      uint64_t v;
      std::memcpy(&v, p, 8);
      h = mix(h, v);
    }
    uint64_t v = 0;
    for (size_t i = 0; i < left; ++i) v |= uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
    h = mix(h, v);
    return h ^ (h >> 32);
  }
  size_t place(std::string_view name, uint64_t h) const {
    const size_t mask = slots_.size() - 1;
    for (size_t i = static_cast<size_t>(h) & mask;; i = (i + 1) & mask)
      if (!slots_[i].name.data() || (slots_[i].hash == h && slots_[i].name == name)) return i;
  }
  void grow(size_t wanted) {
    size_t size = 16;
    while (size < wanted) size *= 2;
    auto old = std::exchange(slots_, std::vector<Slot>(size));
    for (Slot& s : old)
      if (s.name.data()) slots_[place(s.name, s.hash)] = std::move(s);
  }

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace cameo
