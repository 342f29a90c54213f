// Running models. The interpreter lock is given up while they run.
#include "bindings.h"

#include <nanobind/stl/string.h>

#include "engine/session.h"
#include "formats/mapped_file.h"
#include "ops/inline.h"
#include "runtime/compare.h"
#include "runtime/watch.h"

namespace cameo::python {

namespace {

struct PySession {
  std::unique_ptr<Session> session;
  std::vector<std::string> kept;  // names of inner values that runs give after the outputs
};

void make(PySession* self, const PyModel& m, nb::dict given) {
  Options o(std::move(given));
  SessionOptions options;
  options.threads = narrow<int>(o.integer("threads", 0));
  options.fast = !o.flag("reference");
  options.seed = static_cast<uint64_t>(o.integer("seed", 0));
  const auto patterns = o.texts("keep_outputs");
  o.finish();
  PySession made;
  {
    const Released released;
    if (!patterns.empty())
      for (const ValueId v : matching_values(m.model.graph, patterns)) {
        options.keep.push_back(v);
        made.kept.push_back(m.model.graph[v].name);
      }
    made.session = std::make_unique<Session>(m.model, options);
  }
  new (self) PySession(std::move(made));
}

nb::list run(const PySession& self, nb::list feeds, bool profile, nb::object steps) {
  const Graph& g = self.session->graph();
  const auto& params = g[g.main()].inputs;
  std::vector<Datum> in;
  size_t i = 0;
  for (nb::handle feed : feeds) {
    const DType wanted = i < params.size() ? g[params[i]].fact.type.elem : DType::undefined;
    in.push_back(
        to_datum(feed, g[params[std::min(i, params.size() - 1)]].fact.type.is_tensor() ? wanted : DType::undefined));
    ++i;
  }
  std::vector<Datum> out;
  std::vector<StepTime> times;
  {
    const Released released;
    out = self.session->run(in, profile ? &times : nullptr);
    require_whole_files();
  }
  for (const StepTime& t : times) steps.attr("append")(nb::make_tuple(t.node, t.op, t.kernel, t.start_us, t.length_us));
  nb::list results;
  for (const Datum& d : out) results.append(to_python(d));
  return results;
}

nb::tuple compare_arrays(nb::handle a, nb::handle b, nb::object rtol, nb::object atol) {
  Tolerance t;
  if (!rtol.is_none()) t.rtol = nb::cast<double>(rtol);
  if (!atol.is_none()) t.atol = nb::cast<double>(atol);
  const Comparison c = compare(to_datum(a), to_datum(b), t);
  return nb::make_tuple(c.same, c.why, c.differing, c.worst);
}

}  // namespace

void bind_session(nb::module_& m) {
  nb::class_<PySession>(m, "Session")
      .def("__init__", &make)
      .def("_run", &run, nb::arg("feeds"), nb::arg("profile") = false, nb::arg("steps") = nb::none())
      .def_prop_ro("threads", [](const PySession& s) { return s.session->threads(); })
      .def_prop_ro("kept",
                   [](const PySession& s) {
                     nb::list out;
                     for (const std::string& k : s.kept) out.append(name_text(k));
                     return out;
                   })
      .def("_memory", [](const PySession& s) {
        const MemoryUse u = s.session->memory();
        return nb::make_tuple(u.arena, u.weights);
      });
  m.def("compare", &compare_arrays, nb::arg("a"), nb::arg("b"), nb::arg("rtol") = nb::none(),
        nb::arg("atol") = nb::none());
}

}  // namespace cameo::python
