#include "runtime/tries.h"

#include "kernels/carrier.h"
#include "runtime/inputs.h"
#include "support/error.h"

namespace cameo::runtime {

namespace {

using Sizes = std::map<std::string, int64_t>;

std::vector<Datum> scaled(std::vector<Datum> inputs, double factor) {
  for (Datum& d : inputs) {
    if (d.kind != Datum::Kind::tensor || !is_float(d.tensor.dtype())) continue;
    std::vector<double> v = d.tensor.to_doubles();
    for (double& x : v) x *= factor;
    d = Datum(store(d.tensor.dtype(), d.tensor.shape(), v));
  }
  return inputs;
}

bool has_fractions(const std::vector<Datum>& inputs) {
  for (const Datum& d : inputs)
    if (d.kind == Datum::Kind::tensor && is_float(d.tensor.dtype())) return true;
  return false;
}

std::string told(const Sizes& sizes, const Sizes& given) {
  std::string out;
  for (const auto& [name, size] : sizes)
    if (!given.contains(name)) out += cat(out.empty() ? "with " : ", ", name, " = ", size);
  return out;
}

}  // namespace

std::vector<Try> other_tries(const Graph& g, const std::vector<ValueId>& params, uint64_t seed, const Sizes& given) {
  std::vector<Try> out;
  Sizes taken;
  const std::vector<Datum> first = random_inputs(g, params, seed, given, &taken);
  if (has_fractions(first)) {
    out.push_back({"with the inputs negated", scaled(first, -1)});
    out.push_back({"with the inputs 8 times as large", scaled(first, 8)});
  }
  Sizes ones = given, more = given;
  for (const auto& [name, size] : taken)
    if (!given.contains(name)) ones[name] = 1, more[name] = size + 1;
  for (const Sizes* sizes : {&ones, &more})
    if (*sizes != taken) out.push_back({told(*sizes, given), random_inputs(g, params, seed, *sizes)});
  return out;
}

}  // namespace cameo::runtime
