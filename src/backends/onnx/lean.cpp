#include "backends/onnx/lean.h"

#include "backends/onnx/legalise.h"

namespace cameo::backends {

SimplifyResult simplify_for_opset(Model& m, int64_t opset, const SimplifyOptions& options, bool lossy,
                                  DiagSink* diags) {
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
  if (!expanded.refusals.empty()) throw Error(std::move(expanded.refusals));
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

}  // namespace cameo::backends
