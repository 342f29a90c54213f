// Between floats and bytes: what quantized operators are made of. Results are those of the reference kernels, bit for
// bit.
#pragma once

#include <cstdint>

#include "support/layers.h"

namespace cameo::engine {

// y = round(x / scale) + zero, kept inside the type; NaN gives the lowest number. Per: a scale and a zero for every
// element.
void quantize_row(const float* x, uint8_t* y, int64_t n, float scale, float zero);
void quantize_row(const float* x, int8_t* y, int64_t n, float scale, float zero);
void quantize_row_per(const float* x, uint8_t* y, int64_t n, const float* scale, const float* zero);
void quantize_row_per(const float* x, int8_t* y, int64_t n, const float* scale, const float* zero);
// y = (x - zero) * scale
void dequantize_row(const uint8_t* x, float* y, int64_t n, float scale, float zero);
void dequantize_row(const int8_t* x, float* y, int64_t n, float scale, float zero);
void dequantize_row_per(const uint8_t* x, float* y, int64_t n, const float* scale, const float* zero);
void dequantize_row_per(const int8_t* x, float* y, int64_t n, const float* scale, const float* zero);

// Sums of a product of integers to bytes: y = round((sum + bias) * scale) + zero.
void requantize_row(const int32_t* sums, const int32_t* bias, const float* scale, uint8_t* y, int64_t n, float zero);
void requantize_row(const int32_t* sums, const int32_t* bias, const float* scale, int8_t* y, int64_t n, float zero);
// The same with one bias and one scale for all.
void requantize_row(const int32_t* sums, int32_t bias, float scale, uint8_t* y, int64_t n, float zero);
void requantize_row(const int32_t* sums, int32_t bias, float scale, int8_t* y, int64_t n, float zero);
// y = round(sum * scale + zero), in double.
void requantize_product_row(const int32_t* sums, const float* scale, uint8_t* y, int64_t n, float zero);
void requantize_product_row(const int32_t* sums, const float* scale, int8_t* y, int64_t n, float zero);
// sums += each * factor
void add_multiple_row(int32_t* sums, const int32_t* each, int32_t factor, int64_t n);
int32_t sum_bytes_row(const uint8_t* x, int64_t n);
int32_t sum_bytes_row(const int8_t* x, int64_t n);
void to_float_row(const int32_t* x, float* y, int64_t n);
// The extremes, 0 among them; NaN counts nothing.
void widen_range(const float* x, int64_t n, float& bottom, float& top);

}  // namespace cameo::engine
