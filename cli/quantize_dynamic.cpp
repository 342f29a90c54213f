// cameo quantize --dynamic: 8-bit weights, data rounded while the model runs.
#include <algorithm>

#include "cameo/dynamic.h"
#include "cli/quantize_flags.h"

namespace cameo::cli {

namespace {

constexpr const char* taken[] = {"dynamic", "target",  "keep",          "opset",  "per-tensor",
                                 "report",  "weights", "no-provenance", "durable"};

DynamicSettings settings_of(const Args& args) {
  if (is_weight_only(args)) throw error("use.flag", "--dynamic and --bits exclude each other");
  for (const auto& given : args.given()) {
    const bool fits =
        std::any_of(std::begin(taken), std::end(taken), [&](const char* flag) { return given.flag == flag; });
    if (!fits) throw error("use.flag", cat("--", given.flag, " does not go with --dynamic"));
  }
  DynamicSettings s;
  s.target = args.text("target", s.target);
  s.per_channel = !args.has("per-tensor");
  s.keep = args.list("keep");
  s.opset = static_cast<int>(args.integer("opset", 0, 0, 1000));
  return s;
}

}  // namespace

int quantize_dynamic_main(const Verb& verb, const Args& args, Out& out) {
  const SaveSettings save = save_settings(verb, args);
  const DynamicSettings settings = settings_of(args);
  Publication files;
  std::vector<Publication::File> reports;
  for (const std::string& path : args.values("report")) reports.push_back(files.open(path, {".json"}));
  const DynamicQuantized q = quantize_dynamic(opened(args.operands[0], out), settings);
  out.diags(q.model.findings());
  for (auto& file : reports) file.append(to_json(q.report) + "\n");
  out.diags(q.model.save(files, args.operands[1], save));
  publish(files, save.durable, out);
  if (out.json) return out.line(to_json(q.report)), 0;
  size_t quantized = 0;
  for (const auto& n : q.report.nodes) quantized += n.quantized;
  out.say(cat("quantized ", plural(quantized, "node"), " of ", q.report.nodes.size()));
  for (const auto& n : q.report.nodes)
    if (!n.quantized) out.say(cat("float: ", n.name, " (", n.op, "): ", n.why));
  return 0;
}

}  // namespace cameo::cli
