// The graph as lowerings written in Python see it: values with what is known of them, and one way to add nodes.
#include "lowering.h"

#include <nanobind/stl/string.h>

namespace cameo::python {

NodeBuilder& HostGraph::graph() const {
  if (!graph_) throw failure("use.lowering", "the graph of a lowering is used after the lowering ended");
  return *graph_;
}

Var operand(NodeBuilder& g, nb::handle h) {
  if (h.is_none()) return {};
  if (nb::isinstance<Var>(h)) return nb::cast<Var&>(h);
  const char* type = nb::isinstance<nb::bool_>(h)    ? "bool"
                     : nb::isinstance<nb::int_>(h)   ? "i64"
                     : nb::isinstance<nb::float_>(h) ? "f32"
                                                     : "";
  return g.constant(to_array(h, type));
}

namespace {

bool is_list(nb::handle v) { return nb::isinstance<nb::list>(v) || nb::isinstance<nb::tuple>(v); }

std::string string_of(nb::handle v) {
  return nb::isinstance<nb::bytes>(v) ? std::string(nb::cast<nb::bytes>(v).c_str(), nb::cast<nb::bytes>(v).size())
                                      : nb::cast<std::string>(nb::str(v));
}
double double_of(nb::handle v) { return nb::cast<double>(nb::float_(v)); }
int64_t int_of(nb::handle v) { return nb::cast<int64_t>(nb::int_(v)); }

Array array_of(nb::handle v) {
  const SharedArray a = to_array(v);
  if (a.dtype == "str") throw failure("use.lowering", "an attribute cannot be an array of strings");
  const auto* bytes = static_cast<const std::byte*>(a.memory.data);
  Array out;
  out.dtype = a.dtype;
  out.shape = a.shape;
  out.bytes.assign(bytes, bytes + a.memory.size);
  return out;
}

// torch's suffix of an attribute's name; where there is none, what its value tells.
char kind_of(const std::string& suffix, nb::handle v) {
  if (!suffix.empty()) return suffix == "z" ? 't' : suffix[0];
  if (is_list(v) && nb::len(v) == 0) return 'i';
  nb::object first = is_list(v) ? nb::object(v[nb::int_(0)]) : nb::borrow(v);
  if (nb::isinstance<nb::bool_>(first) || nb::isinstance<nb::int_>(first)) return 'i';
  if (nb::isinstance<nb::float_>(first)) return 'f';
  if (nb::isinstance<nb::str>(first) || nb::isinstance<nb::bytes>(first)) return 's';
  return 't';
}

template <class F>
Attribute numbers_or_texts(const std::string& name, nb::handle v, F read) {
  if (!is_list(v)) return {name, read(v)};
  std::vector<decltype(read(v))> all;
  for (nb::handle item : v) all.push_back(read(item));
  return {name, std::move(all)};
}

Attribute attribute(const std::string& name, const std::string& suffix, nb::handle v) {
  switch (kind_of(suffix, v)) {
    case 'i': return numbers_or_texts(name, v, int_of);
    case 'f': return numbers_or_texts(name, v, double_of);
    case 's': return numbers_or_texts(name, v, string_of);
    default: return {name, array_of(v)};
  }
}

nb::list add(HostGraph& host, const std::string& domain, const std::string& op, nb::list inputs, nb::list attrs,
             size_t outputs, int opset) {
  NodeBuilder& g = host.graph();
  std::vector<Var> in;
  for (nb::handle h : inputs) in.push_back(operand(g, h));
  std::vector<Attribute> given;
  for (nb::handle a : attrs) given.push_back(attribute(nb::cast<std::string>(a[0]), nb::cast<std::string>(a[1]), a[2]));
  nb::list out;
  for (const Var v :
       g.op_outputs(outputs, domain.empty() ? op : domain + "." + op, std::move(in), std::move(given), opset))
    out.append(nb::cast(v));
  return out;
}

// Sets the type of a foreign operator's value, which cannot be inferred. Sizes that are not numbers are unknown.
void set_type(HostGraph& host, Var v, const std::string& dtype, nb::object sizes) {
  std::string text;
  if (sizes.is_none()) text = "...";
  else
    for (nb::handle h : sizes)
      text += (text.empty() ? "" : ",") +
              (nb::isinstance<nb::int_>(h) ? nb::cast<std::string>(nb::str(h)) : std::string("?"));
  host.graph().set_type(v, dtype + "[" + text + "]");
}

// Values are asked for only while their own graph is there.
void require_own(const HostGraph& host, Var v) {
  if (&v.owner() != &host.graph()) throw failure("use.lowering", "a value of another graph is used");
}

nb::object type_of(HostGraph& host, Var v) {
  require_own(host, v);
  return nb::make_tuple(v.dtype(), size_list(v.shape()));
}

nb::object contents(HostGraph& host, Var v) {
  require_own(host, v);
  const auto known = v.constant();
  return known ? to_python(*known) : nb::none();
}

nb::object to_host(const LoweringValue& v) {
  return std::visit(
      [](const auto& c) -> nb::object {
        using T = std::decay_t<decltype(c)>;
        if constexpr (std::is_same_v<T, std::monostate>) return nb::none();
        else if constexpr (std::is_same_v<T, std::string>) return nb::str(c.c_str(), c.size());
        else if constexpr (std::is_same_v<T, LoweringValue::List>) {
          nb::list out;
          for (const LoweringValue& item : c) out.append(to_host(item));
          return std::move(out);
        } else return nb::cast(c);
      },
      v.content);
}

LoweringValue from_host(NodeBuilder& g, nb::handle h) {
  if (!nb::isinstance<nb::list>(h)) return operand(g, h);
  LoweringValue::List items;
  for (nb::handle item : h) items.push_back(from_host(g, item));
  return items;
}

std::vector<LoweringValue> call_python(nb::handle function, NodeBuilder& g, const LoweringCall& call) {
  nb::gil_scoped_acquire gil;
  nb::object graph = nb::cast(HostGraph(g));
  struct Ending {  // also where the function raises: the traceback holds its graph
    HostGraph& host;
    ~Ending() { host.end(); }
  } ending{nb::cast<HostGraph&>(graph)};
  nb::list positional;
  nb::dict keywords;
  for (const LoweringValue& v : call.arguments) positional.append(to_host(v));
  for (const auto& [key, v] : call.keywords) keywords[key.c_str()] = to_host(v);
  std::vector<LoweringValue> out;
  nb::object result = function(graph, nb::str(call.op.c_str()), positional, keywords, call.has_signature);
  if (nb::isinstance<nb::tuple>(result))
    for (nb::handle r : result) out.push_back(from_host(g, r));
  else out.push_back(from_host(g, result));
  return out;
}

}  // namespace

Lowerings lowerings(nb::handle names, nb::handle function) {
  Lowerings out;
  for (nb::handle n : names) out.names.insert(nb::cast<std::string>(n));
  out.call = [function](NodeBuilder& g, const LoweringCall& call) { return call_python(function, g, call); };
  return out;
}

void bind_lowering(nb::module_& m) {
  nb::class_<Var>(m, "HostValue")
      .def_prop_ro("id", &Var::number)
      .def("__eq__", [](Var a, nb::handle b) { return nb::isinstance<Var>(b) && nb::cast<Var&>(b) == a; })
      .def("__hash__", &Var::number);
  nb::class_<HostGraph>(m, "HostGraph")
      .def("add", &add)
      .def("type", &type_of)
      .def("set_type", &set_type, nb::arg(), nb::arg(), nb::arg().none())
      .def("constant", [](HostGraph& g, nb::handle array) { return g.graph().constant(to_array(array)); })
      .def("contents", &contents);
}

}  // namespace cameo::python
