#include "engine/work.h"

#include <algorithm>

namespace cameo::engine {

namespace {

constexpr double least_work = 5e5;  // multiplications and additions: ten to twenty microseconds of one thread

double count(const Compiler& c, ValueId v) {
  const Desc* d = v ? c.desc(v) : nullptr;
  return d ? static_cast<double>(d->count()) : 0;
}

int64_t size(const Compiler& c, ValueId v, int64_t axis) {
  const Desc* d = v ? c.desc(v) : nullptr;
  const auto rank = static_cast<int64_t>(d ? d->rank() : 0);
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? std::max<int64_t>(1, d->dims[static_cast<size_t>(axis)]) : 1;
}

}  // namespace

bool worth_a_team(const Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  if (node.outputs.empty() || node.inputs.empty() || !c.desc(node.outputs[0])) return true;
  const double out = count(c, node.outputs[0]);
  const auto in = [&](size_t i) { return c.graph().input(n, i); };
  if (node.is("Conv") || node.is("ConvInteger"))
    return out * count(c, in(1)) / static_cast<double>(size(c, in(1), 0)) >= least_work;
  if (node.is("QLinearConv")) return out * count(c, in(3)) / static_cast<double>(size(c, in(3), 0)) >= least_work;
  if (node.is("ConvTranspose"))
    return count(c, in(0)) * count(c, in(1)) / static_cast<double>(size(c, in(1), 0)) >= least_work;
  if (node.is("MatMul") || node.is("MatMulInteger") || node.is("Gemm") || node.is("QLinearMatMul"))
    return out * static_cast<double>(size(c, in(0), -1)) >= least_work;
  if (node.is("Attention")) return 2 * out * static_cast<double>(size(c, in(1), -2)) >= least_work;
  if (node.is("MaxPool") || node.is("AveragePool") || node.is("GlobalAveragePool") || node.is("GlobalMaxPool"))
    return 4 * std::max(out, count(c, in(0))) >= least_work;
  return true;
}

}  // namespace cameo::engine
