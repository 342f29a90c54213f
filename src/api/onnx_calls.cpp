#include "api/onnx_calls.h"

#include <algorithm>
#include <optional>
#include <span>

#include "ir/dtype.h"
#include "support/error.h"

namespace cameo::api {

namespace {

using List = LoweringValue::List;

// `operands` are the inputs of the node, in order; the operator's other parameters are attributes.
struct Signature {
  std::string_view op, node;  // node: empty where the call names it itself
  int opset;
  size_t results;
  std::vector<std::string_view> operands;
};

const std::vector<Signature>& signatures() {
  static const std::vector<Signature> table = {
      {"onnx_symbolic::_symbolic", "", 0, 1, {}},
      {"onnx_symbolic::_symbolic_multi_out", "", 0, 0, {}},
      {"onnx::RotaryEmbedding", "RotaryEmbedding", 23, 1, {"x", "cos_cache", "sin_cache", "position_ids"}},
      {"onnx::Attention", "Attention", 23, 4, {"Q", "K", "V", "attn_mask", "past_key", "past_value"}},
  };
  return table;
}

const Signature* signature_of(std::string_view op) {
  const auto base = op.substr(0, op.find('.'));
  const auto& all = signatures();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Signature& s) { return s.op == base; });
  return it == all.end() ? nullptr : &*it;
}

constexpr std::string_view symbolic_parameters[] = {"inputs",
                                                    "op_type",
                                                    "onnx_dtype|onnx_dtypes",
                                                    "shape|shapes",
                                                    "attr_keys",
                                                    "attr_types",
                                                    "attr_pos",
                                                    "attr_ints",
                                                    "attr_floats",
                                                    "attr_strs",
                                                    "metadata_props_keys",
                                                    "metadata_props_values",
                                                    "domain",
                                                    "version"};

// The arguments of one call, by name.
class Named {
 public:
  Named(const LoweringCall& call, std::span<const std::string_view> names) : call_(call), names_(names) {}

  const LoweringValue* find(std::string_view name) const {
    for (const auto& [key, v] : call_.keywords)
      if (fits(name, key)) return &v;
    for (size_t i = 0; i < names_.size() && i < call_.arguments.size(); ++i)
      if (names_[i] == name) return &call_.arguments[i];
    return nullptr;
  }
  template <class T>
  T get(std::string_view name, T otherwise) const {
    const LoweringValue* v = find(name);
    const T* held = v ? std::get_if<T>(&v->content) : nullptr;
    return held ? *held : otherwise;
  }
  List list(std::string_view name) const { return get<List>(name, {}); }

 private:
  static bool fits(std::string_view wanted, std::string_view given) {  // "shape|shapes"
    for (size_t at = 0; at <= wanted.size();) {
      const size_t end = std::min(wanted.find('|', at), wanted.size());
      if (wanted.substr(at, end - at) == given) return true;
      at = end + 1;
    }
    return false;
  }
  const LoweringCall& call_;
  std::span<const std::string_view> names_;
};

template <class T>
std::vector<T> slice(const List& all, int64_t begin, int64_t end, std::string_view key) {
  std::vector<T> out;
  for (int64_t i = begin; i < end; ++i) {
    const T* v =
        i >= 0 && static_cast<size_t>(i) < all.size() ? std::get_if<T>(&all[static_cast<size_t>(i)].content) : nullptr;
    if (!v) throw error("use.lowering", cat("the attribute '", key, "' of torch.onnx.ops.symbolic has no value"));
    out.push_back(*v);
  }
  return out;
}

template <class T>
Attribute attribute(const std::string& key, std::vector<T> values, bool one) {
  if (!one) return {key, std::move(values)};
  if (values.size() != 1)
    throw error("use.lowering",
                cat("the attribute '", key, "' of torch.onnx.ops.symbolic has ", values.size(), " values"));
  return {key, std::move(values.front())};
}

// torch.onnx's EncodedAttrs: for each key its type, and where its values begin and end in the list of that type.
std::vector<Attribute> decoded(const Named& args) {
  const List keys = args.list("attr_keys"), types = args.list("attr_types"), places = args.list("attr_pos");
  std::vector<Attribute> out;
  for (size_t i = 0; i < keys.size() && i < types.size() && i < places.size(); ++i) {
    const auto* key = std::get_if<std::string>(&keys[i].content);
    const auto* type = std::get_if<std::string>(&types[i].content);
    const auto* place = std::get_if<List>(&places[i].content);
    if (!key || !type || !place)
      throw error("use.lowering", "the attributes of torch.onnx.ops.symbolic are not constants");
    const auto ends = slice<int64_t>(*place, 0, 2, *key);
    const bool one = type->size() == 1;
    if (type->starts_with('i'))
      out.push_back(attribute(*key, slice<int64_t>(args.list("attr_ints"), ends[0], ends[1], *key), one));
    else if (type->starts_with('f'))
      out.push_back(attribute(*key, slice<double>(args.list("attr_floats"), ends[0], ends[1], *key), one));
    else out.push_back(attribute(*key, slice<std::string>(args.list("attr_strs"), ends[0], ends[1], *key), one));
  }
  return out;
}

// "f32[2,?]" of a call's element type and sizes; a size that depends on the inputs has no name here.
std::optional<std::string> type_text(int64_t onnx_dtype, const LoweringValue& shape) {
  const auto dtype = ir::dtype_from_number(onnx_dtype);
  const auto* sizes = std::get_if<List>(&shape.content);
  if (!dtype || !sizes) return std::nullopt;
  std::string out = cat(ir::name(*dtype), "[");
  for (size_t i = 0; i < sizes->size(); ++i) {
    const auto* n = std::get_if<int64_t>(&(*sizes)[i].content);
    out += cat(i ? "," : "", n ? cat(*n) : "?");
  }
  return out + "]";
}

std::vector<LoweringValue> symbolic(NodeBuilder& g, const LoweringCall& call, bool several, DomainVersions& versions) {
  const Named args(call, symbolic_parameters);
  auto op = args.get<std::string>("op_type", ""), domain = args.get<std::string>("domain", "");
  if (const auto colons = op.find("::"); colons != op.npos) domain = op.substr(0, colons), op = op.substr(colons + 2);
  const auto version = args.get<int64_t>("version", 0);
  const List dtypes =
      several ? args.list("onnx_dtype|onnx_dtypes") : List{args.get<int64_t>("onnx_dtype|onnx_dtypes", 0)};
  const List shapes = several ? args.list("shape|shapes") : List{args.list("shape|shapes")};
  std::vector<Var> inputs;
  for (const LoweringValue& v : args.list("inputs")) {
    const Var* tensor = std::get_if<Var>(&v.content);
    inputs.push_back(tensor ? *tensor : Var());
  }
  const bool onnx = domain.empty() || domain == "ai.onnx";
  const auto made = g.op_outputs(std::max<size_t>(dtypes.size(), 1), onnx ? op : cat(domain, "::", op),
                                 std::move(inputs), decoded(args), onnx ? static_cast<int>(version) : 0);
  if (!onnx && version > 0) versions[domain] = std::max(versions[domain], version);
  for (size_t i = 0; i < made.size() && i < shapes.size(); ++i) {
    const auto* dtype = std::get_if<int64_t>(&dtypes[i].content);
    const auto type = dtype ? type_text(*dtype, shapes[i]) : std::nullopt;
    const bool archive_knows = !call.keywords.empty();  // torch.export's archives have names for the sizes
    if (type && !(archive_knows && type->find('?') != type->npos)) g.set_type(made[i], *type);
  }
  if (several) return {LoweringValue(List(made.begin(), made.end()))};
  return {made.begin(), made.end()};
}

std::vector<LoweringValue> known(NodeBuilder& g, const LoweringCall& call, const Signature& s) {
  const Named args(call, s.operands);
  std::vector<Var> operands;
  for (const std::string_view name : s.operands) operands.push_back(args.get<Var>(name, Var()));
  while (!operands.empty() && !operands.back()) operands.pop_back();
  std::vector<Attribute> attributes;
  for (const auto& [key, v] : call.keywords) {
    if (const auto* flag = std::get_if<bool>(&v.content)) attributes.push_back({key, int64_t{*flag}});
    else if (const auto* i = std::get_if<int64_t>(&v.content)) attributes.push_back({key, *i});
    else if (const auto* d = std::get_if<double>(&v.content)) attributes.push_back({key, *d});
  }
  const auto made = g.op_outputs(s.results, s.node, std::move(operands), std::move(attributes), s.opset);
  return {made.begin(), made.end()};
}

}  // namespace

bool is_onnx_call(std::string_view op) { return signature_of(op) != nullptr; }

std::vector<std::string_view> onnx_calls() {
  std::vector<std::string_view> out;
  for (const Signature& s : signatures()) out.push_back(s.op);
  return out;
}

std::vector<LoweringValue> lower_onnx_call(NodeBuilder& g, const LoweringCall& call, DomainVersions& versions) {
  const Signature& s = *signature_of(call.op);
  return s.node.empty() ? symbolic(g, call, s.results == 0, versions) : known(g, call, s);
}

}  // namespace cameo::api
