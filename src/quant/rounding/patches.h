// What the weights of products are multiplied with, as rows: windows of a convolution's input, lines of a matrix.
#pragma once

#include <vector>

#include "engine/session.h"
#include "quant/schemes/product.h"
#include "quant/weights/inputs.h"

namespace cameo::quant {

// One list of rows per group of a convolution; places along the depth are in the order of the weight's.
using Patches = std::vector<InputRows>;

// Places that one output's weights have.
int64_t depth_of(const Graph& g, const Product& p);
// Conv, Gemm with plain data, MatMul with weights of two axes.
bool has_patches(const Graph& g, const Product& p);

// An even selection of so many rows, as many from each sample; samples one after the other.
std::vector<Patches> patches_of(const Model& m, const std::vector<Product>& products,
                                const std::vector<std::vector<Datum>>& samples, int64_t rows,
                                const engine::SessionOptions& run);

}  // namespace cameo::quant
