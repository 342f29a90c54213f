// cameo.limits: how much calls may take, as a context manager.
#include "cameo/limits.h"

#include "bindings.h"

namespace cameo::python {

namespace {

struct PyLimits {
  Limits limits;
  std::unique_ptr<LimitScope> scope;  // while it is entered
};

}  // namespace

void bind_limits(nb::module_& m) {
  nb::class_<PyLimits>(
      m, "limits", "with cameo.limits(seconds=10, memory=2 << 30): calls of this thread stop with cameo.Error beyond.")
      .def(
          "__init__",
          [](PyLimits* self, double seconds, uint64_t memory, int64_t turns, uint64_t steps) {
            if (!(seconds >= 0) || turns < 1 || steps < 1) throw failure("use.value", "limits are numbers above 0");
            new (self) PyLimits{{seconds, memory, turns, steps}, nullptr};
          },
          nb::kw_only(), nb::arg("seconds") = 0.0, nb::arg("memory") = uint64_t{0}, nb::arg("turns") = Limits().turns,
          nb::arg("steps") = Limits().steps)
      .def(
          "__enter__",
          [](PyLimits& self) -> PyLimits& {
            if (self.scope) throw failure("use.limits", "these limits are entered already");
            self.scope = std::make_unique<LimitScope>(self.limits);
            return self;
          },
          nb::rv_policy::reference)
      .def("__exit__", [](PyLimits& self, nb::args) { self.scope.reset(); });
}

}  // namespace cameo::python
