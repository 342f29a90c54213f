#include "api/export_report.h"

#include "api/export_names.h"
#include "api/markup.h"
#include "cameo/version.h"
#include "formats/json.h"
#include "backends/text/print.h"
#include "passes/statistics.h"
#include "support/text.h"
#include "support/number_text.h"

namespace cameo::api {

namespace {

std::string operator_name(const Node& n) {
  return n.op->domain.empty() ? std::string(n.op->name) : cat(n.op->domain, "::", n.op->name);
}

std::string torch_operator(const Exported& e, NodeId n) {
  return n.index < e.trace.nodes.size() ? e.trace.nodes[n.index].op : "";
}

std::string_view module_of(const Node& n) {
  return n.notes ? std::string_view(n.notes->where.scope) : std::string_view();
}

template <class F>
void for_each_node(const Graph& g, F f) {
  for (uint32_t i = 0; i < g.node_capacity(); ++i)
    if (!g[NodeId(i)].dead) f(NodeId(i));
}

// For a page: the line breaks are ours, those in names were escaped before.
std::string escaped(std::string_view text) { return xml_text(printable_lines(text)); }

void write_values(json::Writer& w, const Graph& g, const std::vector<ValueId>& values) {
  w.array();
  for (const ValueId v : values) w.object().key("name").value(g[v].name).key("type").value(g[v].fact.type.text()).end();
  w.end();
}

// A row of an HTML table: the first cell is a heading.
std::string row(std::initializer_list<std::string_view> cells, std::string_view tag = "td") {
  std::string out = "<tr>";
  for (const auto c : cells) out += cat("<", tag, ">", escaped(c), "</", tag, ">");
  return out + "</tr>\n";
}

std::string_view severity_name(Severity s) {
  return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "note";
}

constexpr std::string_view style =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:.5em 0 1.5em}td,th{text-align:left;padding:.2em 1em .2em "
    "0;border-bottom:1px solid #ddd;"
    "vertical-align:top}code,pre{font:13px/1.4 ui-monospace,monospace}pre{overflow:auto;background:#f6f6f6;padding:1em}"
    ".warning{color:#8a5a00}.error{color:#a00}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}"
    "td,th{border-color:#444}pre{background:#222}.warning{color:#e0b050}.error{color:#f77}}";

}  // namespace

std::string recorded_text(const Exported& e) {
  PrintOptions print;
  print.header = false;
  print.canonical_order = false;
  print.comment = [&](NodeId n) {
    const Node& node = e.model.graph[n];
    const std::string op = torch_operator(e, n), place = place_of(node),
                      line = node.notes ? node.notes->where.source : "";
    return cat(op, op.empty() || place.empty() ? "" : "  ", place, line.empty() ? "" : ": ", line);
  };
  return print_text(e.model, print);
}

Lowered lowered_operators(const Exported& e) {
  Lowered out;
  for_each_node(e.model.graph, [&](NodeId n) {
    if (const std::string op = torch_operator(e, n); !op.empty()) out[op].insert(operator_name(e.model.graph[n]));
  });
  return out;
}

std::string report_json(const Model& m, const Lowered& lowered, const ExportReport& r) {
  const Graph& g = m.graph;
  const Statistics s = statistics(m);
  json::Writer w;
  w.object();
  w.key("cameo").value(version).key("source").value(r.source).key("target").value(r.target).key("command").value(
      r.command);
  w.key("opset").value(r.opset).key("seconds").value(r.seconds);
  w.key("inputs");
  write_values(w, g, g[g.main()].inputs);
  w.key("outputs");
  write_values(w, g, g[g.main()].outputs);
  w.key("node_count")
      .value(uint64_t{s.nodes})
      .key("parameters")
      .value(s.parameters)
      .key("weight_bytes")
      .value(s.weight_bytes);
  w.key("operators").object();
  for (const OpCount& o : s.operators) w.key(o.name).value(uint64_t{o.count});
  w.end();
  w.key("lowered").object();
  for (const auto& [from, to] : lowered) {
    w.key(from).array();
    for (const std::string& op : to) w.value(op);
    w.end();
  }
  w.end();
  w.key("nodes").array();
  for_each_node(g, [&](NodeId n) {
    w.object().key("name").value(g[n].name).key("operator").value(operator_name(g[n]));
    w.key("module").value(module_of(g[n])).key("place").value(place_of(g[n])).end();
  });
  w.end();
  if (r.verified)
    w.key("verified")
        .object()
        .key("outputs")
        .value(uint64_t{r.verified->outputs})
        .key("max_difference")
        .value(r.verified->worst)
        .end();
  w.key("findings").array();
  for (const Diag& d : r.findings) w.raw(d.render_json());
  w.end().end();
  return w.text() + "\n";
}

std::string report_html(const Model& m, const Lowered& lowered, const std::string& recorded, const ExportReport& r) {
  const Graph& g = m.graph;
  const Statistics s = statistics(m);
  std::string out = cat("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>", escaped(r.source),
                        "</title><style>", style, "</style>\n<h1>", escaped(r.source), "</h1>\n<table>");
  const std::string seconds = cat(fixed_text(r.seconds, 3), " s");
  out += row({"written to", r.target}) + row({"with", r.command}) + row({"opset", cat(r.opset)}) +
         row({"nodes", cat(s.nodes)}) + row({"parameters", cat(s.parameters)}) + row({"time", seconds});
  if (r.verified)
    out += row({"verified", cat(r.verified->outputs, " outputs, largest difference ", r.verified->worst)});
  out += "</table>\n";
  for (const auto& [title, values] :
       {std::pair("Inputs", &g[g.main()].inputs), std::pair("Outputs", &g[g.main()].outputs)}) {
    out += cat("<h2>", title, "</h2><table>");
    for (const ValueId v : *values) out += row({g[v].name, g[v].fact.type.text()});
    out += "</table>\n";
  }
  if (!r.findings.empty()) {
    out += "<h2>Findings</h2>\n";
    for (const Diag& d : r.findings)
      out += cat("<pre class=\"", severity_name(d.severity), "\">", escaped(d.render()), "</pre>\n");
  }
  out += cat("<h2>Operators</h2><table>", row({"ONNX", "count"}, "th"));
  for (const OpCount& o : s.operators) out += row({o.name, cat(o.count)});
  out += cat("</table>\n<table>", row({"PyTorch", "became"}, "th"));
  for (const auto& [from, to] : lowered) {
    std::string list;
    for (const std::string& op : to) list += cat(list.empty() ? "" : ", ", op);
    out += row({from, list});
  }
  return out + cat("</table>\n<h2>Graph, as recorded</h2><pre>", escaped(recorded), "</pre>\n</html>\n");
}

}  // namespace cameo::api
