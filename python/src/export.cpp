// Archives to models: everything `cameo export` takes, on archives in files and in memory.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "api/export_archive.h"
#include "api/export_report.h"
#include "builder.h"
#include "formats/mapped_file.h"
#include "frontends/onnx/check.h"
#include "ops/schema.h"

namespace cameo::python {

namespace {

std::vector<staging::Value> call_python(nb::handle function, staging::Stager& s, const std::string& op,
                                        const Schema* schema, const staging::CallArgs& args) {
  nb::gil_scoped_acquire gil;
  nb::object graph = nb::cast(HostGraph(s));
  auto& host = nb::cast<HostGraph&>(graph);
  nb::list positional;
  nb::dict keywords;
  for (size_t i = 0; i < args.positional.size(); ++i) positional.append(to_host(s, args.positional[i]));
  for (const auto& [key, value] : args.keywords) keywords[std::string(key).c_str()] = to_host(s, value);
  nb::list names;
  if (schema)
    for (const auto& p : schema->params) names.append(nb::str(p.name.c_str()));
  std::vector<staging::Value> out;
  nb::object result = function(graph, nb::str(op.c_str()), positional, keywords, names);
  if (nb::isinstance<nb::tuple>(result))
    for (nb::handle r : result) out.push_back(from_host(host, r));
  else out.push_back(from_host(host, result));
  host.end();
  return out;
}

std::shared_ptr<const staging::HostLowerings> lowerings(nb::object names, nb::object function) {
  if (names.is_none() || nb::len(names) == 0) return nullptr;
  auto out = std::make_shared<staging::HostLowerings>();
  for (nb::handle n : names) out->names.insert(nb::cast<std::string>(n));
  // The export ends before its caller, who holds the function.
  out->call = [f = function.ptr()](staging::Stager& s, const std::string& op, const Schema* schema,
                                   const staging::CallArgs& args) { return call_python(f, s, op, schema, args); };
  return out;
}

// [(address, bytes, sizes, strides, owner), ...] in the order of their placeholders.
std::shared_ptr<const staging::LentWeights> lent(uint64_t stamp, nb::object tensors) {
  if (tensors.is_none()) return nullptr;
  auto out = std::make_shared<staging::LentWeights>();
  out->stamp = stamp;
  for (nb::handle t : tensors) {
    staging::LentWeights::Lent l;
    PyObject* owner = nb::borrow(t[4]).release().ptr();
    std::shared_ptr<const void> keep(owner, [](const void* p) {
      if (!nb::is_alive()) return;
      nb::gil_scoped_acquire gil;
      Py_DECREF(static_cast<PyObject*>(const_cast<void*>(p)));
    });
    l.storage =
        Bytes(std::move(keep), {reinterpret_cast<const std::byte*>(nb::cast<uintptr_t>(t[0])), nb::cast<size_t>(t[1])});
    for (nb::handle n : t[2]) l.sizes.push_back(nb::cast<int64_t>(n));
    for (nb::handle n : t[3]) l.strides.push_back(nb::cast<int64_t>(n));
    out->tensors.push_back(std::move(l));
  }
  return out;
}

staging::Fallback fallback_of(const std::string& v) {
  using enum staging::Fallback;
  if (v.empty() || v == "none") return none;
  if (v == "aten") return aten;
  if (v == "all-aten") return all_aten;
  if (v == "custom") return custom;
  throw error("use.value", cat("fallback is one of none, aten, all-aten, custom, not '", v, "'"));
}

void read_staging(Options& o, ExportOptions& e) {
  for (const std::string& text : o.texts("inputs")) e.inputs.push_back(parse_input_spec(text));
  if (nb::object examples = o.object("examples"); !examples.is_none())  // [(name, dtype, sizes, number), ...]
    for (nb::handle x : examples) {
      const auto dtype = dtype_from_name(nb::cast<std::string>(x[1]));
      if (!dtype) throw error("use.input", cat("'", nb::cast<std::string>(x[1]), "' is no element type"));
      ExampleInput given{nb::cast<std::string>(x[0]), *dtype, {}, nb::cast<std::string>(x[3])};
      for (nb::handle n : x[2]) given.sizes.push_back(nb::cast<int64_t>(n));
      e.examples.push_back(std::move(given));
    }
  e.input_names = o.texts("input_names");
  e.output_names = o.texts("output_names");
  if (nb::object axes = o.object("dynamic_axes"); !axes.is_none())
    for (nb::handle a : axes)
      e.dynamic_axes.push_back({nb::cast<std::string>(a[0]), nb::cast<int64_t>(a[1]), nb::cast<std::string>(a[2])});
  if (nb::object dims = o.object("rename_dims"); !dims.is_none())
    for (auto [from, to] : nb::cast<nb::dict>(dims))
      e.rename_dims.emplace_back(nb::cast<std::string>(from), nb::cast<std::string>(to));
  e.method = o.text("method", "forward");
  e.allow_frozen = o.flag("allow_frozen");
  e.state_outputs = o.flag("state_outputs");
  e.stage.asserts = o.flag("asserts");
  e.stage.assume = o.flag("may_assume", true);
  e.stage.assumptions = o.texts("assumptions");
  const std::string training = o.text("training", "eval");
  if (training != "preserve") e.stage.training = training == "train";
  e.stage.change_literals = o.flag("change_literals");
  e.stage.unroll = o.flag("unroll");
  e.stage.fold = o.flag("fold", true);
  e.stage.weights_as_inputs = !o.flag("params", true);
  e.stage.fallback = fallback_of(o.text("fallback"));
  e.stage.host = lowerings(o.object("lowering_names"), o.object("lowering"));
  const uint64_t stamp = nb::cast<uint64_t>([&] {
    nb::object s = o.object("lent_stamp");
    return s.is_none() ? nb::object(nb::int_(0)) : s;
  }());
  e.stage.lent = lent(stamp, o.object("lent"));
}

ArchiveExport read_request(Options& o) {
  ArchiveExport how;
  read_staging(o, how.options);
  how.rules = o.text("rules");
  if (nb::object f = o.object("functions"); !f.is_none()) {
    how.functions.emplace();
    for (nb::handle name : f) how.functions->push_back(nb::cast<std::string>(name));
  }
  how.keep_outputs = o.texts("keep_outputs");
  if (nb::object c = o.object("custom_opsets"); !c.is_none())
    for (auto [domain, version] : nb::cast<nb::dict>(c))
      how.custom_opsets[nb::cast<std::string>(domain)] = nb::cast<int64_t>(version);
  how.simplify = o.flag("simplify", true);
  how.doc_strings = o.flag("doc_strings");
  how.number_weights = o.flag("number_weights");
  how.trace = o.flag("trace");
  if (nb::object c = o.object("command"); !c.is_none()) how.command = nb::cast<std::string>(c);
  const int64_t opset = o.integer("opset", 18), newest = o.flag("experimental") ? newest_opset : newest_released_opset;
  if (opset < 7 || opset > newest)
    throw error("use.value", cat("opset ", opset, " cannot be written")).help(cat("7 to ", newest));
  how.write.opset = opset;
  how.write.weights = WeightMode::automatic;
  how.write.initializers_as_inputs = o.flag("initializers_as_inputs");
  how.write.lossy = o.flag("lossy");
  o.finish();
  return how;
}

nb::tuple export_model(nb::object source, const std::string& name, nb::dict given) {
  Options o(std::move(given));
  const ArchiveExport how = read_request(o);
  const bool is_path = nb::isinstance<nb::str>(source);
  const std::string path = is_path ? nb::cast<std::string>(source) : name;
  const Bytes file = is_path ? map_file(path) : bytes_of(source);
  auto out = std::make_unique<PyModel>();
  std::string recorded, report;
  {
    const Released released;
    DiagSink sink;
    Exported e = export_archive(file, path, how, sink);
    recorded = std::move(e.recorded);
    if (how.trace) report = report_json(e, {path, "", how.command.value_or(""), *how.write.opset, 0, sink.all(), {}});
    out->model = std::move(e.model);
    out->write = how.write;
    out->findings = std::move(sink.all());
  }
  return nb::make_tuple(nb::cast(out.release(), nb::rv_policy::take_ownership), recorded, report);
}

}  // namespace

void bind_export(nb::module_& m) { m.def("export_archive", &export_model); }

}  // namespace cameo::python
