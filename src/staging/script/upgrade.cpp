// Operators whose meaning changed: a file says by its version which one it means. As in PyTorch, methods of classes are
// upgraded and free functions are not.
#include "staging/script/interpreter.h"

namespace cameo::staging {

namespace {

bool is_floating(Machine& s, const Value& v) {
  if (const auto* t = v.as<TensorRef>()) return s.on.is_float(s.read(*t)) || is_complex(s.on.dtype(s.read(*t)));
  return v.is<double>() || v.is<StagedFloat>() || v.is<std::complex<double>>();
}

const Value* keyword(const CallArgs& args, std::string_view name) {
  for (const auto& [key, value] : args.keywords)
    if (key == name) return &value;
  return nullptr;
}

// Before version 4 a quotient of integers was an integer, cut towards zero.
void divide(Machine& s, CallArgs& args) {
  if (args.positional.size() != 2 || keyword(args, "rounding_mode") || !args.positional[0].is<TensorRef>()) return;
  const Value* out = keyword(args, "out");
  if (is_floating(s, args.positional[0]) || is_floating(s, args.positional[1]) || (out && is_floating(s, *out))) return;
  args.keywords.emplace_back("rounding_mode", Value(std::string("trunc")));
}

// Before version 5 a tensor filled with an integer was a float one.
void fill(Machine& s, CallArgs& args) {
  const Value* dtype = keyword(args, "dtype");
  if (args.positional.size() < 2 || (dtype && !dtype->is_none()) || keyword(args, "out") || keyword(args, "names"))
    return;
  args.positional[1] = s.float_from(args.positional[1]);
}

// Steps could be left out, which meant 100.
void steps(CallArgs& args) {
  for (auto& [key, value] : args.keywords)
    if (key == "steps") {
      if (value.is_none()) value = Dim(100);
      return;
    }
  if (args.positional.size() == 2) args.positional.emplace_back(Dim(100));
  else if (args.positional.size() > 2 && args.positional[2].is_none()) args.positional[2] = Dim(100);
}

}  // namespace

void ScriptInterpreter::upgrade(std::string_view op, CallArgs& args) {
  const int version = program.version();
  if (version >= 9 || calls_.empty() || !calls_.back().function->owner) return;
  for (const Value& v : args.positional)
    if (v.is<Poison>()) return;
  if (version < 4 && (op == "div" || op == "div_")) divide(machine, args);
  else if (version < 5 && op == "full") fill(machine, args);
  else if ((version < 8 && op == "linspace") || (version < 9 && op == "logspace")) steps(args);
}

}  // namespace cameo::staging
