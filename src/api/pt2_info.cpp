#include <algorithm>
#include <map>
#include <set>

#include "api/pt2_types.h"
#include "frontends/pt2/symbols.h"
#include "staging/nodes/interpreter.h"
#include "support/file_bytes.h"

#include "api/archive_info.h"
#include "api/onnx_calls.h"

namespace cameo::api {

namespace {

void count(json::Value graph, std::map<std::string, size_t>& operators, int depth) {
  for (const json::Value n : graph["nodes"].elements()) {
    ++operators[std::string(n["target"].text())];
    for (const json::Value in : n["inputs"].elements())
      if (const auto [tag, v] = pt2::tagged(in["arg"]); tag == "as_graph" && depth < 64)
        count(v["graph"], operators, depth + 1);
  }
}

// "torch.ops.aten.add.Tensor" as operators are written elsewhere: "aten::add.Tensor".
std::string shown(std::string_view target) {
  constexpr std::string_view head = "torch.ops.";
  if (!target.starts_with(head)) return std::string(target);
  target.remove_prefix(head.size());
  const size_t dot = target.find('.');
  if (dot == target.npos) return std::string(target);
  auto rest = target.substr(dot + 1);
  if (rest.ends_with(".default")) rest.remove_suffix(8);
  return cat(target.substr(0, dot), "::", rest);
}

std::vector<ArchiveSize> sizes_of(const pt2::Program& program, json::Value graph) {
  std::map<std::string, std::string, std::less<>> places;
  for (const pt2::GraphInput& in : program.inputs()) {
    const json::Value meta = in.kind == pt2::InputKind::user ? pt2_meta(graph, in.value) : json::Value();
    if (!meta) continue;
    size_t axis = 0;
    for (const json::Value v : meta["sizes"].elements()) {
      const pt2::SymInt size = pt2::sym_int(v);
      if (const auto symbol = pt2::bare_symbol(size.expression); !size.literal && !symbol.empty())
        places.try_emplace(std::string(symbol), cat("axis ", axis, " of ", in.value));
      ++axis;
    }
  }
  std::vector<ArchiveSize> out;
  for (const pt2::Range& r : program.ranges()) {
    const auto place = places.find(r.symbol);
    out.push_back({r.symbol, r.lo, r.hi, place == places.end() ? "" : place->second});
    if (place != places.end()) places.erase(place);
  }
  for (const auto& [symbol, place] : places) out.push_back({symbol, std::nullopt, std::nullopt, place});
  return out;
}

void count_weights(pt2::Program& program, TorchExportInfo& info) {
  std::set<std::pair<uint64_t, int64_t>> seen;
  for (const pt2::GraphInput& in : program.inputs()) {
    if (in.kind != pt2::InputKind::parameter && in.kind != pt2::InputKind::buffer &&
        in.kind != pt2::InputKind::tensor_constant)
      continue;
    try {
      const pt2::Payload p = program.payload(in);
      uint64_t elements = 1;
      for (const int64_t s : p.sizes) elements *= static_cast<uint64_t>(s);  // lies in the storage: no overflow
      if (!p.storage.empty() && !seen.insert({support::place_of(p.storage), p.offset}).second) continue;
      ++info.tensors;
      info.parameters += elements;
      info.weight_bytes += elements * static_cast<uint64_t>(item_size(p.dtype));
    } catch (const Error& e) {
      if (!e.diag().code.starts_with("file.unsupported") && e.diag().code != "file.missing-data") throw;
    }
  }
}

}  // namespace

TorchExportInfo pt2_info(pt2::Program& program) {
  TorchExportInfo info;
  info.program = program.model_name();
  info.programs = program.models();
  info.torch_version = program.torch_version();
  info.schema = cat(program.schema_major(), ".", program.schema_minor());
  info.training_ir = program.is_training_ir();
  const json::Value graph = program.graph();
  for (const pt2::GraphInput& in : program.inputs())
    if (in.kind == pt2::InputKind::user) info.inputs.push_back({std::string(in.value), pt2_type(graph, in.value)});
    else if (in.kind == pt2::InputKind::constant)
      info.inputs.push_back({in.target, cat("fixed at ", pt2_argument(in.constant))});
  size_t user = 0;
  for (const pt2::GraphOutput& o : program.outputs()) {
    if (o.kind == pt2::OutputKind::buffer || o.kind == pt2::OutputKind::parameter ||
        o.kind == pt2::OutputKind::user_input)
      info.written.push_back(o.target);
    if (o.kind != pt2::OutputKind::user) continue;
    const std::string& path = program.output_paths()[user++];
    const std::string value = pt2_argument(o.arg), type = pt2_type(graph, value);
    info.outputs.push_back({path.empty()                       ? "output"
                            : path[0] >= '0' && path[0] <= '9' ? cat("output.", path)
                                                               : path,
                            type.empty() ? value : type});
  }
  info.sizes = sizes_of(program, graph);
  std::map<std::string, size_t> operators;
  count(graph, operators, 0);
  for (const auto& [target, calls] : operators)
    info.operators.push_back(
        {shown(target), calls, staging::NodeInterpreter::lowers(target) || is_onnx_call(shown(target))});
  std::stable_sort(info.operators.begin(), info.operators.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  count_weights(program, info);
  return info;
}

}  // namespace cameo::api
