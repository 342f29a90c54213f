// Concat of dequantized bytes that are quantized again: each operand goes through a table to its place.
#include <algorithm>
#include <cstring>

#include "engine/emit.h"
#include "engine/parallel.h"
#include "engine/simd/byte_operands.h"
#include "engine/simd/emitters.h"
#include "ops/generated/attributes.h"

namespace cameo::engine {

namespace {

struct Piece {
  int64_t inner;  // bytes of each of the outer parts
  ByteTable table;
  bool same;  // the table changes nothing
};

bool changes_nothing(const ByteTable& t) {
  for (size_t i = 0; i < t.size(); ++i)
    if (t[i] != i) return false;
  return true;
}

class ByteConcatKernel : public Kernel {
 public:
  ByteConcatKernel(int64_t outer, std::vector<Piece> pieces) : outer_(outer), pieces_(std::move(pieces)) {
    for (const Piece& p : pieces_) row_ += p.inner;
  }
  std::string about() const override { return "table"; }
  Extents extents() const override {
    Extents e{{}, {static_cast<uint64_t>(outer_ * row_)}};
    for (const Piece& p : pieces_) e.in.push_back(static_cast<uint64_t>(outer_ * p.inner));
    return e;
  }
  void run(const Buffers& b) const override {
    int64_t at = 0;
    for (size_t i = 0; i < pieces_.size(); at += pieces_[i++].inner) {
      const Piece& p = pieces_[i];
      const auto* x = b.input<uint8_t>(i);
      uint8_t* y = b.output<uint8_t>(0) + at;
      if (outer_ == 1)
        parallel(p.inner, 65536, [&](int64_t first, int64_t last) { copy(p, x + first, y + first, last - first); });
      else
        parallel(outer_, std::max<int64_t>(1, 65536 / p.inner), [&](int64_t first, int64_t last) {
          for (int64_t o = first; o < last; ++o) copy(p, x + o * p.inner, y + o * row_, p.inner);
        });
    }
  }

 private:
  static void copy(const Piece& p, const uint8_t* x, uint8_t* y, int64_t n) {
    if (p.same) std::memcpy(y, x, static_cast<size_t>(n));
    else look_up_row(x, y, n, p.table);
  }

  int64_t outer_, row_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace

bool emit_byte_concat(Compiler& c, NodeId n, const Operand& x) {
  const NodeId user = c.only_user(c.graph()[n].outputs[0]);
  const auto* concat = user ? c.graph()[user].as<op::Concat>() : nullptr;
  if (!concat) return false;
  const Node& node = c.graph()[user];
  const auto chain = chain_from(c, node.outputs[0]);
  const SlotId lead = dense_slot(c, x.bytes);
  const Desc lies = c.slot_desc(lead);
  const std::optional<size_t> axis = axis_in(concat->axis, lies.rank());
  if (!chain || !axis) return false;
  const Physical now(lies);
  int64_t outer = 1, beside = 1;
  for (size_t i = 0; i < now.dims.size(); ++i)
    if (i != now.place(*axis)) (i < now.place(*axis) ? outer : beside) *= now.dims[i];
  std::vector<Operand> operands;
  std::vector<Piece> pieces;
  for (const ValueId v : node.inputs) {
    const NodeId maker = c.graph()[v].def;
    const auto part = dequantized(c, maker);
    if (!part || !c.ready(part->bytes) || c.is_constant(part->bytes) || c.only_user(v) != user) return false;
    const auto table = table_of(c, maker, *part, *chain);
    if (!table) return false;
    operands.push_back(*part);
    pieces.push_back({c.desc(part->bytes)->dims[*axis] * beside, *table, changes_nothing(*table)});
  }
  std::vector<SlotId> in;
  for (const Operand& o : operands)
    in.push_back(lies.plain() ? c.plain(o.bytes)
                              : c.in_form(o.bytes, dense_desc(o.type, c.desc(o.bytes)->dims, now.order)));
  for (const ValueId v : node.inputs)
    if (const NodeId maker = c.graph()[v].def; maker != n && !c.done(maker)) c.absorb(maker);
  c.absorb(user);
  const Desc& y = *c.desc(c.graph()[chain->end].outputs[0]);
  finish(c, n, *chain, "Concat", std::make_unique<ByteConcatKernel>(outer, std::move(pieces)), std::move(in),
         lies.plain() ? Desc{y.dtype, y.dims, nullptr} : dense_desc(y.dtype, y.dims, now.order));
  return true;
}

}  // namespace cameo::engine
