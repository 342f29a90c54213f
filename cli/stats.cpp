// cameo stats: what a model is made of, and how much work it is.
#include "cameo/stats.h"

#include "cli/opened.h"
#include "cli/verb.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {
constexpr Verb verb{"stats",
                    "IN",
                    "operators, parameters, bytes by element type, multiply-accumulates and memory",
                    "cameo stats net.onnx\ncameo stats net.onnx --json",
                    {},
                    1,
                    1};
}  // namespace

int stats_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const Stats s = stats(opened(args->operands[0], out));
  if (out.json) return out.line(to_json(s)), 0;
  for (const auto& [domain, version] : s.opsets)
    out.line(cat("opset            ", domain.empty() ? "" : cat(domain, " "), version));
  out.line(cat("nodes            ", count_text(s.nodes)));
  for (const auto& [op, count] : s.operators) out.line(cat("  ", padded(op, 15), count_text(count)));
  out.line(cat("parameters       ", count_text(s.parameters), " in ", plural(s.weights, "weight")));
  out.line(cat("weights          ", bytes_text(s.weight_bytes)));
  for (const auto& [dtype, bytes] : s.bytes_by_dtype) out.line(cat("  ", padded(dtype, 15), bytes_text(bytes)));
  out.line(cat("MACs             ", s.macs,
               s.macs_unknown ? cat(", and those of ", plural(s.macs_unknown, "node"), " of unknown shapes") : ""));
  if (s.activation_bytes)
    out.line(cat("values alive     ", bytes_text(*s.activation_bytes), " at most",
                 s.dims.empty() ? "" : ", with every named size 1"));
  return 0;
}

}  // namespace cameo::cli
