// Containers that can be taken back. They register themselves, so that a member of one of these types is never
// forgotten.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "staging/machine/journal.h"

namespace cameo::staging {

// A list that grows and shrinks at its end. What is older than a mark stays while the mark may be used.
template <class T>
class UndoStack {
 public:
  explicit UndoStack(Journals& journals) { journals.add(*this); }
  UndoStack(const UndoStack&) = delete;

  void push(T item) { items_.push_back(std::move(item)); }
  void pop() { items_.pop_back(); }
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  const T& back() const { return items_.back(); }
  const std::vector<T>& all() const { return items_; }

  size_t mark() const { return items_.size(); }
  void rewind(size_t mark) {
    invariant(mark <= items_.size(), "an attempt removed what is older than itself");
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(mark), items_.end());
  }

 private:
  std::vector<T> items_;
};

// A map; every change keeps what the entry was.
template <class Map>
class UndoMap {
 public:
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  explicit UndoMap(Journals& journals) { journals.add(*this); }
  UndoMap(const UndoMap&) = delete;

  // Null: there is none. Holds until the next change.
  template <class K>
  const T* find(const K& key) const {
    const auto it = map_.find(key);
    return it == map_.end() ? nullptr : &it->second;
  }
  bool empty() const { return map_.empty(); }
  const Map& all() const { return map_; }
  const T& set(const Key& key, T value) {
    const auto [it, made] = map_.try_emplace(key);
    log_.push_back({key, made ? std::nullopt : std::optional<T>(std::move(it->second))});
    return it->second = std::move(value);
  }

  size_t mark() const { return log_.size(); }
  void rewind(size_t mark) {
    for (; log_.size() > mark; log_.pop_back()) {
      Entry& e = log_.back();
      if (e.before) map_.find(e.key)->second = std::move(*e.before);
      else map_.erase(e.key);
    }
  }

 private:
  struct Entry {
    Key key;
    std::optional<T> before;  // none: it was not there
  };
  Map map_;
  std::vector<Entry> log_;
};

// One small value.
template <class T>
class UndoValue {
 public:
  UndoValue(Journals& journals, T value) : value_(std::move(value)) { journals.add(*this); }
  UndoValue(const UndoValue&) = delete;

  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  T& change() { return value_; }

  T mark() const { return value_; }
  void rewind(const T& mark) { value_ = mark; }

 private:
  T value_;
};

// Something that is done once: the first time says so.
class UndoOnce {
 public:
  explicit UndoOnce(Journals& journals) { journals.add(*this); }
  UndoOnce(const UndoOnce&) = delete;

  bool first(std::string key) {
    const auto [it, made] = seen_.insert(std::move(key));
    if (made) log_.push_back(&*it);
    return made;
  }

  size_t mark() const { return log_.size(); }
  void rewind(size_t mark) {
    for (; log_.size() > mark; log_.pop_back()) seen_.erase(seen_.find(*log_.back()));
  }

 private:
  std::unordered_set<std::string> seen_;  // its elements stay in place
  std::vector<const std::string*> log_;
};

}  // namespace cameo::staging
