// cameo.Model: reading, asking, writing.
#include "bindings.h"

#include <nanobind/stl/string.h>

#include "api/model_file.h"
#include "frontends/onnx/check.h"
#include "frontends/onnx/reader.h"
#include "ops/infer.h"
#include "ops/schema.h"
#include "ops/text/print.h"
#include "passes/statistics.h"

namespace cameo::python {

namespace {

PyModel* load(nb::handle source) {
  auto out = std::make_unique<PyModel>();
  DiagSink diags;
  if (nb::isinstance<nb::str>(source)) {
    const std::string path = nb::cast<std::string>(source);
    const Released released;
    out->model = load_model(path, diags);
  } else {
    const Bytes bytes = bytes_of(source);
    const Released released;
    out->model = read_onnx(bytes, "", diags);
  }
  out->findings = std::move(diags.all());
  return out.release();
}

WriteOptions write_options(const PyModel& m, nb::dict given) {
  Options o(std::move(given));
  WriteOptions w = m.write;
  if (const int64_t opset = o.integer("opset", 0)) {
    if (opset < 1 || opset > newest_opset)
      throw error("use.value", cat("there is no opset ", opset))
          .help(cat("the newest released is ", newest_released_opset));
    w.opset = opset;
  }
  const std::string weights = o.text("weights");
  if (weights == "embed") w.weights = WeightMode::embed;
  else if (weights == "external") w.weights = WeightMode::external;
  else if (weights == "in-place") w.weights = WeightMode::in_place;
  else if (weights == "auto") w.weights = WeightMode::automatic;
  else if (!weights.empty())
    throw error("use.value", cat("weights is one of auto, embed, external, in-place, not '", weights, "'"));
  w.external_name = o.text("external_name", w.external_name.c_str());
  w.lossy = o.flag("lossy", w.lossy);
  w.durable = o.flag("durable", w.durable);
  if (o.flag("value_info")) w.value_info = WriteOptions::ValueInfo::all;
  o.finish();
  return w;
}

nb::bytes to_bytes(const PyModel& m, nb::dict options) {
  WriteOptions w = write_options(m, std::move(options));
  if (w.weights == WeightMode::keep || w.weights == WeightMode::automatic) w.weights = WeightMode::embed;
  std::string data;
  {
    const Released released;
    data = write_onnx(m.model, w);
  }
  return nb::bytes(data.data(), data.size());
}

nb::list values(const Graph& g, const std::vector<ValueId>& ids) {
  nb::list out;
  for (const ValueId v : ids) {
    nb::tuple t = nb::borrow<nb::tuple>(type_of(g[v].fact.type));
    out.append(nb::make_tuple(name_text(g[v].name), t[0], t[1], t[2], t[3], g[v].weight != nullptr));
  }
  return out;
}

// Nodes in order: (name, domain, operator, inputs, outputs, where).
nb::list nodes(const PyModel& m) {
  const Graph& g = m.model.graph;
  const auto names = [&](const std::vector<ValueId>& ids) {
    nb::list out;
    for (const ValueId v : ids) out.append(name_text(!v ? "" : g[v].name.empty() ? cat("%", v.index) : g[v].name));
    return out;
  };
  nb::list out;
  for (const NodeId n : g.nodes(g.main()))
    out.append(nb::make_tuple(name_text(g[n].name), name_text(g[n].op->domain), name_text(g[n].op->name),
                              names(g[n].inputs), names(g[n].outputs),
                              name_text(g[n].notes ? g[n].notes->where.describe() : "")));
  return out;
}

nb::dict stats(const PyModel& m) {
  Model inferred = m.model;
  infer(inferred.graph, inferred.functions);
  const Statistics s = statistics(inferred);
  nb::dict ops, out;
  for (const OpCount& o : s.operators) ops[name_text(o.name)] = o.count;
  out["nodes"] = s.nodes;
  out["operators"] = ops;
  out["weights"] = s.weights;
  out["parameters"] = s.parameters;
  out["weight_bytes"] = s.weight_bytes;
  out["macs"] = s.macs.text();
  nb::list dims;
  for (const std::string& d : s.dims) dims.append(name_text(d));
  out["dims"] = dims;
  return out;
}

nb::dict initializers(const PyModel& m) {
  const Graph& g = m.model.graph;
  nb::dict out;
  for (const ValueId v : g[g.main()].initializers)
    if (g[v].weight)
      out[name_text(g[v].name)] = nb::make_tuple(std::string(name(g[v].weight->dtype)), [&] {
        nb::list shape;
        for (const int64_t n : g[v].weight->shape) shape.append(n);
        return nb::tuple(shape);
      }());
  return out;
}

nb::object weight(const PyModel& m, const std::string& wanted) {
  const Graph& g = m.model.graph;
  for (const ValueId v : g[g.main()].initializers)
    if (g[v].name == wanted && g[v].weight) return to_python(Datum(g[v].weight->dense()));
  throw error("edit.no-value", cat("the model has no weight '", wanted, "'"));
}

int64_t opset(const PyModel& m) {
  if (m.write.opset) return *m.write.opset;
  const auto it = m.model.opsets.find("");
  return it == m.model.opsets.end() ? 0 : it->second;
}

nb::dict metadata(const PyModel& m) {
  nb::dict out;
  for (const auto& [k, v] : m.model.metadata) out[name_text(k)] = name_text(v);
  return out;
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<PyModel>(m, "Model")
      .def("_inputs",
           [](const PyModel& p) { return values(p.model.graph, p.model.graph[p.model.graph.main()].inputs); })
      .def("_outputs",
           [](const PyModel& p) { return values(p.model.graph, p.model.graph[p.model.graph.main()].outputs); })
      .def("_nodes", &nodes)
      .def("_statistics", &stats)
      .def_prop_ro("opset", &opset)
      .def_prop_ro("opsets",
                   [](const PyModel& p) {
                     nb::dict out;
                     for (const auto& [domain, version] : p.model.opsets)
                       out[name_text(domain)] = domain.empty() ? opset(p) : version;
                     return out;
                   })
      .def_prop_ro("metadata", &metadata)
      .def_prop_ro("graph_name", [](const PyModel& p) { return name_text(p.model.graph[p.model.graph.main()].name); })
      .def_prop_ro("producer",
                   [](const PyModel& p) {
                     return name_text(cat(p.model.producer_name, p.model.producer_version.empty() ? "" : " ",
                                          p.model.producer_version));
                   })
      .def_prop_ro("node_count", [](const PyModel& p) { return p.model.graph.node_count(); })
      .def_prop_ro("findings", [](const PyModel& p) { return diag_list(p.findings); })
      .def("_initializers", &initializers)
      .def("weight", &weight, nb::arg("name"))
      .def("text", [](const PyModel& p) { return print_text(p.model); })
      .def("_save",
           [](const PyModel& p, const std::string& path, nb::dict options) {
             const WriteOptions w = write_options(p, std::move(options));
             const Released released;
             save_model(p.model, path, w);
           })
      .def("_bytes", &to_bytes)
      .def("_check", [](const PyModel& p) {
        std::vector<Diag> found;
        {
          const Released released;
          WriteOptions w = p.write;
          w.weights = WeightMode::embed;
          found = check_onnx(Bytes::own(write_onnx(p.model, w)), "");
        }
        return diag_list(found);
      });
  m.def("load", &load, nb::arg("source"));
  m.def("check_bytes", [](nb::handle data) {
    const Bytes bytes = bytes_of(data);
    std::vector<Diag> found;
    {
      const Released released;
      found = check_onnx(bytes, "");
    }
    return diag_list(found);
  });
  m.def("check_file", [](const std::string& path) {
    std::vector<Diag> found;
    {
      const Released released;
      found = check_onnx(load_onnx_bytes(path), path);
    }
    return diag_list(found);
  });
}

}  // namespace cameo::python
