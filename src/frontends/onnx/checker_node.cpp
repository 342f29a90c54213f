// Nodes against the schemas of the file's own opsets.
#include <algorithm>
#include <array>

#include "frontends/onnx/checker.h"
#include "frontends/onnx/graph_reader.h"

namespace cameo::onnx {

namespace {

// Operators of the first drafts that some files still hold; no opset ever had them.
constexpr std::string_view experimental[] = {"ATen",
                                             "Affine",
                                             "ConstantFill",
                                             "Crop",
                                             "DynamicSlice",
                                             "GRUUnit",
                                             "GivenTensorFill",
                                             "ImageScaler",
                                             "ParametricSoftplus",
                                             "Scale",
                                             "ScaledTanh"};

// Attributes that mean yes or no: engines differ in what they make of any other number.
constexpr std::string_view yes_or_no[] = {"keepdims",          "ceil_mode",         "transA",        "transB",
                                          "exclusive",         "reverse",           "sorted",        "largest",
                                          "count_include_pad", "select_last_index", "align_corners", "antialias",
                                          "exclude_outside",   "training_mode",     "allowzero"};

std::string_view plain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

std::string arity_text(uint16_t least, uint16_t most) {
  if (least == most) return cat(least);
  return most == unbounded_arity ? cat(least, " or more") : cat(least, " to ", most);
}

}  // namespace

const Type* Checker::type_of(std::string_view name) const {
  if (inside_ || name.empty()) return nullptr;
  const auto it = types_.find(std::string(name));
  return it != types_.end() && it->second && !it->second->is_unknown() ? &*it->second : nullptr;
}

void Checker::node(const NodeProto& n, const Scope& scope) {
  if (n.op_type.empty()) return void(err("check.operator", "a node has no operator", at(n)));
  if (n.inputs.empty() && n.outputs.empty()) err("check.outputs", "a node has neither inputs nor outputs", at(n));
  std::set<std::string_view> seen;
  for (const AttributeProto& a : n.attributes) {
    if (!seen.insert(a.name).second) err("check.attribute", cat("the attribute '", a.name, "' is given twice"), at(n));
    attribute(n, a, scope);
  }
  const auto domain = plain(n.domain);
  const auto imported = opsets_->find(domain);
  if (imported == opsets_->end())
    err("check.opset-missing",
        cat("no version of ", domain.empty() ? "ai.onnx" : domain, " is imported", inside_ ? " by the function" : ""),
        at(n));
  if (functions_.count({domain, n.op_type, n.overload}) || imported == opsets_->end() || newest_version(domain) == 0)
    return;
  if (domain.empty() &&
      std::find(std::begin(experimental), std::end(experimental), n.op_type) != std::end(experimental))
    return void(diags_.warn("check.experimental", cat(n.op_type, " was never part of an opset"), at(n)));
  const OpDef* op = find_op(domain, n.op_type);
  if (!op && !is_known_whole(domain)) return;
  if (!op)
    return void(err("check.operator",
                    cat("there is no operator ", n.op_type, domain.empty() ? "" : cat(" in ", domain)), at(n)));
  against_schema(n, *op, imported->second);
}

void Checker::against_schema(const NodeProto& n, const OpDef& op, int64_t version) {
  const SchemaVersion* s = op.at(version);
  if (!s)
    return void(err("check.operator",
                    cat(op.name, " does not exist in opset ", version, ", only from ", op.first_version()), at(n)));
  if (s->deprecated) return void(err("check.deprecated", cat(op.name, " is deprecated in opset ", version), at(n)));
  arity(n, *s);
  schema_attributes(n, *s);
  operand_types(n, *s);
}

void Checker::arity(const NodeProto& n, const SchemaVersion& s) {
  if (n.inputs.size() < s.min_in || n.inputs.size() > s.max_in)
    err("check.inputs", cat(n.op_type, " takes ", arity_text(s.min_in, s.max_in), " inputs, not ", n.inputs.size()),
        at(n));
  if (n.outputs.size() < s.min_out || n.outputs.size() > s.max_out)
    err("check.outputs",
        cat(n.op_type, " gives ", arity_text(s.min_out, s.max_out), " outputs, not ", n.outputs.size()), at(n));
  for (size_t i = 0; i < n.inputs.size(); ++i)
    if (const Formal* f = s.input(i); f && f->option != Formal::optional && n.inputs[i].empty())
      err("check.inputs", cat("the input '", f->name, "' of ", n.op_type, " is left out and must be there"), at(n));
  for (size_t i = 0; i < n.outputs.size(); ++i)
    if (const Formal* f = s.output(i); f && f->option == Formal::single && n.outputs[i].empty())
      err("check.outputs", cat("the output '", f->name, "' of ", n.op_type, " is left out and must be there"), at(n));
}

void Checker::schema_attributes(const NodeProto& n, const SchemaVersion& s) {
  for (const AttributeProto& a : n.attributes) {
    if (a.name.starts_with("__")) continue;  // marks that tools leave
    const AttrSpec* spec = s.attribute(a.name);
    if (!spec) {
      const std::string what = cat(n.op_type, " has no attribute '", a.name, "'");
      if (is_known_whole(plain(n.domain))) err("check.attribute", what, at(n));
      else diags_.warn("check.attribute", what, at(n));
      continue;
    }
    const AttrKind kind = a.ref.empty() || a.type != 0 ? attribute_kind(a) : AttrKind::undefined;
    if (a.i && *a.i != 0 && *a.i != 1 &&
        std::find(std::begin(yes_or_no), std::end(yes_or_no), a.name) != std::end(yes_or_no))
      err("check.attribute", cat("the attribute '", a.name, "' of ", n.op_type, " is ", *a.i, " and must be 0 or 1"),
          at(n));
    if (kind != spec->kind)
      err("check.attribute",
          cat("the attribute '", a.name, "' of ", n.op_type, " is ", name(kind), " and must be ", name(spec->kind)),
          at(n));
  }
  for (const AttrSpec& spec : s.attributes) {
    const bool there = std::any_of(n.attributes.begin(), n.attributes.end(),
                                   [&](const AttributeProto& a) { return a.name == spec.name; });
    if (spec.required && !there)
      err("check.attribute", cat(n.op_type, " needs the attribute '", spec.name, "'"), at(n));
  }
}

// Element types against the schema's type variables: each is bound once per node.
void Checker::operand_types(const NodeProto& n, const SchemaVersion& s) {
  std::array<const Type*, 64> bound{};
  const auto operand = [&](std::string_view value, const Formal* f, std::string_view what) {
    const Type* t = f ? type_of(value) : nullptr;
    if (!t) return;
    if (!admits(s.types_of(*f), *t)) {
      err("check.type", cat("the ", what, " '", f->name, "' of ", n.op_type, " cannot be ", t->onnx_text()), at(n))
          .because = cat("in this opset it takes other types; '", value, "' is ", t->text());
      return;
    }
    const auto slot = static_cast<size_t>(f->type_var);
    if (f->type_var < 0 || slot >= bound.size() || (f->option == Formal::variadic && !f->homogeneous)) return;
    if (!bound[slot]) bound[slot] = t;
    else if (bound[slot]->onnx_text() != t->onnx_text() && bound[slot]->elem != DType::undefined &&
             t->elem != DType::undefined)
      err("check.type",
          cat("'", value, "' is ", t->onnx_text(), ", and ", n.op_type, " wants it to be ", bound[slot]->onnx_text(),
              " as its other operands are"),
          at(n));
  };
  for (size_t i = 0; i < n.inputs.size(); ++i) operand(n.inputs[i], s.input(i), "input");
  for (size_t i = 0; i < n.outputs.size(); ++i) operand(n.outputs[i], s.output(i), "output");
}

// What the node gives, its body must compute; a Loop's body gives its condition as well.
void Checker::body_outputs(const NodeProto& n, const GraphProto& body) {
  const size_t condition = n.op_type == "Loop";
  const bool known = condition || n.op_type == "If" || n.op_type == "Scan" || n.op_type == "SequenceMap";
  if (known && body.outputs.size() < n.outputs.size() + condition)
    err("check.outputs", cat(n.op_type, " has ", n.outputs.size(), " outputs, and its body ", body.outputs.size()),
        at(n));
}

void Checker::attribute(const NodeProto& n, const AttributeProto& a, const Scope& scope) {
  const auto wrong = [&](std::string_view problem) {
    err("check.attribute", cat("the attribute '", a.name, "' ", problem), at(n));
  };
  if (a.name.empty()) return void(err("check.attribute", "an attribute has no name", at(n)));
  if (ir_version_ >= 2 && a.type == 0) wrong("does not say its type");
  const int fields = a.f.has_value() + a.i.has_value() + a.s.has_value() + a.has_floats + a.has_ints + a.has_strings +
                     !a.tensors.empty() + !a.graphs.empty() + !a.sparse_tensors.empty() + !a.types.empty();
  if (fields > 1) wrong("holds several values");
  AttributeProto untyped = a;
  untyped.type = 0;
  if (fields == 1 && a.type != 0 && a.type != static_cast<int64_t>(attribute_kind(untyped)))
    wrong("holds a value of another type than it says");
  const bool scalar =
      a.type == 1 || a.type == 2 || a.type == 3 || a.type == 4 || a.type == 5 || a.type == 11 || a.type == 13;
  if (fields == 0 && a.ref.empty() && scalar) wrong("holds no value");
  if (!a.ref.empty()) {
    if (fields != 0) wrong("refers to an attribute of the function and holds a value");
    if (!inside_) wrong("refers to an attribute of a function and is in none");
    else {
      bool known =
          std::find(inside_->attributes.begin(), inside_->attributes.end(), a.ref) != inside_->attributes.end();
      for (const auto& f : inside_->attribute_defaults) {
        auto in = f.message();
        known |= read_attribute(in).name == a.ref;
      }
      if (!known) wrong(cat("refers to '", a.ref, "', which is not an attribute of the function"));
    }
  }
  for (const auto& f : a.tensors) tensor(read_tensor(f.message()), at(n));
  for (const auto& f : a.sparse_tensors) sparse_tensor(read_sparse_tensor(f.message()), at(n));
  if (!a.graphs.empty() && n.domain.empty()) body_outputs(n, GraphProto(a.graphs.front().message()));
  for (const auto& f : a.graphs)
    graph(GraphProto(f.message()), &scope, cat("the body '", a.name, "' of ", at(n).scope));
}

}  // namespace cameo::onnx
