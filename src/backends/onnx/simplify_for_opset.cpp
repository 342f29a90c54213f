#include "backends/onnx/simplify_for_opset.h"

#include "backends/onnx/engine_forms.h"
#include "backends/onnx/legalise.h"
#include "ops/versions.h"

namespace cameo::backends {

namespace {

// Files use what came after the opset that they say, and engines take it. Such a file gets the first opset that has it.
onnx::LegaliseResult at_a_later_opset(Model& m, onnx::LegaliseOptions legal, onnx::LegaliseResult refused,
                                      DiagSink* diags) {
  int64_t& own = m.opsets[""];
  const int64_t said = own;
  for (int64_t opset = said + 1; opset <= newest_released_opset; ++opset) {
    legal.functions_follow = true;
    onnx::LegaliseResult result = onnx::legalise(m, opset, legal);
    if (!result.refusals.empty()) continue;
    own = opset;
    if (diags)
      diags
          ->warn("simplify.opset",
                 cat("the file says opset ", said, " and uses what came later: it becomes opset ", opset),
                 refused.refusals[0].where)
          .because = refused.refusals[0].what;
    return result;
  }
  throw Error(std::move(refused.refusals));
}

SimplifyResult simplified(Model& m, int64_t opset, const SimplifyOptions& options, bool lossy, DiagSink* diags) {
  SimplifyOptions how = options;
  how.opset = opset;
  SimplifyResult all = simplify(m, how);
  for (const Diag& d : all.warnings)
    if (diags) diags->add(d);
  onnx::LegaliseOptions legal;
  legal.lossy = lossy;
  const auto own = m.opsets.find("");
  legal.functions_follow = own == m.opsets.end() || own->second != opset;
  if (!onnx::needs_legalising(m, opset, legal)) return all;
  onnx::LegaliseResult expanded = onnx::legalise(m, opset, legal);
  if (!expanded.refusals.empty() && legal.functions_follow) throw Error(std::move(expanded.refusals));
  if (!expanded.refusals.empty()) {
    expanded = at_a_later_opset(m, legal, std::move(expanded), diags);
    how.opset = m.opsets[""];
  }
  for (Diag& d : expanded.notes)
    if (diags) diags->add(std::move(d));
  if (expanded.expanded + expanded.widened == 0) return all;
  how.limit = options.limit > all.ledger.size() ? options.limit - all.ledger.size() : 0;
  SimplifyResult more = simplify(m, how);
  all.ledger.insert(all.ledger.end(), more.ledger.begin(), more.ledger.end());
  all.misses.insert(all.misses.end(), more.misses.begin(), more.misses.end());
  all.rounds += more.rounds;
  return all;
}

}  // namespace

SimplifyResult simplify_for_opset(Model& m, int64_t opset, const SimplifyOptions& options, bool lossy,
                                  DiagSink* diags) {
  SimplifyResult all = simplified(m, opset, options, lossy, diags);
  avoid_engine_faults(m);
  return all;
}

}  // namespace cameo::backends
