#include "api/export_functions.h"

#include <algorithm>
#include <set>

#include "backends/onnx/legalise.h"
#include "ops/schema.h"
#include "support/error.h"

namespace cameo::api {

namespace {

void collect(const torchscript::StoredObject& o, const std::string& path, std::vector<OutlinedModule>& out) {
  for (const auto& a : o.attributes) {
    if (a.value->kind != torchscript::StoredKind::object || !a.value->object->cls) continue;
    const std::string inner = path.empty() ? std::string(a.name) : cat(path, ".", a.name);
    std::string name = torchscript::demangle(a.value->object->cls->qualified_name);
    if (name.starts_with("__torch__.")) name = name.substr(10);
    out.push_back({inner, name});
    collect(*a.value->object, inner, out);
  }
}

}  // namespace

std::vector<OutlinedModule> modules_of(const torchscript::Program& program) {
  std::vector<OutlinedModule> out;
  collect(program.root(), "", out);
  return out;
}

// The modules that calls came from: "key,path,class;key,path,class", outermost first.
std::vector<OutlinedModule> modules_of(const pt2::Program& program) {
  std::vector<OutlinedModule> out;
  std::set<std::string, std::less<>> known;
  for (const json::Value node : program.graph()["nodes"].elements()) {
    const json::Value metadata = node.present("metadata");
    const json::Value all = metadata ? metadata.present("nn_module_stack") : json::Value();
    if (!all) continue;
    for (std::string_view rest = all.text(); !rest.empty();) {
      const std::string_view entry = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
      const auto [module, cls] = pt2::module_entry(entry);
      if (!module.empty() && !cls.empty() && known.emplace(module).second)
        out.push_back({std::string(module), std::string(cls)});
    }
  }
  return out;
}

// Functions are written unchanged, so they may only have operators of the target opset.
void make_functions(std::vector<OutlinedModule> modules, Model& m, const ArchiveExport& how, DiagSink& sink) {
  for (const std::string& wanted : *how.functions) {
    const auto is = [&](const OutlinedModule& o) {
      return o.class_name == wanted || o.class_name.ends_with("." + wanted);
    };
    if (std::none_of(modules.begin(), modules.end(), is)) {
      std::set<std::string> names;
      for (const auto& o : modules) names.insert(o.class_name);
      std::string list;
      for (const std::string& n : names) list += cat(list.empty() ? "" : ", ", n);
      throw error("use.modules", cat("the archive has no module of the class '", wanted, "'"))
          .help(cat("it has: ", list));
    }
  }
  if (!how.functions->empty())
    std::erase_if(modules, [&](const OutlinedModule& o) {
      return std::none_of(how.functions->begin(), how.functions->end(),
                          [&](const std::string& w) { return o.class_name == w || o.class_name.ends_with("." + w); });
    });
  const int64_t opset = how.write.opset.value_or(newest_released_opset);
  if (opset < 15) throw error("use.opset", cat("functions came with opset 15, and ", opset, " is asked for"));
  onnx::LegaliseOptions legal;
  legal.lossy = how.write.lossy;
  auto result = onnx::legalise(m, opset, legal);
  if (!result.refusals.empty()) throw Error(std::move(result.refusals));
  m.opsets[""] = opset;
  outline_modules(m, std::move(modules), opset, sink);
}

}  // namespace cameo::api
