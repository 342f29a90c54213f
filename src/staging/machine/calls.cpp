// Operator calls: host operators at once, tensor operators through their lowering.
#include <algorithm>

#include "lowering/complex.h"
#include "staging/joins/branch.h"
#include "staging/joins/choice.h"
#include "staging/host/tables.h"
#include "staging/machine/interpreter.h"
#include "staging/machine/quantized.h"
#include "staging/joins/staged_list.h"

namespace cameo::staging {

const Value* HostCall::keyword(std::string_view name) const {
  for (const auto& [key, value] : keywords)
    if (key == name) return &value;
  return nullptr;
}

void HostCall::missing(size_t i) const {
  s.fail("stage.arguments", cat("argument ", i + 1, " is missing in a call with ", args.size()));
}

std::span<const HostFunction> find_host_ops(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string_view, std::vector<HostFunction>> m;
    for (const auto table : all_host_tables())
      for (const HostRow& r : table) m[r.name].push_back(r.call);
    return m;
  }();
  const auto it = index.find(name);
  return it == index.end() ? std::span<const HostFunction>() : it->second;
}

namespace {
const Poison* find_poison(const Machine& s, const Value& v, int depth = 0) {
  if (const auto* p = lost_in(v)) return p;
  if (depth > 3) return nullptr;
  if (const auto* l = v.as<ListRef>(); l && s.heap.get<ListCell>(l->cell).staged) return nullptr;
  if (v.is<ListRef>() || v.is<Tuple>())
    for (const Value& part : s.items(v))
      if (const auto* p = find_poison(s, part, depth + 1)) return p;
  return nullptr;
}

size_t result_count(const std::vector<Schema>& candidates) {
  return candidates.empty() ? 1 : candidates[0].returns.size();
}

// What can say something about a string of which only a run knows all.
bool takes_open_text(std::string_view name, size_t place) {
  if (name == "append" || name == "insert") return place > 0;
  static constexpr std::string_view names[] = {"eq",  "ne",   "add",          "len",         "format", "percentFormat",
                                               "str", "join", "__contains__", "__getitem__", "get"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}
// Numbers that tracing made 0-d tensors of act as numbers in these.
bool takes_literals_as_numbers(std::string_view name) {
  static constexpr std::string_view names[] = {"add", "add_", "sub", "sub_", "mul", "mul_", "div", "div_", "rsub"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}
// A number that means the same as None does; a view is then one view, through which may be written. The end is more
// than any size, and leaves room for what sizes are made of it: INT64_MAX + 1 would be less than all of them.
std::optional<Dim> number_for_none(std::string_view op, size_t place) {
  if (op != "slice") return std::nullopt;
  constexpr int64_t past_the_end = int64_t{1} << 48;
  return place == 2 ? std::optional(Dim(0)) : place == 3 ? std::optional(Dim(past_the_end)) : std::nullopt;
}
// Of an argument that is a value or None, as the inputs say: an If of both calls.
std::optional<std::vector<Value>> call_by_presence(Machine& s, std::string_view ns, std::string_view op,
                                                   const CallArgs& args) {
  const auto at =
      std::find_if(args.positional.begin(), args.positional.end(), [](const Value& v) { return v.is<Maybe>(); });
  const auto& candidates = schemas_of(cat(ns, "::", op));
  const bool writes =
      std::any_of(candidates.begin(), candidates.end(), [](const Schema& c) { return c.mutates() && !c.is_out(); });
  if (at == args.positional.end() || writes) return std::nullopt;
  const Maybe maybe = at->need<Maybe>();
  const auto place = static_cast<size_t>(at - args.positional.begin());
  if (const auto none = number_for_none(op, place);
      none && maybe.value->is<Dim>() && args.positional[0].is<TensorRef>()) {
    CallArgs one = args;
    one.positional[place] =
        s.on.int_of(s.on.Where(maybe.present, s.on.int_scalar(maybe.value->need<Dim>()), s.on.int_scalar(*none)));
    return s.call_op(ns, op, std::move(one));
  }
  const CellId results = s.list({}).need<ListRef>().cell;
  const auto with = [&](const Value& v) {
    CallArgs one = args;
    one.positional[place] = v;
    auto given = s.call_op(ns, op, std::move(one));
    s.heap.write<ListCell>(results).items = std::move(given);
  };
  const Value condition{StagedBool{maybe.present}};
  Branch branch(s, condition);
  const auto raised = branch.stage(true, [&] { with(*maybe.value); });
  const auto raised_without = branch.stage(false, [&] { with(Value()); });
  if (raised || raised_without) throw raised ? *raised : *raised_without;
  branch.join();
  const ListCell& out = s.heap.get<ListCell>(results);
  if (out.poison) return std::vector<Value>{poison(*out.poison)};
  return out.items;
}

}  // namespace

std::vector<Value> Machine::call_op(std::string_view ns, std::string_view op, CallArgs args) {
  const std::string full = cat(ns, "::", op);
  on.where = {};
  if (ns == "aten" && interpreter_) interpreter_->upgrade(op, args);
  for (Value& v : args.positional) v = now(v);
  for (auto& [key, v] : args.keywords) v = now(v);
  // Lists and dicts may hold poison; results computed from it are poison too.
  static constexpr std::string_view holders[] = {"append", "insert", "_set_item", "setdefault", "extend", "list"};
  const bool holds = std::find(std::begin(holders), std::end(holders), op) != std::end(holders);
  // Messages to the user are shown as far as they are known.
  static constexpr std::string_view messages[] = {"Print", "RaiseException", "warn", "_assert"};
  const bool shows = std::find(std::begin(messages), std::end(messages), op) != std::end(messages);
  for (size_t i = 0; i < args.positional.size(); ++i)
    if (const auto* open = args.positional[i].as<OpenText>(); open && !shows && !takes_open_text(op, i))
      args.positional[i] = Value(Poison(open->lost));
  for (size_t i = 0; i < args.positional.size(); ++i)
    if (args.positional[i].is<Poison>() && (i == 0 || !holds) && !shows)
      return unavailable(schemas_of(full), args, args.positional[i]);
  if (!holds && !shows)
    if (auto results = call_by_choice(ns, op, args)) return std::move(*results);
  for (const HostFunction host : find_host_ops(full)) {
    HostCall c{*this, args.positional, args.keywords};
    if (auto results = host(c)) {
      for (const Value& v : *results)
        if (const auto* text = v.as<std::string>()) need_text(text->size()), heap.charge(text->size());
      return std::move(*results);
    }
  }
  const auto& candidates = schemas_of(full);
  for (const auto& v : args.positional)
    if (const auto* p = find_poison(*this, v)) return unavailable(candidates, args, Value(*p));
  for (const auto& [key, v] : args.keywords)
    if (const auto* p = find_poison(*this, v)) return unavailable(candidates, args, Value(*p));
  if (candidates.empty())
    if (auto results = by_user(full, nullptr, args)) return std::move(*results);
  if (candidates.empty())
    return options.fallback == Fallback::none &&
                   !ops::find_op(ns, op)  // an operator of linger's domain is a node as it is
               ? missing_op(full, std::max<size_t>(results_wanted_, 1))
               : foreign_op(full, nullptr, args);
  auto matched = match(*this, candidates, args);
  if (!matched) matched = match_without_defaults(*this, candidates, args);
  if (!matched)
    if (auto results = call_by_presence(*this, ns, op, args)) return std::move(*results);
  if (!matched) {
    std::string given;
    for (const auto& v : args.positional) given += cat(given.empty() ? "" : ", ", v.kind());
    for (const auto& [key, v] : args.keywords) given += cat(given.empty() ? "" : ", ", key, "=", v.kind());
    fail("stage.overload", cat("no overload of ", full, " takes (", given, ")"));
  }
  training_literals(*matched->schema, matched->args);
  return lower_op(*matched->schema, std::move(matched->args));
}

// A call with a poisoned argument: its results, and what it would have written, are poisoned too.
std::vector<Value> Machine::unavailable(const std::vector<Schema>& candidates, const CallArgs& args,
                                        const Value& poison) {
  const auto& why = poison.need<Poison>().why;
  const auto doubt_all = [&](const Value& v) {
    const auto lost = std::make_shared<const Doubt>(Doubt{"stage.unavailable", *why});
    for (const auto& source : memory_of(v)) doubt(source.cell, lost);
  };
  for (const Schema& s : candidates) {
    if (!s.mutates()) continue;
    for (size_t i = 0; i < s.params.size() && i < args.positional.size(); ++i) {
      const Value& v = args.positional[i];
      if (!s.params[i].written) continue;
      if (v.is<TensorRef>()) doubt_all(v);
      else if (const auto* l = v.as<ListRef>()) change_list(l->cell).poison = why;
      else if (const auto* d = v.as<DictRef>()) change_dict(d->cell).poison = why;
    }
    break;
  }
  return std::vector<Value>(result_count(candidates), poison);
}

std::optional<std::vector<Value>> Machine::call_by_choice(std::string_view ns, std::string_view op,
                                                          const CallArgs& args) {
  size_t at = 0;
  while (at < args.positional.size() && !args.positional[at].is<Choice>()) ++at;
  if (at == args.positional.size()) return std::nullopt;
  const std::string full = cat(ns, "::", op);
  const Choice c = args.positional[at].need<Choice>();
  const auto& candidates = schemas_of(full);
  const bool writes =
      std::any_of(candidates.begin(), candidates.end(), [](const Schema& s) { return s.mutates() && !s.is_out(); });
  if (writes || find_host_ops(full).empty())
    fail("stage.choice", cat(full, " takes a string or enum that depends on the inputs: one of ", options_text(c)),
         "branch on it with if, so that each branch has a constant");
  std::vector<std::vector<Value>> columns;
  for (const Value& option : *c.options) {
    CallArgs one = args;
    one.positional[at] = option;
    try {
      const auto results = call_op(ns, op, std::move(one));
      columns.resize(results.size());
      for (size_t i = 0; i < results.size(); ++i) columns[i].push_back(results[i]);
    } catch (const Raised&) {
      fail("stage.choice", cat(full, " raises for one of ", options_text(c), ", which depends on the inputs"));
    }
  }
  std::vector<Value> out;
  for (const auto& values : columns) {
    const auto lost = std::find_if(values.begin(), values.end(), [](const Value& v) { return lost_in(v) != nullptr; });
    if (lost != values.end()) {
      out.push_back(Value(Poison{lost_in(*lost)->why, lost_in(*lost)->reported}));
      continue;
    }
    size_t next = 0;
    out.push_back(for_each_option(*this, c, full, [&](const Value&) { return values[next++]; }));
  }
  return out;
}

std::optional<std::vector<Value>> Machine::call_overload(const Schema& schema, const CallArgs& args) {
  on.where = {};
  for (const auto& [key, v] : args.keywords)
    if (const auto* p = find_poison(*this, v))
      return std::vector<Value>(std::max<size_t>(schema.returns.size(), 1), Value(*p));
  auto matched = match_one(*this, schema, args);
  if (!matched) return std::nullopt;
  training_literals(schema, matched->args);
  return lower_op(schema, std::move(matched->args));
}

namespace {
// Operators that are another one by the same arguments: some whose schema promises no view, for autograd's sake, give
// views all the same; a number is copied as it is filled in.
const Schema* same_operator(const Schema& s) {
  static constexpr std::pair<std::string_view, std::string_view> table[] = {
      {"aten::copy_.int", "aten::fill_.Scalar"},
      {"aten::copy_.float", "aten::fill_.Scalar"},
      {"aten::unsafe_chunk", "aten::chunk"},
      {"aten::unsafe_split.Tensor", "aten::split.Tensor"},
      {"aten::unsafe_split_with_sizes", "aten::split_with_sizes"}};
  for (const auto& [name, same] : table)
    if (s.full_name() == name) return find_schema(same);
  return nullptr;
}
}  // namespace

std::vector<Value> Machine::lower_op(const Schema& s, std::vector<Value> args) {
  for (Value& v : args) v = now(v);
  if (options.rules || options.host)
    if (auto results = by_user(s.full_name(), &s, {args, {}})) return std::move(*results);
  if (const Schema* same = same_operator(s)) return lower_op(*same, std::move(args));
  if (s.is_out()) return lower_out(s, std::move(args));
  if (s.name == "aten::set_")
    return missing_op(s.full_name(), s.returns.size(), "",
                      "set_ gives a tensor the memory of another one; assign the other tensor instead (x = y)");
  if (s.is_inplace()) return lower_inplace(s, std::move(args));
  if (s.name.starts_with("aten::as_strided")) by_memory(s, args);
  const Row* row = find_row(s.full_name());
  if (!row && options.fallback != Fallback::none) return foreign_op(s.full_name(), &s, {std::move(args), {}});
  if (!row) return missing_op(s.full_name(), s.returns.size());
  return lower_functional(s, *row, args);
}

std::vector<Value> Machine::missing_op(const std::string& op, size_t results, std::string because, std::string hint) {
  heap.charge(sizeof(MissingOperators::Use));
  if (const auto [m, first] = missing.use(op, scope()); first) {
    m.first = here();
    m.user = interpreter_ ? interpreter_->user_line(m.first) : "";
    m.hint = std::move(hint);
  }
  Poison p{std::make_shared<const std::string>(because.empty() ? cat(op, " has no lowering") : because), true};
  return std::vector<Value>(std::max<size_t>(results, 1), Value(p));
}

std::vector<Value> Machine::lower_functional(const Schema& s, const Row& row, const std::vector<Value>& args) {
  if (options.rules || options.host)
    if (auto results = by_user(s.full_name(), &s, {args, {}})) return std::move(*results);
  LoweredCall call{&s, {}};
  const bool literals = takes_literals_as_numbers(std::string_view(s.name).substr(s.name.find("::") + 2));
  V first_input;
  for (size_t i = 0; i < args.size(); ++i) {
    const auto* t = args[i].as<TensorRef>();
    call.args.push_back(to_arg(args[i], s.params[i].type));
    if (i == 0 && t) first_input = *call.args.back().as<V>();
    if (t && t->literal && literals && row.promotion.mask) {
      const Tensor* known = on.fact(*call.args.back().as<V>()).tensor();
      if (known && known->count() == 1 && known->dtype() != DType::boolean)
        call.args.back() = is_complex(known->dtype()) ? Arg(complex_at(*known, 0))
                           : is_float(known->dtype()) ? Arg(known->double_at(0))
                                                      : Arg(Dim(known->int_at(0)));
    }
  }
  on.where = here();
  if (!examples_.empty()) suspect_frozen(s, args);
  std::vector<Arg> results;
  try {
    const bool aten = options.fallback == Fallback::all_aten;
    const Attempt before = aten ? attempt() : Attempt{};  // a mark makes later writes dearer
    const GraphMark recorded = graph.mark();
    {
      const Lowering named(*this, observer_ ? s.full_name() : "");
      results = lower_call(on, row, std::move(call));
    }
    if (aten) results = as_aten(s, std::move(results), {before, recorded}, args);
  } catch (Error& e) {
    if (e.diag().where.empty()) e.diag().where = here();
    if (e.exit_code() != 1) throw;
    // The rank of what a foreign node gives is often unknown: operators behind it stay foreign too.
    const bool unknown = options.fallback != Fallback::none && e.diag().code == "lower.unknown-rank";
    if (unknown || e.diag().code.starts_with("lower.unsupported")) {
      if (options.fallback != Fallback::none) return foreign_op(s.full_name(), &s, {args, {}});
      missing_op(cat(s.full_name(), " (", e.diag().what, ")"), s.returns.size(), "", e.diag().hint);
      return std::vector<Value>(s.returns.size(),
                                Value(Poison{std::make_shared<const std::string>(e.diag().what), true}));
    }
    // An index that is always outside raises in PyTorch, where the branch is taken: the other branch is still exported.
    if (e.diag().code == "infer.index" && on.region() != graph.main()) raise(e.diag().what);
    e.diag().notes.push_back({cat("while lowering ", s.full_name()), {}});
    throw;
  }
  if (!quantized_.empty() && !float_only_) carry_quantization(s, args, results);
  std::vector<Value> out;
  for (size_t i = 0; i < results.size(); ++i) out.push_back(wrap_result(s, i, results[i], args, first_input));
  return out;
}

// An operator on a quantized tensor gives a quantized one.
void Machine::carry_quantization(const Schema& s, const std::vector<Value>& args, std::vector<Arg>& results) {
  const Quantization* q = nullptr;
  const auto look = [&](const Value& v) {
    if (const auto* t = v.as<TensorRef>(); t && !q) q = quantization(read(*t));
  };
  if (args.empty()) return;
  look(args[0]);
  if (args[0].is<ListRef>() && !staged_of(*this, args[0]))
    for (const Value& v : std::vector<Value>(items(args[0]))) look(v);
  if (!q) return;
  const Quantization from = *q;
  const std::string_view op = std::string_view(s.name).substr(s.name.find("::") + 2);
  for (Arg& a : results) {
    if (const auto* v = a.as<V>()) a = Arg(carried(*this, op, from, *v));
    else if (const auto* parts = a.as<ArgList>()) {
      std::vector<Arg> all;
      for (const Arg& p : **parts) all.push_back(p.as<V>() ? Arg(carried(*this, op, from, *p.as<V>())) : p);
      a = Arg::list(std::move(all));
    }
  }
}

Arg Machine::to_arg(const Value& v) {
  if (const auto* t = v.as<TensorRef>()) return Arg(read(now(*t)));
  if (const auto* x = v.as<bool>()) return Arg(*x);
  if (const auto* x = v.as<Dim>()) return Arg(*x);
  if (const auto* x = v.as<double>()) return Arg(*x);
  if (const auto* x = v.as<std::complex<double>>()) return Arg(*x);
  if (const auto* x = v.as<std::string>()) return Arg(*x);
  if (const auto* x = v.as<StagedFloat>()) return Arg(*x);
  if (const auto* x = v.as<StagedBool>()) return Arg(*x);
  if (const auto* x = v.as<Device>()) return Arg(x->name);
  if (v.is<ListRef>() || v.is<Tuple>()) {
    std::vector<Arg> parts;
    const Part part_of(*this);
    for (const Value& p : std::vector<Value>(items(v))) parts.push_back(to_arg(p));
    return Arg::list(std::move(parts));
  }
  if (const auto* p = lost_in(v)) fail("stage.unavailable", *p->why);
  return Arg();
}

Arg Machine::to_arg(const Value& v, const SchemaType& type) {
  const SchemaType* t = &type;
  while (t->kind == SchemaType::Kind::optional) t = &t->args[0];
  if (t->kind == SchemaType::Kind::floating && !v.is_none()) return to_arg(float_from(v));
  if (t->kind == SchemaType::Kind::integer && (v.is<TensorRef>() || v.is<StagedBool>())) return Arg(int_from(v));
  return to_arg(v);
}

Value Machine::from_arg(const Arg& a) {
  if (const auto* v = a.as<V>()) return tensor(*v);
  if (const auto* x = a.as<bool>()) return *x;
  if (const auto* x = a.as<Dim>()) return *x;
  if (const auto* x = a.as<double>()) return *x;
  if (const auto* x = a.as<std::complex<double>>()) return *x;
  if (const auto* x = a.as<std::string>()) return *x;
  if (const auto* x = a.as<StagedFloat>()) return *x;
  if (const auto* x = a.as<StagedBool>()) return *x;
  if (const auto* x = a.as<ArgList>()) {
    std::vector<Value> parts;
    for (const Arg& p : **x) parts.push_back(from_arg(p));
    return list(std::move(parts));
  }
  return Value();
}

}  // namespace cameo::staging
