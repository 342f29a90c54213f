// Small models from text, and numbers for them.
#pragma once

#include "frontends/text/parse.h"
#include "kernels/carrier.h"
#include "ops/infer.h"
#include "runtime/inputs.h"
#include "support/error.h"

namespace cameo::tests {

// Made-up numbers, floats moved and stretched so that activations see both sides; bytes over all their range.
inline Datum stretched(const Datum& d, double factor, uint64_t seed) {
  if (d.kind != Datum::Kind::tensor) return d;
  const DType t = d.tensor.dtype();
  if (t == DType::u8 || t == DType::i8) {
    std::vector<uint8_t> v(static_cast<size_t>(d.tensor.count()));
    for (uint8_t& x : v) x = static_cast<uint8_t>((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
    return Datum(Tensor::of<uint8_t>(t, d.tensor.shape(), v));
  }
  if (t != DType::f32 && t != DType::f16 && t != DType::bf16) return d;
  const Loaded<float> from(d.tensor);
  std::vector<float> v(from.span().begin(), from.span().end());
  for (float& x : v) x = static_cast<float>((x - 0.5) * factor);
  return Datum(store(t, d.tensor.shape(), v));
}

// Inputs called w... become weights: constants, which the engine packs.
inline Model model_of(const char* text) {
  DiagSink diags;
  Model m = parse_text(text, "case", diags);
  Graph& g = m.graph;
  for (size_t i = g[g.main()].inputs.size(); i-- > 0;) {
    const ValueId v = g[g.main()].inputs[i];
    if (g[v].name[0] != 'w') continue;
    const Datum d = stretched(random_inputs(g, {v}, i + 1)[0], 1, i + 1);
    g.replace_uses(v, g.add_constant(d.tensor, g[v].name));
    g.remove_region_input(g.main(), i);
  }
  infer(g);
  return m;
}

inline std::vector<Datum> inputs_of(const Graph& g, uint64_t seed) {
  std::vector<Datum> in = random_inputs(g, run_inputs(g), seed);
  for (Datum& d : in) d = stretched(d, 4, seed);
  return in;
}

}  // namespace cameo::tests
