// Quantized matrices as weights of a file.
#pragma once

#include "quant/weights/matrix.h"

namespace cameo::quant {

struct StoredMatrix {
  std::shared_ptr<const Weight> levels, scales, zeros;  // zeros: null where levels are symmetric
};
// As com.microsoft.MatMulNBits wants it: bytes [outputs, blocks, packed], scales [outputs, blocks].
StoredMatrix stored_for_nbits(const Matrix& m);
// As DequantizeLinear with blocks wants it: [outputs, depth] with blocks along axis 1, or transposed along axis 0.
StoredMatrix stored_for_dequantize(const Matrix& m, bool transposed);
DType level_type(const BlockFormat& format);  // i4, u4, i8, ...: signed where levels are symmetric

}  // namespace cameo::quant
