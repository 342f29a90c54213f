// Complex tensors. ONNX's runtimes have none: a marker node stands for one, with the complex type and shape that rows
// see, over real values; what is emitted on markers becomes real nodes. Markers are dead once everything is emitted.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

struct ComplexParts {
  V re, im;  // no im: it is zero
};

V complex_of_pair(Lower& on, V pair);              // a real tensor whose last axis has size 2
V complex_of_parts(Lower& on, ComplexParts p);     // of one shape
V pair_of(Lower& on, V z);                         // the real tensor with an axis of 2 added
ComplexParts parts_of(Lower& on, V z);             // of a real tensor too
V imaginary_of(Lower& on, const ComplexParts& p);  // zeros where there is none
V conjugate(Lower& on, V z);
V phase_of(Lower& on, V z);
V complex_number(Lower& on, std::complex<double> v, DType t);
DType real_type(DType complex_type);
std::complex<double> complex_at(const Tensor& t, int64_t i);  // of a complex tensor

// Emission on complex operands: the same operator, said in reals. Throws "lower.unsupported-value" where there is no
// way.
std::vector<ValueId> emit_complex(Lower& on, const OpDef& op, const std::shared_ptr<const void>& attrs,
                                  const std::vector<ValueId>& inputs, size_t outputs);

}  // namespace cameo::lowering
