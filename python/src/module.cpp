// cameo._cameo: the library for Python. The package around it (python/cameo) gives it the shape people know.
#include "bindings.h"
#include "cameo/opset.h"
#include "cameo/version.h"

NB_MODULE(_cameo, m) {
  using namespace cameo;
  nanobind::set_leak_warnings(false);  // what lives until the interpreter ends is no leak
  m.attr("__version__") = std::string(version).c_str();
  m.attr("newest_opset") = opsets::newest;
  python::bind_diag(m);
  python::bind_limits(m);
  python::bind_model(m);
  python::bind_verbs(m);
  python::bind_quantize(m);
  python::bind_lint(m);
  python::bind_prepare(m);
  python::bind_export(m);
  python::bind_lowering(m);
  python::bind_builder(m);  // after what it shares with lowerings
  python::bind_session(m);
  python::bind_view(m);
}
