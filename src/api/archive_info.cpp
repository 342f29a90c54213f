#include <algorithm>
#include <set>

#include "frontends/torchscript/operators.h"
#include "ir/dtype_words.h"
#include "lowering/row.h"
#include "lowering/schema.h"
#include "staging/machine/machine.h"

#include "api/archive_info.h"
#include "api/onnx_calls.h"

namespace cameo::api {

namespace ts = torchscript;

namespace {

std::string signature(const ts::FunctionDef& f) {
  std::string out = cat(f.name, "(");
  bool first = true;
  for (const ts::Param& p : f.params) {
    if (p.name == "self") continue;
    out += cat(first ? "" : ", ", p.name);
    first = false;
    if (p.type) out += cat(": ", ts::demangle(ts::to_string(*p.type)));
    if (p.default_value) out += cat(" = ", ts::print(*p.default_value));
  }
  out += ")";
  if (f.return_type) out += cat(" -> ", ts::demangle(ts::to_string(*f.return_type)));
  return out;
}

std::string example_text(const ts::StoredValue& v) {
  if (v.kind != ts::StoredKind::tensor) return ts::to_string(v);
  const std::string_view torch = name(v.tensor->dtype), ours = ir::dtype_in_our_words(torch);
  std::string out = cat(ours.empty() ? torch : ours, "[");
  for (size_t i = 0; i < v.tensor->sizes.size(); ++i) out += cat(i ? "," : "", v.tensor->sizes[i]);
  return out + "]";
}

bool has_row(const std::string& name) {
  const auto& overloads = schemas_of(name);
  return std::any_of(overloads.begin(), overloads.end(),
                     [](const Schema& s) { return find_row(s.full_name()) != nullptr; });
}

}  // namespace

bool torch_operator_lowers(const std::string& name) {
  if (api::is_onnx_call(name)) return true;
  if (!staging::find_host_ops(name).empty() || has_row(name)) return true;
  return name.ends_with('_') && has_row(name.substr(0, name.size() - 1));  // in-place: its functional twin
}

TorchScriptInfo archive_info(ts::Program& program) {
  TorchScriptInfo info;
  info.version = program.version();
  if (const ts::ClassDef* cls = program.root().cls) {
    info.class_name = ts::demangle(cls->qualified_name);
    for (const ts::FunctionDef* f : cls->methods) {
      ArchiveMethod m{std::string(f->name), signature(*f), {}};
      for (const auto& example : program.example_inputs())
        if (example.method == f->name)
          for (const ts::StoredValue* v : example.inputs) m.example.push_back(example_text(*v));
      info.methods.push_back(std::move(m));
    }
  }
  for (const auto& op : ts::operators(program))
    info.operators.push_back({op.name, op.count, torch_operator_lowers(op.name)});
  std::stable_sort(info.operators.begin(), info.operators.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  std::set<const ts::StoredValue*> seen;
  for (const auto& t : ts::named_tensors(program.root())) {
    if (!seen.insert(t.value).second) continue;
    ++info.tensors;
    info.parameters += static_cast<uint64_t>(t.value->tensor->numel());
    if (t.value->tensor->storage)
      info.weight_bytes +=
          static_cast<uint64_t>(t.value->tensor->numel()) * static_cast<uint64_t>(item_size(t.value->tensor->dtype));
  }
  return info;
}

}  // namespace cameo::api
