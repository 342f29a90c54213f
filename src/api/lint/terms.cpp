#include "api/lint/terms.h"

#include <algorithm>
#include <optional>
#include <span>

#include "runtime/watch.h"
#include "support/error.h"
#include "support/number_text.h"

namespace cameo::linting {

namespace {

using Words = std::span<const std::string>;
constexpr uint64_t small_bytes = 64 << 10;

bool any_matches(Words patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& p) { return runtime::matches(text, p); });
}

bool is_comparison(std::string_view w) {
  return w == "=" || w == "!=" || w == "<" || w == "<=" || w == ">" || w == ">=";
}

template <class T>
bool compared(const T& a, std::string_view how, const T& b) {
  if (how == "<") return a < b;
  if (how == "<=") return a <= b;
  if (how == ">") return a > b;
  if (how == ">=") return a >= b;
  return a == b;
}

// `how` and the values after it: `= 1 2` is any of them, `!= 1 2` none of them. Both sides have the value's precision.
template <class T>
bool number_fits(T value, Words words) {
  const std::string& how = words[0];
  const auto fits = [&](const std::string& w) {
    const auto n = support::parse_double(w);
    return n && compared(value, how == "!=" ? "=" : how, static_cast<T>(*n));
  };
  const bool any = std::any_of(words.begin() + 1, words.end(), fits);
  return how == "!=" ? !any : any;
}

bool text_fits(std::string_view value, Words words) {
  return any_matches(words.subspan(1), value) != (words[0] == "!=");
}

// An attribute with several numbers fits where one of them does.
struct AttributeFits {
  Words words;
  bool operator()(float v) const { return number_fits(v, words); }
  bool operator()(int64_t v) const { return number_fits(static_cast<double>(v), words); }
  bool operator()(const std::string& v) const { return text_fits(v, words); }
  template <class T>
  bool operator()(const std::vector<T>& all) const {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, int64_t> || std::is_same_v<T, std::string>)
      return std::any_of(all.begin(), all.end(), [&](const T& v) { return (*this)(v); });
    else return false;
  }
  template <class T>
  bool operator()(const T&) const {
    return false;
  }
};

bool op_is(Words w, const Subject& s) {
  const FileNode& n = *s.node;
  return any_matches(w, n.domain.empty() ? n.op : support::cat(n.domain, "::", n.op));
}

// `is 0,2,3,1 0,3,1,2`: the whole list is one of these.
bool list_is(const AttrValue& value, Words lists) {
  const auto* list = std::get_if<std::vector<int64_t>>(&value);
  if (!list) return false;
  std::string text;
  for (const int64_t n : *list) text += support::cat(text.empty() ? "" : ",", n);
  return std::find(lists.begin(), lists.end(), text) != lists.end();
}

bool attribute_is(Words w, const Subject& s) {
  if (w.size() == 2 && w[1] == "set") return find_attr(s.node->attrs, w[0]) != nullptr;
  if (w[1] == "is") return list_is(s.node->attribute(w[0]), w.subspan(2));
  return std::visit(AttributeFits{w.subspan(1)}, s.node->attribute(w[0]));
}

std::string_view type_name(const Graph& g, ValueId v) {
  const Type& t = g[v].fact.type;
  if (t.is_sequence()) return "sequence";
  if (t.is_optional()) return "optional";
  return t.is_tensor() && t.elem != DType::undefined ? name(t.elem) : std::string_view("?");
}

bool is_fixed(const Type& t) {
  return t.has_rank() && std::all_of(t.shape->begin(), t.shape->end(), [](Dim d) { return d.is_literal(); });
}

// rank = 4, dim 1 > 64, type f64, constant, known, absent, fixed, used, value > 3840, weight-bytes
struct OperandTerm {
  std::string_view keyword;
  bool (*holds)(Words w, const Graph& g, ValueId v);
  size_t least_words;
};

bool value_fits(Words w, const Graph& g, ValueId v) {
  const auto t = small_constant(g, v);
  if (!t || t->dtype() == DType::string || is_complex(t->dtype())) return false;
  const std::vector<double> all = t->to_doubles();
  return std::any_of(all.begin(), all.end(), [&](double n) { return number_fits(n, w); });
}

bool dim_fits(Words w, const Graph& g, ValueId v) {
  const Type& t = g[v].fact.type;
  const auto axis = support::parse_double(w[0]);
  if (!t.is_tensor() || !t.has_rank() || !axis) return false;
  const int64_t at = static_cast<int64_t>(*axis) + (*axis < 0 ? t.rank() : 0);
  if (at < 0 || at >= t.rank()) return false;
  const Dim d = (*t.shape)[static_cast<size_t>(at)];
  return d.is_literal() && number_fits(static_cast<double>(d.literal()), w.subspan(1));
}

constexpr OperandTerm operand_terms[] = {
    {"type", [](Words w, const Graph& g, ValueId v) { return any_matches(w, type_name(g, v)); }, 1},
    {"rank",
     [](Words w, const Graph& g, ValueId v) {
       const Type& t = g[v].fact.type;
       return t.is_tensor() && t.has_rank() && number_fits(static_cast<double>(t.rank()), w);
     },
     2},
    {"dim", dim_fits, 3},
    {"value", value_fits, 2},
    {"constant", [](Words, const Graph& g, ValueId v) { return is_given(g, v); }, 0},
    {"known", [](Words, const Graph& g, ValueId v) { return is_given(g, v) || g[v].fact.tensor() != nullptr; }, 0},
    {"fixed", [](Words, const Graph& g, ValueId v) { return is_fixed(g[v].fact.type); }, 0},
    {"used", [](Words, const Graph& g, ValueId v) { return g.used(v); }, 0},
    {"given", [](Words, const Graph&, ValueId) { return true; }, 0},
    {"made-by", [](Words w, const Graph& g, ValueId v) { return g[v].def && any_matches(w, g[g[v].def].op->name); }, 1},
    {"read-by",
     [](Words w, const Graph& g, ValueId v) {
       return std::any_of(g[v].uses.begin(), g[v].uses.end(),
                          [&](const Use& u) { return u.node && any_matches(w, g[u.node].op->name); });
     },
     1},
};

const OperandTerm* operand_term(std::string_view keyword) {
  for (const OperandTerm& t : operand_terms)
    if (t.keyword == keyword) return &t;
  return nullptr;
}

// `2 rank = 4`: of one operand; `* type f64`: of any. An absent one fits nothing.
bool operands_fit(Words w, const std::vector<ValueId>& operands, const Graph& g) {
  const OperandTerm& t = *operand_term(w[1]);
  const auto fits = [&](ValueId v) { return v && t.holds(w.subspan(2), g, v); };
  if (w[0] == "*") return std::any_of(operands.begin(), operands.end(), fits);
  const auto i = static_cast<size_t>(*support::parse_double(w[0]));
  return i < operands.size() && fits(operands[i]);
}

// Where the axes of an operator stand that has them as an operand.
constexpr std::pair<std::string_view, size_t> axes_operands[] = {{"Slice", 3}, {"CumSum", 1},    {"CumProd", 1},
                                                                 {"Pad", 3},   {"Unsqueeze", 1}, {"Squeeze", 1}};

// The axes that a node works along, counted from the front; empty where they are not known.
std::vector<int64_t> axes_of(const Subject& s) {
  const FileNode& n = *s.node;
  std::vector<int64_t> axes;
  for (const char* name : {"axes", "axis"}) {
    const AttrValue value = n.attribute(name);
    if (const auto* one = std::get_if<int64_t>(&value)) axes = {*one};
    if (const auto* all = std::get_if<std::vector<int64_t>>(&value)) axes = *all;
    if (!axes.empty()) break;
  }
  const auto* operand =
      std::find_if(std::begin(axes_operands), std::end(axes_operands), [&](const auto& o) { return o.first == n.op; });
  const size_t at = operand != std::end(axes_operands) ? operand->second : n.op.starts_with("Reduce") ? 1 : 0;
  if (at && at < n.inputs.size())
    if (const auto t = small_constant(s.graph(), n.inputs[at]); t && t->dtype() == DType::i64) axes = t->to_ints();
  const ValueId v = n.op == "Unsqueeze" ? n.output(0) : n.input(0);
  if (!v || !s.graph()[v].fact.has_rank()) return {};
  for (int64_t& a : axes) a += a < 0 ? s.graph()[v].fact.rank() : 0;
  return axes;
}

// `axis = 1 -1`: one of the axes is one of these; negative ones are counted from the back.
bool axis_fits(Words w, const Subject& s) {
  const ValueId v = s.node->op == "Unsqueeze" ? s.node->output(0) : s.node->input(0);
  const std::vector<int64_t> axes = axes_of(s);
  const auto is = [&](int64_t axis) {
    return std::any_of(w.begin() + 1, w.end(), [&](const std::string& word) {
      const auto wanted = support::parse_double(word);
      return wanted && double(*wanted < 0 ? axis - s.graph()[v].fact.rank() : axis) == *wanted;
    });
  };
  return std::any_of(axes.begin(), axes.end(), is);
}

// `pads-axis = 1`: Pad adds something before or behind along that axis.
bool pads_axis(Words w, const Subject& s) {
  const auto t = s.node->inputs.size() > 1 ? small_constant(s.graph(), s.node->inputs[1]) : std::nullopt;
  const AttrValue attribute = s.node->attribute("pads");
  const auto* written = std::get_if<std::vector<int64_t>>(&attribute);
  if ((!t || t->dtype() != DType::i64) && !written) return false;
  const std::vector<int64_t> pads = written ? *written : t->to_ints();
  const size_t rank = pads.size() / 2;
  for (size_t i = 0; i < pads.size(); ++i)
    if (pads[i] && number_fits(static_cast<double>(i % rank), w)) return true;
  return false;
}

int64_t opset_of(const Subject& s, const std::string& domain) {
  const auto it = s.file.opsets.find(domain);
  return it == s.file.opsets.end() ? 0 : it->second;
}

bool any_dynamic_input(Words, const Subject& s) {
  const Graph& g = s.graph();
  const auto& inputs = g[g.main()].inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](ValueId v) {
    return !g[v].weight && g[v].fact.type.is_tensor() && !is_fixed(g[v].fact.type);
  });
}

bool any_input_is(Words w, const Subject& s) { return operands_fit(w, s.graph()[s.graph().main()].inputs, s.graph()); }
bool any_output_is(Words w, const Subject& s) {
  return operands_fit(w, s.graph()[s.graph().main()].outputs, s.graph());
}

bool has_metadata(Words w, const Subject& s) {
  const auto& all = s.file.model.metadata;
  return std::any_of(all.begin(), all.end(), [&](const auto& entry) { return any_matches(w, entry.first); });
}

struct Keyword {
  std::string_view name;
  bool about_nodes;
  size_t least_words;
  bool (*holds)(Words w, const Subject& s);
  bool operand = false;  // its second word is a row of operand_terms
};

constexpr Keyword keywords[] = {
    {"op", true, 1, op_is},
    {"domain", true, 1, [](Words w, const Subject& s) { return any_matches(w, s.node->domain); }},
    {"attr", true, 2, attribute_is},
    {"in", true, 2, [](Words w, const Subject& s) { return operands_fit(w, s.node->inputs, s.graph()); }, true},
    {"out", true, 2, [](Words w, const Subject& s) { return operands_fit(w, s.node->outputs, s.graph()); }, true},
    {"inputs", true, 2, [](Words w, const Subject& s) { return number_fits(double(s.node->inputs.size()), w); }},
    {"depth", true, 2, [](Words w, const Subject& s) { return number_fits(s.node->depth, w); }},
    {"always", true, 0, [](Words, const Subject&) { return true; }},
    {"axis", true, 2, axis_fits},
    {"axis-count", true, 2, [](Words w, const Subject& s) { return number_fits(double(axes_of(s).size()), w); }},
    {"pads-axis", true, 2, pads_axis},
    {"since", true, 2, [](Words w, const Subject& s) { return number_fits(s.node->since(), w); }},
    {"check", true, 1, [](Words w, const Subject& s) { return run_check(w[0], s); }},
    {"opset", false, 2, [](Words w, const Subject& s) { return number_fits(double(opset_of(s, "")), w); }},
    {"ir", false, 2, [](Words w, const Subject& s) { return number_fits(double(s.file.model.ir_version), w); }},
    {"target", false, 2,
     [](Words w, const Subject& s) { return compared(compare(s.version, version_of(w[1])), w[0], 0); }},
    {"dynamic-inputs", false, 0, any_dynamic_input},
    {"model-input", false, 2, any_input_is, true},
    {"model-output", false, 2, any_output_is, true},
    {"functions", false, 2, [](Words w, const Subject& s) { return number_fits(double(s.file.functions), w); }},
    {"has", false, 1,
     [](Words w, const Subject& s) {
       const auto& all = s.file.operators;
       return std::any_of(all.begin(), all.end(), [&](const auto& op) { return any_matches(w, op); });
     }},
    {"contradicted", false, 0, [](Words, const Subject& s) { return s.file.contradicted; }},
    {"metadata", false, 1, has_metadata},
};

const Keyword* keyword(std::string_view name) {
  for (const Keyword& k : keywords)
    if (k.name == name) return &k;
  return nullptr;
}

}  // namespace

bool is_given(const Graph& g, ValueId v) { return g.is_constant(v) || (v && !g[v].def && g[v].weight); }

std::optional<Tensor> small_constant(const Graph& g, ValueId v) {
  if (!v) return std::nullopt;
  if (const Value& value = g[v]; value.weight && value.weight->byte_size() <= small_bytes && is_given(g, v))
    return value.weight->dense();
  if (const Tensor* known = g[v].fact.tensor()) return *known;
  return g.constant(v, small_bytes);
}

bool is_about_nodes(const Row& row) {
  return std::any_of(row.terms.begin(), row.terms.end(), [](const Term& t) { return keyword(t.keyword)->about_nodes; });
}

bool holds(const Row& row, const Subject& s) {
  return std::all_of(row.terms.begin(), row.terms.end(),
                     [&](const Term& t) { return keyword(t.keyword)->holds(t.words, s) != t.negated; });
}

void check_terms(const Row& row) {
  for (const Term& t : row.terms) {
    const Keyword* k = keyword(t.keyword);
    bool right = k && t.words.size() >= k->least_words;
    if (right && k->operand) {
      const OperandTerm* o = operand_term(t.words[1]);
      right = o && t.words.size() >= 2 + o->least_words && (t.words[0] == "*" || support::parse_double(t.words[0]));
    }
    if (right && t.keyword == "check") right = is_known_check(t.words[0]);
    if (right && t.keyword == "attr")
      right = t.words[1] == "set" || ((t.words[1] == "is" || is_comparison(t.words[1])) && t.words.size() > 2);
    if (!right) throw support::Bug("bug.invariant", support::cat("lint row ", row.name, ": ", row.when));
  }
}

}  // namespace cameo::linting
