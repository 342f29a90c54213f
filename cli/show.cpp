// cameo show: what a model is.
#include "cli/show.h"

#include <algorithm>

#include "backends/text/text_file.h"
#include "cli/common.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "formats/mapped_file.h"
#include "formats/zip.h"
#include "frontends/recognise.h"
#include "frontends/text/parse.h"
#include "ops/infer.h"
#include "ops/text/print.h"
#include "passes/statistics.h"
#include "support/error.h"

namespace cameo::cli {

void json_count(json::Writer& w, const Dim& count) {
  count.is_literal() ? w.value(count.literal()) : w.value(count.text());
}

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
  for (const auto& [domain, v] : m.opsets)
    out += cat(out.empty() ? "" : ", ", domain.empty() ? "ai.onnx" : domain, " ", v);
  return out;
}

void json_values(json::Writer& w, const Graph& g, const std::vector<ValueId>& values) {
  w.array();
  for (const ValueId v : values) {
    const Type& t = g[v].fact.type;
    w.object().key("name").value(g[v].name).key("type").value(type_text(t));
    if (t.is_tensor()) {
      w.key("dtype").value(name(t.elem));
      if (t.has_rank()) {
        w.key("shape").array();
        for (const Dim d : *t.shape)
          d.is_literal() ? w.value(d.literal()) : d.is_symbol() && is_fresh(d) ? w.null() : w.value(d.text());
        w.end();
      }
    }
    if (g[v].kind == Value::Kind::region_input && g[v].weight) w.key("has_default").value(true);
    w.end();
  }
  w.end();
}

void print_json(const Model& m, const Statistics& s, const std::string& path, Out& out) {
  const Graph& g = m.graph;
  json::Writer w;
  w.object();
  w.key("file").value(path).key("kind").value("onnx").key("ir_version").value(m.ir_version);
  w.key("opsets").object();
  for (const auto& [domain, v] : m.opsets) w.key(domain.empty() ? "ai.onnx" : domain).value(v);
  w.end();
  w.key("producer").value(m.producer_name).key("producer_version").value(m.producer_version);
  w.key("inputs");
  json_values(w, g, g[g.main()].inputs);
  w.key("outputs");
  json_values(w, g, g[g.main()].outputs);
  w.key("dynamic_dims").array();
  for (const std::string& d : s.dims) w.value(d);
  w.end();
  w.key("nodes").value(uint64_t{s.nodes}).key("operators").object();
  for (const OpCount& o : s.operators) w.key(o.name).value(uint64_t{o.count});
  w.end();
  w.key("functions").value(uint64_t{m.functions.size()});
  w.key("tensors")
      .value(uint64_t{s.weights})
      .key("parameters")
      .value(s.parameters)
      .key("weight_bytes")
      .value(s.weight_bytes);
  w.key("macs");
  json_count(w, s.macs);
  w.key("macs_unknown_nodes").value(uint64_t{s.macs_unknown});
  w.key("peak_activation_bytes");
  s.peak_activation_bytes ? w.value(*s.peak_activation_bytes) : w.null();
  w.key("metadata").object();
  for (size_t i = 0; i < m.metadata.size(); ++i) {
    const auto later = std::any_of(m.metadata.begin() + static_cast<std::ptrdiff_t>(i) + 1, m.metadata.end(),
                                   [&](const auto& p) { return p.first == m.metadata[i].first; });
    if (!later) w.key(m.metadata[i].first).value(m.metadata[i].second);
  }
  w.end();
  w.end();
  out.line(w.text());
}

void print_values(std::string_view title, const Graph& g, const std::vector<ValueId>& values, Out& out) {
  out.line(), out.line(title);
  size_t width = 0;
  for (const ValueId v : values) width = std::max(width, std::min<size_t>(g[v].name.size(), 40));
  for (const ValueId v : values) {
    const bool has_default = g[v].kind == Value::Kind::region_input && g[v].weight;
    out.line(
        cat("  ", padded(g[v].name, width), "  ", type_text(g[v].fact.type), has_default ? "  (has a default)" : ""));
  }
}

void print_people(const Model& m, const Statistics& s, const std::string& path, Out& out) {
  const Graph& g = m.graph;
  std::string head = cat(path, ": ONNX model, opset ", opset_text(m), ", IR version ", m.ir_version);
  if (!m.producer_name.empty())
    head += cat(", made by ", m.producer_name, m.producer_version.empty() ? "" : " ", m.producer_version);
  out.line(head);
  print_values("inputs", g, g[g.main()].inputs, out);
  print_values("outputs", g, g[g.main()].outputs, out);
  std::string dims;
  for (const std::string& d : s.dims) dims += cat(dims.empty() ? "" : ", ", d);
  out.line(), out.line(cat("dynamic dims: ", dims.empty() ? "none" : dims));
  out.line(),
      out.line(cat("nodes: ", s.nodes, m.functions.empty() ? "" : cat(", local functions: ", m.functions.size())));
  size_t width = 0;
  for (const OpCount& o : s.operators) width = std::max(width, std::min(o.name.size(), widest_column));
  for (const OpCount& o : s.operators) out.line(cat("  ", padded(o.name, width), padded_left(cat(" ", o.count), 8)));
  out.line(), out.line(cat("parameters: ", count_text(s.parameters), " in ", plural(s.weights, "tensor"), ", ",
                           bytes_text(s.weight_bytes)));
  out.line(
      cat("MACs: ", s.macs.is_literal() ? count_text(static_cast<uint64_t>(s.macs.literal())) : s.macs.text(),
          s.macs_unknown ? cat(" and those of ", plural(s.macs_unknown, "node"), " whose shapes are not known") : ""));
  if (s.peak_activation_bytes)
    out.line(cat("activations: ", bytes_text(*s.peak_activation_bytes), " at most at once",
                 s.dims.empty() ? "" : ", with every named size 1"));
}

// As the file says it, in its own opset; large weights are only named.
std::string onnx_text(const std::string& path) {
  constexpr int64_t shown_elements = 64;
  Bytes file = map_file(path);
  if (path.ends_with(".onnxtxt")) file = text_to_onnx(file.text(), path);
  return onnx_to_text(file, path, {.max_elements = shown_elements});
}

int show_onnx(const std::string& path, bool text, Out& out) {
  if (text) {
    if (path != "-") open_model(path, out);  // says what is wrong with it
    out.program(onnx_text(path));
    return 0;
  }
  Model m = open_model(path, out);
  const InferResult inferred = infer(m.graph, m.functions);
  if (out.verbose) out.diags(inferred.findings);
  const Statistics s = statistics(m);
  if (out.json) print_json(m, s, path, out);
  else print_people(m, s, path, out);
  return 0;
}

}  // namespace

int show_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const std::string& path = args->operands[0];
  if (path != "-") {
    const Bytes file = map_file(path);
    if (recognise(file, path).kind == FileKind::torch_export) {
      auto program = pt2::read_pt2(file, path, args->text("method", "forward"));
      return show_pt2(program, args->has("text"), out);
    }
    if (zip::looks_like_zip(file.text())) {
      auto program = torchscript::read_torchscript(file, path);
      return show_archive(program, args->has("text"), out);
    }
  }
  return show_onnx(path, args->has("text"), out);
}

}  // namespace cameo::cli
