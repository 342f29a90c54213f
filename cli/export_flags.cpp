#include "cli/export_flags.h"

#include <charconv>
#include <filesystem>

#include "cameo/opset.h"

namespace cameo::cli {

namespace {

void input_flags(const Args& args, ExportSettings& s) {
  s.inputs = args.values("input");
  s.example_inputs = args.text("inputs", "");
  s.input_names = args.list("input-names");
  s.output_names = args.list("output-names");
  if (const auto text = args.value("dynamic-axes")) s.dynamic_axes = dynamic_axes_of(*text);
  for (const auto& text : args.values("rename-dim")) s.rename_dims.push_back(name_and_value("rename-dim", text));
}

void program_flags(const Args& args, ExportSettings& s) {
  constexpr Training trainings[] = {Training::eval, Training::preserve, Training::train};
  constexpr Fallback fallbacks[] = {Fallback::none, Fallback::aten, Fallback::all_aten, Fallback::custom};
  s.method = args.text("method", s.method);
  s.allow_frozen = args.choice("frozen", {"error", "allow"}) == 1;
  s.asserts = args.choice("asserts", {"drop", "keep"}) == 1;
  s.assume = !args.has("no-assume");
  s.assumptions = args.values("assume");
  s.state_outputs = args.choice("state", {"drop", "outputs"}) == 1;
  s.training = trainings[args.choice("training", {"eval", "preserve", "train"})];
  s.change_literals = args.has("training") && s.training == Training::eval;
  s.unroll = args.choice("loops", {"keep", "unroll"}) == 1;
  s.fallback = fallbacks[args.choice("fallback", {"none", "aten", "all-aten", "custom"})];
  s.types = args.values("type");
  s.rules = args.text("rules", "");
  for (const auto& text : args.values("custom-opset")) {
    const auto [domain, version] = name_and_value("custom-opset", text);
    int64_t n = 0;
    const auto r = std::from_chars(version.data(), version.data() + version.size(), n);
    if (r.ec != std::errc() || r.ptr != version.data() + version.size() || n < 1)
      throw error("use.value", cat("--custom-opset needs DOMAIN=VERSION, not '", text, "'"));
    s.custom_opsets[domain] = n;
  }
}

void result_flags(const Args& args, ExportSettings& s) {
  constexpr Weights weights[] = {Weights::automatic, Weights::embed, Weights::external, Weights::in_place};
  s.opset = static_cast<int>(args.integer("opset", s.opset, opsets::oldest,
                                          args.has("experimental") ? opsets::in_development : opsets::newest));
  s.fold = !args.has("no-fold");
  s.simplify = !args.has("no-simplify");
  s.params = !args.has("no-params");
  s.initializers_as_inputs = args.has("keep-initializers-as-inputs");
  s.number_params = args.has("number-params");
  s.weights = weights[args.choice("weights", {"auto", "embed", "external", "in-place"})];
  if (const auto classes = args.value("modules-as-functions"))
    s.functions = classes->empty() ? std::vector<std::string>() : args.list("modules-as-functions");
  s.keep_outputs = args.list("keep-outputs");
  s.lossy = args.has("lossy");
  s.doc_strings = args.has("doc-strings");
  s.trace = args.has("verbose") || args.has("report");
}

}  // namespace

ExportSettings export_settings(const Args& args) {
  ExportSettings s;
  input_flags(args, s);
  program_flags(args, s);
  result_flags(args, s);
  return s;
}

std::string export_target(const Args& args) {
  const std::string& in = args.operands[0];
  if (args.operands.size() == 2) {
    if (args.has("output"))
      throw error("use.conflict", cat("the result has two names: ", args.operands[1], " and ", *args.value("output")));
    return args.operands[1];
  }
  return args.text("output", in == "-" ? "-" : std::filesystem::path(in).replace_extension(".onnx").string());
}

VerifySettings export_tolerance(const Args& args) {
  if (args.has("verify") && !args.has("inputs"))
    throw error("use.verify", "--verify compares outputs and needs the inputs they belong to")
        .help("add --inputs FILE.npz");
  for (const std::string_view flag : {"rtol", "atol"})
    if (args.has(flag) && !args.has("verify"))
      throw error("use.conflict", cat("--", flag, " is for --verify, which is not given"));
  VerifySettings s;
  s.rtol = args.number("rtol");
  s.atol = args.number("atol");
  return s;
}

}  // namespace cameo::cli
