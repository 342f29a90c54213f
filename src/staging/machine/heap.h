// Everything that a program can change lives in cells, written through an undo log: an attempt is marked, looked at as
// a difference, and taken back at the cost of what it changed.
#pragma once

#include <memory>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "staging/machine/journal.h"
#include "staging/machine/value.h"

namespace cameo::staging {

// Why the contents of a tensor are unknown: a finding's code and text.
struct Doubt {
  std::string_view code;
  std::string why;
};
// A cell that may share its memory with another one.
struct MaybeView {
  std::shared_ptr<ViewStep> step;  // how it is seen in the other, if it is
  SizeCondition condition;         // it is if this holds; empty: if `decided` does
  V decided;                       // 0-d bool in the graph
  bool fits = true;                // as one of its own it has the sizes that it has as a view
  V value;                         // read last, with the version and generation then
  uint64_t version = 0, generation = 0;
};
struct TensorCell {
  V value;
  uint64_t version = 0;
  std::string name;  // of a parameter or input, for notes about writes
  Layout layout;
  uint64_t reshaped = 0;  // the version at which it last got another shape: views made before are lost
  // A tensor of its own or a view, which sizes or a branch decide. `value` holds for one of its own, and for a view
  // while the parent has version `seen`. Of several at most one is.
  struct Tie {
    std::shared_ptr<MaybeView> maybe;
    uint64_t seen;
  };
  std::vector<Tie> ties;
  // Memory that it may or may not share: after a write to one the other cannot be read.
  struct Source {
    static constexpr uint64_t any = ~uint64_t{0};
    CellId cell;
    uint64_t version;  // then; any: of a value on its way out of a branch, which is joined with its sources
  };
  std::vector<Source> sources;
  std::shared_ptr<const Doubt> shares;  // why it may
  std::shared_ptr<const Doubt> stale;   // such a write happened: reading is an error
};
struct StagedList;
struct ListCell {
  std::vector<Value> items;
  std::shared_ptr<const StagedList> staged;   // set: the length is known only at run time, and `items` is empty
  std::shared_ptr<const std::string> poison;  // its contents are not available: any use is an error
  DType of = DType::undefined;                // of numbers that the program says an empty list is for
  std::vector<CellId> twins;  // lists that it may be, which a branch decided: what changes here may change there
};
struct DictCell {
  std::vector<std::pair<Value, Value>> entries;  // in insertion order
  std::shared_ptr<const std::string> poison;     // its keys are not known: any use is an error
  std::vector<CellId> twins;                     // as of lists
};
struct ObjectCell {
  const ts::ClassDef* cls = nullptr;
  std::string_view class_name;  // also of C++ classes, which have no definition
  std::string path;             // "layer1.0"; empty for the root and for objects made by the program
  std::vector<std::pair<std::string_view, Value>> attributes;
};
struct FrameCell {
  std::vector<Value> locals;
  std::vector<bool> assigned;
};
using CellData = std::variant<TensorCell, ListCell, DictCell, ObjectCell, FrameCell>;

struct HeapMark {
  size_t log, cells;
};

class Heap {
 public:
  Heap() = default;
  explicit Heap(Journals& journals) { journals.add(*this); }

  CellId add(CellData data);
  const CellData& operator[](CellId id) const { return *cells_[id.index].data; }
  template <class T>
  const T& get(CellId id) const {
    return std::get<T>(*cells_[id.index].data);
  }
  template <class T>
  T& write(CellId id) {
    return std::get<T>(writable(id));
  }

  HeapMark mark();  // costs nothing where nothing happened since the last one
  // Cells older than the mark that were written since, with their contents at the mark; each once, in order of first
  // write.
  struct Change {
    CellId cell;
    std::shared_ptr<const CellData> before;
  };
  std::vector<Change> changes(const HeapMark& m) const;
  bool written_since(CellId id, const HeapMark& m) const;
  // Older cells get their contents at the mark back; cells made since stay, for the values that refer to them.
  void rewind(const HeapMark& m);
  void set(CellId id, const CellData& data) { writable(id) = data; }

  // Budget: what cells hold, and what the log keeps of their past, in bytes, about. Past it budget.heap is thrown.
  size_t most_bytes = size_t{512} << 20;
  void need(size_t bytes) const;  // throws where so much more would be too much
  void charge(size_t bytes) { need(bytes), bytes_ += bytes; }

  // The iterations of a loop that is simply run. A finished one is never undone by itself, so for each cell the log
  // needs only the contents before the first iteration.
  class Turns {
   public:
    explicit Turns(Heap& heap) : heap_(heap), done_(heap.log_.size()) {}
    void done();  // a turn has ended

   private:
    Heap& heap_;
    size_t done_;
    std::unordered_set<uint32_t> kept_;
  };

 private:
  CellData& writable(CellId id);
  void release(const CellData& data);

  struct Cell {
    std::shared_ptr<CellData> data;
    uint64_t epoch = 0;  // of its last entry in the log
  };
  struct Entry {
    CellId cell;
    std::shared_ptr<CellData> before;
    uint64_t epoch;
  };
  std::vector<Cell> cells_;
  std::vector<Entry> log_;
  uint64_t epoch_ = 0;
  HeapMark last_{~size_t{0}, 0};  // at which this epoch began
  size_t bytes_ = 0;
};

}  // namespace cameo::staging
