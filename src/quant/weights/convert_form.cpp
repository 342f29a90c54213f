#include "quant/weights/convert_form.h"

#include <algorithm>
#include <map>

#include "ops/infer.h"
#include "ops/on.h"
#include "ops/quant/codes.h"
#include "ops/soundness.h"
#include "quant/weights/rewrite.h"
#include "support/budget.h"
#include "support/error.h"

namespace cameo::quant {

namespace {

constexpr int64_t qdq_opset = 21, two_bit_opset = 25, most_block = 1 << 16;
// MatMulNBits stores whole blocks: a short row in a long one would be mostly padding, however small the file is.
constexpr int64_t usual_block = 256, most_padding = 8;

// A matrix whose levels are known; its weight has a shape and a type only.
Matrix known_matrix(int64_t outputs, int64_t depth, DType scales, const BlockFormat& format) {
  Matrix m;
  Weight w;
  w.dtype = w.source_dtype = scales;
  w.shape = {outputs, depth};
  m.weight = std::make_shared<const Weight>(std::move(w));
  m.format = format;
  return m;
}

struct Converting {
  std::string why;  // it cannot be converted
  Matrix matrix;
};

class FormConverter {
 public:
  FormConverter(Model& m, WeightForm to) : m_(m), g_(m.graph), to_(to) {}

  WeightResult run() {
    ops::admit(m_);
    for (uint32_t i = 0, count = g_.node_capacity(); i < count; ++i) {
      support::checkpoint();
      const NodeId n(i);
      const bool candidate = g_[n].is("DequantizeLinear") || g_[n].op->domain == "com.microsoft";
      // One in a branch that is never taken may lack what its rule demands.
      if (g_[n].dead || !candidate || g_[n].outputs.empty() || !ops::has_operands(g_[n]) || ops::fault_of(g_, n))
        continue;
      if (to_ == WeightForm::nbits && g_[n].is("DequantizeLinear")) from_dequantize(n);
      if (to_ == WeightForm::qdq && is_foreign(n, "MatMulNBits")) from_product(n);
      if (to_ == WeightForm::qdq && is_foreign(n, "GatherBlockQuantized")) from_gather(n);
    }
    for (const ValueId v : old_) drop_unused(g_, v);
    if (std::none_of(out_.weights.begin(), out_.weights.end(), [](const WeightRow& r) { return r.quantized; }))
      throw error("quantize.nothing", "the model has no weights in the other form").help("--bits 4 quantizes weights");
    if (to_ == WeightForm::nbits) m_.opsets.emplace("com.microsoft", 1);
    infer(g_);
    return std::move(out_);
  }

 private:
  bool is_foreign(NodeId n, std::string_view op) const {
    return g_[n].op->domain == "com.microsoft" && g_[n].op->name == op;
  }

  void row(const std::string& name, const Converting& c) {
    WeightRow& r = out_.weights.emplace_back();
    r.name = name;
    r.why = c.why;
    r.quantized = c.why.empty();
    if (!r.quantized) return;
    r.shape = c.matrix.weight->shape;
    if (to_ == WeightForm::qdq)
      out_.opset = std::max(out_.opset, c.matrix.format.bits == 2 ? two_bit_opset : qdq_opset);
  }

  std::optional<Tensor> constant(ValueId v) const { return v && g_.is_constant(v) ? g_.constant(v) : std::nullopt; }

  // DequantizeLinear of constants with two axes.
  Converting read_dequantize(NodeId n) {
    const op::DequantizeLinear& a = *g_[n].as<op::DequantizeLinear>();
    const auto levels = constant(g_.input(n, 0)), scales = constant(g_.input(n, 1));
    if (!levels || !scales || levels->rank() != 2 || levels->count() == 0 || scales->rank() != 2 || a.block_size < 1)
      return {"no blocks", {}};
    const DType type = levels->dtype();
    const bool is_signed = type == DType::i2 || type == DType::i4 || type == DType::i8;
    if (!is_signed && type != DType::u2 && type != DType::u4 && type != DType::u8)
      return {"its levels do not have 2, 4 or 8 bits", {}};
    if (scales->dtype() != DType::f32 && scales->dtype() != DType::f16 && scales->dtype() != DType::bf16)
      return {"its scales are of another type", {}};
    BlockFormat f{ir::bits(type), a.block_size, true};
    const auto zeros = constant(g_.input(n, 2));
    if (g_.input(n, 2) && !zeros) return {"its zero points are not constant", {}};
    if (f.block < 16 || f.block > most_block || (f.block & (f.block - 1)) != 0)
      return {"MatMulNBits has no blocks of this size", {}};
    const int64_t axis = a.axis < 0 ? a.axis + 2 : a.axis;
    if (axis != 0 && axis != 1) return {"its axis is neither 0 nor 1", {}};
    const int64_t depth = levels->shape()[static_cast<size_t>(axis)],
                  outputs = levels->shape()[static_cast<size_t>(1 - axis)];
    const int64_t blocks = f.blocks(depth);
    if (scales->shape() !=
            (axis == 0 ? std::vector<int64_t>{blocks, outputs} : std::vector<int64_t>{outputs, blocks}) ||
        (zeros && zeros->shape() != scales->shape()))
      return {"its scales do not fit", {}};
    const Codes code(*levels, f.bits, is_signed), zero(zeros ? *zeros : *levels, f.bits, is_signed);
    const int32_t middle = f.middle(), up = is_signed ? middle : 0;
    auto solved = std::make_shared<SolvedMatrix>();
    for (int64_t k = 0; k < outputs; ++k)
      for (int64_t i = 0; i < depth; ++i)
        solved->levels.push_back(static_cast<uint8_t>(code[axis == 0 ? i * outputs + k : k * depth + i] + up));
    for (int64_t k = 0; k < outputs; ++k)
      for (int64_t b = 0; b < blocks; ++b) {
        const int64_t at = axis == 0 ? b * outputs + k : k * blocks + b;
        const auto z = static_cast<uint8_t>((zeros ? zero[at] : 0) + up);
        solved->scales.push_back({static_cast<float>(scales->double_at(at)), z});
        f.symmetric &= z == middle;
      }
    Converting out{"", known_matrix(outputs, depth, scales->dtype(), f)};
    out.matrix.solved = std::move(solved);
    return out;
  }

  void from_dequantize(NodeId n) {
    const ValueId value = g_[n].outputs[0];
    const auto* attrs = g_[n].as<op::DequantizeLinear>();
    auto target = attrs && attrs->block_size > 0 ? weight_uses(g_, value, false) : std::nullopt;
    if (!target) return;
    const ValueId levels = g_[n].inputs[0];
    const std::string name = g_[levels].name;
    Converting c = read_dequantize(n);
    if (c.why.empty()) c.why = target->why_not;
    const int64_t axis = attrs->axis < 0 ? attrs->axis + 2 : attrs->axis;
    if (c.why.empty() && target->columns_are_outputs != (axis == 0)) c.why = "its blocks lie along the outputs";
    if (const int64_t block = c.matrix.format.block;
        c.why.empty() && block > usual_block && block / most_padding > c.matrix.depth())
      c.why = "its blocks are much longer than its rows";
    if (c.why.empty() && c.matrix.depth() % c.matrix.format.block != 0 &&
        std::any_of(target->uses.begin(), target->uses.end(),
                    [](const WeightUse& u) { return u.kind == WeightUse::Kind::gather; }))
      c.why = "GatherBlockQuantized takes whole blocks only";
    row(name, c);
    if (!c.why.empty()) return;
    const std::vector<ValueId> constants = g_[n].inputs;
    put_nbits(g_, *target, c.matrix);
    old_.insert(old_.end(), constants.begin(), constants.end());
  }

  int64_t attribute(NodeId n, std::string_view name, int64_t otherwise) const {
    for (const ir::AttrField& f : g_[n].op->fields)
      if (f.name == name) {
        const ir::AttrValue v = f.get(g_[n].attrs.get());
        return std::holds_alternative<int64_t>(v) ? std::get<int64_t>(v) : otherwise;
      }
    return otherwise;
  }

  // Of levels in bytes, one row per output with `stride` bytes, and maybe zero points packed the same way.
  Converting read_packed(int64_t outputs, int64_t depth, BlockFormat f, const Tensor& levels, const Tensor& scales,
                         const std::optional<Tensor>& zeros) {
    if (!ir::is_float(scales.dtype()) || outputs > levels.count() || depth / 8 > levels.count() || f.block > most_block)
      return {"its sizes do not fit", {}};
    const int64_t blocks = f.blocks(depth), each = f.levels_per_byte(), zero_stride = (blocks + each - 1) / each * each;
    if (levels.dtype() != DType::u8 || levels.count() % outputs != 0 || levels.count() / outputs * each < depth ||
        scales.count() != outputs * blocks)
      return {"its levels or scales do not fit", {}};
    if (zeros && (zeros->dtype() != DType::u8 || zeros->count() * each < outputs * zero_stride))
      return {"its zero points are not packed bytes", {}};
    f.symmetric = !zeros;
    const int64_t stride = levels.count() / outputs * each;
    const Codes code(levels, f.bits, false), zero(zeros ? *zeros : levels, f.bits, false);
    auto solved = std::make_shared<SolvedMatrix>();
    for (int64_t n = 0; n < outputs; ++n) {
      for (int64_t k = 0; k < depth; ++k) solved->levels.push_back(static_cast<uint8_t>(code[n * stride + k]));
      for (int64_t b = 0; b < blocks; ++b)
        solved->scales.push_back({static_cast<float>(scales.double_at(n * blocks + b)),
                                  zeros ? static_cast<uint8_t>(zero[n * zero_stride + b]) : f.middle()});
    }
    Converting out{"", known_matrix(outputs, depth, scales.dtype(), f)};
    out.matrix.solved = std::move(solved);
    return out;
  }

  // A packed matrix: what a node reads, and how it reads it. The same levels may be read with other scales and sizes.
  struct Packed {
    ValueId levels, scales, zeros;
    int64_t outputs, depth, bits, block;
    auto operator<=>(const Packed&) const = default;
  };

  // Its dequantized value, made once; rows are outputs where a lookup reads it too.
  ValueId dequantized(const Packed& p, const Matrix& m, bool transposed) {
    const auto known = made_.find({p, transposed});
    if (known != made_.end()) return known->second;
    const StoredMatrix s = stored_for_dequantize(m, transposed);
    const std::string name = g_[p.levels].name;  // values move when there are more
    const auto add = [&](const char* suffix, const std::shared_ptr<const Weight>& w) {
      return w ? g_.add_initializer(g_.main(), name.empty() ? "" : cat(name, suffix), w) : ValueId();
    };
    std::vector<ValueId> inputs{add("_levels", s.levels), add("_scales", s.scales)};
    if (s.zeros) inputs.push_back(add("_zero_points", s.zeros));
    op::DequantizeLinear a;
    a.axis = transposed ? 0 : 1, a.block_size = m.format.block;
    On on(g_, g_.main(), g_[g_.main()].first);
    const ValueId out = on.make(a, inputs, 1)[0];
    return made_.emplace(std::pair(p, transposed), out).first->second;
  }

  // Levels that a lookup reads through a Reshape, or as they are.
  ValueId packed_source(ValueId v) const {
    if (g_.is_constant(v)) return v;
    const NodeId n = g_[v].def;
    return n && g_[n].is("Reshape") && g_.is_constant(g_[n].inputs[0]) ? g_[n].inputs[0] : ValueId();
  }
  bool is_looked_up(const Packed& p) const {
    for (const Use& use : g_[p.levels].uses)
      if (use.node && (g_[use.node].is("Reshape") || is_foreign(use.node, "GatherBlockQuantized"))) return true;
    return made_.contains({p, false});
  }

  void from_product(NodeId n) {
    const int64_t outputs = attribute(n, "N", 0), depth = attribute(n, "K", 0);
    const BlockFormat f{static_cast<int>(attribute(n, "bits", 4)), attribute(n, "block_size", 0), true};
    const ValueId source = g_.input(n, 1);
    const auto levels = constant(source), scales = constant(g_.input(n, 2)), zeros = constant(g_.input(n, 3));
    const std::string name = source ? g_[source].name : "";
    Converting c;
    if (!levels || !scales || (g_.input(n, 3) && !zeros)) c.why = "its weights are not constant";
    else if (g_.input(n, 4)) c.why = "its blocks are in another order (g_idx)";
    else if (outputs < 1 || depth < 1 || f.block < 1 || (f.bits != 2 && f.bits != 4 && f.bits != 8))
      c.why = "its sizes are strange";
    else c = read_packed(outputs, depth, f, *levels, *scales, zeros);
    const Packed packed{source, g_.input(n, 2), g_.input(n, 3), outputs, depth, f.bits, f.block};
    const bool shared = c.why.empty() && is_looked_up(packed);
    if (c.why.empty() && f.bits == 2 && (shared ? depth : outputs) % f.levels_per_byte() != 0) c.why = rows_end_inside;
    row(name, c);
    if (!c.why.empty()) return;
    const std::vector<ValueId> constants(g_[n].inputs.begin() + 1, g_[n].inputs.end());
    const ValueId w = dequantized(packed, c.matrix, !shared);
    On on(g_, g_[n].home, n);
    ValueId result = on.MatMul(g_[n].inputs[0], shared ? on.Transpose(w, {.perm = std::vector<int64_t>{1, 0}}) : w);
    if (const ValueId bias = g_.input(n, 5)) result = on.Add(result, bias);
    take_over(g_, g_[n].outputs[0], result);
    g_.erase(n);
    old_.insert(old_.end(), constants.begin(), constants.end());
  }

  void from_gather(NodeId n) {
    const ValueId source = packed_source(g_.input(n, 0));
    const BlockFormat f{static_cast<int>(attribute(n, "bits", 4)), attribute(n, "block_size", 128), true};
    const auto levels = constant(source), scales = constant(g_.input(n, 2)), zeros = constant(g_.input(n, 3));
    const std::string name = source ? g_[source].name : "";
    Converting c;
    const Fact& data = g_[g_.input(n, 0)].fact;
    if (!levels || !scales || (g_.input(n, 3) && !zeros)) c.why = "its table is not constant";
    else if (attribute(n, "gather_axis", 0) != 0 || attribute(n, "quantize_axis", 1) != 1 || !data.has_rank() ||
             data.rank() != 2 || scales->rank() != 2)
      c.why = "its table is not one row per index";
    else if (levels->dtype() != DType::u8 || f.block < 1 || (f.bits != 2 && f.bits != 4 && f.bits != 8))
      c.why = "its levels are not packed bytes";
    else if (!data.shape()[0].is_literal() || !data.shape()[1].is_literal() || data.shape()[0].literal() < 1 ||
             data.shape()[1].literal() > levels->count())
      c.why = "its sizes are not known";
    else
      c = read_packed(data.shape()[0].literal(), data.shape()[1].literal() * f.levels_per_byte(), f, *levels, *scales,
                      zeros);
    row(name, c);
    if (!c.why.empty()) return;
    const std::vector<ValueId> constants = g_[n].inputs;
    const Packed packed{source, g_.input(n, 2), g_.input(n, 3), c.matrix.outputs(), c.matrix.depth(), f.bits, f.block};
    const ValueId w = dequantized(packed, c.matrix, false);
    On on(g_, g_[n].home, n);
    take_over(g_, g_[n].outputs[0], on.Gather(w, constants[1]));
    g_.erase(n);
    if (const NodeId reshape = g_[constants[0]].def; reshape && g_[reshape].is("Reshape"))
      old_.push_back(g_[reshape].inputs[1]);
    drop_unused(g_, constants[0]);
    old_.push_back(source);
    old_.insert(old_.end(), constants.begin() + 2, constants.end());
  }

  Model& m_;
  Graph& g_;
  const WeightForm to_;
  WeightResult out_;
  std::map<std::pair<Packed, bool>, ValueId> made_;
  std::vector<ValueId> old_;
};

}  // namespace

WeightResult convert_form(Model& m, WeightForm to) { return FormConverter(m, to).run(); }

}  // namespace cameo::quant
