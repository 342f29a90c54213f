// cameo.Model: reading, asking, writing.
#include "cameo/model.h"

#include <nanobind/stl/string.h>

#include "bindings.h"
#include "cameo/check.h"
#include "cameo/export.h"
#include "cameo/stats.h"

namespace cameo::python {

namespace {

// An ONNX model from a path or a buffer; archives are for cameo.export.
Model load_model(nb::handle source) {
  const bool is_path = nb::isinstance<nb::str>(source);
  const std::string path = is_path ? nb::cast<std::string>(source) : "";
  const Buffer bytes = is_path ? Buffer() : buffer_of(source);
  Model m = released([&] { return is_path ? load(path) : load_buffer(bytes); });
  if (m.is_archive())
    throw failure("use.archive", (is_path ? path : "this") + " is a PyTorch archive; an ONNX model is needed",
                  is_path ? "cameo.export('" + path + "') makes one" : "cameo.export makes one of a file");
  return m;
}

SaveSettings save_settings(nb::dict given) {
  static constexpr std::array<std::pair<const char*, Weights>, 5> modes{{{"", Weights::keep},
                                                                         {"auto", Weights::automatic},
                                                                         {"embed", Weights::embed},
                                                                         {"external", Weights::external},
                                                                         {"in-place", Weights::in_place}}};
  Options o(std::move(given));
  SaveSettings s;
  s.opset = static_cast<int>(o.integer("opset", 0));
  s.weights = o.choice("weights", modes);
  s.external_name = o.text("external_name");
  s.lossy = o.flag("lossy");
  s.durable = o.flag("durable");
  o.finish();
  return s;
}

nb::bytes to_bytes(const Model& m, nb::dict options) {
  const SaveSettings settings = save_settings(std::move(options));
  const std::string data = released([&] { return m.bytes(settings); });
  return nb::bytes(data.data(), data.size());
}

// (name, element type, sizes, ONNX's type, whether it has a default) of each.
nb::list values(const std::vector<Value>& all) {
  nb::list out;
  for (const Value& v : all)
    out.append(
        nb::make_tuple(name_text(v.name()), v.dtype(), size_list(v.shape()), v.onnx_type(), v.weight().has_value()));
  return out;
}

nb::list labels(const std::vector<Value>& all) {
  nb::list out;
  for (const Value& v : all) out.append(name_text(v.present() ? v.label() : ""));
  return out;
}

// Nodes in order: (name, domain, operator, inputs, outputs, where).
nb::list nodes(const Model& m) {
  nb::list out;
  for (const Node& n : m.nodes())
    out.append(nb::make_tuple(name_text(n.name()), name_text(n.domain()), name_text(n.op()), labels(n.inputs()),
                              labels(n.outputs()), name_text(n.where().describe())));
  return out;
}

template <class Map, class F>
nb::dict by_name(const Map& entries, F value) {
  nb::dict out;
  for (const auto& [key, v] : entries) out[name_text(key)] = value(v);
  return out;
}

nb::dict statistics(const Model& m) {
  const Stats s = stats(m);
  nb::dict operators, out;
  for (const auto& [op, count] : s.operators) operators[name_text(op)] = count;
  out["nodes"] = s.nodes;
  out["operators"] = operators;
  out["weights"] = s.weights;
  out["parameters"] = s.parameters;
  out["weight_bytes"] = s.weight_bytes;
  out["bytes_by_dtype"] = by_name(s.bytes_by_dtype, [](uint64_t v) { return nb::int_(v); });
  out["macs"] = s.macs;
  out["macs_unknown"] = s.macs_unknown;
  out["activation_bytes"] = s.activation_bytes ? nb::object(nb::int_(*s.activation_bytes)) : nb::none();
  out["dims"] = name_list(s.dims);
  return out;
}

nb::dict initializers(const Model& m) {
  nb::dict out;
  for (const Value& v : m.graph().weights())
    if (const auto w = v.weight()) {
      nb::list shape;
      for (const int64_t n : w->shape()) shape.append(n);
      out[name_text(v.name())] = nb::make_tuple(w->dtype(), nb::tuple(shape));
    }
  return out;
}

nb::object weight(const Model& m, const std::string& wanted) {
  for (const Value& v : m.graph().weights())
    if (v.name() == wanted)
      if (const auto w = v.weight()) return to_python(w->shared());
  throw failure("edit.no-value", "the model has no weight '" + wanted + "'");
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<Model>(m, "Model")
      .def("_inputs", [](const Model& p) { return values(p.graph().inputs()); })
      .def("_outputs", [](const Model& p) { return values(p.graph().outputs()); })
      .def("_nodes", &nodes)
      .def("_statistics", &statistics)
      .def_prop_ro("opset", [](const Model& p) { return p.opset(); })
      .def_prop_ro("opsets", [](const Model& p) { return by_name(p.opsets(), [](int v) { return nb::int_(v); }); })
      .def_prop_ro("metadata",
                   [](const Model& p) { return by_name(p.metadata(), [](const auto& v) { return name_text(v); }); })
      .def_prop_ro("graph_name", [](const Model& p) { return name_text(p.graph().name()); })
      .def_prop_ro("producer", [](const Model& p) { return name_text(p.producer()); })
      .def_prop_ro("node_count", &Model::node_count)
      .def_prop_ro("findings", [](const Model& p) { return diag_list(p.findings()); })
      .def("_initializers", &initializers)
      .def("weight", &weight, nb::arg("name"))
      .def("text", [](const Model& p) { return name_text(p.text()); })
      .def("_save",
           [](const Model& p, const std::string& path, nb::dict options) {
             const SaveSettings settings = save_settings(std::move(options));
             released([&] { p.save(path, settings); });
           })
      .def("_save_checked",
           [](const Model& p, const std::string& path, nb::dict options) {
             const SaveSettings settings = save_settings(std::move(options));
             return diag_list(released([&] { return save_checked(p, path, settings); }));
           })
      .def("_bytes", &to_bytes)
      .def("_check", [](const Model& p, bool types, bool strict) {
        return diag_list(released([&] { return check(p, {.types = types, .strict = strict}); }));
      });
  m.def("load", &load_model, nb::arg("source"));
  m.def("check_bytes", [](nb::handle data, bool types, bool strict) {
    const Buffer bytes = buffer_of(data);
    return diag_list(released([&] { return check(bytes, {.types = types, .strict = strict}); }));
  });
  m.def("check_file", [](const std::string& path, bool types, bool strict) {
    return diag_list(released([&] { return check(path, {.types = types, .strict = strict}); }));
  });
}

}  // namespace cameo::python
