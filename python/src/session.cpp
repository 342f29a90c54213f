// Running models. The interpreter lock is given up while they run.
#include "cameo/session.h"

#include <nanobind/stl/string.h>

#include "bindings.h"
#include "own_kernels.h"

namespace cameo::python {

namespace {

struct PySession {
  Session session;
  std::vector<std::string> wanted;  // for each input: its element type; empty: it is not an array
};

void make(PySession* self, const Model& model, nb::dict given) {
  Options o(std::move(given));
  SessionSettings settings;
  settings.threads = static_cast<int>(o.integer("threads", 0));
  settings.reference = o.flag("reference");
  settings.seed = static_cast<uint64_t>(o.integer("seed", 0));
  settings.keep_outputs = o.texts("keep_outputs");
  settings.kernels = kernels_of(o.object("kernels"));
  o.finish();
  std::vector<std::string> wanted;
  for (const Value& v : model.graph().inputs()) wanted.push_back(v.dtype());
  new (self) PySession{released([&] { return Session(model, settings); }), std::move(wanted)};
}

nb::list run(const PySession& self, nb::list feeds, bool profile, nb::object steps) {
  std::vector<RunValue> in;
  for (nb::handle feed : feeds)
    in.push_back(to_value(feed, in.size() < self.wanted.size() ? self.wanted[in.size()] : ""));
  std::vector<Step> times;
  const auto out = released([&] { return self.session.run_values(in, profile ? &times : nullptr); });
  for (const Step& t : times) steps.attr("append")(nb::make_tuple(t.node, t.op, t.kernel, t.start_us, t.length_us));
  nb::list results;
  for (const RunValue& v : out) results.append(result_to_python(v));
  return results;
}

}  // namespace

void bind_session(nb::module_& m) {
  nb::class_<PySession>(m, "Session")
      .def("__init__", &make)
      .def("_run", &run, nb::arg("feeds"), nb::arg("profile") = false, nb::arg("steps") = nb::none())
      .def_prop_ro("threads", [](const PySession& s) { return s.session.threads(); })
      .def_prop_ro("names", [](const PySession& s) { return name_list(s.session.result_names()); });
}

}  // namespace cameo::python
