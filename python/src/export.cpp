// Archives to models: everything cameo.export takes, on archives in files and in memory.
#include "cameo/export.h"

#include <nanobind/stl/string.h>

#include "cameo/opset.h"
#include "lowering.h"

namespace cameo::python {

namespace {

// [(address, bytes, sizes, strides, owner), ...] in the order of their placeholders.
BorrowedWeights borrowed(nb::handle stamp, nb::handle tensors) {
  BorrowedWeights out;
  if (tensors.is_none()) return out;
  out.stamp = nb::cast<uint64_t>(stamp);
  for (nb::handle t : tensors)
    out.tensors.push_back(
        {{keep(nb::borrow(t[4])), reinterpret_cast<const void*>(nb::cast<uintptr_t>(t[0])), nb::cast<size_t>(t[1])},
         int_list(t[2]),
         int_list(t[3])});
  return out;
}

void read_inputs(Options& o, ExportSettings& s) {
  s.inputs = o.texts("inputs");
  if (nb::object examples = o.object("examples"); !examples.is_none())  // [(name, dtype, sizes, number), ...]
    for (nb::handle x : examples)
      s.examples.push_back(
          {nb::cast<std::string>(x[0]), nb::cast<std::string>(x[1]), int_list(x[2]), nb::cast<std::string>(x[3])});
  s.input_names = o.texts("input_names");
  s.output_names = o.texts("output_names");
  if (nb::object axes = o.object("dynamic_axes"); !axes.is_none())
    for (nb::handle a : axes)
      s.dynamic_axes.push_back({nb::cast<std::string>(a[0]), nb::cast<int64_t>(a[1]), nb::cast<std::string>(a[2])});
  if (nb::object dims = o.object("rename_dims"); !dims.is_none())
    for (nb::handle entry : entries(dims))
      s.rename_dims.emplace_back(nb::cast<std::string>(entry[0]), nb::cast<std::string>(entry[1]));
}

void read_program(Options& o, ExportSettings& s) {
  static constexpr std::array<std::pair<const char*, Training>, 3> modes{
      {{"eval", Training::eval}, {"train", Training::train}, {"preserve", Training::preserve}}};
  static constexpr std::array<std::pair<const char*, Fallback>, 4> fallbacks{{{"none", Fallback::none},
                                                                              {"aten", Fallback::aten},
                                                                              {"all-aten", Fallback::all_aten},
                                                                              {"custom", Fallback::custom}}};
  s.method = o.text("method", "forward");
  s.training = o.choice("training", modes);
  s.fallback = o.choice("fallback", fallbacks);
  s.change_literals = o.flag("change_literals");
  s.unroll = o.flag("unroll");
  s.allow_frozen = o.flag("allow_frozen");
  s.state_outputs = o.flag("state_outputs");
  s.asserts = o.flag("asserts");
  s.assume = o.flag("may_assume", true);
  s.assumptions = o.texts("assumptions");
  s.types = o.texts("types");
  s.rules = o.text("rules");
  if (nb::object names = o.object("lowering_names"); !names.is_none())
    s.lowerings = lowerings(names, o.object("lowering"));
  nb::object stamp = o.object("lent_stamp");
  s.borrowed = borrowed(stamp, o.object("lent"));
}

ExportSettings read_settings(Options& o) {
  ExportSettings s;
  read_inputs(o, s);
  read_program(o, s);
  if (nb::object f = o.object("functions"); !f.is_none()) s.functions = text_list(f);
  s.keep_outputs = o.texts("keep_outputs");
  if (nb::object c = o.object("custom_opsets"); !c.is_none())
    for (nb::handle entry : entries(c)) s.custom_opsets[nb::cast<std::string>(entry[0])] = nb::cast<int64_t>(entry[1]);
  s.fold = o.flag("fold", true);
  s.simplify = o.flag("simplify", true);
  s.linger = o.flag("linger", true);
  s.params = o.flag("params", true);
  s.initializers_as_inputs = o.flag("initializers_as_inputs");
  s.number_params = o.flag("number_weights");
  s.doc_strings = o.flag("doc_strings");
  s.trace = o.flag("trace");
  s.lossy = o.flag("lossy");
  s.progress = progress_of(o.object("progress"));
  s.opset = static_cast<int>(o.integer("opset", opsets::standard));
  const int newest = o.flag("experimental") ? opsets::in_development : opsets::newest;
  if (s.opset < opsets::oldest || s.opset > newest)
    throw failure("use.value", "opset " + std::to_string(s.opset) + " cannot be written",
                  std::to_string(opsets::oldest) + " to " + std::to_string(newest));
  o.finish();
  return s;
}

// (the model, the recorded graph as text, the report as JSON); the last two where `trace` is asked for.
nb::tuple export_archive(nb::object source, const std::string& name, nb::dict given) {
  Options o(std::move(given));
  const ExportSettings settings = read_settings(o);
  const bool is_path = nb::isinstance<nb::str>(source);
  const std::string path = is_path ? nb::cast<std::string>(source) : name;
  const Buffer bytes = is_path ? Buffer() : buffer_of(source);
  Exported e = released([&] { return export_model(is_path ? load(path) : load_buffer(bytes, name), settings); });
  const std::string report = settings.trace ? report_json(e, {.source = path, .findings = e.findings}) : "";
  return nb::make_tuple(std::move(e.model), e.recorded, report);
}

}  // namespace

void bind_export(nb::module_& m) { m.def("export_archive", &export_archive); }

}  // namespace cameo::python
