// cameo onnxsim: onnxsim's positionals and flags, translated into those of `cameo simplify`.
#include "cameo/version.h"
#include "cli/onnxsim_flags.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Verb verb{"onnxsim",
                    "IN OUT [CHECKS]",
                    "onnxsim's own arguments, done by `cameo simplify`",
                    "cameo onnxsim net.onnx simple.onnx 3 --overwrite-input-shape x:1,3,224,224",
                    {},
                    2,
                    3};

// The values of a flag that takes several end where the files begin: a shape or a pass does not end in .onnx.
bool is_value(std::string_view word) { return !is_flag(word) && !word.ends_with(".onnx"); }

// The values that follow a flag; `at` moves to the last of them. An optional value is a number after both files.
Words values_of(const OnnxsimFlag& flag, Raw raw, size_t& at, size_t files) {
  using Takes = OnnxsimFlag::Takes;
  const size_t most = flag.takes == Takes::nothing || (flag.takes == Takes::maybe && files < 2) ? 0
                      : flag.takes == Takes::many                                               ? raw.size()
                                                                                                : 1;
  Words values;
  while (values.size() < most && at + 1 < raw.size() && is_value(raw[at + 1])) values.emplace_back(raw[++at]);
  if (flag.takes == Takes::one && values.empty()) throw error("use.missing-value", cat(flag.name, " takes a value"));
  return values;
}

}  // namespace

int onnxsim_main(Raw raw, Out& out) {
  Words files, flags;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == "-h" || raw[i] == "--help") {
      out.print(cat(help_text(verb), "\nflags:\n", onnxsim_flag_list(false)));
      return 0;
    }
    if (raw[i] == "--version") {
      out.line(cat("cameo ", version));
      return 0;
    }
    if (raw[i] == "--list-flags") {
      out.print(onnxsim_flag_list(true));
      return 0;
    }
    if (!is_flag(raw[i])) {
      files.emplace_back(raw[i]);
      continue;
    }
    const size_t equals = raw[i].find('=');  // --flag=VALUE
    const OnnxsimFlag& flag = onnxsim_flag(raw[i].substr(0, equals));
    if (equals == raw[i].npos) flag.translate(values_of(flag, raw, i, files.size()), flags);
    else if (flag.takes != OnnxsimFlag::Takes::nothing) flag.translate({std::string(raw[i].substr(equals + 1))}, flags);
    else throw error("use.value", cat(flag.name, " takes no value"));
  }
  if (files.size() == 3) {
    flags.insert(flags.end(), {"--check", files[2]});
    files.pop_back();
  }
  if (files.size() != 2)
    throw error("use.operands",
                cat("cameo onnxsim takes IN, OUT and a number of checks, not ", plural(files.size(), "name")))
        .help(cat("for example: ", verb.example));
  if (std::erase(flags, keep_initializers) == 0) flags.push_back("--freeze-initializers");
  files.insert(files.end(), flags.begin(), flags.end());
  return simplify_main(std::vector<std::string_view>(files.begin(), files.end()), out);
}

}  // namespace cameo::cli
