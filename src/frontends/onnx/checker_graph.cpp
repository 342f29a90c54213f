// Models, graphs, functions: names, order, declared types.
#include <algorithm>

#include "frontends/onnx/checker.h"
#include "frontends/onnx/graph_reader.h"

namespace cameo::onnx {

namespace {

constexpr int64_t newest_ir_version = 14;

std::string_view plain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }
std::string shown(std::string_view domain) { return std::string(domain.empty() ? "ai.onnx" : domain); }

}  // namespace

bool Checker::Scope::has(std::string_view name) const {
  for (const Scope* s = this; s; s = s->parent)
    if (s->names.count(name)) return true;
  return false;
}

Loc Checker::at(const NodeProto& n) const {
  Loc out{.file = source_.path, .scope = std::string(n.op_type.empty() ? "node" : n.op_type), .offset = n.offset};
  const auto named = std::find_if(n.outputs.begin(), n.outputs.end(), [](std::string_view o) { return !o.empty(); });
  if (!n.name.empty()) out.scope += cat(" '", n.name, "'");
  else if (named != n.outputs.end()) out.scope += cat(" -> '", *named, "'");
  return out;
}

void Checker::model(const ModelProto& m) {
  header(m);
  opsets_ = &model_opsets_;
  std::vector<std::unique_ptr<FunctionProto>> functions;
  for (const auto& f : m.functions) {
    functions.push_back(std::make_unique<FunctionProto>(f.message()));
    const FunctionProto& p = *functions.back();
    if (!functions_.insert({plain(p.domain), p.name, p.overload}).second)
      err("check.function", cat("the function ", shown(plain(p.domain)), ".", p.name, " is defined twice"), at(p.name));
  }
  if (!functions.empty() && ir_version_ < 8)
    diags_.warn("check.function", cat("local functions came with IR version 8, and the file says ", ir_version_),
                at(""));
  graph(GraphProto(m.graphs.back().message()), nullptr, "");
  for (const auto& f : functions) function(*f);
  function_cycles(functions);
}

void Checker::header(const ModelProto& m) {
  ir_version_ = m.ir_version;
  if (m.ir_version > newest_ir_version || m.ir_version < 1)
    err("check.ir-version", cat("IR version ", m.ir_version, " does not exist; the newest is ", newest_ir_version),
        at(""));
  std::set<std::string_view> keys;
  for (const auto& [key, value] : m.metadata)
    if (!keys.insert(key).second) err("check.metadata", cat("the metadata have two entries '", key, "'"), at(""));
  model_opsets_ = imports(m.opsets, "the model");
  if (m.ir_version >= 3) {
    if (m.opsets.empty())
      err("check.opset-missing", "the model does not say which opset it uses", at("")).because =
          "files of IR version 3 and later must";
  } else {
    if (!m.opsets.empty())
      err("check.opset", cat("a file of IR version ", m.ir_version, " cannot import opsets: that came with 3"), at(""));
    if (m.opsets.empty()) model_opsets_[""] = 1;
  }
}

Checker::Opsets Checker::imports(const std::vector<OpsetProto>& list, const std::string& who) {
  Opsets out;
  for (const OpsetProto& o : list) {
    const std::string domain(plain(o.domain));
    if (!out.emplace(domain, o.version).second)
      err("check.opset", cat(who, " imports ", shown(domain), " twice"), at(""));
    const int64_t newest = newest_version(domain);
    if (o.version < 1) err("check.opset", cat("opset ", o.version, " of ", shown(domain), " does not exist"), at(""));
    else if (newest && o.version > newest)
      diags_.warn("check.opset-newer",
                  cat("opset ", o.version, " of ", shown(domain), " is newer than this Cameo, which knows ", newest),
                  at(""));
  }
  return out;
}

void Checker::graph(const GraphProto& g, const Scope* parent, const std::string& what) {
  Scope scope;
  scope.parent = parent;
  const bool main = parent == nullptr;
  if (g.name.empty()) err("check.unnamed-graph", cat(main ? "the graph" : what, " has no name"), at(what));
  std::vector<ValueInfoProto> inputs, outputs;
  for (const auto& f : g.inputs) inputs.push_back(read_value_info(f.message()));
  for (const auto& f : g.outputs) outputs.push_back(read_value_info(f.message()));
  for (const ValueInfoProto& v : inputs) {
    value_info(v, main, "input");
    if (!v.name.empty() && !scope.names.insert(v.name).second)
      err("check.duplicate-name", cat("two inputs are called '", v.name, "'"), at(v.name));
    else if (parent && parent->has(v.name))
      accepted("check.duplicate-name", cat("'", v.name, "' names an input of ", what, " and a value outside it"),
               at(v.name));
  }
  for (const ValueInfoProto& v : outputs) value_info(v, main, "output");
  initializers(g, scope, inputs);
  nodes(g.nodes, scope);
  for (const ValueInfoProto& v : outputs)
    if (!v.name.empty() && !scope.has(v.name))
      err("check.undefined-name", cat("the output '", v.name, "' is computed by no node"), at(v.name));
  std::set<std::string_view> described;
  for (const auto& f : g.value_info) {
    const ValueInfoProto v = read_value_info(f.message());
    if (v.name.empty()) err("check.unnamed-value", "a value_info has no name", at(what));
    else if (!described.insert(v.name).second)
      diags_.warn("check.duplicate-info", cat("'", v.name, "' is described twice"), at(v.name));
  }
}

void Checker::value_info(const ValueInfoProto& v, bool main, const std::string& what) {
  if (v.name.empty()) err("check.unnamed-value", cat("an ", what, " has no name"), at(""));
  if (!main) return;  // bodies may leave types open
  using Kind = TypeProto::Kind;
  const auto wrong = [&](std::string_view problem) {
    err("check.value-type", cat("the ", what, " '", v.name, "' ", problem), at(v.name));
  };
  switch (v.type.kind) {
    case Kind::none: return wrong("has no type");
    case Kind::opaque: return;
    case Kind::tensor:
    case Kind::sparse_tensor:
      if (!dtype_from_number(v.type.elem) || v.type.elem == 0)
        wrong(v.type.elem == 0 ? "has no element type" : "has an element type that does not exist");
      if (!v.type.shape) wrong("has no shape");
      if (v.type.shape)
        for (const DimProto& d : *v.type.shape)
          if (d.value && *d.value < 0)
            accepted("check.value-type", cat("the ", what, " '", v.name, "' has a negative size"), at(v.name)).hint =
                "engines read -1 as a size that is not known; give it a name instead";
      return;
    case Kind::sequence:
    case Kind::optional:
      if (v.type.inner.empty()) wrong("does not say what it holds");
      return;
    case Kind::map:
      if (v.type.elem == 0) wrong("does not say the type of its keys");
      if (v.type.inner.empty()) wrong("does not say the type of its values");
      return;
  }
}

void Checker::initializers(const GraphProto& g, Scope& scope, const std::vector<ValueInfoProto>& inputs) {
  std::unordered_set<std::string_view> seen;
  const auto named = [&](std::string_view name) {
    if (name.empty()) return void(err("check.unnamed-value", "an initializer has no name", at("")));
    if (!seen.insert(name).second)
      err("check.duplicate-name", cat("two initializers are called '", name, "'"), at(name));
    const bool is_input = scope.names.count(name) != 0;
    if (ir_version_ <= 3 && !is_input)
      err("check.initializer", cat("the initializer '", name, "' is not an input"), at(name)).because =
          cat("files of IR version ", ir_version_, " must list initializers among the inputs");
    if (!is_input && scope.parent && scope.parent->has(name))
      accepted("check.duplicate-name", cat("'", name, "' names an initializer and a value outside this body"),
               at(name));
    scope.names.insert(name);
  };
  for (const auto& f : g.initializers) {
    const TensorProto t = read_tensor(f.message());
    named(t.name);
    tensor(t, at(t.name));
    for (const ValueInfoProto& v : inputs) {
      if (v.name != t.name || v.type.kind != TypeProto::Kind::tensor) continue;
      bool agrees = v.type.elem == 0 || v.type.elem == t.data_type;
      if (v.type.shape) {
        agrees = agrees && v.type.shape->size() == t.dims.size();
        for (size_t i = 0; agrees && i < t.dims.size(); ++i)
          agrees = !(*v.type.shape)[i].value || *(*v.type.shape)[i].value == t.dims[i];
      }
      if (!agrees)
        err("check.initializer",
            cat("the initializer '", t.name, "' is not of the type that the input of that name declares"), at(t.name));
    }
  }
  for (const auto& f : g.sparse_initializers) {
    const SparseTensorProto t = read_sparse_tensor(f.message());
    named(t.values.name);
    sparse_tensor(t, at(t.values.name));
  }
}

void Checker::nodes(const std::vector<pb::Field>& fields, Scope& scope) {
  for (const auto& f : fields) {
    NodeProto n(f.message());
    n.offset = f.offset();
    for (const auto name : n.inputs) {
      if (name.empty() || scope.has(name)) continue;
      if (scope.later.empty())
        for (const auto& other : fields) {
          auto in = other.message();
          while (auto part = in.next())
            if (part.number == 2) scope.later.insert(part.text());
        }
      if (scope.later.count(name))
        err("check.order", cat("'", name, "' is used before the node that computes it"), at(n)).hint =
            "nodes must be in an order in which every value is computed before it is used";
      else err("check.undefined-name", cat("there is no value '", name, "'"), at(n));
    }
    node(n, scope);
    for (const auto name : n.outputs) {
      if (name.empty()) continue;
      if (scope.has(name))
        err("check.duplicate-name", cat("'", name, "' is computed a second time"), at(n)).because =
            "every name must mean one value, bodies included";
      scope.names.insert(name);
    }
  }
}

void Checker::function(const FunctionProto& f) {
  if (f.name.empty()) err("check.function", "a function has no name", at(""));
  if (f.domain.empty()) diags_.warn("check.function", cat("the function '", f.name, "' has no domain"), at(f.name));
  const Opsets own = imports(f.opsets, cat("the function '", f.name, "'"));
  const auto unique = [&](const std::vector<std::string_view>& names, std::string_view what) {
    std::set<std::string_view> seen;
    for (const auto name : names)
      if (!seen.insert(name).second)
        err("check.function", cat("the function '", f.name, "' has two ", what, " '", name, "'"), at(f.name));
  };
  unique(f.inputs, "inputs");
  unique(f.outputs, "outputs");
  unique(f.attributes, "attributes");
  function_versions(f, own);
  Scope scope;
  scope.names.insert(f.inputs.begin(), f.inputs.end());
  opsets_ = &own;
  inside_ = &f;
  nodes(f.nodes, scope);
  inside_ = nullptr;
  opsets_ = &model_opsets_;
  for (const auto name : f.outputs)
    if (!scope.has(name))
      err("check.undefined-name", cat("the output '", name, "' of the function '", f.name, "' is computed by no node"),
          at(f.name));
}

// A function may import another version than the model where that changes none of the operators it uses.
void Checker::function_versions(const FunctionProto& f, const Opsets& own) {
  for (const auto& field : f.nodes) {
    NodeProto n(field.message());
    n.offset = field.offset();
    const auto domain = plain(n.domain);
    const auto mine = own.find(domain);
    const auto theirs = std::as_const(model_opsets_).find(domain);
    if (mine == own.end() || theirs == model_opsets_.end() || mine->second == theirs->second) continue;
    const OpDef* op = find_op(domain, n.op_type);
    const SchemaVersion *a = op ? op->at(mine->second) : nullptr, *b = op ? op->at(theirs->second) : nullptr;
    if (op && (!a || !b || a->since != b->since))
      err("check.function-opset",
          cat("the function '", f.name, "' uses ", n.op_type, " of opset ", mine->second,
              ", which differs from that of the model's opset ", theirs->second),
          at(n));
  }
}

void Checker::function_cycles(const std::vector<std::unique_ptr<FunctionProto>>& functions) {
  std::map<FunctionId, std::set<FunctionId>> calls;
  for (const auto& f : functions)
    for (const auto& field : f->nodes) {
      const NodeProto n(field.message());
      if (const FunctionId callee{plain(n.domain), n.op_type, n.overload}; functions_.count(callee))
        calls[{plain(f->domain), f->name, f->overload}].insert(callee);
    }
  // What calls nothing that is left can be taken away; what remains calls itself in the end.
  std::map<FunctionId, std::vector<FunctionId>> callers;
  std::map<FunctionId, size_t> left;  // of what it calls
  std::vector<FunctionId> away;
  for (const FunctionId& id : functions_) {
    for (const FunctionId& callee : calls[id]) callers[callee].push_back(id);
    if ((left[id] = calls[id].size()) == 0) away.push_back(id);
  }
  while (!away.empty()) {
    const FunctionId id = std::move(away.back());
    away.pop_back();
    left.erase(id);
    for (const FunctionId& caller : callers[id])
      if (--left.at(caller) == 0) away.push_back(caller);
  }
  for (const auto& [id, count] : left)
    err("check.function", cat("the function '", id.name, "' calls itself, or functions that do"), at(id.name));
}

}  // namespace cameo::onnx
