// Programs and stored values as text.
#include <unordered_map>

#include "frontends/torchscript/program.h"
#include "support/text.h"

namespace cameo::torchscript {

namespace {
class Dumper {
 public:
  explicit Dumper(size_t budget) : budget_(budget) {}
  std::string out;

  // One line, without what is inside objects.
  void inline_value(const StoredValue& v) {
    if (out.size() > budget_) return;
    switch (v.kind) {
      case StoredKind::none: out += "None"; break;
      case StoredKind::boolean: out += v.boolean ? "True" : "False"; break;
      case StoredKind::integer: out += cat(v.integer); break;
      case StoredKind::floating: number(v.floating); break;
      case StoredKind::complex: out += cat("complex(", v.floating, ", ", v.imaginary, ")"); break;
      case StoredKind::string: quoted(v.text); break;
      case StoredKind::device: out += cat("device(", printable(v.text), ")"); break;
      case StoredKind::enumeration:
        out += cat(printable(v.type->name), "(");
        inline_value(*v.items[0]);
        out += ')';
        break;
      case StoredKind::tensor: tensor(*v.tensor); break;
      case StoredKind::list: sequence(v, "[", "]"); break;
      case StoredKind::tuple: sequence(v, "(", ")"); break;
      case StoredKind::dict: sequence(v, "{", "}"); break;
      case StoredKind::object: out += cat("<", printable(v.type->name), ">"); break;
    }
  }

  void number(double d) {
    FloatLiteral literal;
    literal.value = d;
    out += print(static_cast<const Expr&>(literal));
  }

  void quoted(std::string_view s) {
    StringLiteral literal;
    literal.value = s;
    out += print(static_cast<const Expr&>(literal));
  }

  void sequence(const StoredValue& v, std::string_view open, std::string_view close) {
    out += open;
    for (size_t i = 0; i < v.items.size(); ++i) {
      if (out.size() > budget_) {
        out += "...";
        break;
      }
      const bool value_of_dict = v.kind == StoredKind::dict && i % 2;
      if (i) out += value_of_dict ? ": " : ", ";
      inline_value(*v.items[i]);
    }
    out += close;
    if (v.type) out += cat(" : ", printable(to_string(*v.type)));
  }

  void numbers(std::span<const int64_t> all) {
    out += '[';
    for (size_t i = 0; i < all.size(); ++i) out += cat(i ? "," : "", all[i]);
    out += ']';
  }

  void tensor(const StoredTensor& t) {
    out += name(t.dtype);
    numbers(t.sizes);
    if (t.layout != TorchLayout::strided) out += cat(" ", name(t.layout));
    if (t.storage) {
      if (!t.is_contiguous()) {
        out += " strides ";
        numbers(t.strides);
      }
      out += cat(" @", printable(t.storage->key));
      if (t.offset) out += cat("+", t.offset);
      if (!t.storage->has_data) out += " no data";
    }
    if (t.requires_grad) out += " grad";
    if (t.conjugate) out += " conj";
    if (t.negative) out += " neg";
    if (const Quantizer* q = t.quantizer) {
      if (!q->per_channel) {
        out += cat(" scale ", q->scale, " zero ", q->zero_point);
      } else {
        out += cat(" axis ", q->axis, " scales (");
        tensor(*q->scales->tensor);
        out += ") zeros (";
        tensor(*q->zero_points->tensor);
        out += ')';
      }
    }
    for (const StoredValue* part : t.parts) {
      out += " (";
      tensor(*part->tensor);
      out += ')';
    }
  }

  // Attributes on lines of their own; what was shown before is named by its first path.
  void object(const StoredObject& o, const std::string& path, int indent) {
    if (o.state) {
      out += "state ";
      inline_value(*o.state);
      out += '\n';
      return;
    }
    out += '\n';
    for (const StoredAttribute& a : o.attributes) {
      const std::string name = printable(a.name), here = path.empty() ? name : cat(path, ".", name);
      out.append(static_cast<size_t>(indent) * 2, ' ');
      out += cat(name, marker(o, a.name), " = ");
      const bool shareable = a.value->kind >= StoredKind::tensor;
      if (shareable) {
        const auto [first, fresh] = seen_.emplace(a.value, here);
        if (!fresh) {
          out += cat("same as ", first->second, "\n");
          continue;
        }
      }
      inline_value(*a.value);
      if (a.value->kind != StoredKind::object) {
        out += '\n';
        continue;
      }
      out += ' ';
      object(*a.value->object, here, indent + 1);
    }
  }

  static std::string_view marker(const StoredObject& o, std::string_view name) {
    const AttributeDecl* d = o.cls ? o.cls->attribute(name) : nullptr;
    return !d ? " (undeclared)" : d->is_parameter ? " (parameter)" : d->is_buffer ? " (buffer)" : "";
  }

 private:
  size_t budget_;
  std::unordered_map<const StoredValue*, std::string> seen_;
};
}  // namespace

std::string to_string(const StoredValue& v) {
  Dumper d(2000);
  d.inline_value(v);
  return std::move(d.out);
}

std::string dump(Program& program) {
  Dumper d(1 << 22);
  d.out += cat("version ", program.version(), "\nroot ", printable(program.root().type->name), " ");
  d.object(program.root(), "", 1);
  for (uint32_t i = 0; i < program.constant_count(); ++i) {
    d.out += cat("c", i, " = ");
    d.inline_value(program.constant(i));
    d.out += '\n';
  }
  for (const ExampleInputs& e : program.example_inputs()) {
    d.out += cat("example ", printable(e.method), ": ");
    for (size_t i = 0; i < e.inputs.size(); ++i) {
      d.out += i ? ", " : "";
      d.inline_value(*e.inputs[i]);
    }
    d.out += '\n';
  }
  for (const SourceFile* f : program.all_sources()) d.out += cat("# ", printable(f->path), "\n", print(*f));
  return std::move(d.out);
}

}  // namespace cameo::torchscript
