// Matrices of bytes, transposed: images between row-major and channels last.
#pragma once

#include "engine/desc.h"
#include "engine/kernel.h"

namespace cameo::engine {

// y[j * rows + i] = x[i * columns + j], for columns of the range [first, last); on the calling thread.
void transpose_bytes(const uint8_t* x, uint8_t* y, int64_t rows, int64_t columns, int64_t first, int64_t last);

// y[j * y_row + i] = x[i * x_row + j]
void transpose_block(const uint8_t* x, int64_t x_row, uint8_t* y, int64_t y_row, int64_t rows, int64_t columns);

// From row-major to channels last, or back; null where it is something else, or the elements are no bytes.
std::unique_ptr<Kernel> make_byte_reorder(const Desc& from, const Desc& to);

}  // namespace cameo::engine
