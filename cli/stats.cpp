// cameo stats: what a model is made of, and how much work it is.
#include "cameo/stats.h"

#include "cli/opened.h"
#include "cli/verb.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "support/error.h"

namespace cameo::cli {

namespace {

constexpr Verb verb{"stats",
                    "IN",
                    "operators, parameters, bytes by element type, multiply-accumulates and memory",
                    "cameo stats net.onnx\ncameo stats net.onnx --json",
                    {},
                    1,
                    1};

void print_json(const cameo::Model& m, const Stats& s, Out& out) {
  json::Writer w;
  w.object().key("opsets").object();
  for (const auto& [domain, version] : m.opsets()) w.key(domain.empty() ? "ai.onnx" : domain).value(int64_t{version});
  w.end().key("nodes").value(uint64_t{s.nodes}).key("operators").object();
  for (const auto& [op, count] : s.operators) w.key(op).value(uint64_t{count});
  w.end()
      .key("weights")
      .value(uint64_t{s.weights})
      .key("parameters")
      .value(s.parameters)
      .key("weight_bytes")
      .value(s.weight_bytes)
      .key("bytes_by_dtype")
      .object();
  for (const auto& [dtype, bytes] : s.bytes_by_dtype) w.key(dtype).value(bytes);
  w.end().key("macs").value(s.macs).key("macs_unknown").value(uint64_t{s.macs_unknown});
  if (s.activation_bytes) w.key("activation_bytes").value(*s.activation_bytes);
  w.key("dims").array();
  for (const std::string& d : s.dims) w.value(d);
  w.end().end();
  out.line(w.text());
}

}  // namespace

int stats_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const cameo::Model m = opened(args->operands[0], out);
  const Stats s = stats(m);
  if (out.json) return print_json(m, s, out), 0;
  for (const auto& [domain, version] : m.opsets())
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
