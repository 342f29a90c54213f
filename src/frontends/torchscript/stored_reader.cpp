#include "frontends/torchscript/stored_reader.h"

#include <algorithm>
#include <unordered_set>

#include "support/error.h"

namespace cameo::torchscript {

using pickle::Kind;

const StoredValue* StoredObject::attribute(std::string_view name) const {
  for (const StoredAttribute& a : attributes)
    if (a.name == name) return a.value;
  return nullptr;
}

void StoredReader::damaged(std::string what) const {
  throw error("file.pickle-damaged", cat(folder_, ".pkl: ", what)).at(state_.place(folder_ + ".pkl"));
}

const StoredValue* StoredReader::read(const Value& v) {
  // Only what can be shared needs remembering.
  const bool shareable = v.kind >= Kind::string;
  if (shareable)
    if (const auto known = done_.find(&v); known != done_.end()) return known->second;
  const StoredValue* made = convert(v);
  if (shareable) done_.emplace(&v, made);
  return made;
}

StoredValue* StoredReader::make(StoredKind kind) {
  auto* v = state_.arena.make<StoredValue>();
  v->kind = kind;
  return v;
}

const StoredValue* StoredReader::convert(const Value& v) {
  switch (v.kind) {
    case Kind::none: return make(StoredKind::none);
    case Kind::boolean: {
      auto* made = make(StoredKind::boolean);
      made->boolean = v.boolean;
      return made;
    }
    case Kind::integer: {
      auto* made = make(StoredKind::integer);
      made->integer = v.integer;
      return made;
    }
    case Kind::floating: {
      auto* made = make(StoredKind::floating);
      made->floating = v.floating;
      return made;
    }
    case Kind::string: {
      auto* made = make(StoredKind::string);
      made->text = v.text;
      return made;
    }
    case Kind::tuple: return sequence(v, StoredKind::tuple);
    case Kind::list: return sequence(v, StoredKind::list);
    case Kind::dict: return sequence(v, StoredKind::dict);
    case Kind::object: return object(v);
    case Kind::call: return call(v);
    case Kind::big_integer: damaged("an integer of more than 64 bits");
    case Kind::bytes:
    case Kind::set:
    case Kind::global:
    case Kind::persistent: break;
  }
  damaged("a value of a kind that TorchScript does not have");
}

const StoredValue* StoredReader::sequence(const Value& v, StoredKind kind) {
  const size_t mark = scratch_.size();
  for (const Value* item : v.items) {
    const StoredValue* part = read(*item);
    scratch_.push_back(part);
  }
  auto* made = make(kind);
  made->items = state_.arena.copy(std::span<const StoredValue* const>(scratch_).subspan(mark));
  scratch_.resize(mark);
  return made;
}

const StoredValue* StoredReader::typed(const StoredValue* v, const Type* type) {
  // The value is a fresh list or dict, or one that the tag is the only user of.
  auto* copy = state_.arena.make<StoredValue>(*v);
  copy->type = type;
  return copy;
}

const StoredValue* StoredReader::call(const Value& v) {
  const Value& callee = *v.callee();
  if (callee.kind != Kind::global) damaged("a call of something that is not a name");
  const auto module = callee.module(), name = callee.name();
  if (module == "torch._utils") {
    if (name == "_rebuild_tensor_v2") return tensor(v);
    if (name == "_rebuild_tensor_v3") return tensor_of_bytes(v);
    if (name == "_rebuild_qtensor") return quantized_tensor(v);
    if (name == "_rebuild_sparse_tensor") return sparse_tensor(v);
    if (name == "_rebuild_parameter") return read(*tuple(*v.args(), 2, 3, "a parameter")[0]);
    if (name == "_rebuild_parameter_with_state")
      return read(*tuple(*v.args(), 4, 4, "a parameter")[0]);  // with attributes of its own, which mean nothing here
  }
  if (module == "torch.jit._pickle") return container_helper(v);
  if (module == "collections" && name == "OrderedDict") return sequence(v, StoredKind::dict);
  if (module == "torch" && name == "device") return device(v);
  if (module == "builtins" && name == "complex") return complex_number(v);
  if (module == "__torch__" || module.starts_with("__torch__.")) return enumeration(v);
  throw error("file.pickle-global",
              cat(folder_, ".pkl calls ", module, ".", name, ", which TorchScript archives do not"))
      .at(state_.place(folder_ + ".pkl"))
      .why("a pickle can name any Python function; Cameo knows the few that PyTorch writes and runs none");
}

// The tag repeats what the class declares, so one that cannot be read (a type of a newer PyTorch) does no harm.
const Type* StoredReader::tagged_type(std::string_view tag) {
  try {
    return parse_type(tag, state_.types);
  } catch (const Error&) {
    return nullptr;
  }
}

const StoredValue* StoredReader::container_helper(const Value& v) {
  static constexpr std::pair<std::string_view, TypeKind> lists[] = {
      {"build_intlist", TypeKind::integer},
      {"build_doublelist", TypeKind::floating},
      {"build_boollist", TypeKind::boolean},
      {"build_tensorlist", TypeKind::tensor},
  };
  const auto name = v.callee()->name();
  if (name == "restore_type_tag") {
    const auto args = tuple(*v.args(), 2, 2, "a type tag");
    const auto tag = string(*args[1], "a type tag's text");
    const StoredValue* inner = read(*args[0]);
    if (inner->kind != StoredKind::list && inner->kind != StoredKind::dict)
      damaged("a type tag on something that is not a list or dict");
    return typed(inner, tagged_type(tag));
  }
  for (const auto& [builder, element] : lists)
    if (builder == name) {
      const auto args = tuple(*v.args(), 1, 1, "a list");
      if (args[0]->kind != Kind::list) damaged("a typed list without a list");
      return typed(read(*args[0]), state_.types.list(state_.types.of(element)));
    }
  damaged(cat("a call of torch.jit._pickle.", name));
}

const StoredValue* StoredReader::enumeration(const Value& v) {
  const Value& global = *v.callee();
  const Type* type = state_.types.named(cat(global.module(), ".", global.name()));
  const ClassDef* cls = state_.class_of(*type);
  if (!cls || cls->kind != ClassKind::enumeration) damaged(cat(type->name, " is called, but it is not an enum"));
  const StoredValue* value = read(*v.args());
  if (value->kind != StoredKind::integer && value->kind != StoredKind::floating && value->kind != StoredKind::string)
    damaged(cat("a value of the enum ", type->name, " is not a number or string"));
  auto* made = make(StoredKind::enumeration);
  made->type = type;
  made->items = state_.arena.copy(std::span<const StoredValue* const>(&value, 1));
  return made;
}

const StoredValue* StoredReader::complex_number(const Value& v) {
  const auto args = tuple(*v.args(), 2, 2, "a complex number");
  auto* made = make(StoredKind::complex);
  made->floating = number(*args[0], "a complex number's part");
  made->imaginary = number(*args[1], "a complex number's part");
  return made;
}

const StoredValue* StoredReader::device(const Value& v) {
  const auto args = tuple(*v.args(), 1, 1, "a device");
  auto* made = make(StoredKind::device);
  made->text = string(*args[0], "a device's name");
  return made;
}

namespace {
bool is_structure(StoredKind k) {
  return k == StoredKind::list || k == StoredKind::tuple || k == StoredKind::dict || k == StoredKind::object;
}

// A structure where the class declares a number, a text or another structure. The type leads, so that what values share
// is not walked over and over; of lists a few elements tell.
bool contradicts(const Type& t, const StoredValue& v) {
  constexpr size_t looked_at = 16;
  switch (t.kind) {
    case TypeKind::integer:
    case TypeKind::floating:
    case TypeKind::boolean:
    case TypeKind::string: return is_structure(v.kind);
    case TypeKind::optional: return v.kind != StoredKind::none && contradicts(*t.element(), v);
    case TypeKind::list:
      if (v.kind != StoredKind::list) return is_structure(v.kind);
      for (size_t i = 0; i < std::min(looked_at, v.items.size()); ++i)
        if (contradicts(*t.element(), *v.items[i])) return true;
      return false;
    case TypeKind::tuple:
      if (v.kind != StoredKind::tuple) return is_structure(v.kind);
      if (v.items.size() != t.args.size()) return true;
      for (size_t i = 0; i < t.args.size(); ++i)
        if (contradicts(*t.args[i], *v.items[i])) return true;
      return false;
    default: return false;
  }
}
}  // namespace

const StoredValue* StoredReader::object(const Value& v) {
  const Value& global = *v.callee();
  if (global.kind != Kind::global) damaged("an object of something that is not a class");
  const auto module = global.module();
  if (module != "__torch__" && !module.starts_with("__torch__."))
    throw error("file.pickle-global",
                cat(folder_, ".pkl holds an object of the Python class ", module, ".", global.name()))
        .at(state_.place(folder_ + ".pkl"));
  if (!v.state()) damaged("an object without state");
  auto* o = state_.arena.make<StoredObject>();
  o->type = state_.types.named(cat(module, ".", global.name()));
  if (is_native_class(o->type->name)) {
    o->state = read(*v.state());
  } else {
    o->cls = state_.class_of(*o->type);
    if (o->cls->method("__setstate__") && o->cls->method("__getstate__")) o->state = read(*v.state());
    else o->attributes = attributes(*v.state());
    for (const StoredAttribute& a : o->attributes) {
      if (!is_structure(a.value->kind)) continue;
      for (const AttributeDecl& declared : o->cls->attributes)
        if (declared.name == a.name && declared.type && contradicts(*declared.type, *a.value))
          damaged(cat("the attribute ", a.name, " of ", o->type->name, " is declared as ", to_string(*declared.type),
                      " and holds something else"));
    }
  }
  auto* made = make(StoredKind::object);
  made->type = o->type;
  made->object = o;
  return made;
}

std::span<const StoredAttribute> StoredReader::attributes(const Value& dict) {
  if (dict.kind != Kind::dict) damaged("an object's state is not a dict");
  std::vector<StoredAttribute> all;
  std::unordered_set<std::string_view> names;
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const auto name = string(*dict.items[i], "an attribute's name");
    if (!names.insert(name).second) damaged(cat("an object with two attributes called ", name));
    const StoredValue* value = read(*dict.items[i + 1]);
    all.push_back({name, value});
  }
  return state_.arena.copy(all);
}

std::span<const pickle::Value* const> StoredReader::tuple(const Value& v, size_t least, size_t most,
                                                          std::string_view what) const {
  if (v.kind != Kind::tuple || v.items.size() < least || v.items.size() > most) damaged(cat(what, " is malformed"));
  return v.items;
}
int64_t StoredReader::integer(const Value& v, std::string_view what) const {
  if (v.kind != Kind::integer) damaged(cat(what, " is not an integer"));
  return v.integer;
}
double StoredReader::number(const Value& v, std::string_view what) const {
  if (v.kind == Kind::integer) return static_cast<double>(v.integer);
  if (v.kind != Kind::floating) damaged(cat(what, " is not a number"));
  return v.floating;
}
bool StoredReader::boolean(const Value& v, std::string_view what) const {
  if (v.kind != Kind::boolean) damaged(cat(what, " is neither True nor False"));
  return v.boolean;
}
std::string_view StoredReader::string(const Value& v, std::string_view what) const {
  if (v.kind != Kind::string) damaged(cat(what, " is not a string"));
  return v.text;
}

namespace {
const pickle::Value& unpickle(ProgramState& state, std::string_view record) {
  const zip::Entry* entry = state.find(cat(state.program, record));
  if (!entry)
    throw error("file.missing-data", cat("the archive lacks ", state.program, record)).at(state.place(record));
  state.pickles.push_back(pickle::read(state.read_copy(*entry, uint64_t{1} << 30), state.place(record).file));
  return state.pickles.back().root();
}

void read_constants(ProgramState& state) {
  const auto& root = unpickle(state, "constants.pkl");
  if (root.kind != Kind::tuple)
    throw error("file.pickle-damaged", "constants.pkl holds no tuple").at(state.place("constants.pkl"));
  StoredReader reader(state, "constants", false);
  for (const pickle::Value* v : root.items) state.constants.push_back(reader.read(*v));
}

void read_root(ProgramState& state) {
  const StoredValue* root = StoredReader(state, "data", false).read(unpickle(state, "data.pkl"));
  if (root->kind != StoredKind::object || !root->object->cls)
    throw error("file.pickle-damaged", "data.pkl holds no module").at(state.place("data.pkl"));
  state.root = root->object;
}

void read_example_inputs(ProgramState& state) {
  if (!state.find(cat(state.program, "traced_inputs.pkl"))) return;
  const StoredValue* all = StoredReader(state, "traced_inputs", true).read(unpickle(state, "traced_inputs.pkl"));
  if (all->kind != StoredKind::dict) return;
  for (size_t i = 0; i + 1 < all->items.size(); i += 2) {
    const StoredValue &method = *all->items[i], &inputs = *all->items[i + 1];
    if (method.kind != StoredKind::string) continue;
    state.example_inputs.push_back({method.text, {inputs.items.begin(), inputs.items.end()}});
  }
}
}  // namespace

void read_stored(ProgramState& state) {
  read_constants(state);
  read_root(state);
  read_example_inputs(state);
}

}  // namespace cameo::torchscript
