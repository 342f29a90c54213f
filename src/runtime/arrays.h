// Run-time values as NumPy files, and ONNX's test_data_set folders.
#pragma once

#include <string>
#include <vector>

#include "formats/atomic_file.h"
#include "formats/npy.h"
#include "ir/graph.h"
#include "kernels/datum.h"

namespace cameo::runtime {

struct NamedDatum {
  std::string name;  // empty: by position
  Datum value;
};

// The array as a tensor of `wanted`, where that says more than NumPy can: "V2" is bfloat16, "V1" an 8-bit float, int8
// holds int4. Throws file.unsupported, and run.dtype when the two do not go together.
Tensor to_tensor(const npy::Array& array, DType wanted, const std::string& what);
npy::Array to_array(const Tensor& t);

// All arrays of an .npz or .npy file (whose one has no name), or input_0.pb, input_1.pb, ... of a test_data_set folder
// as x0, x1, ... Raw 2-byte elements are taken for bfloat16.
std::vector<NamedDatum> load_named(const std::string& path);

// One tensor from an .npy file.
Tensor load_npy(const std::string& path, DType wanted = DType::undefined);
// Writes an .npz: sequences as `name.0`, `name.1`, ...; maps as `name.keys`, `name.values`; empty optionals not at all.
// Atomic; "-" is standard output.
void save_npz(const std::string& path, const std::vector<NamedDatum>& values);
void write_npz(AtomicFile& file,
               const std::vector<NamedDatum>& values);  // the same into a file that the caller publishes

// The values of `params` (a graph's inputs or outputs) from an .npz or .npy file (keys are names, or x0, x1, ... in
// order; for outputs also y0, y1, ...) or a test_data_set folder (`prefix`_0.pb, ...). What is not there is Kind::none.
// Throws use.input-name for a key that is neither, with the names there are.
std::vector<Datum> load_values(const std::string& path, const Graph& graph, const std::vector<ValueId>& params,
                               const std::string& prefix = "input");

}  // namespace cameo::runtime
