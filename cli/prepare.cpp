// cameo prepare: a model as a deployment target wants it.
#include "cameo/prepare.h"

#include <charconv>

#include "cli/common.h"
#include "cli/prepare_flags.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Verb verb{"prepare",
                    "IN OUT",
                    "a model or PyTorch archive as a deployment target wants it; exit status 1 if lint still finds an "
                    "error",
                    "cameo prepare net.pt ready.onnx --target openvino --input 'x=f32[1,3,224,224]'\n"
                    "cameo prepare yolo.onnx ready.onnx --target tensorrt --append-nms\n"
                    "cameo prepare yolo.onnx ready.onnx --append-nms score=0.3,max=100 --fix-size batch=1",
                    prepare_flags,
                    2,
                    2};

std::map<std::string, int64_t> sizes(const Args& args) {
  std::map<std::string, int64_t> out;
  for (const std::string& text : args.list("fix-size")) {
    const auto [name, size] = name_and_value("fix-size", text);
    out[name] = whole_number("fix-size", size, 1);
  }
  return out;
}

PrepareSettings settings_of(const Args& args) {
  PrepareSettings s;
  s.target = args.text("target", s.target);
  s.inputs = args.values("input");
  s.sizes = sizes(args);
  s.opset = static_cast<int>(args.integer("opset", 0, 0, 1000));
  if (args.has("float")) s.float_type = static_cast<FloatType>(1 + args.choice("float", {"f16", "bf16", "mixed"}));
  s.calibrate = args.text("quantize", "");
  s.image = args.text("image", "");
  if (args.has("normalise"))
    s.normalise = static_cast<Normalise>(1 + args.choice("normalise", {"fold", "keep", "out"}));
  if (const auto words = args.value("append-nms")) s.detections = detections_of(*words);
  s.ignore = args.list("ignore");
  s.simplify = !args.has("no-simplify");
  s.fix = !args.has("no-fix");
  s.verify = !args.has("no-verify");
  return s;
}

// `--append-nms WORDS`: words may follow as an argument of their own.
std::vector<std::string> with_words_joined(Raw raw) {
  std::vector<std::string> out;
  for (const std::string_view word : raw) {
    const bool words = !out.empty() && out.back() == "--append-nms" && is_detection_words(word);
    if (words) out.back() += cat("=", word);
    else out.emplace_back(word);
  }
  return out;
}

void tell(const Prepared& p, const std::string& file, Out& out) {
  for (const PrepareStep& s : p.ledger)
    out.say(cat(padded(s.step, 11), s.what, s.why_not.empty() ? "" : cat(": not done: ", s.why_not),
                s.checked.empty() ? "" : cat(" (", s.checked, ")")));
  std::vector<Diag> errors;
  for (Diag& d : findings_of(p.lint, file))
    if (d.severity == Severity::error) errors.push_back(std::move(d));
  out.diags(errors);
  for (const LintTarget& t : p.lint.targets)
    out.line(cat(file, ": ", t.title, " ", t.version, ": ", plural(p.lint.count(Severity::error), "error"), ", ",
                 plural(p.lint.count(Severity::warning), "warning")));
}

}  // namespace

int prepare_main(Raw raw, Out& out) {
  const std::vector<std::string> words = with_words_joined(raw);
  const std::vector<std::string_view> views(words.begin(), words.end());
  const auto args = parse(verb, views, out);
  if (!args) return 0;
  const SaveSettings save_as = save_settings(verb, *args);
  PrepareSettings settings = settings_of(*args);
  settings.progress = out.bar();
  Publication files;
  std::optional<Publication::File> ledger;
  if (const auto name = args->value("ledger")) ledger.emplace(files.open(*name, {".json"}));
  const Prepared p = prepare(load(args->operands[0]), settings);
  out.diags(p.findings);
  const std::string& target = args->operands[1];
  if (ledger) ledger->append(to_json(p, target) + "\n");
  out.diags(p.model.save(files, target, save_as));
  publish(files, save_as.durable, out);
  if (out.json) out.line(to_json(p, target));
  else tell(p, target, out);
  return p.lint.count(Severity::error) ? 1 : 0;
}

}  // namespace cameo::cli
