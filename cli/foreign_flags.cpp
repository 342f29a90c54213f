// Flags of other tools that people type here out of habit, and what to write instead.
#include <algorithm>

#include "cli/verb.h"

namespace cameo::cli {

namespace {

struct Habit {
  std::string_view flag, instead;
};
constexpr Habit habits[] = {
    // OnnxSlim
    {"--input-shapes", "--overwrite-input-shape NAME:1,3,224,224"},
    {"--model-check", "cameo simplify --check 1"},
    {"--no-model-check", "nothing: models are checked only when --check is given"},
    {"--skip-fusion-patterns", "cameo simplify --skip RULE"},
    {"--no-shape-infer", "cameo simplify --no-shapes"},
    {"--no-constant-folding", "cameo simplify --no-fold"},
    {"--skip-optimizations", "cameo simplify --skip RULE"},
    {"--dtype", "cameo convert --float f16"},
    {"--save-as-external-data", "--weights external"},
    {"--inspect", "cameo show or cameo stats"},
    {"--dump-to-disk", "cameo show --text"},
    // Polygraphy
    {"--fold-constants", "nothing: cameo simplify folds by default"},
    {"--cleanup", "nothing: nodes without users are always dropped"},
    {"--toposort", "nothing: nodes are always sorted"},
    {"--override-input-shapes", "cameo edit --fix-shape NAME:1,3,224,224"},
    {"--show", "cameo show --text"},
    {"--onnxrt", "nothing: cameo run uses its own engine"},
    {"--val-range", "cameo run --inputs FILE.npz"},
    {"--load-inputs", "--inputs FILE.npz"},
    {"--save-outputs", "-o OUT.npz"},
    {"--save-results", "-o OUT.npz"},
    // onnxsim
    {"--input-shape", "--overwrite-input-shape NAME:1,3,224,224"},
    {"--skip-fuse-bn", "cameo simplify --skip batchnorm-into-linear, or cameo onnxsim --skip-fuse-bn"},
    {"--skip-optimization", "cameo simplify --skip RULE, or cameo onnxsim --skip-optimization"},
    {"--skip-constant-folding", "cameo simplify --no-fold"},
    // torch.onnx and tf2onnx
    {"--opset-version", "--opset N"},
    {"--input-names", "--input NAME=f32[...]"},
    {"--inputs-as-nchw", "cameo edit --insert 'y = Transpose<perm=[0,3,1,2]>(x)' --rewire x=y"},
    {"--outputs", "--to NAME (cameo extract)"},
    {"--inputs", "--from NAME (cameo extract)"},
};

}  // namespace

std::string_view instead_of(std::string_view flag) {
  const auto* row = std::find_if(std::begin(habits), std::end(habits), [&](const Habit& h) { return h.flag == flag; });
  return row == std::end(habits) ? "" : row->instead;
}

}  // namespace cameo::cli
