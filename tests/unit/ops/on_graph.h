// A graph with named sizes to emit into, and short ways to say what is expected of the results.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace cameo::tests {

struct OnGraph {
  Graph graph;
  On on{graph, graph.main()};

  Dim dim(std::string_view text) { return parse_dim(graph.dims(), text); }
  ValueId input(DType dtype, std::vector<std::string> sizes) {
    Shape shape;
    for (const auto& s : sizes) shape.push_back(dim(s));
    return graph.add_input(graph.main(), "", Type::tensor(dtype, shape));
  }
  ValueId f32(std::vector<std::string> sizes) { return input(DType::f32, std::move(sizes)); }
  ValueId i64(std::vector<std::string> sizes) { return input(DType::i64, std::move(sizes)); }

  std::string type(ValueId v) const { return graph[v].fact.type.text(); }
  // The known elements, "n,3"; "?" when they are not known.
  std::string contents(ValueId v) const {
    const auto ints = graph[v].fact.ints();
    return ints ? shape_text(*ints) : "?";
  }
};

// The code of the error that f throws; empty when it does not.
template <class F>
std::string code_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(e.diag().code);
  }
  return "";
}

template <class Attrs>
std::vector<Datum> run_op(const Attrs& attrs, std::vector<Datum> inputs, size_t outputs = 1) {
  std::vector<const Datum*> pointers;
  for (const Datum& d : inputs) pointers.push_back(d.kind == Datum::Kind::none ? nullptr : &d);
  Eval k(pointers, outputs);
  op_of<Attrs>().rules.eval(&attrs, k);
  return std::move(k.results());
}

inline Tensor f32s(std::vector<int64_t> shape, std::vector<float> v) {
  return Tensor::of<float>(DType::f32, std::move(shape), std::span<const float>(v));
}
inline Tensor i64s(std::vector<int64_t> shape, std::vector<int64_t> v) {
  return Tensor::of<int64_t>(DType::i64, std::move(shape), std::span<const int64_t>(v));
}

}  // namespace cameo::tests
