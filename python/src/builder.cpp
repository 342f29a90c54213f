// cameo.Builder: models from nothing. What it shares with lowerings is in lowering.cpp.
#include <nanobind/stl/string.h>

#include "lowering.h"

namespace cameo::python {

namespace {

struct PyBuilder : HostGraph {
  explicit PyBuilder(std::unique_ptr<Builder> b) : HostGraph(*b), builder(std::move(b)) {}
  std::unique_ptr<Builder> builder;
};

nb::list var_list(const std::vector<Var>& values) {
  nb::list out;
  for (const Var v : values) out.append(nb::cast(v));
  return out;
}

std::vector<Var> vars(Builder& b, nb::handle values) {
  std::vector<Var> out;
  for (nb::handle v : values) out.push_back(operand(b, v));
  return out;
}

nb::list if_else(PyBuilder& p, Var condition, nb::callable then, nb::callable otherwise) {
  Builder& b = *p.builder;
  return var_list(b.if_else(
      condition, [&] { return vars(b, then()); }, [&] { return vars(b, otherwise()); }));
}

// body(counter, carried) gives (whether to go on or None, carried, gathered).
nb::list loop(PyBuilder& p, nb::handle count, nb::handle condition, nb::handle carried, nb::callable body) {
  Builder& b = *p.builder;
  return var_list(b.loop(
      operand(b, count), operand(b, condition), vars(b, carried), [&](Var counter, const std::vector<Var>& inside) {
        nb::object turn = body(counter, var_list(inside));
        return Builder::Turn{operand(b, turn[nb::int_(0)]), vars(b, turn[nb::int_(1)]), vars(b, turn[nb::int_(2)])};
      }));
}

}  // namespace

void bind_builder(nb::module_& m) {
  nb::class_<PyBuilder, HostGraph>(m, "Builder")
      .def("__init__",
           [](PyBuilder* self, const std::string& name) { new (self) PyBuilder(std::make_unique<Builder>(name)); })
      .def("input",
           [](PyBuilder& p, const std::string& name, const std::string& type) { return p.builder->input(name, type); })
      .def("weight", [](PyBuilder& p, const std::string& name,
                        nb::handle array) { return p.builder->weight(name, to_array(array)); })
      .def("output", [](PyBuilder& p, const std::string& name, Var v) { p.builder->output(name, v); })
      .def("set_value_type", [](PyBuilder& p, Var v, const std::string& type) { p.builder->set_type(v, type); })
      .def("if_else", &if_else)
      .def("loop", &loop, nb::arg("count").none(), nb::arg("condition").none(), nb::arg("carried"), nb::arg("body"))
      .def("text", [](const PyBuilder& p) { return name_text(p.builder->text()); })
      .def("model", [](const PyBuilder& p, int opset) { return p.builder->model(opset); });
}

}  // namespace cameo::python
