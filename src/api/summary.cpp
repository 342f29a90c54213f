// include/cameo/stats.h: a model as one JSON object.
#include <algorithm>
#include <set>

#include "api/type_text.h"

#include "api/state.h"
#include "api/stats_of.h"
#include "cameo/json.h"

namespace cameo {

namespace {

void json_values(json::Writer& w, const ir::Graph& g, const std::vector<support::ValueId>& values) {
  w.array();
  for (const support::ValueId v : values) {
    const ir::Type& t = g[v].fact.type;
    w.object().key("name").value(g[v].name).key("type").value(api::type_text(t));
    if (t.is_tensor()) {
      w.key("dtype").value(ir::name(t.elem));
      if (t.has_rank()) {
        w.key("shape").array();
        for (const ir::Dim d : *t.shape)
          d.is_literal() ? w.value(d.literal()) : d.is_symbol() && ir::is_fresh(d) ? w.null() : w.value(d.text());
        w.end();
      }
    }
    if (g[v].kind == ir::Value::Kind::region_input && g[v].weight) w.key("has_default").value(true);
    w.end();
  }
  w.end();
}

// The files that weights lie in, beside the model's own.
std::set<std::string> data_files(const ir::Graph& g) {
  std::set<std::string> out;
  for (uint32_t i = 0; i < g.value_capacity(); ++i)
    if (const ir::Value& v = g[support::ValueId(i)];
        v.kind != ir::Value::Kind::dead && v.weight && v.weight->file && !v.weight->file->location.empty())
      out.insert(v.weight->file->location);
  return out;
}

}  // namespace

std::string summary_json(Model model, const std::string& file) {
  ModelState state = ModelState::changed(std::move(model));
  infer_types(state);
  const ir::Model& m = state.model;
  const Stats s = stats_of(m);
  const ir::Graph& g = m.graph;
  json::Writer w;
  w.object();
  w.key("file").value(file).key("kind").value("onnx").key("ir_version").value(ir_version_of(state));
  w.key("opsets").object();
  for (const auto& [domain, v] : opsets_of(state)) w.key(domain.empty() ? "ai.onnx" : domain).value(v);
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
  for (const auto& [op, count] : s.operators) w.key(op).value(uint64_t{count});
  w.end();
  w.key("functions").value(uint64_t{m.functions.size()});
  w.key("tensors")
      .value(uint64_t{s.weights})
      .key("parameters")
      .value(s.parameters)
      .key("weight_bytes")
      .value(s.weight_bytes);
  w.key("data_files").array();
  for (const std::string& name : data_files(g)) w.value(name);
  w.end();
  w.key("macs");
  s.macs_are_known() ? w.raw(s.macs) : w.value(s.macs);
  w.key("macs_unknown_nodes").value(uint64_t{s.macs_unknown});
  w.key("peak_activation_bytes");
  s.activation_bytes ? w.value(*s.activation_bytes) : w.null();
  w.key("metadata").object();
  for (auto it = m.metadata.begin(); it != m.metadata.end(); ++it)
    if (std::none_of(it + 1, m.metadata.end(), [&](const auto& later) { return later.first == it->first; }))
      w.key(it->first).value(it->second);
  w.end();
  w.end();
  return w.text();
}

}  // namespace cameo
