// Names to small values: open addressing over views, for tables that are filled once and asked often.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "support/layers.h"

namespace cameo::support {

// The names must outlive the table. Nothing is ever taken out.
template <class V>
class NameTable {
 public:
  // The value of the name, and whether it is new; an older value stays.
  std::pair<V*, bool> emplace(std::string_view name, V value) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow((used_ + 1) * 2);
    const uint64_t h = hash(name);
    Slot& s = slots_[place(name, h)];
    if (s.name.data()) return {&s.value, false};
    s = {name.data() ? name : std::string_view("", 0), h, std::move(value)};
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
  template <class T>
  static T load(const char* p) {
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static uint64_t hash(std::string_view s) {
    const char* p = s.data();
    const size_t n = s.size();
    uint64_t h = n;
    if (n >= 8) {
      for (size_t i = 0; i + 8 < n; i += 8) h = mix(h, load<uint64_t>(p + i));
      h = mix(h, load<uint64_t>(p + n - 8));
    } else if (n >= 4) {
      h = mix(h, load<uint32_t>(p) | uint64_t{load<uint32_t>(p + n - 4)} << 32);
    } else if (n > 0) {
      h = mix(h, static_cast<unsigned char>(p[0]) | static_cast<unsigned char>(p[n / 2]) << 8 |
                     static_cast<unsigned char>(p[n - 1]) << 16);
    }
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

}  // namespace cameo::support
