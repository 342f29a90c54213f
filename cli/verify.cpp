// cameo verify: two models, or a model and recorded outputs, on the same inputs.
#include "cameo/verify.h"

#include <cstdlib>
#include <filesystem>

#include "cli/opened.h"
#include "cli/verb.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"inputs", 0, "FILE", "an .npz, an .npy or a test_data_set folder"},
    {"random", 0, "SEED", "random inputs with this seed; default: 0"},
    {"dim", 0, "NAME=N", "the value of a named size, for random inputs; default: 1 and others that the model allows"},
    {"rtol", 0, "X", "relative tolerance; default: by element type"},
    {"atol", 0, "X", "absolute tolerance; default: by element type"},
};
constexpr Verb verb{
    "verify",
    "A B",
    "compare the outputs of two models, or of a model with recorded ones (.npz, or a test_data_set folder); "
    "names the first value that differs",
    "cameo verify net.onnx simpler.onnx --random 1\ncameo verify net.onnx expected.npz --inputs x.npz",
    flags,
    2,
    2};

bool is_recorded(const std::string& path) {
  return std::filesystem::is_directory(path) || path.ends_with(".npz") || path.ends_with(".npy");
}

VerifySettings settings_of(const Args& args, Out& out) {
  VerifySettings s;
  s.inputs = args.text("inputs", "");
  s.random = static_cast<uint64_t>(args.integer("random", 0));
  for (const std::string& text : args.values("dim")) s.sizes.insert(name_and_size("dim", text));
  s.rtol = args.number("rtol");
  s.atol = args.number("atol");
  s.progress = out.bar();
  return s;
}

}  // namespace

int verify_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const std::string& other = args->operands[1];
  const Model model = opened(args->operands[0], out);
  const VerifySettings settings = settings_of(*args, out);
  const Verified v = is_recorded(other) ? verify(model, other, settings) : verify(model, opened(other, out), settings);
  if (!v.agree) throw Error(v.findings());
  out.line(out.json ? to_json(v)
                    : cat(plural(v.outputs.size(), "output"), " agree", v.outputs.size() == 1 ? "s" : "",
                          "; the largest difference is ", v.worst()));
  return 0;
}

}  // namespace cameo::cli
