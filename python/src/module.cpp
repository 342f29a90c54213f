// cameo._cameo: the library for Python. The package around it (python/cameo) gives it the shape people know.
#include "bindings.h"

#include "cameo/version.h"
#include "engine/session.h"
#include "ops/schema.h"

NB_MODULE(_cameo, m) {
  using namespace cameo;
  using namespace cameo::api;
  nanobind::set_leak_warnings(false);  // what lives until the interpreter ends is no leak
  m.attr("__version__") = std::string(version).c_str();
  m.attr("newest_opset") = int64_t{newest_released_opset};
  m.def("onednn_version", [] { return nanobind::str(onednn_version().c_str()); });
  python::bind_diag(m);
  python::bind_limits(m);
  python::bind_model(m);
  python::bind_verbs(m);
  python::bind_export(m);
  python::bind_builder(m);
  python::bind_session(m);
}
