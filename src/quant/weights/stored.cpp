#include "quant/weights/stored.h"

#include <cstring>

#include "ir/number_format.h"
#include "quant/weights/scratch.h"

namespace cameo::quant {

namespace {

// Levels side by side over the ends of rows, as ONNX packs a tensor.
class LevelPacker {
 public:
  LevelPacker(const BlockFormat& f, bool is_signed) : f_(f), is_signed_(is_signed) {}
  void add(std::span<const uint8_t> levels) {
    if (bits_ == 0 && f_.bits == 4) levels = pairs(levels);
    for (const uint8_t level : levels) add(level);
  }
  Bytes take() {
    if (bits_ > 0) end_byte();
    return out_.take();
  }

 private:
  unsigned code(uint8_t level) const { return (is_signed_ ? level - f_.middle() : level) & f_.last(); }
  void add(uint8_t level) {
    held_ |= code(level) << bits_;
    bits_ += f_.bits;
    if (bits_ == 8) end_byte();
  }
  void end_byte() {
    *out_.next(1) = static_cast<std::byte>(held_);
    held_ = 0, bits_ = 0;
  }
  std::span<const uint8_t> pairs(std::span<const uint8_t> levels) {
    std::byte* to = out_.next(levels.size() / 2);
    for (size_t i = 0; i + 2 <= levels.size(); i += 2)
      *to++ = static_cast<std::byte>(code(levels[i]) | code(levels[i + 1]) << 4);
    return levels.last(levels.size() % 2);
  }

  const BlockFormat& f_;
  const bool is_signed_;
  Scratch out_;
  unsigned held_ = 0;
  int bits_ = 0;
};

std::shared_ptr<const Weight> weight_of(DType dtype, std::vector<int64_t> shape, Bytes bytes) {
  return std::make_shared<const Weight>(Weight::of(Tensor(dtype, std::move(shape), std::move(bytes))));
}

class Scales {
 public:
  explicit Scales(DType stored) : stored_(stored) {}
  void add(std::span<const BlockScale> scales) {
    for (const BlockScale& s : scales) number(s.scale);
  }
  Bytes take() { return out_.take(); }

 private:
  void number(float v) {
    if (stored_ == DType::f32) return void(std::memcpy(out_.next(sizeof v), &v, sizeof v));
    const auto code = static_cast<uint16_t>(ir::encode_float(stored_, static_cast<double>(v)));
    std::memcpy(out_.next(sizeof code), &code, sizeof code);
  }
  const DType stored_;
  Scratch out_;
};

}  // namespace

DType level_type(const BlockFormat& f) {
  if (f.bits == 8) return f.symmetric ? DType::i8 : DType::u8;
  if (f.bits == 4) return f.symmetric ? DType::i4 : DType::u4;
  return f.symmetric ? DType::i2 : DType::u2;
}

StoredMatrix stored_for_nbits(const Matrix& m) {
  const BlockFormat& f = m.format;
  const int64_t n = m.outputs(), blocks = m.blocks(), packed = f.block / f.levels_per_byte();
  const int64_t zero_bytes = (blocks + f.levels_per_byte() - 1) / f.levels_per_byte();
  Scratch levels, zeros;
  Scales scales(m.weight->dtype);
  m.for_quantized([&](const QuantizedRow& row) {
    pack_levels(row.levels, m.depth(), f, levels.next(static_cast<size_t>(blocks * packed)));
    scales.add(row.scales);
    if (!f.symmetric) pack_zeros(row.scales, f, zeros.next(static_cast<size_t>(zero_bytes)));
  });
  StoredMatrix out;
  out.levels = weight_of(DType::u8, {n, blocks, packed}, levels.take());
  out.scales = weight_of(m.weight->dtype, {n, blocks}, scales.take());
  if (!f.symmetric) out.zeros = weight_of(DType::u8, {n, zero_bytes}, zeros.take());
  return out;
}

StoredMatrix stored_for_dequantize(const Matrix& m, bool transposed) {
  const BlockFormat& f = m.format;
  const DType type = level_type(f);
  const int64_t n = m.outputs();
  const auto shape = [&](int64_t along) {
    return transposed ? std::vector<int64_t>{along, n} : std::vector<int64_t>{n, along};
  };
  LevelPacker levels(f, f.symmetric), zeros(f, false);
  Scales scales(m.weight->dtype);
  const auto add = [&](std::span<const uint8_t> part, std::span<const BlockScale> of_part) {
    levels.add(part);
    scales.add(of_part);
    for (const BlockScale& s : of_part)
      if (!f.symmetric) zeros.add({&s.zero, 1});
  };
  if (transposed) m.for_blocks(add);
  else
    m.for_quantized([&](const QuantizedRow& row) {
      add(std::span<const uint8_t>(row.levels).first(static_cast<size_t>(m.depth())), row.scales);
    });
  StoredMatrix out;
  out.levels = weight_of(type, shape(m.depth()), levels.take());
  out.scales = weight_of(m.weight->dtype, shape(m.blocks()), scales.take());
  if (!f.symmetric) out.zeros = weight_of(type, shape(m.blocks()), zeros.take());
  return out;
}

}  // namespace cameo::quant
