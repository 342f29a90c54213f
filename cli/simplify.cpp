// cameo simplify: a smaller graph that computes the same.
#include "cameo/simplify.h"

#include <chrono>

#include "cameo/json.h"
#include "cli/common.h"
#include "cli/simplify_flags.h"
#include "cli/simplify_report.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Verb verb{
    "simplify",
    "IN OUT",
    "a smaller graph that computes the same",
    "cameo simplify net.onnx simple.onnx\ncameo simplify net.onnx simple.onnx --overwrite-input-shape x:1,3,224,224",
    simplify_flags,
    0,
    2};

void list_rules(Out& out) {
  for (const RuleInfo& r : rules()) {
    json::Writer w;
    w.object().key("rule").value(r.name).key("class").value(r.kind).end();
    out.line(out.json ? w.text() : cat(padded(r.name, r.name.size() < 30 ? 30 : r.name.size() + 1), r.kind));
  }
}

void tell_findings(const Simplified& s, const Args& args, Out& out) {
  if (args.has("check"))
    out.say(cat("checked on ", plural(s.checked, "set"), " of inputs; the largest difference is ", s.worst));
  out.diags(s.findings);
}

}  // namespace

int simplify_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  if (args->has("list-rules")) return list_rules(out), 0;
  if (args->operands.size() != 2)
    throw error("use.operands", cat("simplify takes IN and OUT, and ", args->operands.size(), " are given"));
  const auto start = std::chrono::steady_clock::now();
  const std::string &in = args->operands[0], &target = args->operands[1];
  const SaveSettings save = save_settings(verb, *args);
  Publication files;
  std::optional<Publication::File> ledger;
  if (args->has("ledger")) ledger = files.open(*args->value("ledger"));
  Model m = opened(in, out);
  SimplifySettings settings = simplify_settings(*args, m);
  settings.progress = out.bar();
  const auto bytes_before = file_bytes(in);
  const Simplified result = simplify(std::move(m), settings);
  tell_findings(result, *args, out);
  if (ledger)
    for (const Rewriting& r : result.ledger) ledger->append(cat(to_json(r), "\n"));
  out.diags(result.model.save(files, target, save));
  publish(files, save.durable, out);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (target != "-") report_simplified({result, bytes_before, file_bytes(target), ms}, out);
  return 0;
}

}  // namespace cameo::cli
