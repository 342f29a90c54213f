// cameo export: a PyTorch archive to ONNX.
#include <filesystem>

#include "backends/onnx/lean.h"
#include "backends/onnx/writer.h"
#include "cli/verb.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "staging/export.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"output", 'o', "FILE", "where to write; IN with .onnx unless said"},
    {"input", 0, "NAME=DTYPE[DIMS]", "an input's type, or NAME=VALUE to fix an argument; repeatable"},
    {"input-names", 0, "A,B", "names of the inputs, in order"},
    {"output-names", 0, "C,D", "names of the outputs, in order"},
    {"dynamic-axes", 0, "JSON", "torch's forms: {\"x\": [0]} or {\"x\": {\"0\": \"batch\"}}"},
    {"opset", 0, "N", "7 to the newest released; 18 unless said"},
    {"weights", 0, "embed|external|in-place", "where the weights go; embed unless that would pass 1.9 GiB"},
    {"method", 0, "NAME", "which method; forward unless said"},
    {"training", 0, "eval|preserve|train", "what self.training is; eval unless said"},
    {"loops", 0, "keep|unroll", "scripted loops with a known count; keep unless said"},
    {"frozen", 0, "error|allow", "a declared dynamic size that the program pins; error unless said"},
    {"lossy", 0, "", "allow expansions that are wrong on inf, NaN or overflow, or approximate"},
    {"experimental", 0, "", "allow the opset in development"},
    {"durable", 0, "", "wait until the disk has the file"},
};

constexpr Verb verb{"export",
                    "IN",
                    "a TorchScript archive to ONNX, without PyTorch",
                    "cameo export net.pt -o net.onnx --input 'x=f32[batch,3,224,224]'",
                    flags,
                    1,
                    1};

std::string choice(const Args& args, std::string_view flag, std::string_view fallback, std::span<const std::string_view> allowed) {
  std::string v = args.text(flag, fallback);
  for (const auto a : allowed)
    if (a == v) return v;
  std::string list;
  for (const auto a : allowed) list += cat(list.empty() ? "" : ", ", a);
  throw error("use.value", cat("--", flag, " is one of ", list, ", not '", v, "'"));
}

// torch's dynamic_axes as names on top of the archive's example shapes: {"x": {"0": "batch"}}, {"x": [0, 2]}.
std::vector<DynamicAxis> dynamic_axes(const std::string& text) {
  const json::Document doc(Bytes::own(std::string_view(text)), "--dynamic-axes");
  std::vector<DynamicAxis> out;
  for (const auto& [name, axes] : doc.root().members()) {
    const std::string input(name);
    if (axes.is_array()) {
      size_t i = 0;
      for (const json::Value a : axes.elements()) out.push_back({input, a.integer(), cat(input, "_dynamic_axes_", ++i)});
    } else
      for (const auto& [axis, label] : axes.members()) out.push_back({input, std::stoll(std::string(axis)), std::string(label.text())});
  }
  return out;
}

WeightMode weight_mode(const std::string& v) {
  return v == "embed" ? WeightMode::embed : v == "external" ? WeightMode::external : v == "in-place" ? WeightMode::in_place : WeightMode::automatic;
}

}  // namespace

int export_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const std::string in = args->operands[0];
  const std::string target = args->text("output", std::filesystem::path(in).replace_extension(".onnx").string());
  ExportOptions options;
  for (const auto& text : args->values("input")) options.inputs.push_back(parse_input_spec(text));
  options.input_names = args->list("input-names");
  options.output_names = args->list("output-names");
  if (const auto text = args->value("dynamic-axes")) options.dynamic_axes = dynamic_axes(*text);
  options.method = args->text("method", "forward");
  constexpr std::string_view trainings[] = {"eval", "preserve", "train"}, loops[] = {"keep", "unroll"}, frozen[] = {"error", "allow"},
                             weights[] = {"auto", "embed", "external", "in-place"};
  const std::string training = choice(*args, "training", "eval", trainings);
  if (training != "preserve") options.stage.training = training == "train";
  options.stage.unroll = choice(*args, "loops", "keep", loops) == "unroll";
  options.allow_frozen = choice(*args, "frozen", "error", frozen) == "allow";
  WriteOptions write;
  write.opset = args->integer("opset", 18, 7, args->has("experimental") ? newest_opset : newest_released_opset);
  write.weights = weight_mode(choice(*args, "weights", "auto", weights));
  write.lossy = args->has("lossy");
  write.durable = args->has("durable");

  DiagSink sink;
  Model model = export_archive(in, options, sink);
  simplify_for_opset(model, *write.opset, {}, write.lossy, &sink);
  write_onnx(model, target, write, &sink);
  out.diags(sink.all());
  out.say(cat(in, " -> ", target, ": ", model.graph.node_count(), " nodes, opset ", *write.opset));
  return 0;
}

}  // namespace cameo::cli
