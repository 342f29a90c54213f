// Flags of other tools that people type here out of habit, and what to write instead.
#include <algorithm>
#include <string>

#include "cli/habit.h"
#include "cli/verb.h"

namespace cameo::cli {

namespace {
constexpr std::string_view sizes = "--dim NAME=N, with --random SEED", typed = "--input 'NAME=f32[1,3,224,224]'",
                           half = "cameo convert IN OUT --float f16";
constexpr Habit habits[] = {
    {"--input-shapes", sizes, "run"},
    {"--input-shapes", sizes, "verify"},
    {"--input-shape", sizes, "run"},
    {"--input-shape", sizes, "verify"},
    {"--overwrite-input-shape", sizes, "run"},
    {"--overwrite-input-shape", sizes, "verify"},
    {"--input-shapes", typed, "export"},
    {"--input-shape", typed, "export"},
    {"--overwrite-input-shape", typed, "export"},
    {"--input-shapes", "--fix-shape NAME:1,3,224,224", "edit"},
    {"--input-shape", "--fix-shape NAME:1,3,224,224", "edit"},
    {"--overwrite-input-shape", "--fix-shape NAME:1,3,224,224", "edit"},
    {"--inputs", "--overwrite-input-shape NAME:1,3,224,224, or cameo extract --from NAME", "simplify"},
    // OnnxSlim
    {"--input-shapes", "--overwrite-input-shape NAME:1,3,224,224"},
    {"--model-check", "cameo simplify --check 1"},
    {"--no-model-check", "nothing: models are checked only when --check is given"},
    {"--skip-fusion-patterns", "cameo simplify --skip RULE"},
    {"--inline", "--functions inline", "simplify"},
    {"--inline", "cameo convert IN OUT --inline, or cameo simplify IN OUT --functions inline"},
    {"--no-shape-infer", "cameo simplify --no-shapes"},
    {"--no-constant-folding", "cameo simplify --no-fold"},
    {"--skip-optimizations", "cameo simplify --skip RULE"},
    {"--dtype", half},
    {"--fp16", half},
    {"--float16", half},
    {"--half", half},
    {"--int8", "cameo quantize IN OUT --calibrate DATA"},
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
    {"--trt", "nothing: cameo run uses its own engine"},
    {"--val-range", "cameo run --inputs FILE.npz"},
    {"--load-inputs", "--inputs FILE.npz"},
    {"--save-outputs", "-o OUT.npz"},
    {"--save-results", "-o OUT.npz"},
    // onnxsim
    {"--input-shape", "--overwrite-input-shape NAME:1,3,224,224"},
    {"--skip-fuse-bn", "cameo simplify --skip batchnorm-into-linear, or cameo onnxsim --skip-fuse-bn"},
    {"--skip-optimization", "cameo simplify --skip RULE, or cameo onnxsim --skip-optimization"},
    {"--skip-constant-folding", "cameo simplify --no-fold"},
    {"--check-n", "the number after OUT (cameo onnxsim), or --check N (cameo simplify)"},
    // onnx.checker, torch.onnx and tf2onnx
    {"--full-check", "nothing: cameo check always infers types and shapes, too", "check"},
    {"--opset-version", "--opset N"},
    {"--target-opset", "--opset N", "convert"},
    {"--target-opset", "--opset N", "export"},
    {"--target-opset", "cameo convert IN OUT --opset N"},
    {"--input-names", "--input NAME=f32[...]"},
    {"--inputs-as-nchw", "cameo edit --insert 'y = Transpose<perm=[0,3,1,2]>(x)' --rewire x=y"},
    {"--saved-model", "tf2onnx's own command first: Cameo reads ONNX and PyTorch files"},
    {"--tflite", "tf2onnx's own command first: Cameo reads ONNX and PyTorch files", "convert"},
    {"--graphdef", "tf2onnx's own command first: Cameo reads ONNX and PyTorch files"},
    // export scripts of detectors
    {"--simplify", "nothing: cameo export simplifies (--no-simplify leaves it out)", "export"},
    {"--sim", "nothing: cameo export simplifies (--no-simplify leaves it out)", "export"},
    {"--dynamic", "--input 'NAME=f32[batch,3,h,w]'", "export"},
    {"--dynamic-axes", "--input 'NAME=f32[batch,3,h,w]'", "export"},
    {"--imgsz", "--input 'NAME=f32[1,3,640,640]'", "export"},
    {"--img-size", "--input 'NAME=f32[1,3,640,640]'", "export"},
    {"--batch-size", "--input 'NAME=f32[8,3,640,640]'", "export"},
    {"--outputs", "--to NAME (cameo extract)"},
    {"--inputs", "--from NAME (cameo extract)"},
};
}  // namespace

// `word` with hyphens, as all of ours have.
std::string_view habit_answer(std::span<const Habit> rows, std::string_view word, std::string_view verb) {
  std::string plain(word);
  std::replace(plain.begin(), plain.end(), '_', '-');
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Habit& h) { return h.word == plain && (h.verb.empty() || h.verb == verb); });
  return row == rows.end() ? "" : row->instead;
}

std::string_view instead_of(std::string_view flag, std::string_view verb) { return habit_answer(habits, flag, verb); }

}  // namespace cameo::cli
