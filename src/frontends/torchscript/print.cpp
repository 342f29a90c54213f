// Trees back to text, spelled as PyTorch spells them.
#include <charconv>
#include <cmath>
#include <cstdio>

#include "frontends/torchscript/source.h"
#include "support/error.h"
#include "support/text.h"

namespace cameo::torchscript {

namespace {
class Printer {
 public:
  std::string out;

  void line(int indent) { out.append(static_cast<size_t>(indent) * 2, ' '); }

  void number(double v) {
    if (std::isnan(v)) {
      out += std::signbit(v) ? "-nan" : "nan";
      return;
    }
    char buffer[40];  // seventeen digits, as PyTorch prints
#ifdef __cpp_lib_to_chars
    const auto length = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::general, 17).ptr - buffer;
#else
    const int length = std::snprintf(buffer, sizeof buffer, "%.17g", v);  // WASM's C library knows only one locale
#endif
    const std::string_view text(buffer, static_cast<size_t>(length));
    out += text;
    if (text.find_first_not_of("-0123456789") == text.npos) out += '.';
  }

  void complex(const ComplexLiteral& c) {
    if (!c.imaginary_only) {
      number(c.real);
      if (!std::signbit(c.imaginary)) out += '+';
    }
    number(c.imaginary);
    out += 'j';
  }

  void octal(std::string_view bytes) {
    for (const char b : bytes) {
      const auto c = static_cast<unsigned char>(b);
      out += '\\';
      for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + (c >> shift & 7));
    }
  }

  void string(std::string_view s) {
    static constexpr std::string_view plain = "\\'\"\a\b\f\n\r\t\v", letters = "\\'\"abfnrtv";
    out += '"';
    for (size_t pos = 0; pos < s.size();) {
      const size_t start = pos;
      const uint32_t c = next_character(s, pos);
      const auto bytes = s.substr(start, pos - start);
      if (const auto at = plain.find(bytes); at != plain.npos) (out += '\\') += letters[at];
      else if (is_printable(c)) out += bytes;
      else octal(bytes);
    }
    out += '"';
  }

  void list(Exprs items) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) out += ", ";
      expr(*items[i]);
    }
  }

  void call(const Call& c) {
    expr(*c.callee);
    out += '(';
    list(c.args);
    bool first = c.args.empty();
    for (const Keyword& k : c.keywords) {
      if (!first) out += ", ";
      first = false;
      (out += k.name) += '=';
      expr(*k.value);
    }
    out += c.trailing_comma ? ", )" : ")";
  }

  void attribute(const Attribute& a) {
    if (a.by_getattr) {
      out += "getattr(";
      expr(*a.object);
      out += ", ";
      string(a.name);
      out += ')';
      return;
    }
    expr(*a.object);
    (out += '.') += a.name;
  }

  void dict(const DictLiteral& d) {
    out += '{';
    for (size_t i = 0; i < d.keys.size(); ++i) {
      if (i) out += ", ";
      expr(*d.keys[i]);
      out += ": ";
      expr(*d.values[i]);
    }
    out += '}';
  }

  void tuple(const TupleLiteral& t) {
    out += '(';
    list(t.items);
    out += t.items.size() == 1 ? ",)" : ")";
  }

  void typed(std::string_view form, const Type* type, const Expr* value) {
    ((out += form) += '(') += to_string(*type);
    if (value) {
      out += ", ";
      expr(*value);
    }
    out += ')';
  }

  void isinstance(const IsInstance& e) {
    out += "isinstance(";
    expr(*e.value);
    out += e.tuple_of_types ? ", (" : ", ";
    for (size_t i = 0; i < e.types.size(); ++i) {
      if (i) out += ", ";
      out += to_string(*e.types[i]);
    }
    if (e.tuple_of_types && e.types.size() == 1) out += ',';
    out += e.tuple_of_types ? "))" : ")";
  }

  void index(const Expr& object, const Expr* first, const Expr* last, bool slice) {
    expr(object);
    out += '[';
    if (first) expr(*first);
    if (slice) out += ':';
    if (last) expr(*last);
    out += ']';
  }

  template <class T>
  static const T& to(const Expr& e) {
    return static_cast<const T&>(e);
  }

  void expr(const Expr& e) {
    if (e.parenthesised) out += '(';
    bare(e);
    if (e.parenthesised) out += ')';
  }

  void bare(const Expr& e) {
    switch (e.kind) {
      case ExprKind::integer: out += cat(to<IntegerLiteral>(e).value); break;
      case ExprKind::floating: number(to<FloatLiteral>(e).value); break;
      case ExprKind::complex: complex(to<ComplexLiteral>(e)); break;
      case ExprKind::string: string(to<StringLiteral>(e).value); break;
      case ExprKind::boolean: out += to<BoolLiteral>(e).value ? "True" : "False"; break;
      case ExprKind::none: out += "None"; break;
      case ExprKind::name: out += to<Name>(e).name; break;
      case ExprKind::constant: out += cat("CONSTANTS.c", to<ConstantRef>(e).index); break;
      case ExprKind::op: {
        const auto& op = to<OpName>(e);
        if (op.ns == "aten" && op.name != "autograd") out += cat("torch.", op.name);
        else out += cat("ops.", op.ns, ".", op.name);
        break;
      }
      case ExprKind::global: out += to<GlobalName>(e).name; break;
      case ExprKind::attribute: attribute(to<Attribute>(e)); break;
      case ExprKind::index: index(*to<Index>(e).object, to<Index>(e).index, nullptr, false); break;
      case ExprKind::slice: index(*to<Slice>(e).object, to<Slice>(e).first, to<Slice>(e).last, true); break;
      case ExprKind::call: call(to<Call>(e)); break;
      case ExprKind::tuple: tuple(to<TupleLiteral>(e)); break;
      case ExprKind::list:
        out += '[';
        list(to<ListLiteral>(e).items);
        out += ']';
        break;
      case ExprKind::dict: dict(to<DictLiteral>(e)); break;
      case ExprKind::annotate: typed("annotate", to<Annotate>(e).target, to<Annotate>(e).value); break;
      case ExprKind::unchecked_cast:
        typed("unchecked_cast", to<UncheckedCast>(e).target, to<UncheckedCast>(e).value);
        break;
      case ExprKind::uninitialized: typed("uninitialized", to<Uninitialized>(e).target, nullptr); break;
      case ExprKind::isinstance: isinstance(to<IsInstance>(e)); break;
    }
  }

  void block(Block b, int indent) {
    for (const Stmt* s : b) stmt(*s, indent);
  }

  void head(std::string_view word, const Expr& e, int indent) {
    line(indent);
    (out += word) += ' ';
    expr(e);
    out += ":\n";
  }

  void assign(const Assign& s) {
    for (size_t i = 0; i < s.targets.size(); ++i) {
      if (i) out += ", ";
      out += s.targets[i].name;
      if (const Type* t = s.targets[i].declared)
        (out += s.targets[i].space_before_colon ? " : " : ": ") += to_string(*t);
    }
    out += s.form == AssignForm::unpack ? ", = " : " = ";
    list(s.values);
    out += '\n';
  }

  void stmt(const Stmt& s, int indent) {
    if (const auto* i = s.as<If>()) {
      head("if", *i->condition, indent);
      block(i->then_block, indent + 1);
      if (i->else_block.empty()) return;
      line(indent);
      out += "else:\n";
      return block(i->else_block, indent + 1);
    }
    if (const auto* w = s.as<While>()) {
      head("while", *w->condition, indent);
      return block(w->body, indent + 1);
    }
    line(indent);
    if (const auto* f = s.as<For>()) {
      out += cat("for ", f->target.name, " in range(");
      expr(*f->count);
      out += "):\n";
      return block(f->body, indent + 1);
    }
    if (const auto* w = s.as<With>()) {
      out += "with ";
      expr(*w->context);
      if (w->target) out += cat(" as ", w->target->name);
      out += ":\n";
      return block(w->body, indent + 1);
    }
    if (const auto* c = s.as<Closure>()) {
      out += cat("def ", c->target.name, "():\n");
      return block(c->function->body, indent + 1);
    }
    if (const auto* a = s.as<Assign>()) return assign(*a);
    if (const auto* a = s.as<SetAttribute>()) {
      expr(*a->object);
      out += cat(".", a->name, " = ");
      expr(*a->value);
    } else if (const auto* r = s.as<Return>()) {
      out += r->value ? "return " : "return";
      if (r->value) expr(*r->value);
    } else if (const auto* e = s.as<ExprStmt>()) {
      expr(*e->value);
    } else {
      out += "pass";
    }
    out += '\n';
  }

  void function(const FunctionDef& f, int indent) {
    line(indent);
    out += cat("def ", f.name, "(");
    const bool interface =
        f.owner && (f.owner->kind == ClassKind::interface || f.owner->kind == ClassKind::module_interface);
    for (size_t i = 0; i < f.params.size(); ++i) {
      const Param& p = f.params[i];
      if (i) out += interface ? ", " : ",\n    ";
      out += p.name;
      if (p.type) (out += ": ") += to_string(*p.type);
      if (p.default_value) {
        out += '=';
        expr(*p.default_value);
      }
    }
    out += ')';
    if (f.return_type) (out += " -> ") += to_string(*f.return_type);
    out += ":\n";
    block(f.body, indent + 1);
  }

  void names(std::string_view what, std::span<const std::string_view> all) {
    out += cat("  ", what, " = [");
    for (const auto n : all) string(n), out += ", ";
    out += "]\n";
  }

  void cls(const ClassDef& c) {
    static constexpr std::string_view bases[] = {"",       "(Module)",    "(NamedTuple)",
                                                 "(Enum)", "(Interface)", "(ModuleInterface)"};
    out += cat("class ", c.name, bases[static_cast<size_t>(c.kind)], ":\n");
    if (c.has_parameters_list) names("__parameters__", c.parameters);
    if (c.has_buffers_list) names("__buffers__", c.buffers);
    if (!c.forward_pre_hooks.empty()) names("__forward_pre_hooks__", c.forward_pre_hooks);
    if (!c.forward_hooks.empty()) names("__forward_hooks__", c.forward_hooks);
    if (c.has_annotations_list) out += "  __annotations__ = []\n";
    for (const AttributeDecl& a : c.attributes) {
      if (a.by_annotations) out += "  __annotations__[", string(a.name), out += cat("] = ", to_string(*a.type), "\n");
      else out += cat("  ", a.name, " : ", to_string(*a.type), "\n");
    }
    for (const ConstantDecl& d : c.constants) {
      out += cat("  ", d.name, " : Final[", to_string(*d.type), "] = ");
      expr(*d.value);
      out += '\n';
    }
    for (const EnumItem& i : c.items) {
      out += cat("  ", i.name, " = ");
      if (const auto* s = i.value->as<StringLiteral>())
        out += cat("\"", printable(s->value), "\"");  // raw, as it was read
      else expr(*i.value);
      out += '\n';
    }
    for (const FunctionDef* m : c.methods) function(*m, 1);
  }
};
}  // namespace

std::string print(const SourceFile& file) {
  Printer p;
  size_t classes = 0, functions = 0;
  for (const bool is_class : file.class_first) {
    if (is_class) p.cls(*file.classes[classes++]);
    else p.function(*file.functions[functions++], 0);
  }
  return std::move(p.out);
}

std::string print(const ClassDef& c) {
  Printer p;
  p.cls(c);
  return std::move(p.out);
}

std::string print(const FunctionDef& f, int indent) {
  Printer p;
  p.function(f, indent);
  return std::move(p.out);
}

std::string print(const Stmt& s, int indent) {
  Printer p;
  p.stmt(s, indent);
  return std::move(p.out);
}

std::string print(const Expr& e) {
  Printer p;
  p.expr(e);
  return std::move(p.out);
}

}  // namespace cameo::torchscript
