// Calls of operators: their arguments, operators on host values, and which overload takes them.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lowering/row.h"
#include "staging/machine/value.h"

namespace cameo::staging {

class Machine;

struct CallArgs {
  std::vector<Value> positional;
  std::vector<std::pair<std::string_view, Value>> keywords;
};

// Operators on host values: numbers, strings, lists, dicts, questions about tensors (host/).
struct HostCall {
  Machine& s;
  std::vector<Value>& args;
  std::vector<std::pair<std::string_view, Value>>& keywords;
  size_t size() const { return args.size(); }
  const Value& operator[](size_t i) const {  // throws stage.arguments where the program gives fewer
    if (i >= args.size()) [[unlikely]]
      missing(i);
    return args[i];
  }
  [[noreturn]] void missing(size_t i) const;
  const Value* keyword(std::string_view name) const;
};
// Gives nullopt when the operator is not for the host with these arguments (tensors: a lowering).
using HostFunction = std::optional<std::vector<Value>> (*)(HostCall&);
struct HostRow {
  std::string_view name;  // "aten::append"; all overloads
  HostFunction call;
};
std::span<const HostFunction> find_host_ops(std::string_view name);  // each knows its kinds of arguments

// Overload resolution by the values' own kinds: the first schema that fits, without conversions first, then with.
struct Matched {
  const Schema* schema = nullptr;
  std::vector<Value> args;  // in schema order, defaults filled
};
std::optional<Matched> match(Machine& s, const std::vector<Schema>& candidates, const CallArgs& args);
std::optional<Matched> match_one(Machine& s, const Schema& candidate, const CallArgs& args);
// As old archives print calls: trailing defaults are left out until a signature fits.
std::optional<Matched> match_without_defaults(Machine& s, const std::vector<Schema>& candidates, CallArgs args);

}  // namespace cameo::staging
