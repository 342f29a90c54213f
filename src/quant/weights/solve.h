// Weights chosen for what they are multiplied with.
#pragma once

#include "quant/weights/inputs.h"
#include "quant/weights/matrix.h"

namespace cameo::quant {

double inner_product(const float* a, const float* b, int64_t n);

// Few rows do not tell which places matter: what is measured counts as if so many rows had been seen beside it in which
// all places are alike.
inline constexpr double prior_rows = 8;

// Of the inverse of X'X + damping: the upper factor U with U'U equal to it. Empty where numbers run out. `prior`: rows
// in which all places are alike, added to those of `x`.
std::vector<float> inverse_factor(const InputRows& x, double prior = 0);

// Of the products' results on these rows: the sum of squares of the difference that quantizing makes.
double product_noise(const Matrix& m, const InputRows& inputs);
double product_power(const Matrix& m, const InputRows& inputs);

// How much each place along the depth counts: the mean square of what it is multiplied with.
std::vector<float> importance_of(const InputRows& inputs);

// GPTQ: places are rounded one after the other, and what each rounding changes is made up for by those behind it.
// Nothing where the inputs tell too little, or the depth is more than `most_gptq_depth`.
inline constexpr int64_t most_gptq_depth = 8192;
std::shared_ptr<const SolvedMatrix> gptq(const Matrix& m, const InputRows& inputs, int threads);

// AWQ: places that large inputs meet get finer steps: each is multiplied with a power of the inputs' size, and the
// inputs divided by it. The best of some powers; empty where none is better than none.
std::vector<float> awq_factors(const Matrix& m, const InputRows& inputs);

}  // namespace cameo::quant
