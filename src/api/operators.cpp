#include <algorithm>
#include <set>
#include <unordered_map>

#include "api/generated/lowered_operators.h"
#include "lowering/row.h"
#include "staging/host/tables.h"
#include "support/error.h"

#include "api/operators.h"

namespace cameo::api {

namespace {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto space = std::min(text.find(' '), text.size());
    if (space) out.emplace_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out;
}

struct Reason {
  std::string_view part, why;
};
// Why families of operators have no ONNX form here; the first that fits.
constexpr Reason reasons[] = {
    {"_backward", "it computes gradients, and models are for inference"},
    {"sparse", "ONNX has no operators on sparse tensors"},
    {"mkldnn", "it is a layout of one backend; export the model without it"},
    {"cudnn", "it is internal to one backend; export the model on the CPU"},
    {"miopen", "it is internal to one backend; export the model on the CPU"},
    {"fbgemm", "it is internal to one backend"},
    {"linalg_eig", "ONNX has no matrix decompositions"},
    {"svd", "ONNX has no matrix decompositions"},
    {"qr", "ONNX has no matrix decompositions"},
    {"lu", "ONNX has no matrix decompositions"},
    {"cholesky", "ONNX has no matrix decompositions"},
    {"lstsq", "ONNX has no matrix decompositions"},
    {"geqrf", "ONNX has no matrix decompositions"},
    {"ormqr", "ONNX has no matrix decompositions"},
    {"ldl", "ONNX has no matrix decompositions"},
    {"poisson", "ONNX has no such random numbers"},
    {"geometric", "ONNX has no such random numbers"},
    {"cauchy", "ONNX has no such random numbers"},
    {"log_normal", "ONNX has no such random numbers"},
    {"_foreach_", "it works on lists of tensors in place, as optimisers do"},
    {"_fused_", "it is an optimiser's or one backend's"},
    {"quantize", "quantized tensors are not exported yet"},
    {"nested", "ONNX has no nested tensors"},
    {"_thnn_", "it is internal to PyTorch"},
    {"_cuda", "it is internal to one backend"},
};

std::string reason_for(std::string_view name) {
  for (const Reason& r : reasons)
    if (name.find(r.part) != name.npos) return std::string(r.why);
  return "it has no lowering yet; --fallback keeps it as a foreign node, --rules defines its nodes";
}

// In-place and out= forms follow the functional one; so do those that staging answers itself.
bool follows_another(const Schema& s) {
  if (!staging::find_host_ops(s.name).empty()) return true;
  if (s.is_out()) {
    for (const Schema& other : schemas_of(s.name))
      if (find_row(other.full_name())) return true;
    return false;
  }
  if (!s.name.ends_with('_')) return false;
  const std::string base = s.name.substr(0, s.name.size() - 1);
  for (const Schema& other : schemas_of(base))
    if (find_row(other.full_name())) return true;
  return false;
}

}  // namespace

std::span<const SeenLowering> seen_lowerings() { return seen_table; }

}  // namespace cameo::api

namespace cameo {

std::vector<TorchOperator> operators() {
  std::unordered_map<std::string_view, const api::SeenLowering*> seen;
  for (const api::SeenLowering& s : api::seen_lowerings()) seen.emplace(s.name, &s);
  std::vector<TorchOperator> out;
  for (const std::string_view name : lowering::all_row_names()) {
    TorchOperator op{std::string(name), Support::lowered, {}, false, 0, {}};
    if (const auto it = seen.find(name); it != seen.end()) {
      op.onnx = api::split_words(it->second->onnx);
      op.seen = it->second->from_opset >= 0;
      op.from_opset = static_cast<int>(std::max<int64_t>(it->second->from_opset, 0));
    }
    out.push_back(std::move(op));
  }
  std::set<std::string_view> host;
  for (const auto table : staging::all_host_tables())
    for (const auto& row : table) host.insert(row.name);
  for (const auto name : host) out.push_back({std::string(name), Support::staged, {}, true, 0, {}});
  std::stable_sort(out.begin(), out.end(),
                   [](const TorchOperator& a, const TorchOperator& b) { return a.name < b.name; });
  return out;
}

std::vector<TorchOperator> missing_operators() {
  std::vector<TorchOperator> out;
  for (const std::string_view signature : lowering::torch_signatures()) {
    const lowering::Schema s = lowering::parse_schema(signature);
    if (lowering::find_row(s.full_name()) || api::follows_another(s)) continue;
    out.push_back({s.full_name(), Support::missing, {}, true, 0, api::reason_for(s.name)});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const TorchOperator& a, const TorchOperator& b) { return a.name < b.name; });
  return out;
}

}  // namespace cameo
