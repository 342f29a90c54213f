// The graph as lowerings written in Python see it: values with what is known of them, and one way to add nodes.
#include "builder.h"

#include <nanobind/stl/string.h>

#include "frontends/text/parse.h"
#include "ir/clone.h"
#include "ops/infer.h"
#include "ops/schema.h"
#include "passes/edit.h"

namespace cameo::python {

namespace {

using staging::Stager;
using StagedValue = staging::Value;

AttrKind kind_from(const std::string& suffix, nb::handle v) {
  const bool list = (nb::isinstance<nb::list>(v) || nb::isinstance<nb::tuple>(v));
  nb::object first = list && nb::len(v) ? nb::object(v[nb::int_(0)]) : nb::borrow(v);
  if (suffix == "i") return list ? AttrKind::ints : AttrKind::integer;
  if (suffix == "f") return list ? AttrKind::floats : AttrKind::floating;
  if (suffix == "s") return list ? AttrKind::strings : AttrKind::string;
  if (suffix == "t" || suffix == "z") return AttrKind::tensor;
  if (nb::isinstance<nb::bool_>(first) || nb::isinstance<nb::int_>(first))
    return list ? AttrKind::ints : AttrKind::integer;
  if (nb::isinstance<nb::float_>(first)) return list ? AttrKind::floats : AttrKind::floating;
  if (nb::isinstance<nb::str>(first) || nb::isinstance<nb::bytes>(first))
    return list ? AttrKind::strings : AttrKind::string;
  return AttrKind::tensor;
}

std::string string_of(nb::handle v) {
  return nb::isinstance<nb::bytes>(v) ? std::string(nb::cast<nb::bytes>(v).c_str(), nb::cast<nb::bytes>(v).size())
                                      : nb::cast<std::string>(nb::str(v));
}
double double_of(nb::handle v) { return nb::cast<double>(nb::float_(v)); }
int64_t int_of(nb::handle v) { return nb::cast<int64_t>(nb::int_(v)); }

AttrValue value_of(AttrKind kind, nb::handle v) {
  const auto many = [&](auto read) {
    std::vector<decltype(read(v))> out;
    if (nb::isinstance<nb::list>(v) || nb::isinstance<nb::tuple>(v))
      for (nb::handle item : v) out.push_back(read(item));
    else out.push_back(read(v));
    return out;
  };
  switch (kind) {
    case AttrKind::integer: return int_of(v);
    case AttrKind::floating: return static_cast<float>(double_of(v));
    case AttrKind::string: return string_of(v);
    case AttrKind::ints: return many(int_of);
    case AttrKind::floats: return many([](nb::handle h) { return static_cast<float>(double_of(h)); });
    case AttrKind::strings: return many(string_of);
    case AttrKind::tensor: return to_tensor(v);
    default: throw error("use.lowering", cat("an attribute of the kind ", name(kind), " cannot be given from Python"));
  }
}

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string float_text(float f) {
  const std::string t = cat(static_cast<double>(f));
  return t.find_first_of(".en") == t.npos ? t + ".0" : t;
}

std::string attr_text(const AttrValue& v) {
  const auto list = [](const auto& items, auto text) {
    std::string out = "[";
    for (const auto& i : items) out += cat(out.size() > 1 ? ", " : "", text(i));
    return out + "]";
  };
  const auto number = [](int64_t i) { return cat(i); };
  if (const auto* i = std::get_if<int64_t>(&v)) return number(*i);
  if (const auto* f = std::get_if<float>(&v)) return float_text(*f);
  if (const auto* s = std::get_if<std::string>(&v)) return quoted(*s);
  if (const auto* is = std::get_if<std::vector<int64_t>>(&v)) return list(*is, number);
  if (const auto* fs = std::get_if<std::vector<float>>(&v)) return list(*fs, float_text);
  if (const auto* ss = std::get_if<std::vector<std::string>>(&v)) return list(*ss, quoted);
  throw error("use.lowering", "a tensor cannot be an attribute of an operator in an older form");
}

bool changed_since(const OpDef& op, int64_t opset) {
  for (const Revision& r : op.rules.revisions)
    if (r.version > opset && r.up) return true;
  return op.newest().since > opset && op.at(opset) == nullptr;
}

struct Attr {
  std::string name, suffix;
  nb::object value;
};

// Writes the node as a file of that opset would have it, and reads it as any file is read.
std::vector<ValueId> emit_old(Stager& s, const std::string& op, const std::vector<ValueId>& inputs,
                              const std::vector<Attr>& attrs, size_t outputs, int64_t opset) {
  std::string formals, operands, results, list;
  std::vector<ValueId> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands += cat(i ? ", " : "", inputs[i] ? cat("in", i) : "\"\"");
    if (!inputs[i]) continue;
    formals += cat(formals.empty() ? "" : ", ", "in", i);
    given.push_back(inputs[i]);
  }
  for (size_t i = 0; i < outputs; ++i) results += cat(i ? ", " : "", "out", i);
  for (const Attr& a : attrs)
    list += cat(list.empty() ? "" : ", ", a.name, " = ", attr_text(value_of(kind_from(a.suffix, a.value), a.value)));
  DiagSink diags;
  const std::string text = cat("<ir_version: 8, opset_import: [\"\" : ", opset,
                               ", \"host\" : 1]> m () => () {} <domain: \"host\", opset_import: [\"\" : ", opset,
                               "]> f (", formals, ") => (", results, ") { ", results, " = ", op,
                               list.empty() ? "" : cat("<", list, ">"), " (", operands, ") }");
  const Model m = parse_text(text, cat("the lowering's ", op), diags);
  CloneOptions how;
  how.keep_names = false;
  const uint32_t first = s.graph.node_capacity();
  auto out = clone_body(m.graph, m.functions.at(0).body, s.graph, given, s.on.region(), {}, how);
  for (uint32_t i = first; i < s.graph.node_capacity(); ++i) {
    if (s.graph[NodeId(i)].home == s.on.region()) infer_node(s.graph, NodeId(i));
    if (s.on.on_node) s.on.on_node(NodeId(i));
  }
  return out;
}

std::vector<ValueId> emit(Stager& s, const std::string& domain, const std::string& op, std::vector<ValueId> inputs,
                          const std::vector<Attr>& attrs, size_t outputs, int64_t opset) {
  const OpDef* known = find_op(domain, op);
  if (!known && (domain.empty() || domain == "ai.onnx")) {
    if (opset < newest_released_opset) return emit_old(s, op, inputs, attrs, outputs, opset);
    throw error("use.lowering", cat("there is no ONNX operator ", op));
  }
  if (known && changed_since(*known, opset)) return emit_old(s, op, inputs, attrs, outputs, opset);
  if (known) {
    auto made = known->make();
    for (const Attr& a : attrs) {
      const AttrField* field = nullptr;
      for (const AttrField& f : known->fields)
        if (f.name == a.name) field = &f;
      if (!field) throw error("use.lowering", cat(op, " has no attribute '", a.name, "' in opset ", opset));
      field->set(made.get(), value_of(field->kind, a.value));
    }
    return s.on.emit(*known, std::move(made), std::move(inputs), outputs);
  }
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  NamedAttrs extra;
  for (const Attr& a : attrs) extra.push_back({a.name, value_of(kind_from(a.suffix, a.value), a.value)});
  const NodeId n = s.graph.add_node(s.on.region(), opaque_op(domain, op), nullptr, std::move(inputs), outputs);
  s.graph.set_extra(n, std::move(extra));
  if (s.on.on_node) s.on.on_node(n);
  return s.graph[n].outputs;
}

ValueId operand(HostGraph& g, nb::handle h) {
  if (h.is_none()) return {};
  if (nb::isinstance<HostValue>(h)) return nb::cast<HostValue&>(h).id;
  Stager& s = g.stager();
  if (nb::isinstance<nb::bool_>(h)) return s.on.constant(Tensor::bool_scalar(nb::cast<bool>(h)));
  if (nb::isinstance<nb::int_>(h)) return s.on.constant(Tensor::int_scalar(nb::cast<int64_t>(h)));
  if (nb::isinstance<nb::float_>(h))
    return s.on.constant(Tensor::float_scalar(static_cast<float>(nb::cast<double>(h))));
  return s.on.constant(to_tensor(h));
}

nb::list add(HostGraph& g, const std::string& domain, const std::string& op, nb::list inputs, nb::list attrs,
             size_t outputs, int64_t opset) {
  Stager& s = g.stager();
  std::vector<ValueId> in;
  for (nb::handle h : inputs) in.push_back(operand(g, h));
  std::vector<Attr> given;
  for (nb::handle a : attrs)
    given.push_back({nb::cast<std::string>(a[0]), nb::cast<std::string>(a[1]), nb::borrow(a[2])});
  nb::list out;
  for (const ValueId v : emit(s, domain, op, std::move(in), given, outputs, opset ? opset : newest_released_opset)) {
    if (s.on.fact(v).has_rank())
      for (size_t axis = 0; axis < s.on.fact(v).shape().size(); ++axis)
        if (const Dim d = s.on.fact(v).shape()[axis]; !d.is_literal()) s.on.bind_axis(d, v, static_cast<int64_t>(axis));
    out.append(nb::cast(HostValue{v}));
  }
  return out;
}

// Says what a value of a foreign operator is, where nobody can infer it. Sizes are numbers, None, or another value's
// axis as ("like", value, axis).
void set_type(HostGraph& g, const HostValue& v, const std::string& dtype, nb::object sizes) {
  Stager& s = g.stager();
  const auto t = dtype_from_name(dtype);
  if (!t) throw error("use.lowering", cat("'", dtype, "' is no element type"));
  if (sizes.is_none()) {
    s.graph.fact(v.id).type = Type::tensor(*t);
    return;
  }
  Shape shape;
  size_t axis = 0;
  for (nb::handle h : sizes) {
    if (nb::isinstance<nb::int_>(h)) shape.push_back(Dim(nb::cast<int64_t>(h)));
    else if (nb::isinstance<nb::tuple>(h))
      shape.push_back(s.on.dim(nb::cast<HostValue&>(h[0]).id, nb::cast<int64_t>(h[1])));
    else {
      const Dim d = s.graph.dims().fresh();
      shape.push_back(d);
      s.on.bind_axis(d, v.id, static_cast<int64_t>(axis));
    }
    ++axis;
  }
  s.graph.fact(v.id).type = Type::tensor(*t, std::move(shape));
}

}  // namespace

nb::object to_host(Stager& s, const StagedValue& v) {
  if (v.is_none()) return nb::none();
  if (const auto* b = v.as<bool>()) return nb::bool_(*b);
  if (const auto* d = v.as<Dim>())
    return d->is_literal() ? nb::object(nb::int_(d->literal())) : nb::cast(HostValue{s.on.int_scalar(*d)});
  if (const auto* f = v.as<double>()) return nb::float_(*f);
  if (const auto* t = v.as<std::string>()) return nb::str(t->c_str(), t->size());
  if (const auto* d = v.as<staging::Device>()) return nb::str(d->name.c_str());
  if (const auto* t = v.as<staging::TensorRef>()) return nb::cast(HostValue{s.read(*t)});
  if (const auto* f = v.as<StagedFloat>()) return nb::cast(HostValue{f->value});
  if (const auto* b = v.as<StagedBool>()) return nb::cast(HostValue{b->value});
  if (v.is<staging::ListRef>() || v.is<staging::Tuple>()) {
    nb::list out;
    for (const StagedValue& item : std::vector<StagedValue>(s.items(v))) out.append(to_host(s, item));
    return std::move(out);
  }
  throw error("use.lowering", cat("an argument is ", v.kind(), ", which no Python lowering can be given"));
}

StagedValue from_host(HostGraph& g, nb::handle h) {
  if (nb::isinstance<nb::list>(h)) {
    std::vector<StagedValue> items;
    for (nb::handle item : h) items.push_back(from_host(g, item));
    return g.stager().list(std::move(items));
  }
  if (h.is_none()) return StagedValue();
  return g.stager().tensor(operand(g, h));
}

Stager& HostGraph::stager() const {
  if (!stager_) throw error("use.lowering", "the graph of a lowering is used after the lowering ended");
  return *stager_;
}

void bind_builder(nb::module_& m) {
  nb::class_<HostValue>(m, "HostValue")
      .def_prop_ro("id", [](const HostValue& v) { return v.id.index; })
      .def("__eq__", [](const HostValue& a,
                        nb::handle b) { return nb::isinstance<HostValue>(b) && nb::cast<HostValue&>(b).id == a.id; })
      .def("__hash__", [](const HostValue& v) { return v.id.index; });
  nb::class_<HostGraph>(m, "HostGraph")
      .def("add", &add)
      .def("type", [](HostGraph& g, const HostValue& v) { return type_of(g.stager().on.fact(v.id).type); })
      .def("set_type", &set_type)
      .def("constant",
           [](HostGraph& g, nb::handle array) { return HostValue{g.stager().on.constant(to_tensor(array))}; })
      .def("contents", [](HostGraph& g, const HostValue& v) -> nb::object {
        const auto t = g.stager().graph.constant(v.id);
        return t ? to_python(Datum(*t)) : nb::none();
      });
}

}  // namespace cameo::python
