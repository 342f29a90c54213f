// The target set "engine": what a session rewrites in its own copy of a model before it plans. Ordinary rules, some of
// them simplify's own, applied by the same rewriter; only the budgets differ. A file that is written never sees them.
//
// Precondition of every stage: the shape rule of each node of the main graph ran on what is known (ops/gate.h).
// Postcondition: nothing that rules proved is trusted; the gate runs again with the real sizes before a plan is made.
#pragma once

#include "passes/rewriter.h"

namespace cameo::passes {

// What rules may ask about the engine.
struct EngineTarget {
  std::function<bool(const OpInfo& op)> is_fast;  // it has more than the reference kernel, for f32
  bool multiplies_bytes = false;                  // oneDNN's products of bytes are exact on this machine
  uint64_t small_bytes = uint64_t{1} << 20;       // constants up to here may be made larger than what they are of
};

// In this order. The first three happen once per session, with the sizes that are not known left open; the last one
// once per set of sizes.
enum class EngineStage : uint8_t {
  halves,     // f16 and bf16 computed in f32; bodies too
  integers,   // products between DequantizeLinear and QuantizeLinear
  constants,  // folding, batch normalisation
  sized,      // operators that were written as several nodes
};
inline constexpr EngineStage engine_stages[] = {EngineStage::halves, EngineStage::integers, EngineStage::constants,
                                                EngineStage::sized};

std::span<const Rule* const> engine_rules(EngineStage stage);

struct EngineResult {
  std::vector<Application> ledger;
  std::vector<NearMiss> misses;  // with `keep_misses`
};
// `only`: names of rules; empty: all.
EngineResult rewrite_for_engine(Graph& g, EngineStage stage, const EngineTarget& target,
                                std::span<const std::string> only = {}, bool keep_misses = false);

// A constant that stays in fewer bits until a kernel packs it: a Cast of a constant of 16 bits to f32, or
// DequantizeLinear of constants. The node that gives it; none where `v` is no such value.
NodeId deferred_constant(const Graph& g, ValueId v);

}  // namespace cameo::passes
