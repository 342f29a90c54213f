// Tensors: one field of data, of the right kind and size.
#include <algorithm>

#include "frontends/onnx/checker.h"

namespace cameo::onnx {

namespace {

struct DataFields {
  int count = 0;       // of kinds of data that are there
  uint32_t field = 0;  // the last one
};

DataFields data_fields(const TensorProto& t) {
  bool there[12] = {};
  pb::Reader in(t.whole);
  while (auto f = in.next())
    if ((f.number >= 4 && f.number <= 7) || (f.number >= 9 && f.number <= 11)) {
      // An empty packed field holds no element.
      if (f.number == 6 || f.wire != pb::Wire::bytes || !f.bytes().empty()) there[f.number] = true;
    }
  DataFields out;
  for (uint32_t i = 4; i < 12; ++i)
    if (there[i]) ++out.count, out.field = i;
  return out;
}

constexpr uint32_t float_data = 4, int32_data = 5, string_data = 6, int64_data = 7, raw_data = 9, double_data = 10,
                   uint64_data = 11;

uint32_t field_of(DType t) {
  switch (t) {
    case DType::f32:
    case DType::c64: return float_data;
    case DType::f64:
    case DType::c128: return double_data;
    case DType::i64: return int64_data;
    case DType::u32:
    case DType::u64: return uint64_data;
    case DType::string: return string_data;
    default: return int32_data;
  }
}

}  // namespace

void Checker::tensor(const TensorProto& t, const Loc& where) {
  const auto wrong = [&](std::string problem) {
    err("check.tensor", cat("the tensor", t.name.empty() ? "" : cat(" '", t.name, "'"), " ", problem), where);
  };
  const auto dtype = dtype_from_number(t.data_type);
  if (t.data_type == 0) return wrong("has no element type");
  if (!dtype) return wrong(cat("has an element type that does not exist, ", t.data_type));
  if (std::any_of(t.dims.begin(), t.dims.end(), [](int64_t d) { return d < 0; })) return wrong("has a negative size");
  const DataFields data = data_fields(t);
  if (t.external) {
    if (data.count) wrong("is stored outside the file and holds data as well");
    if (std::none_of(t.external_data.begin(), t.external_data.end(),
                     [](const auto& p) { return p.first == "location"; }))
      wrong("is stored outside the file but does not say where");
    return;  // the place itself was judged when the file was opened
  }
  int64_t count = 0;
  try {
    count = element_count(t.dims);
  } catch (const Error&) {
    return wrong("has more elements than can be counted");
  }
  if (count == 0 && data.count) return wrong("has no elements but holds data");
  if (count != 0 && data.count != 1) return wrong(data.count ? "holds data of several kinds" : "holds no data");
  if (count == 0) return;
  if (data.field == raw_data) {
    if (*dtype == DType::string) wrong("is of strings, which cannot be raw data");
  } else if (data.field != field_of(*dtype)) {
    wrong(cat("is of ", name(*dtype), " and keeps its data in the field of another type"));
  }
}

void Checker::sparse_tensor(const SparseTensorProto& t, const Loc& where) {
  tensor(t.values, where);
  tensor(t.indices, where);
  if (t.indices.data_type != static_cast<int64_t>(DType::i64))
    return void(err("check.sparse", "indices of a sparse tensor must be i64", where));
  if (t.values.dims.size() != 1)
    return void(err("check.sparse", "values of a sparse tensor must be one-dimensional", where));
  if (t.dims.empty() || std::any_of(t.dims.begin(), t.dims.end(), [](int64_t d) { return d <= 0; }))
    return void(err("check.sparse", "a sparse tensor must have a shape of positive sizes", where));
  try {
    sparse_contents(to_sparse_tensor(t, source_), where);
  } catch (const Error& e) {
    err("check.sparse", e.diag().what, where);
  }
}

void Checker::sparse_contents(const SparseTensor& t, const Loc& where) {
  const auto rank = static_cast<int64_t>(t.shape.size()), nnz = t.values.count();
  const bool linear = t.indices.rank() == 1;
  if (!(linear && t.indices.count() == nnz) &&
      !(t.indices.rank() == 2 && t.indices.shape()[0] == nnz && t.indices.shape()[1] == rank))
    return void(err("check.sparse", "the indices of a sparse tensor are not of shape [NNZ] or [NNZ, rank]", where));
  const auto indices = t.indices.to_ints();
  int64_t before = -1;
  for (int64_t i = 0; i < nnz; ++i) {
    int64_t at = linear ? indices[static_cast<size_t>(i)] : 0;
    bool inside = at >= 0 && at < element_count(t.shape);
    for (int64_t axis = 0; !linear && axis < rank; ++axis) {
      const int64_t k = indices[static_cast<size_t>(i * rank + axis)], size = t.shape[static_cast<size_t>(axis)];
      inside = inside && k >= 0 && k < size;
      at = inside ? at * size + k : at;
    }
    if (!inside)
      return void(err("check.sparse", cat("index ", i, " of a sparse tensor lies outside its shape"), where));
    if (at <= before)
      return void(err("check.sparse", "the indices of a sparse tensor are not in order, or not distinct", where));
    before = at;
  }
}

}  // namespace cameo::onnx
