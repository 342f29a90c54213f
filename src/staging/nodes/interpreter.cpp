#include "staging/nodes/interpreter.h"

#include <algorithm>
#include <limits>

#include "staging/nodes/vmap.h"

namespace cameo::staging {

NodeInterpreter::NodeInterpreter(const pt2::Program& program, Machine& machine)
    : s(machine),
      program_(program),
      sink_(machine.sink()),
      place_(machine.journals, {.file = program.path()}),
      symbols_(machine.journals),
      agreement_(machine.journals, {}) {
  machine.run_by(*this);
}

std::optional<Dim> NodeInterpreter::symbol(std::string_view name) const {
  const Dim* d = symbols_.find(name);
  return d ? std::optional(*d) : std::nullopt;
}

std::optional<Dim> NodeInterpreter::size(const pt2::SymInt& v) const {
  if (v.literal) return Dim(*v.literal);
  return pt2::dim_of(v.expression, [this](std::string_view name) { return symbol(name); });
}

Value NodeInterpreter::lookup(std::string_view name, const NodeScope& scope, json::Value at) const {
  const auto it = scope.values.find(name);
  if (it == scope.values.end()) at.fail(cat("the name ", name, " is used before anything defines it"));
  return it->second;
}

void NodeInterpreter::run(NodeScope& scope) {
  try {
    std::vector<json::Value> nodes;
    for (const json::Value n : scope.graph["nodes"].elements()) nodes.push_back(n);
    run(nodes, 0, nodes.size(), scope);
  } catch (const Raised& r) {
    s.fail_as_raised(r);
  }
}

void NodeInterpreter::run(const std::vector<json::Value>& nodes, size_t at, size_t end, NodeScope& scope) {
  while (at < end) {
    if (vmap_step(nodes[at]) == VmapStep::begin) at = vmapped(nodes, at, scope);
    else node(nodes[at++], scope);
  }
}

void NodeInterpreter::node(json::Value n, NodeScope& scope) {
  place(n);
  bind(n["outputs"], call(n, scope), scope);
}

// Module path and source line, as far as the archive kept them.
void NodeInterpreter::place(json::Value n) {
  Loc loc;
  loc.file = program_.path();
  std::string scope;
  if (const json::Value metadata = n.present("metadata")) {
    if (const json::Value stack = metadata.present("nn_module_stack")) {
      const auto all = stack.text();
      scope = pt2::module_entry(all.substr(all.rfind(';') + 1)).path;  // npos + 1 is 0
    }
    if (const json::Value trace = metadata.present("stack_trace")) {
      // Only the last frame: traces are most of an archive's JSON.
      const auto all = trace.raw();
      if (const size_t at = all.rfind("File \\\""); at != all.npos) {
        const std::string frame = json::unescape(all.substr(at + 7));
        const size_t quote = frame.find('"'), line = frame.find("line ");
        if (quote != frame.npos && line != frame.npos) {
          loc.file = frame.substr(0, quote);
          for (size_t i = line + 5; i < frame.size() && frame[i] >= '0' && frame[i] <= '9' && loc.line < 100'000'000;
               ++i)
            loc.line = loc.line * 10 + static_cast<uint32_t>(frame[i] - '0');
          if (const size_t next = frame.find('\n'); next != frame.npos) {
            auto source = std::string_view(frame).substr(next + 1);
            source = source.substr(0, source.find('\n'));
            while (source.starts_with(' ')) source.remove_prefix(1);
            loc.source = source;
          }
        }
      }
    }
  }
  loc.scope = std::move(scope);
  place_.change() = std::move(loc);
}

namespace {
// A result that is a list has a name for each of its tensors.
std::optional<int64_t> pieces_of(json::Value n) {
  if (n["outputs"].size() != 1) return std::nullopt;
  const auto [tag, list] = pt2::tagged(n["outputs"][size_t{0}]);
  return tag == "as_tensors" ? std::optional(static_cast<int64_t>(list.size())) : std::nullopt;
}
}  // namespace

std::vector<Value> NodeInterpreter::call(json::Value n, NodeScope& scope) {
  const auto target = n["target"].text();
  if (auto results = scalar_call(target, n, scope)) return std::move(*results);
  if (target.find("higher_order") != target.npos) return higher_order(target.substr(target.rfind('.') + 1), n, scope);
  if (vmap_step(n) == VmapStep::load) return {};
  const auto name = target.starts_with("torch.ops.") ? target_of(target) : std::nullopt;
  if (!name) return s.missing_op(std::string(target), n["outputs"].size());
  const auto [ns, op, overload] = *name;
  CallArgs args;
  for (const json::Value named : n["inputs"].elements())
    args.keywords.emplace_back(named["name"].text(), argument(named["arg"], scope));
  if (auto done = assertion(op, args, n, scope)) return std::move(*done);
  if (autocast_) apply_autocast(op, n, args, scope);
  if (ns != "aten" && schemas_of(cat(ns, "::", op)).empty() && find_host_ops(cat(ns, "::", op)).empty())
    return custom_call(*name, n, std::move(args));
  const Unpacked taken(s.on, pieces_of(n));
  return operator_call(ns, op, overload == "default" ? "" : overload, std::move(args));
}

std::optional<NodeInterpreter::Target> NodeInterpreter::target_of(std::string_view text) {
  if (text.starts_with("torch.ops.")) text.remove_prefix(10);
  const size_t last = text.rfind('.'), first = text.find('.');
  if (last == text.npos || first == last) return std::nullopt;
  return Target{text.substr(0, first), text.substr(first + 1, last - first - 1), text.substr(last + 1)};
}

std::vector<Value> NodeInterpreter::unsigned_call(const Target& target, CallArgs args, size_t results) {
  const Machine::ResultsWanted wanted(s, results);
  return s.call_op(target.ns, target.op, std::move(args));
}

// An operator of the user's own, or one that is newer than our signatures. The archive does not tell whether it writes.
std::vector<Value> NodeInterpreter::custom_call(const Target& target, json::Value n, CallArgs args) {
  const auto pieces = pieces_of(n);
  auto out = unsigned_call(target, std::move(args), pieces ? static_cast<size_t>(*pieces) : n["outputs"].size());
  const std::string name = cat(target.ns, "::", target.op);
  if (program_.is_training_ir() && s.options.fallback != Fallback::none && s.told.first(cat("custom ", name)))
    sink_.warn("pt2.custom-writes", cat("should ", name, " write to its arguments, then that is lost"), s.here()).hint =
        "the archive does not say; ep.run_decompositions({}) before torch.export.save makes writes visible";
  return out;
}

namespace {
// Names that torch.export has for what scripts call otherwise; their host operators take any overload.
constexpr std::pair<std::string_view, std::string_view> renamed[] = {
    {"sym_size", "size"},
    {"sym_numel", "numel"},
    {"sym_stride", "stride"},
    {"sym_storage_offset", "storage_offset"},
};

std::string_view script_name(std::string_view op) {
  for (const auto& [from, to] : renamed)
    if (from == op) return to;
  return op;
}

bool is_tensor_slot(const SchemaType& t) {
  return t.kind == SchemaType::Kind::tensor || (t.kind == SchemaType::Kind::optional && is_tensor_slot(t.args[0]));
}
}  // namespace

// Decomposed programs compute singular values and eigenvalues with their vectors, and mostly drop those.
std::optional<std::vector<Value>> NodeInterpreter::values_without_vectors(std::string_view op, CallArgs& args) {
  const bool svd = op == "_linalg_svd", eigh = op == "_linalg_eigh";
  if (!svd && !eigh) return std::nullopt;
  const std::string_view key = svd ? "compute_uv" : "compute_v";
  std::erase_if(args.keywords, [&](const auto& a) { return a.first == key; });
  args.keywords.emplace_back(key, Value(false));
  auto results = s.call_overload(*find_schema(svd ? "aten::_linalg_svd" : "aten::_linalg_eigh"), args);
  if (!results || (*results)[0].is<Poison>()) return results;
  for (size_t i = 0; i < results->size(); ++i)
    if (i != (svd ? 1 : 0))
      (*results)[i] = poison(cat("ONNX has no operator for ", svd ? "singular vectors" : "eigenvectors"));
  return results;
}

std::vector<Value> NodeInterpreter::operator_call(std::string_view ns, std::string_view op, std::string_view overload,
                                                  CallArgs args) {
  if (auto results = values_without_vectors(op, args)) return std::move(*results);
  const std::string name = cat(ns, "::", script_name(op));
  const std::string full = overload.empty() ? name : cat(name, ".", overload);
  const Schema* schema = find_schema(full);
  const auto positional = [&] {
    CallArgs plain;
    for (auto& [key, v] : args.keywords) plain.positional.push_back(v);
    return plain;
  };
  if (!find_row(full) && !find_host_ops(name).empty() && (!schema || !(schema->is_inplace() || schema->is_out())))
    return s.call_op(ns, script_name(op), positional());
  if (!schema) return s.call_op(ns, op, std::move(args));
  // A number where the overload wants a tensor is torch's wrapped number: another overload takes it as what it is.
  bool wrapped = false;
  for (const auto& [key, v] : args.keywords) {
    const SchemaParam* p = schema->param(key);
    wrapped = wrapped || (p && v.is_number() && is_tensor_slot(p->type));
  }
  if (!wrapped)
    if (auto results = s.call_overload(*schema, args)) return std::move(*results);
  if (wrapped) {
    for (const Schema& other : schemas_of(name))
      if (&other != schema && !other.is_out() && other.is_inplace() == schema->is_inplace() &&
          match_one(s, other, args))
        return std::move(*s.call_overload(other, args));
    for (auto& [key, v] : args.keywords)
      if (const SchemaParam* p = schema->param(key); p && v.is_number() && is_tensor_slot(p->type))
        v = number_as_tensor(v);
    if (auto results = s.call_overload(*schema, args)) return std::move(*results);
  }
  std::string given;
  for (const auto& [key, v] : args.keywords) given += cat(given.empty() ? "" : ", ", key, "=", v.kind());
  s.fail("stage.overload", cat(full, " does not take (", given, ")"));
}

Value NodeInterpreter::number_as_tensor(const Value& v) {
  const Arg a = s.to_arg(v);
  const DType t = v.is<bool>() || v.is<StagedBool>() ? DType::boolean : v.is<Dim>() ? DType::i64 : DType::f32;
  Value made = s.tensor(s.on.scalar(Num(a), t));
  TensorRef ref = made.need<TensorRef>();
  ref.literal = true;
  return Value(ref);
}

void NodeInterpreter::bind(json::Value outputs, Results results, NodeScope& scope) {
  const size_t count = outputs.size();
  // Higher-order operators of older files hand their results over as one list.
  if (results.size() > count && count == 1) results = {s.list(std::move(results))};
  size_t i = 0;
  for (const json::Value out : outputs.elements()) {
    const auto [tag, v] = pt2::tagged(out);
    Value result = i < results.size()        ? results[i]
                   : results.empty()         ? Value()
                   : results[0].is<Poison>() ? results[0]
                                             : Value();
    ++i;
    if (tag == "as_none") continue;
    if (tag == "as_tensor") bind_one(v["name"].text(), std::move(result), scope);
    else if (tag.starts_with("as_sym_") && v.is_object()) {
      if (const json::Value name = v.present("as_name")) bind_one(name.text(), std::move(result), scope);
    } else if (v.is_array()) {
      std::vector<Value> parts;
      if (result.is<ListRef>() || result.is<Tuple>()) parts = s.items(result);
      else if (count == 1) parts = results;
      size_t k = 0;
      for (const json::Value part : v.elements()) {
        json::Value named = part;
        if (tag == "as_optional_tensors") {
          const auto inner = pt2::tagged(part);
          if (inner.tag == "as_none") {
            ++k;
            continue;
          }
          named = inner.value;
        }
        const auto name = named.is_string()       ? named.text()
                          : named.present("name") ? named["name"].text()
                                                  : named["as_name"].text();
        if (k >= parts.size() && !result.is<Poison>())
          s.fail("stage.results", cat("the archive names ", v.size(), " results where staging has ", parts.size()));
        bind_one(name, result.is<Poison>() ? result : parts[k], scope);
        ++k;
      }
    } else if (tag != "as_custom_obj") out.fail(cat("a result of the kind ", tag));
  }
}

void NodeInterpreter::bind_one(std::string_view name, Value v, NodeScope& scope) {
  compare_with_metadata(name, v, scope);
  scope.values.insert_or_assign(name, std::move(v));
}

// A result of a custom operator, of whose type nothing is known here.
bool NodeInterpreter::is_foreign(V value) const {
  const auto& v = s.graph[value.id];
  return v.kind == ir::Value::Kind::node_output && !v.fact.has_rank() && s.graph[v.def].op->is_opaque();
}

void NodeInterpreter::type_from_metadata(V value, std::optional<DType> dtype, json::Value sizes) {
  if (!dtype || is_complex(*dtype)) return;
  Shape shape;
  for (const json::Value v : sizes.elements()) {
    const pt2::SymInt told = pt2::sym_int(v);
    auto d = size(told);
    if (!d) d = s.graph.dims().fresh("custom");
    if (const auto bare = pt2::bare_symbol(told.expression); !bare.empty() && !symbol(bare)) bind_symbol(bare, *d);
    s.on.bind_axis(*d, value, static_cast<int64_t>(shape.size()));
    shape.push_back(*d);
  }
  s.graph.fact(value).type = Type::tensor(*dtype, std::move(shape));
}

// The archive has every value's type: sizes it knows better become facts, contradictions are reported.
void NodeInterpreter::compare_with_metadata(std::string_view name, const Value& v, NodeScope& scope) {
  const FactOrigin said{FactSource::archive, "the archive's metadata", s.here()};
  if (const auto* d = v.as<Dim>()) {
    const json::Value entry = scope.graph["sym_int_values"].find(name);
    if (!entry) return;
    const pt2::SymInt told = pt2::sym_int(entry);
    if (const auto bare = pt2::bare_symbol(told.expression); !bare.empty() && !symbol(bare)) bind_symbol(bare, *d);
    else if (const auto known = size(told)) {
      const Answer same = s.graph.facts.equal(*d, *known);
      if (same == Answer::unknown) s.graph.facts.assume_equal(*d, *known, said);
      else if (same == Answer::no && agreement_.change().sizes++ == 0)
        sink_.warn("pt2.shape",
                   cat("the number ", name, " is ", known->text(), " in the archive and ", d->text(), " here"),
                   s.here());
    }
    return;
  }
  const auto* t = v.as<TensorRef>();
  json::Value meta = scope.graph["tensor_values"].find(name);
  if (!t || !meta) return;
  if (const json::Value inner = meta.find("meta")) meta = inner;  // PyTorch 2.1
  const V value = s.read(*t);
  const auto dtype = pt2::dtype_of(meta["dtype"].integer());
  const auto expected = dtype ? dtype_from_torch(static_cast<int64_t>(*dtype)) : std::nullopt;
  if (is_foreign(value)) return type_from_metadata(value, expected, meta["sizes"]);
  if (pt2::is_unread(name)) return;  // its shape may be that of only one kernel (embedding_bag's offset2bag)
  ++agreement_.change().checked;
  if (expected && s.on.dtype(value) != *expected) {
    if (agreement_.change().dtypes++ == 0)
      sink_.warn("pt2.dtype",
                 cat(name, " is ", ir::name(*expected), " in the archive and ", ir::name(s.on.dtype(value)), " here"),
                 s.here());
  }
  if (!s.on.has_rank(value)) return;
  const Shape shape = s.on.shape(value);
  const json::Value sizes = meta["sizes"];
  if (sizes.size() != shape.size()) {
    if (agreement_.change().sizes++ == 0)
      sink_.warn("pt2.shape", cat(name, " has ", sizes.size(), " axes in the archive and ", shape.size(), " here"),
                 s.here());
    return;
  }
  size_t axis = 0;
  for (const json::Value size_value : sizes.elements()) {
    const Dim d = shape[axis++];
    const pt2::SymInt told = pt2::sym_int(size_value);
    if (const auto bare = pt2::bare_symbol(told.expression); !bare.empty() && !symbol(bare)) {
      bind_symbol(bare, d);
      continue;
    }
    const auto known = size(told);
    if (!known || *known == d) continue;
    const Answer same = s.graph.facts.equal(d, *known);
    if (same == Answer::unknown) s.graph.facts.assume_equal(d, *known, said);
    else if (same == Answer::no && agreement_.change().sizes++ == 0)
      sink_.warn("pt2.shape",
                 cat("axis ", axis - 1, " of ", name, " is ", known->text(), " in the archive and ", d.text(), " here"),
                 s.here());
  }
}

}  // namespace cameo::staging
