// Where a tensor's elements lie in memory, as far as that is known. PyTorch decides by it which calls copy and which
// give a view; nothing else in the graph depends on it.
#pragma once

#include <optional>
#include <span>

#include "ir/dim_facts.h"
#include "lowering/arg.h"

namespace cameo::staging {

struct Layout {
  enum class Kind : uint8_t {
    unknown,
    contiguous,  // in the order of the axes, without gaps
    strided,     // as `strides` say
  };
  Kind kind = Kind::unknown;
  Dims strides;                        // in elements, of `strided` only
  std::optional<Dim> offset = Dim(0);  // from the first element of the cell; nullopt: not known
  bool overlaps = false;               // elements may share their memory (expand, unfold)

  static Layout contiguous() { return {Kind::contiguous, {}, Dim(0), false}; }
  bool is(Kind k) const { return kind == k; }
  friend bool operator==(const Layout& a, const Layout& b) = default;
};

// A condition over sizes: every clause has to hold, and a clause holds where one of its comparisons does.
struct SizeTest {
  Dim a, b;
  bool equal = true;  // false: a != b
};
using SizeClause = std::vector<SizeTest>;
using SizeCondition = std::vector<SizeClause>;

// Whether PyTorch gives a view. Tensors without elements are ignored: nothing can be written to them.
struct Verdict {
  Answer view = Answer::unknown;
  SizeCondition condition;  // where unknown: a view if it holds; empty: nothing decides
  Layout layout;            // of the result
};

Dims strides_of(const Layout& layout, const Dims& shape);  // precondition: not unknown
Layout strided(const Dims& shape, Dims strides, std::optional<Dim> offset, bool overlaps);
// `order`: the axes from the outermost to the innermost in memory, all without gaps.
Layout dense_in_order(const Dims& shape, const Ints& order);
// A new tensor's layout in that order.
Layout new_in_order(const Dims& shape, const Ints& order);
// The order in which a tensor without gaps lies in memory; nullopt: it has gaps, or that is not known.
std::optional<Ints> dense_order(const Dims& shape, const Layout& layout);
// Tensor.is_contiguous, with the axes taken in `order` (channels_last: 0, 2, 3, 1); empty: in their own.
Verdict contiguity(const DimFacts& facts, const Dims& shape, const Layout& layout, const Ints& order = {});
// Tensor.view and Tensor.reshape to the shape `to`: a view wherever the strides allow it.
Verdict viewed(const DimFacts& facts, const Dims& shape, const Layout& layout, const Dims& to);

struct LayoutOperand {
  Dims shape;
  Layout layout;
};
// The layout that PyTorch gives a new result of an elementwise operator: that of its operands, without gaps.
Layout elementwise_layout(const DimFacts& facts, std::span<const LayoutOperand> operands, const Dims& result);

}  // namespace cameo::staging
