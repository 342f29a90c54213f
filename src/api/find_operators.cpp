// include/cameo/operators.h: operators by name.
#include <algorithm>

#include "ops/op_def.h"
#include "ops/schema.h"
#include "runtime/watch.h"
#include "support/ascii.h"
#include "support/error.h"

#include "api/state.h"
#include "cameo/json.h"
#include "cameo/operators.h"

namespace cameo {

static_assert(opsets::newest == ops::newest_released_opset && opsets::in_development == ops::newest_opset,
              "include/cameo/opset.h and src/ops/schema.h disagree");

namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = ascii::to_lower(c);
  return out;
}

// Upper and lower case are the same: people type nonmaxsuppression.
bool fits(std::string_view name, const std::string& pattern) {
  if (pattern.empty()) return true;
  const std::string text = lower_case(name), part = lower_case(pattern);
  return part.find_first_of("*?") != part.npos ? runtime::matches(text, part) : text.find(part) != text.npos;
}

// "torch.nn.functional.gelu", "nn.Conv2d", "torch.ops.aten.add.Tensor" as operators are called; empty: not such a name.
std::string from_python(const std::string& pattern) {
  constexpr std::string_view ops = "torch.ops.";
  std::string name = pattern;
  if (name.starts_with(ops)) {
    name = name.substr(ops.size());
    if (const auto dot = name.find('.'); dot != name.npos) name.replace(dot, 1, "::");
    return name.ends_with(".default") ? name.substr(0, name.size() - 8) : name;
  }
  const auto dot = name.rfind('.');
  if (dot == name.npos || name.find("::") != name.npos) return "";
  name = name.substr(dot + 1);
  std::string out;  // of a module: AdaptiveAvgPool2d is adaptive_avg_pool2d
  for (size_t i = 0; i < name.size(); ++i) {
    const auto upper = [&](size_t at) { return ascii::is_upper(name[at]); };
    if (i && upper(i) && !upper(i - 1)) out += '_';
    out += name[i];
  }
  return lower_case(out);
}

auto no_match(const std::string& pattern) {
  return support::error("use.no-match", support::cat("no torch or ONNX operator is called '", pattern, "'"))
      .help("cameo ops lists all; part of a name is enough");
}
bool fits(const TorchOperator& op, const std::string& pattern) {
  return fits(op.name, pattern) ||
         std::any_of(op.onnx.begin(), op.onnx.end(), [&](const std::string& o) { return fits(o, pattern); });
}

std::vector<TorchOperator> matching(const std::string& pattern, bool missing) {
  auto out = operators();
  std::erase_if(out, [&](const TorchOperator& op) { return !fits(op, pattern); });
  if (missing || (!pattern.empty() && out.empty()))
    for (TorchOperator& op : missing_operators())
      if (fits(op, pattern)) out.push_back(std::move(op));
  return out;
}

}  // namespace

std::vector<TorchOperator> find_operators(const OperatorQuery& query) {
  known_opset(query.opset);
  auto out = matching(query.pattern, query.missing);
  if (const std::string name = out.empty() ? from_python(query.pattern) : ""; !name.empty())
    out = matching(name, query.missing);
  for (TorchOperator& op : out)
    if (op.from_opset > query.opset)
      op.support = Support::missing, op.why = support::cat("it needs opset ", op.from_opset);
  if (out.empty()) throw no_match(query.pattern);
  return out;
}

std::map<std::string, std::set<std::string>> operators_by_onnx(const std::string& pattern) {
  std::map<std::string, std::set<std::string>> out;
  for (const TorchOperator& op : operators())
    for (const std::string& onnx : op.onnx)
      if (fits(onnx, pattern)) out[onnx].insert(op.name.substr(0, op.name.find('.')));
  if (!pattern.empty())  // also what no torch operator becomes
    for (const ops::OpDef& op : ops::all_ops())
      if (op.domain.empty() && fits(op.name, pattern)) out[std::string(op.name)];
  if (out.empty()) throw no_match(pattern);
  return out;
}

std::string to_json(const std::vector<TorchOperator>& operators) {
  static constexpr std::string_view names[] = {"lowered", "staged", "missing"};
  json::Writer w;
  w.array();
  for (const TorchOperator& op : operators) {
    w.object().key("name").value(op.name).key("support").value(names[static_cast<size_t>(op.support)]);
    if (op.support == Support::lowered && op.seen) {
      w.key("onnx").array();
      for (const std::string& o : op.onnx) w.value(o);
      w.end();
      if (op.from_opset) w.key("from_opset").value(op.from_opset);
    }
    if (!op.why.empty()) w.key("why").value(op.why);
    w.end();
  }
  return w.end().text();
}

}  // namespace cameo
