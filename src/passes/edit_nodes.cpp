// Nodes: attributes, operators, insertion, removal.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

#include "ops/infer.h"
#include "ops/operator_name.h"
#include "passes/constant_text.h"
#include "passes/edit.h"
#include "support/ascii.h"
#include "support/error.h"
#include "support/near_name.h"
#include "support/number_text.h"

namespace cameo::passes {

namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && ascii::is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && ascii::is_space(s.back())) s.remove_suffix(1);
  return s;
}

// Splits at commas outside brackets and quotes.
std::vector<std::string_view> parts_of(std::string_view s) {
  std::vector<std::string_view> out;
  size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i <= s.size(); ++i) {
    const char c = i < s.size() ? s[i] : ',';
    if (c == '"' && (i == 0 || s[i - 1] != '\\')) quoted = !quoted;
    if (!quoted && (c == '[' || c == '(' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == ')' || c == '}')) --depth;
    if (i < s.size() && (c != ',' || depth > 0 || quoted)) continue;
    out.push_back(trimmed(s.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (out.size() == 1 && out[0].empty()) out.clear();
  return out;
}

std::optional<int64_t> as_int(std::string_view s) {
  int64_t v = 0;
  const auto r = std::from_chars(s.data(), s.data() + s.size(), v);
  return r.ec == std::errc() && r.ptr == s.data() + s.size() && !s.empty() ? std::optional(v) : std::nullopt;
}

std::string unquoted(std::string_view s) {
  if (s.size() < 2 || s.front() != '"' || s.back() != '"') return std::string(s);
  std::string out;
  for (size_t i = 1; i + 1 < s.size(); ++i) {
    if (s[i] == '\\' && i + 2 < s.size()) ++i;
    out += s[i];
  }
  return out;
}

std::vector<std::string_view> items(std::string_view s) {
  if (s.size() >= 2 && s.front() == '[' && s.back() == ']') s = trimmed(s.substr(1, s.size() - 2));
  return parts_of(s);
}

template <class T, class F>
std::optional<std::vector<T>> all_of(std::string_view text, F read) {
  std::vector<T> out;
  for (const auto item : items(text)) {
    const auto v = read(item);
    if (!v) return std::nullopt;
    out.push_back(*v);
  }
  return out;
}

[[noreturn]] void wrong_value(std::string_view attribute, std::string_view text, AttrKind kind) {
  throw error("edit.attribute",
              cat("'", text, "' is not a value for the attribute '", attribute, "', which is ", name(kind)));
}

AttrValue parse_value(std::string_view attribute, std::string_view text, AttrKind kind) {
  switch (kind) {
    case AttrKind::integer:
      if (const auto v = as_int(text)) return *v;
      break;
    case AttrKind::floating:
      if (const auto v = parse_float(text)) return *v;
      break;
    case AttrKind::string: return unquoted(text);
    case AttrKind::ints:
      if (auto v = all_of<int64_t>(text, as_int)) return std::move(*v);
      break;
    case AttrKind::floats:
      if (auto v = all_of<float>(text, parse_float)) return std::move(*v);
      break;
    case AttrKind::strings: {
      std::vector<std::string> out;
      for (const auto item : items(text)) out.push_back(unquoted(item));
      return out;
    }
    default:
      throw error("edit.attribute",
                  cat("the attribute '", attribute, "' is ", name(kind), ", which cannot be given as text"));
  }
  wrong_value(attribute, text, kind);
}

// Of operators without a schema: by the form of the text.
AttrKind kind_by_looks(std::string_view text) {
  const bool list = text.starts_with('[');
  const auto parts = list ? items(text) : std::vector<std::string_view>{text};
  const auto all = [&](auto read) {
    return std::all_of(parts.begin(), parts.end(), [&](std::string_view p) { return read(p).has_value(); });
  };
  if (all(as_int)) return list ? AttrKind::ints : AttrKind::integer;
  if (all(parse_float)) return list ? AttrKind::floats : AttrKind::floating;
  return list ? AttrKind::strings : AttrKind::string;
}

std::shared_ptr<void> copy_attrs(const Node& n, const OpInfo& op) {
  auto attrs = op.make();
  for (const AttrField& f : n.op->fields)
    for (const AttrField& target : op.fields)
      if (target.name == f.name && target.kind == f.kind)
        if (AttrValue v = f.get(n.attrs.get()); !std::holds_alternative<std::monostate>(v))
          target.set(attrs.get(), std::move(v));
  return attrs;
}

const AttrField& field_of(const OpInfo& op, std::string_view attribute) {
  std::string names;
  for (const AttrField& f : op.fields) {
    if (f.name == attribute) return f;
    names += cat(names.empty() ? "" : ", ", f.name);
  }
  throw error("edit.attribute", cat(op.name, " has no attribute '", attribute, "' in its newest form"))
      .help(names.empty() ? "it has none" : cat("it has: ", names));
}

void check_arity(const OpDef& op, size_t inputs, size_t outputs) {
  const SchemaVersion& s = op.newest();
  if (inputs < s.min_in || inputs > s.max_in || outputs < s.min_out || outputs > s.max_out)
    throw error("edit.arity", cat("the node has ", inputs, inputs == 1 ? " input" : " inputs", " and ", outputs,
                                  outputs == 1 ? " output" : " outputs", ", which ", op.name, " cannot have"));
}

const OpInfo& operator_named(std::string_view text) {
  const auto [domain, op] = domain_and_name(text);
  if (const OpDef* known = find_op(domain, op)) return *known;
  if (domain.empty()) {
    std::vector<std::string_view> names;
    for (const OpDef& known : all_ops()) names.push_back(known.name);
    const auto close = op.size() < 100 ? support::nearest(op, names) : std::string_view();
    throw error("edit.operator", cat("there is no operator ", op))
        .help(close.empty() ? "an operator of your own has a domain: my.domain.Op" : cat("did you mean ", close, "?"));
  }
  return opaque_op(domain, op);
}

void set_opaque(Graph& g, NodeId n, std::string_view attribute, AttrValue value) {
  NamedAttrs extra = g[n].extra ? *g[n].extra : NamedAttrs();
  const auto it = std::find_if(extra.begin(), extra.end(), [&](const NamedAttr& a) { return a.name == attribute; });
  if (it != extra.end()) it->value = std::move(value);
  else extra.push_back({std::string(attribute), std::move(value)});
  g.set_extra(n, std::move(extra));
}

void set_on(Graph& g, NodeId n, std::string_view attribute, std::string_view text) {
  const OpInfo& op = *g[n].op;
  if (op.is_opaque()) return set_opaque(g, n, attribute, parse_value(attribute, text, kind_by_looks(text)));
  const AttrField& f = field_of(op, attribute);
  auto attrs = copy_attrs(g[n], op);
  f.set(attrs.get(), parse_value(attribute, text, f.kind));
  g.set_attrs(n, std::move(attrs));
}

struct NodeText {
  std::vector<std::string> outputs, inputs;
  std::string op;
  std::vector<std::pair<std::string, std::string>> attributes;
};

NodeText parse_node(std::string_view text) {
  const auto wrong = [&] {
    return error("edit.insert", cat("'", text, "' is not a node"))
        .help("write it like 'y2 = Relu(y)' or 'a, b = Split<axis=1>(x, {4, 80})'");
  };
  NodeText out;
  const size_t open = text.rfind('('), close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) throw wrong();
  size_t equals = text.find('=');
  if (equals == text.npos || equals > open) throw wrong();
  for (const auto name : parts_of(text.substr(0, equals))) out.outputs.emplace_back(name == "\"\"" ? "" : name);
  std::string_view call = trimmed(text.substr(equals + 1, open - equals - 1));
  if (const size_t angle = call.find('<'); angle != call.npos) {
    const std::string_view attributes = trimmed(call.substr(angle));
    if (attributes.back() != '>') throw wrong();
    for (const auto part : parts_of(attributes.substr(1, attributes.size() - 2))) {
      const size_t sign = part.find('=');
      if (sign == part.npos) throw wrong();
      out.attributes.emplace_back(trimmed(part.substr(0, sign)), trimmed(part.substr(sign + 1)));
    }
    call = trimmed(call.substr(0, angle));
  }
  out.op = call;
  for (const auto name : parts_of(text.substr(open + 1, close - open - 1)))
    out.inputs.emplace_back(name == "\"\"" ? "" : name);
  if (out.op.empty() || out.outputs.empty()) throw wrong();
  return out;
}

// A value by its name, a constant, or nothing for an operand that is left out.
ValueId operand(Graph& g, const std::string& text) {
  if (text.empty()) return {};
  if (!has_value(g, text))
    if (const auto constant = parse_constant(text))
      return g.add_initializer(g.main(), "", std::make_shared<const Weight>(Weight::of(*constant)));
  return find_value(g, text);
}

// The first node after everything that computes one of `values`; none at the end.
NodeId place_after(const Graph& g, const std::vector<ValueId>& values) {
  NodeId at = g[g.main()].first;
  for (const NodeId n : g.nodes(g.main()))
    for (const ValueId v : values)
      if (v && g[v].def == n) at = g[n].next;
  return at;
}

}  // namespace

void set_attribute(Model& m, std::string_view node, std::string_view attribute, std::string_view text) {
  set_on(m.graph, find_node(m.graph, node), attribute, trimmed(text));
  infer_anew(m);
}

void set_operator(Model& m, std::string_view node, std::string_view op_name) {
  Graph& g = m.graph;
  const NodeId n = find_node(g, node);
  const OpInfo& op = operator_named(op_name);
  if (op.is_opaque() || g[n].op->is_opaque()) {
    if (!g[n].op->is_opaque()) {
      NamedAttrs extra;
      for (const AttrField& f : g[n].op->fields)
        if (!f.is_default(g[n].attrs.get())) extra.push_back({std::string(f.name), f.get(g[n].attrs.get())});
      g.set_op(n, op, nullptr);
      return g.set_extra(n, std::move(extra));
    }
    if (op.is_opaque()) return g.set_op(n, op, nullptr);
    const NamedAttrs extra = g[n].extra ? *g[n].extra : NamedAttrs();
    check_arity(def(op), g[n].inputs.size(), g[n].outputs.size());
    auto attrs = op.make();
    for (const NamedAttr& a : extra)
      for (const AttrField& f : op.fields)
        if (f.name == a.name && f.kind == kind_of(a.value)) f.set(attrs.get(), a.value);
    g.set_extra(n, {});
    g.set_op(n, op, std::move(attrs));
    return infer_anew(m);
  }
  check_arity(def(op), g[n].inputs.size(), g[n].outputs.size());
  if (!op.graph_attrs.empty() || !g[n].op->graph_attrs.empty())
    throw error("edit.operator", cat(op.graph_attrs.empty() ? g[n].op->name : op.name,
                                     " has bodies, which cannot be made up or dropped"));
  g.set_op(n, op, copy_attrs(g[n], op));
  infer_anew(m);
}

void insert_node(Model& m, std::string_view text) {
  Graph& g = m.graph;
  const NodeText t = parse_node(trimmed(text));
  const OpInfo& op = operator_named(t.op);
  std::vector<ValueId> inputs;
  for (const std::string& name : t.inputs) inputs.push_back(operand(g, name));
  for (const std::string& name : t.outputs)
    if (has_value(g, name)) throw error("edit.name", cat("the model has a value '", name, "' already"));
  if (!op.is_opaque()) check_arity(def(op), inputs.size(), t.outputs.size());
  const NodeId n = g.add_node(g.main(), op, nullptr, inputs, t.outputs.size(), place_after(g, inputs));
  for (size_t i = 0; i < t.outputs.size(); ++i) g.rename(g[n].outputs[i], t.outputs[i]);
  for (const auto& [attribute, value] : t.attributes) set_on(g, n, attribute, value);
  if (!op.is_opaque()) infer_node(g, n);
}

namespace {
// The node of the main graph that a node is, or stands in.
NodeId in_main(const Graph& g, NodeId n) {
  while (g[g[n].home].owner) n = g[g[n].home].owner;
  return n;
}
}  // namespace

void rewire(Model& m, std::string_view from, std::string_view to) {
  Graph& g = m.graph;
  const ValueId old = find_value(g, from), replacement = find_value(g, to);
  const NodeId keeper = g[replacement].def;
  // Whoever reads the replacement, itself or in a body, must come after what computes it.
  std::set<NodeId> late;
  for (NodeId n = keeper; n; n = g[n].next) late.insert(n);
  for (const Use& u : std::vector<Use>(g[old].uses)) {
    if (!u.node || u.node == keeper) continue;  // outputs of the graph keep their name and value
    const NodeId top = in_main(g, u.node);
    if (keeper && (top == keeper || !late.contains(top)))
      throw error("edit.rewire", cat("'", to, "' is computed ", top == keeper ? "by " : "after ", describe(g, top),
                                     ", which would read it"));
    g.set_input(u.node, u.index, replacement);
  }
  infer_anew(m);
}

void remove_node(Model& m, std::string_view name) {
  Graph& g = m.graph;
  const NodeId n = find_node(g, name);
  const auto outputs = g[n].outputs;
  const bool used = std::any_of(outputs.begin(), outputs.end(), [&](ValueId v) { return g.used(v); });
  if (!used) return g.erase(n);
  for (size_t i = 1; i < outputs.size(); ++i)
    if (g.used(outputs[i])) throw error("edit.remove", cat(describe(g, n), " has several outputs that are used"));
  const ValueId source = g.input(n, 0);
  if (!source) throw error("edit.remove", cat(describe(g, n), " has no input to stand for its output"));
  const std::string output_name = g[outputs[0]].name;
  const bool is_output = std::any_of(g[outputs[0]].uses.begin(), g[outputs[0]].uses.end(),
                                     [&](const Use& u) { return u.region == g.main() && !u.node; });
  g.replace_uses(outputs[0], source);
  g.erase(n);
  if (is_output) {  // the model's outputs keep their names
    const auto uses = std::count_if(g[source].uses.begin(), g[source].uses.end(),
                                    [&](const Use& u) { return u.region == g.main() && !u.node; });
    if (g[source].def && uses == 1) {
      g.rename(source, output_name);
    } else {
      const OpDef& identity = *find_op("", "Identity");
      const NodeId copy = g.add_node(g.main(), identity, nullptr, {source}, 1);
      g.rename(g[copy].outputs[0], output_name);
      auto all = g[g.main()].outputs;
      *std::find(all.rbegin(), all.rend(), source) = g[copy].outputs[0];
      g.set_region_outputs(g.main(), std::move(all));
    }
  }
  infer_anew(m);
}

}  // namespace cameo::passes
