// cameo lint: what a deployment target does not take.
#include "cameo/lint.h"

#include "cameo/json.h"
#include "cli/common.h"
#include "cli/simplify_flags.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"target", 't', "NAME,…",
     "tensorrt, onnxruntime, onnxruntime-web, openvino, opencv, ncnn, rknn, qnn, coreml, tflite, or all; NAME:VERSION "
     "for a version of it; repeatable; default: onnxruntime"},
    {"ignore", 0, "RULE,…", "leave out rules: tensorrt.double, *.license, openvino.type@NODE; repeatable"},
    {"sarif", 0, "", "print the findings as SARIF, for code scanning"},
    {"fix", 0, "OUT", "apply the cures, compare outputs after each, and write the model to OUT"},
    {"overwrite-input-shape", 0, "NAME:1,3,224,224",
     "with --fix: the sizes of an input, for targets that need fixed sizes; repeatable"},
    {"dim", 0, "NAME=SIZE", "with --fix: the value of a named size, for targets that need fixed sizes; repeatable"},
    {"no-verify", 0, "", "with --fix: do not compare outputs"},
    no_provenance,
    weights_flag,
    durable_flag,
    {"list-rules", 0, "", "print the rules of the targets; no model is read"},
    {"list-targets", 0, "", "print the targets with their versions; no model is read"},
};
constexpr Verb verb{
    "lint",
    "IN",
    "what a deployment target does not support, with a source and a cure for each finding; exit status 1 "
    "if there is an error",
    "cameo lint net.onnx --target tensorrt,openvino\ncameo lint net.onnx --target all --sarif > lint.sarif\n"
    "cameo lint net.onnx --target rknn --fix ready.onnx --dim batch=1",
    flags,
    0,
    1};

void list_rules(const std::vector<std::string>& targets, Out& out) {
  for (const LintRule& r : lint_rules(targets)) {
    const std::string_view severity = r.severity == Severity::error     ? "error"
                                      : r.severity == Severity::warning ? "warning"
                                                                        : "note";
    json::Writer w;
    w.object().key("rule").value(r.rule).key("severity").value(severity).key("what").value(r.what);
    w.key("when").value(r.when).end();
    out.line(out.json ? std::string(w.text()) : cat(r.rule, "  ", severity, "  ", r.what, "  [", r.when, "]"));
  }
}

void list_targets(Out& out) {
  for (const LintTarget& t : lint_targets()) {
    json::Writer w;
    w.object().key("target").value(t.name).key("version").value(t.version).key("title").value(t.title).end();
    out.line(out.json ? std::string(w.text()) : cat(padded(t.name, 16), " ", padded(t.version, 14), " ", t.title));
  }
}

void tell(const LintReport& report, const std::string& file, Out& out) {
  out.diags(findings_of(report, file));
  for (const LintTarget& t : report.targets) {
    size_t counts[3] = {};
    for (const LintFinding& f : report.findings)
      if (f.target == t.name) ++counts[static_cast<size_t>(f.severity)];
    out.line(cat(file, ": ", t.title, " ", t.version, ": ", plural(counts[2], "error"), ", ",
                 plural(counts[1], "warning"), ", ", plural(counts[0], "note")));
  }
  if (report.ignored) out.say(cat(plural(report.ignored, "finding"), " left out by ignore"));
}

LintFixSettings fix_settings(const LintSettings& lint, const Args& args, const Model& m) {
  LintFixSettings s{lint.targets, lint.ignore};
  for (const std::string& text : args.values("overwrite-input-shape"))
    s.input_shapes.insert(input_shape(m, "overwrite-input-shape", text));
  for (const std::string& text : args.values("dim")) s.sizes.insert(name_and_size("dim", text));
  s.verify = !args.has("no-verify");
  return s;
}

int fix(const Model& m, const LintSettings& settings, const Args& args, Out& out) {
  const std::string& file = args.operands[0];
  LintFixSettings how = fix_settings(settings, args, m);
  how.progress = out.bar();
  const LintFixed fixed = fix_lint(m, how);
  save(fixed.model, *args.value("fix"), save_settings(verb, args), out);
  if (out.json) out.line(to_json(fixed, file));
  else {
    for (const LintStep& s : fixed.steps)
      out.say(cat(s.done ? "done: " : "not done: ", s.cure, s.why.empty() ? "" : ": ", s.why));
    tell(fixed.after, *args.value("fix"), out);
  }
  return fixed.after.count(Severity::error) ? 1 : 0;
}

}  // namespace

int lint_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  LintSettings settings;
  if (args->has("target")) settings.targets = args->list("target");
  settings.ignore = args->list("ignore");
  if (args->has("list-targets")) return list_targets(out), 0;
  if (args->has("list-rules"))
    return list_rules(args->has("target") ? settings.targets : std::vector<std::string>{"all"}, out), 0;
  if (args->operands.empty())
    throw error("use.operands", "lint needs a model").help("cameo lint net.onnx --target openvino");
  const std::string& file = args->operands[0];
  const Model m = load(file);
  if (args->has("fix")) return fix(m, settings, *args, out);
  const LintReport report = lint(m, settings);
  if (args->has("sarif")) out.line(to_sarif(report, file));
  else if (out.json) out.line(to_json(report, file));
  else tell(report, file, out);
  return report.count(Severity::error) ? 1 : 0;
}

}  // namespace cameo::cli
