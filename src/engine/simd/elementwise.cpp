// Chains of elementwise operators as one pass over memory: short runs go through all operators while they are in cache.
#include <algorithm>

#include "engine/parallel.h"
#include "engine/simd/emitters.h"
#include "engine/simd/half.h"
#include "engine/simd/instruction.h"
#include "ops/generated/attributes.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

constexpr int64_t run_length = 1024;

// The result's axes, joined where every operand walks them alike; per operand its strides.
struct Walk {
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> strides;
  int64_t rows = 1, length = 1;

  int64_t reach(size_t operand) const {  // elements
    int64_t last = 0;
    for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[operand][i];
    return last + 1;
  }
};

// Strides of a dense operand along the result's axes, in the result's order of memory; 0 where it is repeated.
std::vector<int64_t> strides_along(const Desc& d, const Physical& result) {
  const Physical own(d);
  std::vector<int64_t> by_axis(d.rank()), out;
  int64_t at = 1;
  for (size_t i = own.dims.size(); i-- > 0; at *= own.dims[i]) by_axis[own.order[i]] = own.dims[i] == 1 ? 0 : at;
  const size_t missing = result.order.size() - d.rank();
  for (const size_t axis : result.order) out.push_back(axis < missing ? 0 : by_axis[axis - missing]);
  return out;
}

Walk make_walk(const Physical& result, const std::vector<Desc>& operands) {
  Walk w;
  std::vector<std::vector<int64_t>> full;
  for (const Desc& d : operands) full.push_back(strides_along(d, result));
  w.strides.resize(operands.size());
  for (size_t axis = 0; axis < result.dims.size(); ++axis) {
    const int64_t size = result.dims[axis];
    if (size == 1) continue;
    bool joins = !w.sizes.empty();
    for (size_t i = 0; i < operands.size() && joins; ++i) joins = w.strides[i].back() == full[i][axis] * size;
    if (joins) w.sizes.back() *= size;
    else w.sizes.push_back(size);
    for (size_t i = 0; i < operands.size(); ++i)
      if (joins) w.strides[i].back() = full[i][axis];
      else w.strides[i].push_back(full[i][axis]);
  }
  if (w.sizes.empty()) {
    w.sizes.push_back(1);
    for (auto& s : w.strides) s.push_back(1);
  }
  w.length = w.sizes.back();
  for (size_t i = 0; i + 1 < w.sizes.size(); ++i) w.rows *= w.sizes[i];
  return w;
}

class ChainKernel : public Kernel {
 public:
  ChainKernel(Walk walk, std::vector<Instruction> program) : walk_(std::move(walk)), program_(std::move(program)) {}
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    Extents e{{}, {floats(walk_.rows * walk_.length)}};
    for (size_t i = 0; i < walk_.strides.size(); ++i) e.in.push_back(floats(walk_.reach(i)));
    return e;
  }

  void run(const Buffers& b) const override {
    const int64_t pieces = (walk_.length + run_length - 1) / run_length;
    const int64_t grain = std::max<int64_t>(1, 16384 / std::min(walk_.length, run_length));
    parallel(walk_.rows * pieces, grain, [&](int64_t first, int64_t last) {
      std::vector<int64_t> starts(walk_.strides.size());
      int64_t row = -1;
      for (int64_t t = first; t < last; ++t) {
        if (t / pieces != row) find_starts(row = t / pieces, starts);
        const int64_t from = t % pieces * run_length;
        piece(b, row, starts, from, std::min(run_length, walk_.length - from));
      }
    });
  }

 private:
  void find_starts(int64_t row, std::vector<int64_t>& starts) const {
    std::fill(starts.begin(), starts.end(), 0);
    for (size_t axis = walk_.sizes.size() - 1; axis-- > 0; row /= walk_.sizes[axis])
      for (size_t i = 0; i < starts.size(); ++i) starts[i] += row % walk_.sizes[axis] * walk_.strides[i][axis];
  }

  void piece(const Buffers& b, int64_t row, const std::vector<int64_t>& starts, int64_t from, int64_t n) const {
    float* y = b.output<float>(0) + row * walk_.length + from;
    const auto place = [&](size_t i) { return b.input<float>(i) + starts[i] + from * walk_.strides[i].back(); };
    const float* x = place(0);
    float repeated[run_length];
    if (walk_.strides[0].back() == 0) {
      std::fill_n(repeated, n, *x);
      x = repeated;
    }
    for (const Instruction& i : program_) {
      if (!i.binary) unary_row(i.unary, x, y, n, i.a, i.b);
      else if (walk_.strides[i.operand].back() == 0) binary_scalar_row(i.op, x, *place(i.operand), y, n);
      else binary_row(i.op, x, place(i.operand), y, n);
      x = y;
    }
  }

  Walk walk_;
  std::vector<Instruction> program_;
};

}  // namespace

std::optional<Instruction> unary_of(Compiler& c, const Node& n) {
  Instruction i;
  const auto is = [&](Unary u, float a = 0, float b = 0) {
    i.unary = u, i.a = a, i.b = b;
    return i;
  };
  struct Plain {
    std::string_view name;
    Unary op;
  };
  static constexpr Plain plain[] = {{"Relu", Unary::relu},
                                    {"Sigmoid", Unary::sigmoid},
                                    {"Tanh", Unary::tanh},
                                    {"Exp", Unary::exp},
                                    {"Log", Unary::log},
                                    {"Sqrt", Unary::sqrt},
                                    {"Erf", Unary::erf},
                                    {"Abs", Unary::abs},
                                    {"Neg", Unary::neg},
                                    {"Reciprocal", Unary::reciprocal},
                                    {"Floor", Unary::floor},
                                    {"Ceil", Unary::ceil},
                                    {"HardSwish", Unary::hard_swish},
                                    {"Softplus", Unary::softplus}};
  for (const Plain& p : plain)
    if (n.is(p.name)) return is(p.op);
  if (const auto* a = n.as<op::LeakyRelu>()) return is(Unary::leaky_relu, a->alpha);
  if (const auto* a = n.as<op::Elu>()) return is(Unary::elu, a->alpha);
  if (const auto* a = n.as<op::HardSigmoid>()) return is(Unary::hard_sigmoid, a->alpha, a->beta);
  if (const auto* a = n.as<op::Swish>()) return is(Unary::swish, a->alpha);
  if (const auto* a = n.as<op::Gelu>()) return is(a->approximate == "tanh" ? Unary::gelu_tanh : Unary::gelu);
  if (n.is("Clip")) {
    const auto bound = [&](size_t k, float absent) {
      return k < n.inputs.size() && n.inputs[k] ? c.scalar(n.inputs[k]) : std::optional(absent);
    };
    const auto lo = bound(1, -__builtin_inff()), hi = bound(2, __builtin_inff());
    if (lo && hi && *lo <= *hi) return is(Unary::clip, *lo, *hi);
  }
  return std::nullopt;
}

std::optional<Binary> binary_of(const Node& n, bool swapped) {
  if (n.inputs.size() != 2) return std::nullopt;
  if (n.is("Add")) return Binary::add;
  if (n.is("Mul")) return Binary::mul;
  if (n.is("Sub")) return swapped ? Binary::rsub : Binary::sub;
  if (n.is("Div")) return swapped ? Binary::rdiv : Binary::div;
  if (n.is("Max")) return Binary::max;
  if (n.is("Min")) return Binary::min;
  return std::nullopt;
}

namespace {

// The chain that begins at a node, and what it reads.
class Chain {
 public:
  Chain(Compiler& c, NodeId root) : c_(c), root_(root) {}

  bool fuse_following() {
    const Node& first = c_.graph()[root_];
    if (first.outputs.size() != 1) return false;
    for (const ValueId v : first.inputs)
      if (v && !c_.is_f32(v)) return false;
    shape_ = c_.desc(first.outputs[0])->dims;
    if (first.is("Cast")) {
      reads_ = {out_ = first.inputs[0]};
      if (!rounding(root_)) return false;
    } else if (!c_.is_f32(first.outputs[0]) || !begin(first)) {
      return false;
    } else {
      out_ = first.outputs[0];
    }
    for (NodeId next = c_.only_user(out_); next; next = c_.only_user(out_)) {
      const Node& n = c_.graph()[next];
      if (n.is("Cast") && rounding(next)) continue;
      if (n.outputs.size() != 1 || !c_.is_f32(n.outputs[0]) || c_.desc(n.outputs[0])->dims != shape_ || !follow(n))
        break;
      absorbed_.push_back(next);
      label_ += cat("+", n.op->name);
      out_ = n.outputs[0];
    }
    return true;
  }

  bool emit() {
    const Desc target = target_desc();
    std::vector<SlotId> in;
    std::vector<Desc> operands;
    std::vector<size_t> in_place;
    for (const ValueId v : reads_) {
      const bool whole = c_.desc(v)->dims == shape_;
      in.push_back(whole                                                          ? c_.in_form(v, target)
                   : c_.slot_desc(c_.slot(v)).dense() && c_.desc(v)->count() == 1 ? c_.slot(v)
                                                                                  : c_.plain(v));
      operands.push_back(c_.slot_desc(in.back()));
      if (whole) in_place.push_back(in.size() - 1);
    }
    auto kernel = std::make_unique<ChainKernel>(make_walk(Physical(target), operands), program_);
    // The first operand is read before anything is written; others only while a single operator runs.
    if (program_.size() > 1) in_place.resize(!in_place.empty() && in_place[0] == 0 ? 1 : 0);
    kernel->in_place = std::move(in_place);
    const SlotId out = c_.make(target);
    c_.step(root_, std::string(c_.graph()[root_].op->name) + label_, std::move(kernel), std::move(in), {out});
    for (const NodeId n : absorbed_) c_.absorb(n);
    c_.bind(out_, out);
    return true;
  }

 private:
  // The layout of the first whole operand that has one of its own; operands that are repeated follow any. Along the
  // innermost axis they have to stand still or go on by one.
  Desc target_desc() {
    Desc plain{DType::f32, shape_, nullptr};
    for (const ValueId v : reads_) {
      const Desc& d = c_.slot_desc(c_.slot(v));
      if (c_.desc(v)->dims != shape_ || d.plain() || !d.dense()) continue;
      const Physical result(d);
      for (const ValueId other : reads_)
        if (c_.desc(other)->dims != shape_ && c_.desc(other)->count() != 1 &&
            strides_along(*c_.desc(other), result).back() > 1)
          return plain;
      return d;
    }
    return plain;
  }
  // To 16 bits and back: two Casts without another use between them.
  bool rounding(NodeId first) {
    const Node& narrow = c_.graph()[first];
    const DType to = c_.desc(narrow.outputs[0]) ? c_.desc(narrow.outputs[0])->dtype : DType::undefined;
    if (narrow.inputs[0] != out_ || !is_half(to)) return false;
    const NodeId second = c_.only_user(narrow.outputs[0]);
    if (!second || !c_.graph()[second].is("Cast") || !c_.is_f32(c_.graph()[second].outputs[0])) return false;
    Instruction i;
    i.unary = to == DType::f16 ? Unary::round_f16 : Unary::round_bf16;
    program_.push_back(i);
    if (first != root_) {
      absorbed_.push_back(first);
      label_ += "+round";
    }
    absorbed_.push_back(second);
    out_ = c_.graph()[second].outputs[0];
    return true;
  }
  bool begin(const Node& n) {
    if (const auto u = unary_of(c_, n)) {
      reads_ = {n.inputs[0]};
      program_ = {*u};
      return true;
    }
    // The operand that has the result's shape leads, if there is one.
    const bool swapped =
        binary_of(n, false) && c_.desc(n.inputs[0])->dims != shape_ && c_.desc(n.inputs[1])->dims == shape_;
    const auto b = binary_of(n, swapped);
    if (!b) return false;
    reads_ = {n.inputs[swapped ? 1 : 0], n.inputs[swapped ? 0 : 1]};
    program_ = {{true, Unary::copy, *b, 0, 0, 1}};
    return true;
  }

  bool follow(const Node& n) {
    if (const auto u = n.inputs[0] == out_ ? unary_of(c_, n) : std::nullopt) {
      program_.push_back(*u);
      return true;
    }
    const bool swapped = n.inputs.size() == 2 && n.inputs[1] == out_;
    const auto b = binary_of(n, swapped);
    if (!b || n.inputs[0] == n.inputs[1]) return false;
    const ValueId other = n.inputs[swapped ? 0 : 1];
    if (!c_.is_f32(other) || !c_.ready(other)) return false;
    program_.push_back({true, Unary::copy, *b, 0, 0, reads_.size()});
    reads_.push_back(other);
    return true;
  }

  Compiler& c_;
  NodeId root_;
  std::vector<int64_t> shape_;
  std::vector<ValueId> reads_;
  std::vector<Instruction> program_;
  std::vector<NodeId> absorbed_;
  std::string label_;
  ValueId out_;
};

}  // namespace

bool emit_elementwise(Compiler& c, NodeId n) {
  Chain chain(c, n);
  return chain.fuse_following() && chain.emit();
}

}  // namespace cameo::engine
