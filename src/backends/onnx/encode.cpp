#include "backends/onnx/encode.h"

#include <algorithm>

#include "ops/op_def.h"
#include "support/budget.h"
#include "support/error.h"

namespace cameo::onnx {

namespace {

// Every attribute with its value, defaults included: older versions may have had other defaults.
NamedAttrs all_attributes(const Node& n) {
  NamedAttrs out;
  for (const AttrField& f : n.op->fields) {
    if (n.extra && find_attr(*n.extra, f.name)) continue;
    AttrValue v = f.get(n.attrs.get());
    if (!std::holds_alternative<std::monostate>(v)) out.push_back({std::string(f.name), std::move(v)});
  }
  if (n.extra)
    for (const NamedAttr& a : *n.extra)
      if (!std::holds_alternative<std::monostate>(a.value)) out.push_back(a);
  return out;
}

// Runs the steps down from the newest encoding. A step may change the operator; its own steps follow.
const OpDef* lower(Downgrade& d, const OpDef* op) {
  int64_t version = INT64_MAX;
  while (!d.refusal) {
    const Revision* next = nullptr;
    for (const Revision& r : op->rules.revisions)
      if (r.down && r.version > d.target && r.version < version && (!next || r.version > next->version)) next = &r;
    if (!next) break;
    next->down(d);
    version = next->version;
    if (d.op_type == op->name) continue;
    op = find_op(op->domain, d.op_type);
    invariant(op, "a downgrade leads to an operator that exists");
  }
  return op;
}

const AttrField* field_of(const OpDef& op, std::string_view name) {
  for (const AttrField& f : op.fields)
    if (f.name == name) return &f;
  return nullptr;
}

// pnnx and OpenCV refuse Resize and Pad without their mode, and Split without its axis, although these have defaults.
bool is_always_written(const OpDef& op, std::string_view attribute) {
  if (!op.domain.empty()) return false;
  return attribute == "mode" ? op.name == "Resize" || op.name == "Pad" : attribute == "axis" && op.name == "Split";
}

// Drops what the schema would supply anyway, and refuses what it does not know.
void fit_attributes(const OpDef& op, const SchemaVersion& schema, EncodedNode& e, std::optional<std::string>& refusal) {
  const auto fresh = op.make();
  std::erase_if(e.attrs, [&](const NamedAttr& a) {
    if (std::holds_alternative<AttrRef>(a.value)) return false;
    if (const AttrSpec* spec = schema.attribute(a.name))
      return spec->fallback.has && spec->default_value() == a.value && !is_always_written(op, a.name);
    const AttrField* field = field_of(op, a.name);
    if (!field) return false;  // the file had it, no schema does: it stays
    if (field->get(fresh.get()) == a.value) return true;
    if (!refusal) refusal = cat("its attribute '", a.name, "' did not exist");
    return false;
  });
  for (const AttrSpec& spec : schema.attributes)
    if (spec.required && spec.kind != AttrKind::graph && !e.has(spec.name) && !refusal)
      refusal = cat("it needs the attribute '", spec.name, "'");
}

void fit_operands(const SchemaVersion& schema, EncodedNode& e, std::optional<std::string>& refusal) {
  e.trim_inputs();
  // A Loop has to name its first two operands, and may leave both empty.
  const auto may_be_empty = [&](size_t i) { return schema.input(i) && schema.input(i)->option == Formal::optional; };
  while (e.inputs.size() < schema.min_in && may_be_empty(e.inputs.size())) e.inputs.emplace_back();
  if (refusal) return;
  if (e.inputs.size() > schema.max_in)
    refusal = cat("it had at most ", schema.max_in, " inputs, not ", e.inputs.size());
  else if (e.inputs.size() < schema.min_in)
    refusal = cat("it needed ", schema.min_in, " inputs, not ", e.inputs.size());
  else if (e.outputs > schema.max_out) refusal = cat("it had at most ", schema.max_out, " outputs, not ", e.outputs);
}

bool has_attribute(const SchemaVersion* s, std::string_view name) {
  return s &&
         std::any_of(s->attributes.begin(), s->attributes.end(), [&](const AttrSpec& a) { return a.name == name; });
}

// An attribute that the model's opset does not know and the target's does would begin to mean something.
std::optional<std::string> stray_attribute(const Node& n, const OpDef& op, int64_t version) {
  if (!n.extra) return std::nullopt;
  for (const NamedAttr& a : *n.extra)
    if (!has_attribute(&op.newest(), a.name) && has_attribute(op.at(version), a.name))
      return cat("its attribute '", a.name, "' has no meaning in the model's opset, but has one there");
  return std::nullopt;
}

}  // namespace

Encoding encode_node(const Graph& g, NodeId id, int64_t version) {
  const Node& n = g[id];
  Encoding out;
  Downgrade d(g);
  d.op_type = n.op->name;
  d.inputs = n.inputs;
  d.outputs = n.outputs.size();
  d.attrs = n.op->is_opaque() ? NamedAttrs() : all_attributes(n);
  d.target = version;
  if (n.op->is_opaque()) {
    if (n.extra)
      std::copy_if(n.extra->begin(), n.extra->end(), std::back_inserter(d.attrs),
                   [](const NamedAttr& a) { return a.value.index() != 0; });
    out.node = std::move(d);
    return out;
  }
  const OpDef* op = &def(*n.op);
  // Unused optional outputs at the end are left out.
  const auto unwanted = [&](size_t i) {
    const Formal* f = op->newest().output(i);
    return f && f->option == Formal::optional && !g.used(n.outputs[i]) && g[n.outputs[i]].name.empty();
  };
  while (d.outputs > 1 && unwanted(d.outputs - 1)) --d.outputs;
  if (auto stray = stray_attribute(n, *op, version)) {
    out.refusal = std::move(stray);
    out.node = std::move(d);
    return out;
  }
  try {
    op = lower(d, op);
  } catch (const Error& e) {
    if (support::is_budget(e)) throw;
    d.refuse(e.diag().what);
  }
  out.refusal = d.refusal;
  const SchemaVersion* schema = op->at(version);
  if (!schema && !out.refusal) out.refusal = cat(op->name, " came with opset ", op->first_version());
  if (schema) {
    fit_attributes(*op, *schema, d, out.refusal);
    fit_operands(*schema, d, out.refusal);
  }
  out.node = std::move(d);
  return out;
}

}  // namespace cameo::onnx
