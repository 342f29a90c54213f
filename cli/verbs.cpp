#include "cli/verbs.h"

#include <vector>

#include "cameo/face.h"
#include "cameo/opset.h"
#include "cameo/version.h"
#include "cli/verb.h"
#include "cli/words.h"

namespace cameo::cli {

namespace {

struct Row {
  std::string_view name, summary;
  int (*main)(Raw raw, Out& out);
};

constexpr Row verbs[] = {
    {"export", "a PyTorch archive to ONNX", export_main},
    {"simplify", "a smaller graph that computes the same", simplify_main},
    {"onnxsim", "simplify, with the arguments of onnxsim", onnxsim_main},
    {"infer", "shapes and types of every value, symbolic", infer_main},
    {"check", "check a model and report all findings at once", check_main},
    {"show", "inputs, outputs, operators, sizes of a model or archive", show_main},
    {"stats", "operators, parameters, work and memory of a model", stats_main},
    {"run", "run a model on arrays", run_main},
    {"verify", "compare two models, or a model and recorded outputs", verify_main},
    {"convert", "another opset, half precision; text and back", convert_main},
    {"merge", "two models into one", merge_main},
    {"ops", "which ATen operator becomes which ONNX operators", ops_main},
    {"extract", "a part of a model as a model", extract_main},
    {"edit", "change names, shapes, nodes, weights", edit_main},
    {"diff", "how two models differ, whatever their names", diff_main},
    {"quantize", "a model in 8-bit integers, from samples of its inputs", quantize_main},
    {"lint", "what a deployment target does not support", lint_main},
    {"prepare", "a model as a deployment target wants it, in one command", prepare_main},
    {"explain", "why a rewrite did not apply", explain_main},
    {"view", "look at a model and work on it in the browser", view_main},
    {"completion", "a script that completes verbs and flags in your shell", completion_main},
};

void print_version(Out& out) {
  const BuildInfo info = build_info();
  if (out.json) return out.line(to_json(info));
  out.line(cat("cameo ", version));
  out.line(cat("newest opset: ", opsets::newest, " (", opsets::in_development, " in development)"));
  out.line("archives read: TorchScript 1 to 10");
  out.line(cat("CPU: ", info.cpu));
  out.line(cat("oneDNN: ", info.onednn.empty() ? "no" : info.onednn));
}

std::string overview() {
  std::string out = "cameo VERB [flags]: PyTorch models to ONNX, and everything around ONNX models\n\n";
  for (const Row& r : verbs) out += cat("  ", r.name, std::string(12 - r.name.size(), ' '), r.summary, "\n");
  return out + "\ncameo VERB --help says more, with an example. cameo --version [--json]\n";
}

int dispatch(std::string_view name, Raw rest, Out& out) {
  for (const Row& r : verbs)
    if (r.name == name) return r.main(rest, out);
  std::vector<std::string_view> names;
  for (const Row& r : verbs) names.push_back(r.name);
  const auto close = nearest_name(name, names), habit = instead_of_verb(name);
  throw error("use.unknown-verb", cat("unknown verb '", name, "'"))
      .help(!habit.empty()  ? cat("write ", habit)
            : close.empty() ? "cameo --help lists them"
                            : cat("did you mean ", close, "?"));
}

}  // namespace

int run_command(Raw args, Out& out) {
  const std::string_view first = args.empty() ? "--help" : args[0];
  if (first == "help" && args.size() > 1) {
    const std::string_view asked[] = {"--help"};
    return dispatch(args[1], asked, out);
  }
  if (first == "--help" || first == "-h" || first == "help") out.print(overview());
  else if (first == "--version" || first == "version") print_version(out);
  else if (first == "--list-verbs") {  // for shells
    for (const Row& r : verbs) out.print(cat(r.name, "\t", r.summary, "\n"));
  } else return dispatch(first, args.subspan(1), out);
  return args.empty() ? 2 : 0;
}

}  // namespace cameo::cli
