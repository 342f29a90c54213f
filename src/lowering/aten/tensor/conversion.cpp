// torch.Tensor: types and devices, copies, new tensors of the same type.
#include "lowering/call_row.h"
#include "lowering/complex.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V new_of(Lower& on, V x, const Dims& sizes, const Num& value, const Opt<DType>& t) {
  return on.full(sizes, value, t.value_or(on.dtype(x)));
}

// torch drops the imaginary part, with a warning of its own.
V converted(Lower& on, V x, DType t) {
  return on.to(is_complex(on.dtype(x)) && !is_complex(t) && t != DType::boolean ? parts_of(on, x).re : x, t);
}

V same(Lower&, V x) { return x; }

constexpr Row table[] = {
    {"aten::to.dtype", [](Lower& on, V x, DType t) { return converted(on, x, t); }},
    {"aten::to.device", [](Lower& on, V x, Str, DType t) { return converted(on, x, t); }},
    {"aten::to.other", [](Lower& on, V x, V other) { return converted(on, x, on.dtype(other)); }},
    {"aten::to.prim_Device", [](Lower& on, V x, Arg, Opt<DType> t) { return t ? converted(on, x, *t) : x; }},
    {"aten::to.dtype_layout", [](Lower& on, V x, Opt<DType> t) { return t ? converted(on, x, *t) : x; }},
    {"aten::to.prim_dtype", [](Lower& on, V x, Opt<DType> t) { return t ? converted(on, x, *t) : x; }},
    {"aten::_to_copy",
     [](Lower& on, V x, Opt<DType> t) {
       return t ? result(call_row(on, "aten::to.dtype", {Arg(x), optional_arg(t)})) : x;
     }},
    {"aten::type_as", [](Lower& on, V x, V other) { return on.to(x, on.dtype(other)); }},
    {"aten::cpu", [](Lower&, V x) { return x; }},
    {"aten::contiguous", [](Lower&, V x) { return x; }},
    {"aten::detach", [](Lower&, V x) { return x; }},
    {"aten::requires_grad_", [](Lower&, V x, bool) { return x; }},
    {"aten::alias", [](Lower&, V x) { return x; }},
    {"aten::alias_copy", [](Lower&, V x) { return x; }},
    {"aten::lift", fn<same>},
    {"aten::lift_fresh", [](Lower&, V x) { return x; }},
    {"aten::lift_fresh_copy", fn<same>},
    {"aten::copy", [](Lower& on, V x, V src) { return on.expand(on.to(src, on.dtype(x)), on.shape(x)); }},
    {"aten::new_zeros",
     [](Lower& on, V x, Dims sizes, Opt<DType> t) { return new_of(on, x, sizes, Num(int64_t{0}), t); }},
    {"aten::new_ones",
     [](Lower& on, V x, Dims sizes, Opt<DType> t) { return new_of(on, x, sizes, Num(int64_t{1}), t); }},
    {"aten::new_empty",
     [](Lower& on, V x, Dims sizes, Opt<DType> t) { return new_of(on, x, sizes, Num(int64_t{0}), t); }},
    {"aten::new_full", [](Lower& on, V x, Dims sizes, Num v, Opt<DType> t) { return new_of(on, x, sizes, v, t); }},
    {"aten::new_empty_strided",
     [](Lower& on, V x, Dims sizes, Dims, Opt<DType> t) { return new_of(on, x, sizes, Num(int64_t{0}), t); }},
};

}  // namespace

std::span<const Row> tensor_conversion_rows() { return table; }

}  // namespace cameo::lowering
