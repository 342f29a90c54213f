#include "lowering/schema.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "support/ascii.h"
#include "support/error.h"

namespace cameo::lowering {

namespace {

using Kind = SchemaType::Kind;

struct BaseName {
  std::string_view name;
  Kind kind;
  bool is_dtype = false;
};
constexpr BaseName base_names[] = {
    {"Tensor", Kind::tensor},
    {"int", Kind::integer},
    {"SymInt", Kind::integer},
    {"float", Kind::floating},
    {"SymFloat", Kind::floating},
    {"bool", Kind::boolean},
    {"SymBool", Kind::boolean},
    {"Scalar", Kind::number},
    {"number", Kind::number},
    {"str", Kind::string},
    {"Dimname", Kind::string},
    {"complex", Kind::complex},
    {"Device", Kind::device},
    {"Generator", Kind::generator},
    {"Storage", Kind::storage},
    {"Stream", Kind::stream},
    {"Any", Kind::any},
    {"NoneType", Kind::none},
    {"ScalarType", Kind::integer, true},
    {"Layout", Kind::integer},
    {"MemoryFormat", Kind::integer},
    {"DeviceIndex", Kind::integer},
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Schema schema() {
    Schema s;
    s.signature = text_;
    const size_t open = text_.find('(');
    const auto head = text_.substr(0, open);
    const size_t dot = head.find('.', head.find("::"));
    s.name = head.substr(0, dot);
    if (dot != head.npos) s.overload = head.substr(dot + 1);
    at_ = open + 1;
    bool keyword_only = false;
    while (!eat(")")) {
      eat(",");
      if (eat("...")) s.vararg = true;
      else if (eat("*")) keyword_only = true;
      else s.params.push_back(param(keyword_only));
    }
    expect("->");
    returns(s);
    return s;
  }

 private:
  void returns(Schema& s) {
    if (eat("...")) return;
    // "((str, t)[])" is one result of list type; "(Tensor a, Tensor b)" two results.
    skip();
    if (peek("(")) {
      expect("(");
      while (!eat(")")) {
        eat(",");
        s.returns.push_back(param(false));
      }
      return;
    }
    s.returns.push_back(param(false));
  }

  SchemaParam param(bool keyword_only) {
    SchemaParam p;
    p.keyword_only = keyword_only;
    p.type = type(p);
    p.name = word();
    if (eat("=")) {
      p.has_default = true;
      p.default_text = default_value();
    }
    return p;
  }

  SchemaType type(SchemaParam& p) {
    SchemaType t = base(p);
    for (;;) {
      if (eat("?")) t = wrap(Kind::optional, std::move(t));
      else if (peek("[")) {
        expect("[");
        int size = 0;
        while (!peek("]")) size = size * 10 + (text_[at_++] - '0');
        expect("]");
        t = wrap(Kind::list, std::move(t));
        t.fixed_size = size;
      } else if (peek("(")) alias(p);
      else return t;
    }
  }

  SchemaType base(SchemaParam& p) {
    skip();
    SchemaType t;
    if (peek("(")) {
      expect("(");
      t.kind = Kind::tuple;
      while (!eat(")")) {
        eat(",");
        t.args.push_back(type(p));
      }
      return t;
    }
    const std::string name = word();
    if (name.empty()) throw Bug("bug.schema", cat("signature '", text_, "' is not understood at ", at_));
    if ((name == "Dict" || name == "Future" || name == "Await" || name == "RRef") && peek("(")) {
      expect("(");
      t.kind = name == "Dict" ? Kind::dict : Kind::other;
      t.name = name;
      while (!eat(")")) {
        eat(",");
        t.args.push_back(type(p));
      }
      return t;
    }
    for (const auto& b : base_names)
      if (b.name == name) {
        t.kind = b.kind;
        t.is_dtype = b.is_dtype;
        return t;
      }
    t.name = name;
    t.kind = name.size() <= 4 && name[0] == 't' ? Kind::variable : Kind::other;
    return t;
  }

  static SchemaType wrap(Kind kind, SchemaType inner) {
    SchemaType t;
    t.kind = kind;
    t.args.push_back(std::move(inner));
    return t;
  }

  void alias(SchemaParam& p) {
    const size_t close = text_.find(')', at_);
    const auto inside = text_.substr(at_ + 1, close - at_ - 1);
    // (b|a) is a result that is new or a parameter's: the last letter is the parameter's.
    const size_t letter = inside.rfind('|') + 1;
    p.alias = letter < inside.size() ? inside[letter] : 0;
    p.written = inside.find('!') != inside.npos;
    at_ = close + 1;
  }

  std::string default_value() {
    const size_t start = at_;
    int depth = 0;
    char quote = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote) {
        if (c == '\\') ++at_;
        else if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') quote = c;
      else if (c == '[') ++depth;
      else if (c == ']') --depth;
      else if (depth == 0 && (c == ',' || c == ')')) break;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  std::string word() {
    skip();
    const size_t start = at_;
    while (at_ < text_.size() && (ascii::is_alnum(text_[at_]) || text_[at_] == '_' || text_[at_] == '.')) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool peek(std::string_view s) {
    skip();
    return text_.substr(at_).starts_with(s);
  }
  bool eat(std::string_view s) {
    if (!peek(s)) return false;
    at_ += s.size();
    return true;
  }
  void expect(std::string_view s) {
    if (!eat(s)) throw Bug("bug.schema", cat("signature '", text_, "' is not understood at ", at_));
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::string_view base_of(std::string_view signature) {
  const auto head = signature.substr(0, signature.find('('));
  return head.substr(0, head.find('.', head.find("::")));
}

}  // namespace

std::string SchemaType::text() const {
  switch (kind) {
    case Kind::list: return cat(args[0].text(), "[]");
    case Kind::optional: return cat(args[0].text(), "?");
    case Kind::dict: return cat("Dict(", args[0].text(), ", ", args[1].text(), ")");
    case Kind::tuple: {
      std::string out = "(";
      for (const auto& a : args) out += cat(out.size() > 1 ? ", " : "", a.text());
      return out + ")";
    }
    default:
      if (!name.empty()) return name;
      for (const auto& b : base_names)
        if (b.kind == kind && b.is_dtype == is_dtype) return std::string(b.name);
      return "?";
  }
}

bool Schema::mutates() const {
  return std::any_of(params.begin(), params.end(), [](const SchemaParam& p) { return p.written; });
}
bool Schema::is_inplace() const {
  return !params.empty() && params[0].written && !params[0].keyword_only && params[0].type.kind == Kind::tensor;
}
bool Schema::is_out() const {
  return std::any_of(params.begin(), params.end(), [](const SchemaParam& p) { return p.written && p.keyword_only; });
}
const SchemaParam* Schema::param(std::string_view wanted) const {
  for (const auto& p : params)
    if (p.name == wanted) return &p;
  return nullptr;
}

Schema parse_schema(std::string_view signature) { return Parser(signature).schema(); }

const std::vector<Schema>& schemas_of(std::string_view name) {
  static std::mutex guard;
  static std::map<std::string, std::vector<Schema>, std::less<>> parsed;
  const std::lock_guard lock(guard);
  if (const auto it = parsed.find(name); it != parsed.end()) return it->second;
  const auto all = torch_signatures();
  const auto range = std::equal_range(all.begin(), all.end(), name, [](std::string_view a, std::string_view b) {
    return (a.find('(') == a.npos ? a : base_of(a)) < (b.find('(') == b.npos ? b : base_of(b));
  });
  auto& out = parsed[std::string(name)];
  for (auto it = range.first; it != range.second; ++it) out.push_back(parse_schema(*it));
  return out;
}

const Schema* find_schema(std::string_view full_name) {
  const auto colons = full_name.find("::");
  const auto dot = full_name.find('.', colons);
  const auto overload = dot == full_name.npos ? std::string_view() : full_name.substr(dot + 1);
  for (const Schema& s : schemas_of(full_name.substr(0, dot)))
    if (s.overload == overload) return &s;
  return nullptr;
}

}  // namespace cameo::lowering
