#include "api/page/command.h"

#include "api/page/call.h"

namespace cameo::page {

namespace {

// " --NAME VALUE" for each setting that differs from its default.
class Flags {
 public:
  explicit Flags(std::string command) : text_(std::move(command)) {}
  Flags& on(std::string_view name, bool given) {
    if (given) text_ += cat(" --", name);
    return *this;
  }
  Flags& of(std::string_view name, const std::string& value) {
    if (!value.empty()) text_ += cat(" --", name, " ", shell_word(value));
    return *this;
  }
  Flags& list(std::string_view name, const std::vector<std::string>& all) {
    std::string joined;
    for (const std::string& one : all) joined += cat(joined.empty() ? "" : ",", one);
    return of(name, joined);
  }
  Flags& each(std::string_view name, const std::vector<std::string>& all) {
    for (const std::string& one : all) of(name, one);
    return *this;
  }
  Flags& sizes(std::string_view name, const std::map<std::string, int64_t>& all) {
    for (const auto& [dim, size] : all) of(name, cat(dim, "=", size));
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string file_after(const std::string& file, std::string_view word) {
  const size_t slash = file.rfind('/'), dot = file.rfind('.');
  const bool has_extension = dot != file.npos && dot > 0 && (slash == file.npos || dot > slash + 1);
  const std::string stem = has_extension ? file.substr(0, dot) : file;
  return word.empty() ? cat(stem, ".onnx") : cat(stem, ".", word, ".onnx");
}

std::string plain_command(std::string_view verb, const Files& f) {
  return cat("cameo ", verb, " ", shell_file(f.in), " ", shell_file(f.out));
}

std::string edit_command(const Files& f, const std::vector<std::pair<std::string_view, std::string>>& changes) {
  Flags flags(plain_command("edit", f));
  for (const auto& [name, value] : changes) flags.on(name, value.empty()).of(name, value);
  return flags.take();
}

std::string simplify_command(const Files& f, const SimplifySettings& s) {
  Flags flags(plain_command("simplify", f));
  flags.list("skip", s.skip).list("only", s.only).each("without", s.without).on("exact", s.exact);
  flags.on("freeze-initializers", s.freeze_initializers).on("no-fuse", !s.fuse).on("no-fold", !s.fold);
  flags.on("sizes-may-be-zero", s.sizes_may_be_zero)
      .of("unroll", s.unroll ? cat(s.unroll) : "")
      .on("no-shapes", !s.shapes);
  for (const auto& [input, sizes] : s.input_shapes) {
    std::string text = cat(input, ":");
    for (size_t i = 0; i < sizes.size(); ++i) text += cat(i ? "," : "", sizes[i]);
    flags.of("overwrite-input-shape", text);
  }
  return flags.of("check", s.check ? cat(s.check) : "").take();
}

std::string convert_command(const Files& f, const ConvertSettings& s) {
  constexpr std::string_view types[] = {"", "f16", "bf16", "mixed"};
  return Flags(plain_command("convert", f))
      .of("opset", s.opset ? cat(s.opset) : "")
      .of("float", std::string(types[static_cast<size_t>(s.float_type)]))
      .on("keep-io", s.keep_io)
      .list("keep", s.keep)
      .of("max-error", s.max_error ? cat(*s.max_error) : "")
      .of("target", s.target)
      .on("no-check", !s.check)
      .on("inline", s.inline_functions)
      .on("lossy", s.lossy)
      .take();
}

std::string export_command(const Files& f, const ExportSettings& s) {
  Flags flags(cat("cameo export ", shell_file(f.in), " -o ", shell_file(f.out)));
  flags.each("input", s.inputs).list("input-names", s.input_names).list("output-names", s.output_names);
  flags.of("opset", s.opset == opsets::standard ? "" : cat(s.opset))
      .of("method", s.method == "forward" ? "" : s.method);
  return flags.on("no-fold", !s.fold)
      .on("no-simplify", !s.simplify)
      .each("assume", s.assumptions)
      .on("lossy", s.lossy)
      .take();
}

std::string extract_command(const Files& f, const std::vector<std::string>& from, const std::vector<std::string>& to) {
  return Flags(plain_command("extract", f)).list("from", from).list("to", to).take();
}

std::string merge_command(const Files& f, const std::string& second, const MergeSettings& s) {
  Flags flags(cat("cameo merge ", shell_file(f.in), " ", shell_file(second), " ", shell_file(f.out)));
  std::vector<std::string> pairs;
  for (const auto& [a, b] : s.connect) pairs.push_back(cat(a, "=", b));
  return flags.list("connect", pairs).on("keep-connected", s.keep_connected).take();
}

std::string check_command(const std::string& file, bool strict) {
  return Flags(cat("cameo check ", shell_file(file))).on("strict", strict).take();
}
std::string diff_command(const std::string& file, const std::string& second, int64_t limit) {
  return Flags(cat("cameo diff ", shell_file(file), " ", shell_file(second))).of("limit", cat(limit)).take();
}
std::string lint_command(const std::string& file, const std::vector<std::string>& targets) {
  return Flags(cat("cameo lint ", shell_file(file))).list("target", targets).take();
}
std::string quantize_command(const Files& f, const SampleFiles& samples, const QuantizeSettings& s) {
  const QuantizeSettings usual;
  Flags flags(plain_command("quantize", f));
  flags.of("calibrate", samples.name).of("image", samples.pictures ? "divide=255,fit=stretch" : "");
  flags.of("target", s.target == usual.target ? "" : s.target).of("method", s.method == usual.method ? "" : s.method);
  flags.list("keep", s.keep).of("form", s.form == usual.form ? "" : s.form);
  return flags.of("min-db", s.min_db == usual.min_db ? "" : cat(s.min_db)).take();
}
std::string dynamic_command(const Files& f, const DynamicSettings& s) {
  const DynamicSettings usual;
  Flags flags(plain_command("quantize", f));
  flags.on("dynamic", true).of("target", s.target == usual.target ? "" : s.target).on("per-tensor", !s.per_channel);
  return flags.list("keep", s.keep).of("opset", s.opset ? cat(s.opset) : "").take();
}
std::string weights_command(const Files& f, const WeightSettings& s) {
  const WeightSettings usual;
  Flags flags(plain_command("quantize", f));
  flags.of("bits", cat(s.bits)).of("block", s.block == usual.block ? "" : cat(s.block)).on("asymmetric", !s.symmetric);
  flags.of("method", s.method == usual.method ? "" : s.method).of("form", s.form == usual.form ? "" : s.form);
  return flags.list("keep", s.keep).of("opset", s.opset ? cat(s.opset) : "").take();
}
std::string run_command(const std::string& file, const RunInputs& inputs, const std::vector<std::string>& keep) {
  Flags flags(cat("cameo run ", shell_file(file)));
  if (!inputs.file.empty()) flags.of("inputs", inputs.file);
  else flags.of("random", cat(inputs.seed)).sizes("dim", inputs.sizes);
  return flags.list("keep-outputs", keep).take();
}
std::string verify_command(const std::string& file, const std::string& reference, const VerifySettings& s) {
  Flags flags(cat("cameo verify ", shell_file(file), " ", shell_file(reference)));
  return flags.of("random", cat(s.random)).sizes("dim", s.sizes).take();
}

}  // namespace cameo::page
