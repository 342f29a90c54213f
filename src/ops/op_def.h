// An operator in full: generated attributes and schemas, and what Cameo adds by hand in one place per operator: shape
// rule, reference kernel, older encodings, expansion.
//
//   struct Concat : Rules<op::Concat> {
//     static void infer(const op::Concat& a, Infer& c) { ... }
//     static void eval(const op::Concat& a, Eval& k) { ... }
//   };
//   constexpr OpRules table[] = {rules<Concat>()};
//   std::span<const OpRules> concat_rules() { return table; }     // listed in op_table.cpp
#pragma once

#include "ops/entry.h"
#include "ops/revision.h"

namespace cameo::ops {

class Infer;
class Eval;

struct OpRules {
  const void* attrs_tag = nullptr;
  void (*infer)(const void* attrs, Infer& c) = nullptr;
  void (*eval)(const void* attrs, Eval& k) = nullptr;
  std::span<const Revision> revisions;    // versions at which the encoding or the meaning changed, any order
  std::span<const Expansion> expansions;  // how to express it without the operator
  bool partial = false;                   // `infer` copes with inputs of unknown rank
  bool deterministic = true;              // false: random operators are never folded, merged or hoisted
  bool commutative = false;               // its first two operands may be swapped
};

template <class Attrs_>
struct Rules {
  using Attrs = Attrs_;
};

template <class R>
constexpr OpRules rules() {
  using Attrs = typename R::Attrs;
  OpRules out;
  out.attrs_tag = &type_tag<Attrs>;
  if constexpr (requires(const Attrs& a, Infer& c) { R::infer(a, c); })
    out.infer = [](const void* a, Infer& c) { R::infer(*static_cast<const Attrs*>(a), c); };
  if constexpr (requires(const Attrs& a, Eval& k) { R::eval(a, k); })
    out.eval = [](const void* a, Eval& k) { R::eval(*static_cast<const Attrs*>(a), k); };
  if constexpr (requires { R::revisions; }) out.revisions = R::revisions;
  if constexpr (requires { R::expansions; }) out.expansions = R::expansions;
  if constexpr (requires { R::partial; }) out.partial = R::partial;
  if constexpr (requires { R::deterministic; }) out.deterministic = R::deterministic;
  if constexpr (requires { R::commutative; }) out.commutative = R::commutative;
  return out;
}

struct OpDef : OpInfo {
  std::span<const SchemaVersion> history;  // newest first
  OpRules rules;

  // The schema in force at an opset; null when the operator did not exist yet.
  const SchemaVersion* at(int64_t opset) const;
  const SchemaVersion& newest() const { return history.front(); }
  int first_version() const { return history.back().since; }
  bool needs_body(size_t i) const;  // number `i` of graph_attrs; others may be absent
};

std::span<const OpDef> all_ops();
const OpDef* find_op(std::string_view domain, std::string_view name);  // "ai.onnx" is ""
// Precondition: !info.is_opaque().
inline const OpDef& def(const OpInfo& info) { return static_cast<const OpDef&>(info); }
template <class Attrs>
const OpDef& op_of();  // op_of<op::Relu>()

const OpDef& op_by_tag(const void* attrs_tag);
template <class Attrs>
const OpDef& op_of() {
  static const OpDef& found = op_by_tag(&type_tag<Attrs>);
  return found;
}

}  // namespace cameo::ops
