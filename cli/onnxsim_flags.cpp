#include "cli/onnxsim_flags.h"

#include <algorithm>

#include "cameo/simplify.h"

namespace cameo::cli {

namespace {

using Takes = OnnxsimFlag::Takes;

void ignore(const Words&, Words&) {}
template <const char* Ours>
void each(const Words& values, Words& out) {
  for (const std::string& v : values) out.insert(out.end(), {Ours, v});
}
template <const char* Ours>
void plain(const Words&, Words& out) {
  out.emplace_back(Ours);
}
void skip_passes(const Words& passes, Words& out) {
  for (const std::string& pass : passes)
    for (const std::string& rule : rules_of_pass(pass)) out.insert(out.end(), {"--skip", rule});
}
void skip_fuse_bn(const Words&, Words& out) { skip_passes({"fuse_bn_into_conv"}, out); }
// Without names: everything except folding.
void skip_optimization(const Words& passes, Words& out) {
  if (!passes.empty()) return skip_passes(passes, out);
  for (const RuleInfo& r : rules())
    if (!r.name.starts_with("fold")) out.insert(out.end(), {"--skip", r.name});
}
void external(const Words&, Words& out) { out.insert(out.end(), {"--weights", "external"}); }
void keep(const Words&, Words& out) { out.emplace_back(keep_initializers); }

constexpr char overwrite[] = "--overwrite-input-shape", test[] = "--test-input-shape", no_fold[] = "--no-fold",
               no_shapes[] = "--no-shapes", rtol[] = "--rtol", atol[] = "--atol";
constexpr std::string_view of_onnxruntime = "it configures onnxruntime, which Cameo does not use: leave it out";

constexpr OnnxsimFlag table[] = {
    {"--overwrite-input-shape", Takes::many, each<overwrite>, "fix shapes of inputs first: x:1,3,224,224 y:1,10"},
    {"--input-shape", Takes::many, each<overwrite>, "the same, as older versions of onnxsim have it"},
    {"--test-input-shape", Takes::many, each<test>, "sizes of inputs for the checks"},
    {"--skip-fuse-bn", Takes::nothing, skip_fuse_bn, "do not fuse batch normalizations"},
    {"--enable-fuse-bn", Takes::nothing, ignore, "the default; ignored"},
    {"--skip-optimization", Takes::many, skip_optimization, "all passes, or those named, are left out"},
    {"--skip-optimizer", Takes::many, skip_passes, "the passes named are left out"},
    {"--skip-constant-folding", Takes::nothing, plain<no_fold>, "do not compute constant nodes"},
    {"--skip-shape-inference", Takes::nothing, plain<no_shapes>, "do not write inferred shapes"},
    {"--check-rtol", Takes::one, each<rtol>, "relative tolerance of the checks"},
    {"--check-atol", Takes::one, each<atol>, "absolute tolerance of the checks"},
    {"--dynamic-input-shape", Takes::nothing, ignore, "not needed: sizes may be dynamic; ignored"},
    {"--include-subgraph", Takes::nothing, ignore, "always done; ignored"},
    {"--no-large-tensor", Takes::maybe, ignore, "not needed: folding does not make files grow; ignored"},
    {"--mutable-initializer", Takes::nothing, keep, "weights that are also inputs stay inputs"},
    {"--initializers-as-non-constants", Takes::nothing, keep, "weights that are also inputs stay inputs"},
    {"--save-as-external-data", Takes::nothing, external, "weights in a file beside the model"},
    {"--unused-output", Takes::many, nullptr, "first run: cameo edit IN OUT --remove-output NAME"},
    {"--target-opset", Takes::one, nullptr, "afterwards run: cameo convert IN OUT --opset N"},
    {"--input-data-path", Takes::many, nullptr, "to compare on your own inputs: cameo verify IN OUT --inputs FILE"},
    {"--inline-functions", Takes::nothing, nullptr, "afterwards run: cameo convert IN OUT --inline"},
    {"--enable-onnxruntime-optimization", Takes::nothing, nullptr, of_onnxruntime},
    {"--custom-lib", Takes::one, nullptr, of_onnxruntime},
    {"--providers", Takes::many, nullptr, of_onnxruntime},
    {"--cuda", Takes::nothing, nullptr, of_onnxruntime},
};

}  // namespace

const OnnxsimFlag& onnxsim_flag(std::string_view name) {
  const auto* row = std::find_if(std::begin(table), std::end(table), [&](const auto& f) { return f.name == name; });
  if (row == std::end(table))
    throw error("use.unknown-flag", cat("cameo onnxsim has no flag ", name))
        .help(name == "--check-n" ? "the number of checks is the word after OUT: cameo onnxsim IN OUT 3"
                                  : "cameo onnxsim --help lists them");
  if (!row->translate)
    throw error("use.unsupported-flag", cat("cameo onnxsim does not support ", name)).help(std::string(row->note));
  return *row;
}

std::string onnxsim_flag_list(bool for_shells) {
  std::string out;
  for (const OnnxsimFlag& f : table)
    if (f.translate)
      out += for_shells ? cat(f.name, "\t\t", f.note, "\n") : cat("      ", padded(f.name, 36), f.note, "\n");
  return out;
}

}  // namespace cameo::cli
