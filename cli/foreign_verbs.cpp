// Verbs of other tools that people type here out of habit, and what to write instead.
#include "cli/habit.h"
#include "cli/verb.h"

namespace cameo::cli {

namespace {
constexpr Habit verbs[] = {
    {"onnxslim", "cameo simplify IN OUT"},
    {"slim", "cameo simplify IN OUT"},
    {"optimize", "cameo simplify IN OUT"},
    {"sanitize", "cameo simplify IN OUT"},
    {"fold", "cameo simplify IN OUT"},
    {"polygraphy", "cameo VERB: show (inspect), run, verify (debug), simplify and extract (surgeon)"},
    {"surgeon", "cameo simplify (sanitize), cameo extract (extract), cameo edit --insert (insert)"},
    {"inspect", "cameo show IN, or cameo stats IN"},
    {"info", "cameo show IN, or cameo stats IN"},
    {"summary", "cameo show IN, or cameo stats IN"},
    {"print", "cameo show IN --text"},
    {"debug", "cameo verify A B, which names the first value that differs"},
    {"compare", "cameo verify A B"},
    {"validate", "cameo check IN"},
    {"netron", "cameo view IN"},
    {"capsule", "cameo extract IN OUT --from a,b --to c,d; a verb that finds the part is not built yet"},
    {"profile", "cameo run IN --random 0 --profile FILE"},
    {"benchmark", "cameo run IN --random 0 --repeat 20"},
    {"perf", "cameo run IN --random 0 --repeat 20"},
    {"fp16", "cameo convert IN OUT --float f16"},
    {"float16", "cameo convert IN OUT --float f16"},
    {"int8", "cameo quantize IN OUT --calibrate DATA"},
    {"upgrade", "cameo convert IN OUT --opset N"},
    {"downgrade", "cameo convert IN OUT --opset N"},
    {"shape-inference", "cameo infer IN OUT"},
    {"infer-shapes", "cameo infer IN OUT"},
    {"cut", "cameo extract IN OUT --from A --to B"},
    {"rename", "cameo edit IN OUT --rename A=B"},
};
}  // namespace

std::string_view instead_of_verb(std::string_view name) { return habit_answer(verbs, name, ""); }

}  // namespace cameo::cli
