// Calls with given sizes, and how the shape rule answers: the code of its finding, or nothing where it accepts.
#pragma once

#include "unit/ops/on_graph.h"

namespace cameo::tests {

struct Operand {
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  std::optional<Tensor> contents;
  bool absent = false;

  Operand(std::initializer_list<int64_t> s) : sizes(s) {}
  Operand(DType t, std::vector<int64_t> s) : dtype(t), sizes(std::move(s)) {}
  Operand(Tensor t) : dtype(t.dtype()), sizes(t.shape()), contents(std::move(t)) {}
  static Operand none() {
    Operand o{};
    o.absent = true;
    return o;
  }
};

template <class Attrs>
std::string answer(const Attrs& attrs, const std::vector<Operand>& operands, size_t outputs = 1) {
  Graph g;
  On on(g, g.main());
  std::vector<ValueId> inputs;
  for (const Operand& o : operands) {
    if (o.absent) inputs.emplace_back();
    else if (o.contents) inputs.push_back(on.constant(*o.contents));
    else inputs.push_back(g.add_input(g.main(), "", Type::tensor(o.dtype, Shape(o.sizes.begin(), o.sizes.end()))));
  }
  return code_of([&] { on.make(Attrs(attrs), inputs, outputs); });
}

}  // namespace cameo::tests
