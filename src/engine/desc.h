// A tensor as a plan knows it: element type, sizes, and how the elements lie in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/dtype.h"
#include "ir/tensor.h"

namespace cameo::engine {

// A memory layout other than row-major: oneDNN's blocked formats. Only src/engine/onednn looks inside.
struct Layout {
  virtual ~Layout() = default;
  virtual bool same(const Layout& other) const = 0;
  uint64_t bytes = 0;
  // The axes from the outermost in memory to the innermost, where the layout is a mere permutation (channels last);
  // empty where it is blocked, perhaps with zeros beyond the tensor's sizes.
  std::vector<size_t> order;
};

struct Desc {
  DType dtype = DType::undefined;
  std::vector<int64_t> dims;
  std::shared_ptr<const Layout> layout;  // null: row-major

  bool plain() const { return layout == nullptr; }
  bool dense() const { return plain() || !layout->order.empty(); }  // row-major but for the order of the axes
  size_t rank() const { return dims.size(); }
  int64_t count() const { return element_count(dims); }  // throws "value.range" where 63 bits do not hold it
  uint64_t bytes() const { return layout ? layout->bytes : packed_bytes(dtype, count()); }
  bool same_layout(const Desc& o) const {
    return layout == o.layout || (layout && o.layout && layout->same(*o.layout));
  }
};

// A dense tensor as it lies: sizes from outermost to innermost, and which axis each is.
struct Physical {
  std::vector<int64_t> dims;
  std::vector<size_t> order;  // order[i] is the axis at place i

  explicit Physical(const Desc& d) : order(d.layout ? d.layout->order : std::vector<size_t>()) {
    for (size_t i = order.size(); i < d.rank(); ++i) order.push_back(i);
    for (const size_t axis : order) dims.push_back(d.dims[axis]);
  }
  size_t place(size_t axis) const {
    size_t i = 0;
    while (order[i] != axis) ++i;
    return i;
  }
};

}  // namespace cameo::engine
