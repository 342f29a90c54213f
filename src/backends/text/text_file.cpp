#include "backends/text/text_file.h"

#include "backends/text/header.h"
#include "frontends/onnx/attributes.h"
#include "frontends/onnx/proto.h"
#include "ir/text/writer.h"
#include "support/error.h"

namespace cameo::backends {

namespace {

using namespace onnx;

text::StringPairs owned(const Pairs& pairs) { return {pairs.begin(), pairs.end()}; }

TextOpsets versions(const std::vector<OpsetProto>& imports) {
  TextOpsets out;
  for (const OpsetProto& o : imports) out.emplace_back(o.domain, o.version);
  return out;
}

class FilePrinter {
 public:
  FilePrinter(const Bytes& file, const std::string& path, const TextFileOptions& options)
      : source_(file, path),
        types_(dims_),
        w_({options.max_elements, nullptr,
            options.max_elements == INT64_MAX ? text::Dialect::interchange : text::Dialect::readable}) {
    w_.is_open = [](Dim d) { return d.is_symbol() && is_fresh(d); };
  }

  std::string model(const ModelProto& m) {
    if (m.graphs.empty() || !m.has_ir_version)
      throw error("file.not-onnx", cat(source_.path, " is not an ONNX model")).at({.file = source_.path});
    write_header(w_, m, versions(m.opsets), owned(m.metadata));
    line();
    graph(GraphProto(m.graphs.back().message()));
    for (const auto& f : m.functions) {
      line();
      function(FunctionProto(f.message()));
    }
    w_ << '\n';
    m.in.throw_if_fault(source_.path);
    return std::move(w_.out);
  }

 private:
  void graph(const GraphProto& g) {
    if (w_.notes("<", std::string(g.doc), owned(g.metadata), "> ")) line();
    w_.name(g.name);
    w_ << " (";
    w_.separated(g.inputs, [&](const pb::Field& f) { value(read_value_info(f.message())); });
    w_ << ") => (";
    w_.separated(g.outputs, [&](const pb::Field& f) { value(read_value_info(f.message())); });
    w_ << ')';
    values(g);
    nodes(g.nodes);
  }

  // Initializers, sparse ones, and types of inner values.
  void values(const GraphProto& g) {
    if (g.initializers.empty() && g.sparse_initializers.empty() && g.value_info.empty()) return void(w_ << ' ');
    line();
    w_ << '<';
    first_ = true;
    for (const auto& f : g.initializers) comma(), initializer(read_tensor(f.message()));
    for (const auto& f : g.sparse_initializers) comma(), sparse_initializer(read_sparse_tensor(f.message()));
    for (const auto& f : g.value_info) comma(), value(read_value_info(f.message()));
    w_ << '>';
    line();
  }

  void comma() {
    if (!first_) w_ << ", ";
    first_ = false;
  }

  void initializer(const TensorProto& t) {
    w_.tensor_type(dtype_from_number(t.data_type).value_or(DType::undefined), t.dims);
    w_ << ' ';
    w_.name(t.name);
    w_.notes(" [", std::string(t.doc), {}, "]");
    w_ << " = ";
    if (t.external) w_.pairs(owned(t.external_data));
    else w_.tensor_data(to_tensor(t, source_));
  }

  void sparse_initializer(const SparseTensorProto& p) {
    const SparseTensor t = to_sparse_tensor(p, source_);
    w_ << "sparse_tensor(";
    w_.tensor_type(t.values.dtype(), t.shape);
    w_ << ") ";
    w_.name(p.values.name);
    w_ << " = ";
    w_.sparse_data(t);
  }

  void value(const ValueInfoProto& v) {
    w_.value(types_.type(v.type, ""), v.name);
    w_.notes(" [", std::string(v.doc), owned(v.metadata), "]");
  }

  void nodes(const std::vector<pb::Field>& fields) {
    w_ << '{';
    ++indent_;
    for (const auto& f : fields) {
      line();
      node(NodeProto(f.message()));
    }
    --indent_;
    line();
    w_ << '}';
  }

  void node(const NodeProto& n) {
    if (!n.name.empty() || !n.doc.empty() || !n.metadata.empty()) {
      w_ << '[';
      w_.name(n.name);
      w_.notes(", ", std::string(n.doc), owned(n.metadata), "");
      w_ << "] ";
    }
    w_.separated(n.outputs, [&](std::string_view name) { w_.name(name); });
    w_ << " = ";
    w_.op_name(n.domain, n.op_type, n.overload);
    bool bodies = false;
    for (const AttributeProto& a : n.attributes) bodies = bodies || !a.graphs.empty();
    if (!bodies) attributes(n, "<");
    w_ << '(';
    w_.separated(n.inputs, [&](std::string_view name) { w_.name(name); });
    w_ << ')';
    if (bodies) attributes(n, " <");
  }

  void attributes(const NodeProto& n, std::string_view open) {
    if (n.attributes.empty()) return;
    w_ << open;
    w_.separated(n.attributes, [&](const AttributeProto& a) { attribute(a); });
    w_ << '>';
  }

  void attribute(const AttributeProto& a) {
    const AttrKind kind = attribute_kind(a);
    if (!a.ref.empty() || (kind != AttrKind::graph && kind != AttrKind::graphs))
      return w_.attribute(a.name, to_attribute(a, source_, types_));
    w_.name(a.name);
    const bool list = kind == AttrKind::graphs;
    w_ << (a.graphs.empty() ? ": graphs = " : " = ");
    if (list) w_ << '[';
    w_.separated(a.graphs, [&](const pb::Field& f) { graph(GraphProto(f.message())); });
    if (list) w_ << ']';
  }

  void function(const FunctionProto& f) {
    w_ << "<domain: ";
    w_.quoted(f.domain);
    if (!f.overload.empty()) w_ << ", overload: ", w_.quoted(f.overload);
    w_ << ", opset_import: ";
    write_opsets(w_, versions(f.opsets));
    w_.notes(", ", std::string(f.doc), owned(f.metadata), "");
    w_ << '>';
    line();
    w_.name(f.name);
    w_ << ' ';
    if (!f.attributes.empty() || !f.attribute_defaults.empty()) {
      w_ << '<';
      first_ = true;
      for (const auto a : f.attributes) comma(), w_.name(a);
      for (const auto& field : f.attribute_defaults) {
        comma();
        auto in = field.message();
        attribute(read_attribute(in));
      }
      w_ << "> ";
    }
    w_ << '(';
    w_.separated(f.inputs, [&](std::string_view name) { parameter(name); });
    w_ << ") => (";
    w_.separated(f.outputs, [&](std::string_view name) { parameter(name); });
    w_ << ')';
    if (!f.value_info.empty()) {
      line();
      w_ << '<';
      w_.separated(f.value_info, [&](const pb::Field& v) { value(read_value_info(v.message())); });
      w_ << '>';
      line();
    } else {
      w_ << ' ';
    }
    nodes(f.nodes);
  }

  void parameter(std::string_view name) { w_.value({}, name); }

  void line() { w_.new_line(indent_); }

  DimContext dims_;
  TensorSource source_;
  TypeReader types_;
  text::Writer w_;
  size_t indent_ = 0;
  bool first_ = true;
};

}  // namespace

std::string onnx_to_text(const Bytes& file, const std::string& path, const TextFileOptions& options) {
  const ModelProto model{pb::Reader(file.text())};
  model.in.throw_if_fault(path);
  return FilePrinter(file, path, options).model(model);
}

}  // namespace cameo::backends
