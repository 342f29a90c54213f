#include "staging/memory/layout.h"

#include <algorithm>
#include <numeric>

namespace cameo::staging {

namespace {

Ints own_order(size_t rank) {
  Ints order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// A clause from comparisons: yes where one surely holds, no where none can.
struct Clause {
  const DimFacts& facts;
  Answer answer = Answer::no;
  SizeClause open = {};

  void add(Dim a, Dim b, bool equal = true) {
    Answer is = facts.equal(a, b);
    if (!equal && is != Answer::unknown) is = is == Answer::yes ? Answer::no : Answer::yes;
    if (is == Answer::yes) answer = Answer::yes;
    if (is == Answer::unknown) open.push_back({a, b, equal});
    if (answer == Answer::no && is == Answer::unknown) answer = is;
  }
};

void conjoin(Verdict& v, const Clause& c) {
  if (c.answer == Answer::yes || v.view == Answer::no) return;
  v.view = c.answer;
  if (c.answer == Answer::unknown) v.condition.push_back(c.open);
  else v.condition.clear();
}

}  // namespace

Dims strides_of(const Layout& layout, const Dims& shape) {
  if (layout.is(Layout::Kind::strided)) return layout.strides;
  return dense_in_order(shape, own_order(shape.size())).strides;
}

Layout strided(const Dims& shape, Dims strides, std::optional<Dim> offset, bool overlaps) {
  Dim expected(1);
  bool plain = !overlaps;
  for (size_t i = shape.size(); i-- > 0; expected = expected * shape[i])
    plain = plain && (shape[i].is(1) || strides[i] == expected);
  if (plain) return {Layout::Kind::contiguous, {}, offset, false};
  return {Layout::Kind::strided, std::move(strides), offset, overlaps};
}

Layout dense_in_order(const Dims& shape, const Ints& order) {
  Dims strides(shape.size());
  Dim step(1);
  for (size_t i = order.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(order[i]);
    strides[axis] = step;
    step = step * shape[axis];
  }
  return {Layout::Kind::strided, std::move(strides), Dim(0), false};
}

Layout new_in_order(const Dims& shape, const Ints& order) {
  return strided(shape, dense_in_order(shape, order).strides, Dim(0), false);
}

std::optional<Ints> dense_order(const Dims& shape, const Layout& layout) {
  if (layout.is(Layout::Kind::unknown) || layout.overlaps) return std::nullopt;
  const Dims strides = strides_of(layout, shape);
  Ints inner;  // from the innermost
  std::vector<bool> used(shape.size());
  Dim step(1);
  while (inner.size() < shape.size()) {
    size_t next = shape.size();
    for (size_t i = shape.size(); i-- > 0 && next == shape.size();)
      if (!used[i] && (shape[i].is(1) || strides[i] == step)) next = i;
    if (next == shape.size()) return std::nullopt;
    used[next] = true;
    inner.push_back(static_cast<int64_t>(next));
    step = step * shape[next];
  }
  std::reverse(inner.begin(), inner.end());
  return inner;
}

Verdict contiguity(const DimFacts& facts, const Dims& shape, const Layout& layout, const Ints& order) {
  if (layout.is(Layout::Kind::unknown)) return {};
  if (order.empty() && layout.is(Layout::Kind::contiguous)) return {Answer::yes, {}, layout};
  Verdict v{Answer::yes, {}, layout};
  const Ints axes = order.empty() ? own_order(shape.size()) : order;
  const Dims strides = strides_of(layout, shape);
  Dim expected(1);
  for (size_t i = axes.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(axes[i]);
    Clause c{facts};
    c.add(shape[axis], Dim(1));
    c.add(strides[axis], expected);
    conjoin(v, c);
    expected = expected * shape[axis];
  }
  return v;
}

namespace {

struct Axis {
  Dim size, stride;
};

// Neighbours that surely lie in one piece become one axis.
std::vector<Axis> merged(const DimFacts& facts, std::span<const Axis> axes) {
  std::vector<Axis> out;
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].size.is(1)) continue;
    if (!out.empty() && facts.equal(axes[i].stride, out.back().stride * out.back().size) == Answer::yes)
      out.back().size = axes[i].size * out.back().size;
    else out.push_back(axes[i]);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

// Whether these axes lie in one piece: of those that are not 1, each follows on the next.
void in_one_piece(Verdict& v, const DimFacts& facts, std::span<const Axis> axes) {
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t j = i + 1; j < axes.size(); ++j) {
      Clause c{facts};
      c.add(axes[i].size, Dim(1));
      c.add(axes[j].size, Dim(1));
      for (size_t k = i + 1; k < j; ++k) c.add(axes[k].size, Dim(1), false);
      c.add(axes[i].stride, axes[j].stride * axes[j].size);
      conjoin(v, c);
    }
}

// How many axes at the end of both have the same number of elements; the fewest. All where nothing smaller is sure.
std::pair<size_t, size_t> last_group(const DimFacts& facts, std::span<const Axis> from, std::span<const Dim> to) {
  const size_t most = from.size() + to.size();
  for (size_t both = 2; both < most; ++both) {
    Dim size(1);
    for (size_t a = 1; a <= from.size() && a < both; ++a) {
      size = size * from[from.size() - a].size;
      if (both - a > to.size()) continue;
      Dim other(1);
      for (size_t b = 1; b <= both - a; ++b) other = other * to[to.size() - b];
      if (facts.equal(size, other) == Answer::yes) return {a, both - a};
    }
  }
  return {from.size(), to.size()};
}

bool are_literal(std::span<const Axis> axes, std::span<const Dim> to) {
  return std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.size.is_literal(); }) &&
         std::all_of(to.begin(), to.end(), [](Dim d) { return d.is_literal(); });
}

}  // namespace

Verdict viewed(const DimFacts& facts, const Dims& shape, const Layout& layout, const Dims& to) {
  if (layout.is(Layout::Kind::unknown)) return {};
  if (layout.is(Layout::Kind::contiguous)) return {Answer::yes, {}, layout};
  std::vector<Axis> from;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!shape[i].is(1)) from.push_back({shape[i], layout.strides[i]});
  Verdict v{Answer::yes, {}, {}};
  Dims strides(to.size());
  std::span<const Axis> rest = from;
  size_t end = to.size();
  bool decidable = true;
  while (end > 0 && v.view != Answer::no) {
    if (to[end - 1].is(1) || rest.empty()) {
      strides[--end] = Dim(1);
      continue;
    }
    const auto [old_axes, new_axes] = last_group(facts, rest, std::span(to).first(end));
    const auto group = merged(facts, rest.last(old_axes));
    const auto sizes = std::span(to).subspan(end - new_axes, new_axes);
    if (group.size() > 1) {
      const auto wide = std::count_if(sizes.begin(), sizes.end(), [](Dim d) { return !d.is(1); });
      Verdict piece{Answer::yes, {}, {}};
      in_one_piece(piece, facts, group);
      if (wide > 1 && !are_literal(group, sizes)) decidable = false;  // sizes may happen to meet at a gap
      if (piece.view == Answer::no) v.view = Answer::no;
      else if (piece.view == Answer::unknown) {
        v.view = Answer::unknown;
        v.condition.insert(v.condition.end(), piece.condition.begin(), piece.condition.end());
      }
    }
    Dim step = group.empty() ? Dim(1) : group.back().stride;
    for (size_t i = 0; i < new_axes; ++i) {
      strides[end - 1 - i] = step;
      step = step * to[end - 1 - i];
    }
    rest = rest.first(rest.size() - old_axes);
    end -= new_axes;
  }
  if (!decidable && v.view != Answer::yes) return {};
  if (v.view == Answer::yes) v.layout = strided(to, std::move(strides), layout.offset, layout.overlaps);
  else if (v.view == Answer::no) v.condition.clear(), v.layout = Layout::contiguous();
  return v;
}

namespace {

struct Undecided {};

// -1: a is the smaller stride, 1: b is. Of strides that are sizes multiplied, a multiple is the larger one.
int compare(const DimFacts& facts, Dim a, Dim b) {
  if (a == b) return 0;
  if (facts.less(a, b) == Answer::yes) return -1;
  if (facts.less(b, a) == Answer::yes) return 1;
  const auto multiple = [&](Dim x, Dim y) { return !y.is(0) && facts.simplify(floor_div(x, y)) * y == x; };
  if (a.is(1) || multiple(b, a)) return -1;
  if (b.is(1) || multiple(a, b)) return 1;
  throw Undecided{};
}

struct Sorter {
  const DimFacts& facts;
  const Dims& result;
  std::vector<std::optional<Dims>> strides;  // of each operand over the axes of the result; nullopt: not known

  Sorter(const DimFacts& f, std::span<const LayoutOperand> operands, const Dims& to) : facts(f), result(to) {
    for (const auto& o : operands) {
      if (o.shape.empty()) continue;
      if (o.layout.is(Layout::Kind::unknown) || o.shape.size() > to.size()) {
        strides.push_back(std::nullopt);
        continue;
      }
      const Dims own = strides_of(o.layout, o.shape);
      Dims over(to.size(), Dim(0));
      const size_t more = to.size() - own.size();
      for (size_t i = 0; i < own.size(); ++i)
        if (!(o.shape[i].is(1) && !to[more + i].is(1))) over[more + i] = own[i];
      strides.push_back(std::move(over));
    }
  }

  // PyTorch's question while it sorts axes: 1 where `outer` has the smaller stride and belongs inside; 0: nothing says.
  int swap(size_t inner, size_t outer) const {
    for (const auto& s : strides) {
      if (!s) throw Undecided{};
      const Dim a = (*s)[inner], b = (*s)[outer];
      if (a.is(0) || b.is(0)) continue;
      if (const int c = compare(facts, a, b)) return c;
      if (facts.less(result[outer], result[inner]) == Answer::yes) return 1;
    }
    return 0;
  }
};

}  // namespace

Layout elementwise_layout(const DimFacts& facts, std::span<const LayoutOperand> operands, const Dims& result) {
  const auto plain = [](const LayoutOperand& o) { return o.layout.is(Layout::Kind::contiguous); };
  if (result.size() < 2 || std::all_of(operands.begin(), operands.end(), plain)) return Layout::contiguous();
  // The insertion sort of ATen's TensorIterator, which does not move axes that nothing orders.
  const Sorter sorter(facts, operands, result);
  Ints perm = own_order(result.size());
  std::reverse(perm.begin(), perm.end());
  try {
    for (size_t i = 1; i < perm.size(); ++i)
      for (size_t at = i, below = i; below-- > 0;) {
        const int c = sorter.swap(static_cast<size_t>(perm[below]), static_cast<size_t>(perm[at]));
        if (c < 0) break;
        if (c > 0) std::swap(perm[below], perm[at]), at = below;
      }
  } catch (const Undecided&) {
    return {};
  }
  std::reverse(perm.begin(), perm.end());
  const Layout dense = dense_in_order(result, perm);
  return strided(result, dense.strides, Dim(0), false);
}

}  // namespace cameo::staging
