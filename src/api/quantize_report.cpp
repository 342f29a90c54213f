// A QuantizeReport as JSON and as a page.
#include <algorithm>
#include <cmath>
#include <string>

#include "api/markup.h"
#include "support/error.h"
#include "support/number_text.h"

#include "cameo/face.h"
#include "cameo/json.h"
#include "cameo/quantize.h"

namespace cameo {

using support::cat;

std::string to_json(const QuantizeReport& r) {
  json::Writer w;
  w.object().key("target").value(r.target).key("method").value(r.method).key("samples").value(r.samples);
  w.key("db")
      .value(r.db)
      .key("int8_macs")
      .value(r.int8_macs)
      .key("reached")
      .value(r.reached)
      .key("tried")
      .value(r.tried);
  w.key("equalized")
      .value(r.equalized)
      .key("compensated")
      .value(r.compensated)
      .key("corrected_bias")
      .value(r.corrected_bias);
  if (r.metric) w.key("metric").value(*r.metric).key("float_metric").value(*r.float_metric);
  w.key("outputs").array();
  for (const auto& o : r.outputs) {
    w.object().key("name").value(o.name).key("db").value(o.db).key("parts").array();
    for (const auto& [what, db] : o.parts) w.object().key("what").value(what).key("db").value(db).end();
    w.end().end();
  }
  w.end().key("nodes").array();
  for (const auto& n : r.nodes) {
    w.object().key("name").value(n.name).key("op").value(n.op).key("quantized").value(n.quantized);
    if (!n.why.empty()) w.key("why").value(n.why);
    w.key("bits").value(n.bits).key("macs").value(n.macs);
    if (n.weight_db > 0) w.key("weight_db").value(n.weight_db);
    if (n.db > 0) w.key("db").value(n.db);
    if (n.gain_db) w.key("gain_db").value(*n.gain_db);
    w.end();
  }
  w.end().key("values").array();
  for (const auto& v : r.values) {
    w.object()
        .key("name")
        .value(v.name)
        .key("method")
        .value(v.method)
        .key("low")
        .value(v.low)
        .key("high")
        .value(v.high)
        .key("from")
        .value(v.from);
    w.key("to")
        .value(v.to)
        .key("scale")
        .value(v.scale)
        .key("zero_point")
        .value(v.zero_point)
        .key("db")
        .value(v.db)
        .end();
  }
  return w.end().end().text();
}

namespace {

std::string escaped(std::string_view text) { return api::xml_text(printable_text(text)); }

std::string rounded(double v, int digits) { return support::fixed_text(v, digits); }
std::string short_number(double v) { return support::short_text(v, 4); }
std::string db_cell(double db) {
  if (db <= 0) return "<td></td>";
  const char* mark = db < 10 ? " class=bad" : db < 20 ? " class=poor" : "";
  return cat("<td", mark, ">", rounded(db, 1), "</td>");
}

// How often numbers occur, on a logarithmic scale, and the part that the integers cover.
std::string plot(const QuantizedValue& v) {
  const double most = *std::max_element(v.plot.begin(), v.plot.end());
  std::string out = "<svg width=260 height=60 viewBox='0 0 260 60'>";
  const double span = std::max(v.high - v.low, 1e-30);
  const double from = std::clamp((v.from - v.low) / span, 0.0, 1.0) * 256,
               to = std::clamp((v.to - v.low) / span, 0.0, 1.0) * 256;
  out += cat("<rect class=covered x=", rounded(from, 1), " y=0 width=", rounded(std::max(to - from, 0.5), 1),
             " height=60 />");
  for (size_t i = 0; i < v.plot.size(); ++i) {
    if (v.plot[i] <= 0) continue;
    const double height = 4 + 54 * std::log1p(v.plot[i]) / std::log1p(most);
    out += cat("<rect x=", i * 4, " y=", rounded(60 - height, 1), " width=3 height=", rounded(height, 1), " />");
  }
  return out + "</svg>";
}

constexpr std::string_view head =
    "<!doctype html><html lang=en><meta charset=utf-8><title>Quantization report</title><style>"
    "body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;text-align:left;border-bottom:1px solid #ddd}"
    "td.n{text-align:right}.bad{background:#f6c1bb}.poor{background:#fbe6b5}.float td{color:#777}"
    "svg rect{fill:#456}svg rect.covered{fill:#cfe3f7}</style>";

void nodes_table(std::string& out, const QuantizeReport& r) {
  double all = 0;
  for (const auto& n : r.nodes) all += n.macs;
  out +=
      "<h2>Nodes</h2><p>Signal to noise in dB: of the node's result in the quantized model, and of its weights alone. "
      "The share is what keeping the node float costs, the gain what the worst output has by it, in dB, where that was "
      "measured.</p><table><tr><th>node<th>operator<th>bits<th>share of "
      "multiplications<th>result<th>weights<th>gain<th>why float</tr>";
  for (const auto& n : r.nodes)
    out += cat("<tr", n.quantized ? "" : " class=float", "><td>", escaped(n.name), "</td><td>", escaped(n.op),
               "</td><td class=n>", n.bits, "</td><td class=n>",
               all > 0 && n.macs > 0 ? cat(rounded(100 * n.macs / all, 2), " %") : "", "</td>", db_cell(n.db),
               db_cell(n.weight_db), "<td class=n>", n.gain_db ? rounded(*n.gain_db, 1) : "", "</td><td>",
               escaped(n.why), "</td></tr>\n");
  out += "</table>";
}

void values_table(std::string& out, const QuantizeReport& r) {
  out +=
      "<h2>Values, noisiest first</h2><p>Blue: the range that the integers cover. Bars: how often numbers occur, on a "
      "logarithmic scale.</p><table><tr><th>value<th>occurred<th>covered<th>by<th>step<th>dB<th></tr>";
  for (const auto& v : r.values)
    out += cat("<tr><td>", escaped(v.name), "</td><td>", short_number(v.low), " to ", short_number(v.high), "</td><td>",
               short_number(v.from), " to ", short_number(v.to), "</td><td>", escaped(v.method), "</td><td>",
               short_number(v.scale), "</td>", db_cell(v.db), "<td>", v.plot.empty() ? "" : plot(v), "</td></tr>\n");
  out += "</table>";
}

}  // namespace

std::string to_html(const QuantizeReport& r) {
  std::string out(head);
  out += cat("<h1>Quantized for ", escaped(r.target), "</h1><p>", r.samples, " samples, ranges by ", escaped(r.method),
             ". ", rounded(100 * r.int8_macs, 1), " % of the multiplications in integers. Worst output ",
             rounded(r.db, 1), " dB", r.reached ? "." : ", less than asked for.");
  if (r.compensated) out += " Weights were rounded for the results of their products.";
  if (r.equalized) out += " Channels were equalized.";
  if (r.corrected_bias) out += " Biases were corrected by measured means.";
  if (r.metric) out += cat(" Metric ", short_number(*r.metric), ", float ", short_number(*r.float_metric), ".");
  out += "</p><h2>Outputs</h2><table><tr><th>output<th>part<th>dB</tr>";
  for (const auto& o : r.outputs) {
    out += cat("<tr><td>", escaped(o.name), "</td><td>all</td>", db_cell(o.db), "</tr>\n");
    for (const auto& [what, db] : o.parts)
      out += cat("<tr><td></td><td>", escaped(what), "</td>", db_cell(db), "</tr>\n");
  }
  out += "</table>";
  nodes_table(out, r);
  values_table(out, r);
  return out + "</html>\n";
}

}  // namespace cameo
