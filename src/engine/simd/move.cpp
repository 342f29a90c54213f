// Operators that move elements: Transpose, Concat, Split, Slice, Expand, Gather.
#include <algorithm>
#include <cstring>

#include "engine/emit.h"
#include "engine/parallel.h"
#include "engine/simd/copy.h"
#include "engine/simd/emitters.h"
#include "ops/generated/attributes.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

bool movable(const Desc& d) { return bits(d.dtype) >= 8 && d.dtype != DType::string && d.count() > 0; }
size_t element_bytes(const Desc& d) { return static_cast<size_t>(bits(d.dtype)) / 8; }
// Layouts other than row-major are kept for the types oneDNN knows.
bool keeps_layout(const Desc& d) { return d.dense() && d.dtype == DType::f32; }

class MoveKernel : public Kernel {
 public:
  MoveKernel(std::vector<StridedCopy> copies, size_t bytes, bool gathers)
      : copies_(std::move(copies)), bytes_(bytes), gathers_(gathers) {
    for (StridedCopy& c : copies_) c.simplify();
  }
  // Copy number i reads input i and writes output 0, or reads input 0 and writes output i.
  void run(const Buffers& b) const override {
    for (size_t i = 0; i < copies_.size(); ++i) copies_[i].run(bytes_, b.in[gathers_ ? i : 0], b.out[gathers_ ? 0 : i]);
  }
  std::string about() const override { return "copy"; }
  Extents extents() const override {
    Extents e;
    auto &many = gathers_ ? e.in : e.out, &one = gathers_ ? e.out : e.in;
    one.push_back(0);
    for (const StridedCopy& c : copies_) {
      many.push_back((gathers_ ? c.reads() : c.writes()) * bytes_);
      one[0] = std::max(one[0], (gathers_ ? c.writes() : c.reads()) * bytes_);
    }
    return e;
  }

 private:
  std::vector<StridedCopy> copies_;
  size_t bytes_;
  bool gathers_;
};

// `part` lies at `at` along an axis of `whole`; both as in memory.
StridedCopy part_of(const Physical& whole, const Physical& part, size_t place, int64_t at, bool into) {
  StridedCopy c{part.dims, dense_strides(part.dims), dense_strides(whole.dims)};
  c.start_to = at * c.to[place];
  if (!into) {
    std::swap(c.from, c.to);
    std::swap(c.start_from, c.start_to);
  }
  return c;
}

// A piece of a value along one axis: a view where it is one run of bytes.
struct Piece {
  ValueId out;
  int64_t at;
};
bool emit_pieces(Compiler& c, NodeId n, size_t axis, const std::vector<Piece>& pieces) {
  const Node& node = c.graph()[n];
  const ValueId x = node.inputs[0];
  const SlotId from = keeps_layout(c.slot_desc(c.slot(x))) ? c.slot(x) : c.plain(x);
  const Desc whole = c.slot_desc(from);
  const Physical physical(whole);
  const size_t place = physical.place(axis);
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < physical.dims.size(); ++i) (i < place ? outer : inner) *= i == place ? 1 : physical.dims[i];
  std::vector<StridedCopy> copies;
  std::vector<SlotId> out;
  for (const Piece& p : pieces) {
    const Desc d = whole.plain() ? *c.desc(p.out) : dense_desc(whole.dtype, c.desc(p.out)->dims, physical.order);
    if (outer == 1) {
      c.bind(p.out, c.view(from, d, static_cast<uint64_t>(p.at * inner) * element_bytes(whole)));
      continue;
    }
    Physical part(*c.desc(p.out));
    part.order = physical.order;
    for (size_t i = 0; i < part.order.size(); ++i) part.dims[i] = d.dims[part.order[i]];
    copies.push_back(part_of(physical, part, place, p.at, false));
    out.push_back(c.make(d));
    c.bind(p.out, out.back());
  }
  if (!copies.empty())
    c.step(n, std::string(node.op->name), std::make_unique<MoveKernel>(std::move(copies), element_bytes(whole), false),
           {from}, std::move(out));
  return true;
}

}  // namespace

bool emit_transpose(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const Desc &x = *c.desc(node.inputs[0]), &y = *c.desc(node.outputs[0]);
  if (!movable(x)) return false;
  const auto* a = node.as<op::Transpose>();
  std::vector<int64_t> perm(x.rank());
  if (a->perm && a->perm->size() != x.rank()) return false;
  for (size_t i = 0; i < perm.size(); ++i)
    perm[i] = a->perm ? (*a->perm)[i] : static_cast<int64_t>(perm.size() - 1 - i);
  const SlotId from =
      keeps_layout(c.slot_desc(c.slot(node.inputs[0]))) ? c.slot(node.inputs[0]) : c.plain(node.inputs[0]);
  // Strides of the input by axis, wherever its layout put them.
  const Physical physical(c.slot_desc(from));
  const auto dense = dense_strides(physical.dims);
  std::vector<int64_t> by_axis(x.rank());
  for (size_t i = 0; i < dense.size(); ++i) by_axis[physical.order[i]] = dense[i];
  StridedCopy copy{y.dims, {}, dense_strides(y.dims)};
  for (const int64_t p : perm) copy.from.push_back(by_axis[static_cast<size_t>(p)]);
  bool same = true;  // nothing moves but axes of size 1, or the layout has moved it already
  for (size_t i = 0; i < y.dims.size(); ++i) same = same && (y.dims[i] == 1 || copy.from[i] == copy.to[i]);
  if (same) {
    c.bind(node.outputs[0], c.view(from, y));
    return true;
  }
  const SlotId out = c.make(y);
  c.step(n, "Transpose", std::make_unique<MoveKernel>(std::vector{copy}, element_bytes(x), false), {from}, {out});
  c.bind(node.outputs[0], out);
  return true;
}

bool emit_concat(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const Desc& y = *c.desc(node.outputs[0]);
  if (!movable(y)) return false;
  const auto place = axis_in(node.as<op::Concat>()->axis, y.rank());
  if (!place) return false;
  const size_t axis = *place;
  // The layout that most of the bytes have already.
  Desc target = y;
  int64_t most = 0;
  for (const ValueId v : node.inputs) {
    const Desc& d = c.slot_desc(c.slot(v));
    if (d.dtype != y.dtype) return false;
    if (d.plain() || !keeps_layout(d) || d.count() <= most) continue;
    most = d.count();
    target = dense_desc(y.dtype, y.dims, Physical(d).order);
  }
  const Physical whole(target);
  std::vector<StridedCopy> copies;
  std::vector<SlotId> in;
  int64_t at = 0;
  for (const ValueId v : node.inputs) {
    const Desc& d = *c.desc(v);
    if (d.count() == 0) continue;
    const Desc wanted = target.plain() ? d : dense_desc(d.dtype, d.dims, whole.order);
    in.push_back(c.in_form(v, wanted));
    Physical part(d);
    part.order = whole.order;
    for (size_t i = 0; i < part.order.size(); ++i) part.dims[i] = d.dims[part.order[i]];
    copies.push_back(part_of(whole, part, whole.place(axis), at, true));
    at += d.dims[axis];
  }
  const SlotId out = c.make(target);
  c.step(n, "Concat", std::make_unique<MoveKernel>(std::move(copies), element_bytes(y), true), std::move(in), {out});
  c.bind(node.outputs[0], out);
  return true;
}

bool emit_split(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const Desc& x = *c.desc(node.inputs[0]);
  if (!movable(x)) return false;
  const auto axis = axis_in(node.as<op::Split>()->axis, x.rank());
  if (!axis) return false;
  std::vector<Piece> pieces;
  int64_t at = 0;
  for (const ValueId v : node.outputs) {
    if (c.desc(v)->count() == 0) return false;
    pieces.push_back({v, at});
    at += c.desc(v)->dims[*axis];
  }
  return emit_pieces(c, n, *axis, pieces);
}

bool emit_slice(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const Desc &x = *c.desc(node.inputs[0]), &y = *c.desc(node.outputs[0]);
  if (!movable(x) || y.count() == 0) return false;
  const auto ints = [&](size_t i) -> std::optional<std::vector<int64_t>> {
    if (i >= node.inputs.size() || !node.inputs[i] || !c.is_constant(node.inputs[i])) return std::nullopt;
    return c.constant(node.inputs[i])->to_ints();
  };
  const bool has_axes = node.inputs.size() > 3 && node.inputs[3], has_steps = node.inputs.size() > 4 && node.inputs[4];
  const auto starts = ints(1), axes = ints(3), steps = ints(4);
  if (!starts || (has_axes && !axes) || (has_steps && !steps)) return false;
  if (starts->size() > x.rank() || (axes && axes->size() != starts->size()) ||
      (steps && steps->size() != starts->size()))
    return false;
  std::vector<int64_t> begin(x.rank(), 0), step(x.rank(), 1);
  size_t cut = 0, cuts = 0;
  for (size_t i = 0; i < starts->size(); ++i) {
    const auto place = axis_in(axes ? (*axes)[i] : static_cast<int64_t>(i), x.rank());
    if (!place) return false;
    const size_t axis = *place;
    const int64_t size = x.dims[axis],
                  by = steps ? std::clamp((*steps)[i], -size, size) : 1;  // a longer step ends the axis too
    int64_t first = (*starts)[i];
    if (first < 0) first += size;
    begin[axis] = std::clamp<int64_t>(first, 0, by < 0 ? size - 1 : size);
    step[axis] = y.dims[axis] > 1 ? by : 1;  // a step past the end must not overflow
    if (x.dims[axis] != y.dims[axis] || by != 1) cut = axis, ++cuts;
  }
  if (cuts == 1 && step[cut] == 1) return emit_pieces(c, n, cut, {{node.outputs[0], begin[cut]}});
  const SlotId from = c.plain(node.inputs[0]);
  const auto strides = dense_strides(x.dims);
  StridedCopy copy{y.dims, {}, dense_strides(y.dims)};
  for (size_t i = 0; i < strides.size(); ++i) {
    copy.from.push_back(strides[i] * step[i]);
    copy.start_from += begin[i] * strides[i];
  }
  const SlotId out = c.make(y);
  c.step(n, "Slice", std::make_unique<MoveKernel>(std::vector{copy}, element_bytes(x), false), {from}, {out});
  c.bind(node.outputs[0], out);
  return true;
}

bool emit_expand(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const Desc &x = *c.desc(node.inputs[0]), &y = *c.desc(node.outputs[0]);
  if (!movable(x) || y.count() == 0 || x.rank() > y.rank()) return false;
  const auto strides = dense_strides(x.dims);
  StridedCopy copy{y.dims, std::vector<int64_t>(y.rank(), 0), dense_strides(y.dims)};
  for (size_t i = 0; i < x.rank(); ++i) copy.from[y.rank() - x.rank() + i] = x.dims[i] == 1 ? 0 : strides[i];
  const SlotId from = c.plain(node.inputs[0]), out = c.make(y);
  c.step(n, "Expand", std::make_unique<MoveKernel>(std::vector{copy}, element_bytes(x), false), {from}, {out});
  c.bind(node.outputs[0], out);
  return true;
}

namespace {

class GatherKernel : public Kernel {
 public:
  GatherKernel(int64_t outer, int64_t size, size_t inner, int64_t count, bool wide)
      : outer_(outer), size_(size), inner_(inner), count_(count), wide_(wide) {}
  std::string about() const override { return "copy"; }
  Extents extents() const override {
    return {{static_cast<uint64_t>(outer_ * size_) * inner_, static_cast<uint64_t>(count_) * (wide_ ? 8 : 4)},
            {static_cast<uint64_t>(outer_ * count_) * inner_}};
  }
  void run(const Buffers& b) const override {
    const auto index = [&](int64_t i) { return wide_ ? b.input<int64_t>(1)[i] : b.input<int32_t>(1)[i]; };
    for (int64_t i = 0; i < count_; ++i)
      if (index(i) < -size_ || index(i) >= size_)
        throw error("eval.index", cat("index ", index(i), " is outside an axis of size ", size_));
    parallel(outer_ * count_, std::max<int64_t>(1, 65536 / static_cast<int64_t>(inner_)),
             [&](int64_t first, int64_t last) {
               for (int64_t t = first; t < last; ++t) {
                 int64_t at = index(t % count_);
                 at += at < 0 ? size_ : 0;
                 std::memcpy(b.out[0] + static_cast<size_t>(t) * inner_,
                             b.in[0] + static_cast<size_t>(t / count_ * size_ + at) * inner_, inner_);
               }
             });
  }

 private:
  int64_t outer_, size_;
  size_t inner_;  // bytes
  int64_t count_;
  bool wide_;
};

}  // namespace

bool emit_gather(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const Desc &x = *c.desc(node.inputs[0]), &index = *c.desc(node.inputs[1]), &y = *c.desc(node.outputs[0]);
  if (!movable(x) || y.count() == 0 || (index.dtype != DType::i64 && index.dtype != DType::i32)) return false;
  const auto place = axis_in(node.as<op::Gather>()->axis, x.rank());
  if (!place) return false;
  const size_t axis = *place;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < x.rank(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : x.dims[i];
  const SlotId out = c.make(y);
  auto kernel = std::make_unique<GatherKernel>(outer, x.dims[axis], static_cast<size_t>(inner) * element_bytes(x),
                                               index.count(), index.dtype == DType::i64);
  c.step(n, "Gather", std::move(kernel), {c.bytes_of(node.inputs[0]), c.plain(node.inputs[1])}, {out});
  c.bind(node.outputs[0], out);
  return true;
}

}  // namespace cameo::engine
