// cameo show: what a model is.
#include <algorithm>

#include "cameo/archive.h"
#include "cameo/check.h"
#include "cameo/stats.h"
#include "cli/opened.h"
#include "cli/show_archive.h"
#include "cli/verb.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"method", 0, "NAME", "which program of a torch.export package that holds several"},
    {"text", 0, "", "the whole graph in the newest opset's terms, large weights as hashes; an archive's program"},
};
constexpr Verb verb{"show",
                    "IN",
                    "inputs, outputs, dynamic dims, operators, parameters, memory and MACs of a model or archive",
                    "cameo show net.onnx\ncameo show net.pt --json\ncameo show net.pt2",
                    flags,
                    1,
                    1};

std::string opset_text(const Model& m) {
  std::string out;
  for (const auto& [domain, v] : m.opsets())
    out += cat(out.empty() ? "" : ", ", domain.empty() ? "ai.onnx" : domain, " ", v);
  return out;
}

void print_values(std::string_view title, const std::vector<Value>& values, bool defaults, Out& out) {
  out.line(), out.line(title);
  size_t width = 0;
  for (const Value& v : values) width = std::max(width, std::min<size_t>(v.name().size(), 40));
  for (const Value& v : values)
    out.line(cat("  ", padded(v.name(), width), "  ", v.type(), defaults && v.weight() ? "  (has a default)" : ""));
}

void print_people(const Model& m, const std::string& path, Out& out) {
  const Stats s = stats(m);
  const std::string made_by = m.producer();
  out.line(cat(path, ": ONNX model, opset ", opset_text(m), ", IR version ", m.ir_version(),
               made_by.empty() ? "" : cat(", made by ", made_by)));
  print_values("inputs", m.graph().inputs(), true, out);
  print_values("outputs", m.graph().outputs(), false, out);
  out.line(), out.line(cat("dynamic dims: ", s.dims.empty() ? "none" : joined(s.dims)));
  const size_t functions = m.functions().size();
  out.line(), out.line(cat("nodes: ", s.nodes, functions ? cat(", local functions: ", functions) : ""));
  size_t width = 0;
  for (const auto& [op, count] : s.operators) width = std::max(width, std::min(op.size(), widest_column));
  for (const auto& [op, count] : s.operators) out.line(cat("  ", padded(op, width), padded_left(cat(" ", count), 8)));
  out.line(), out.line(cat("parameters: ", count_text(s.parameters), " in ", plural(s.weights, "tensor"), ", ",
                           bytes_text(s.weight_bytes)));
  out.line(
      cat("MACs: ", s.macs_are_known() ? count_text(std::stoull(s.macs)) : s.macs,
          s.macs_unknown ? cat(" and those of ", plural(s.macs_unknown, "node"), " whose shapes are not known") : ""));
  if (s.activation_bytes)
    out.line(cat("activations: ", bytes_text(*s.activation_bytes), " at most at once",
                 s.dims.empty() ? "" : ", with every named size 1"));
}

void show_onnx(Model m, const std::string& path, Out& out) {
  m = infer(std::move(m));
  if (out.verbose) out.diags(m.findings());
  if (out.json) out.line(summary_json(std::move(m), path));
  else print_people(m, path, out);
}

}  // namespace

int show_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const std::string& path = args->operands[0];
  const std::string method = args->text("method", "forward");
  const bool text = args->has("text");
  if (path == "-" && text) return out.program(file_text(path)), 0;  // which can be read once
  Model m = load(path);
  out.diags(m.findings());
  if (text) out.program(m.is_archive() ? archive_text(m, method) : file_text(path));
  else if (m.is_archive()) show_archive(m, path, method, out);
  else show_onnx(std::move(m), path, out);
  return 0;
}

}  // namespace cameo::cli
