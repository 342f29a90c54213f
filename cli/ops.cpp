// cameo ops: which torch operator becomes which ONNX operators, both ways.
#include <algorithm>

#include "cameo/json.h"
#include "cameo/operators.h"
#include "cameo/opset.h"
#include "cli/ops.h"
#include "cli/verb.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"opset", 0, "N", "only what opset N can express; the others with their reason"},
    {"reverse", 0, "", "by ONNX operator: which torch operators become it"},
    {"missing", 0, "", "also those that are not supported, and why"},
    {"markdown", 0, "", "the whole table as docs/operators.md has it"},
};
constexpr Verb verb{"ops",
                    "[PATTERN]",
                    "which ATen operator becomes which ONNX operators, from which opset, or why not; PATTERN is part "
                    "of a name of either side, or has * and ?",
                    "cameo ops conv\ncameo ops aten::add --json\ncameo ops Gemm --reverse",
                    flags,
                    0,
                    1};

std::string becomes(const TorchOperator& op) {
  if (op.support == Support::staged) return "computed while exporting";
  if (op.support == Support::missing) return cat("not supported: ", op.why);
  if (!op.seen) return "supported; its ONNX operators are not recorded";
  return op.onnx.empty() ? "no node of its own" : joined(op.onnx);
}

void print_reverse(const std::string& pattern, Out& out) {
  json::Writer w;
  w.object();
  for (const auto& [onnx, torch] : operators_by_onnx(pattern)) {
    if (out.json) {
      w.key(onnx).array();
      for (const std::string& t : torch) w.value(t);
      w.end();
    } else
      out.line(cat(onnx, "  ", torch.empty() ? "no torch operator becomes it" : joined({torch.begin(), torch.end()})));
  }
  w.end();
  if (out.json) out.line(w.text());
}

void print_table(const std::vector<TorchOperator>& ops, Out& out) {
  size_t width = 0;
  for (const TorchOperator& op : ops) width = std::max(width, std::min<size_t>(op.name.size(), 44));
  for (const TorchOperator& op : ops) {
    const std::string gap(op.name.size() < width ? width - op.name.size() + 2 : 2, ' ');
    out.line(cat(op.name, gap, becomes(op), op.from_opset > 7 ? cat("  (from opset ", op.from_opset, ")") : ""));
  }
}

}  // namespace

int ops_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const std::string pattern = args->operands.empty() ? "" : args->operands[0];
  if (args->has("markdown") && out.json) throw error("use.conflict", "--markdown and --json cannot be used together");
  if (args->has("markdown")) return print_operators_page(out), 0;
  if (args->has("reverse")) return print_reverse(pattern, out), 0;
  OperatorQuery query{pattern};
  query.opset = static_cast<int>(args->integer("opset", query.opset, opsets::oldest, opsets::in_development));
  query.missing = args->has("missing");
  const auto ops = find_operators(query);
  if (out.json) out.line(to_json(ops));
  else print_table(ops, out);
  return 0;
}

}  // namespace cameo::cli
