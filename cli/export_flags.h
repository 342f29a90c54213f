// The flags of `cameo export`, and what they ask for.
#pragma once

#include "cameo/export.h"
#include "cli/common.h"

namespace cameo::cli {

inline constexpr Flag export_flags[] = {
    {"output", 'o', "FILE", "where to write; default: IN with .onnx"},
    {"input", 0, "NAME=DTYPE[DIMS]", "an input's type, or NAME=VALUE to fix an argument; repeatable"},
    {"inputs", 0, "FILE", "example inputs (.npz, .npy, a test_data_set folder): types and sizes come from it"},
    {"input-names", 0, "A,B", "names of the inputs, in order"},
    {"output-names", 0, "C,D", "names of the outputs, in order"},
    {"dynamic-axes", 0, "JSON", "torch's forms: {\"x\": [0]}, {\"x\": {\"0\": \"batch\"}}, or both mixed"},
    {"rename-dim", 0, "OLD=NEW", "another name for a named size; repeatable"},
    {"opset", 0, "N", "7 to the newest released; default: 18"},
    {"no-fold", 0, "", "keep constants and weights as the program uses them"},
    {"no-simplify", 0, "", "keep the graph as recorded"},
    {"weights", 0, "embed|external|in-place", "where the weights go; default: embed, external past 1.9 GiB"},
    {"no-params", 0, "", "weights become inputs, after the others, in state_dict order"},
    {"keep-initializers-as-inputs", 0, "", "list the weights as inputs too, as IR version 3 did"},
    {"number-params", 0, "", "weights are called 0, 1, ..."},
    {"method", 0, "NAME", "which method; default: forward"},
    {"training", 0, "eval|preserve|train",
     "the value of self.training; default: eval. If given, it changes literals too"},
    {"state", 0, "drop|outputs", "what forward writes into the module: dropped, or outputs NAME_out"},
    {"loops", 0, "keep|unroll", "scripted loops with a known count; default: keep"},
    {"assume", 0, "CONDITION", "sizes that will be so: 't != 1', '2 <= t <= 64', 'n == 2*m'; repeatable"},
    {"no-assume", 0, "", "an error, not an assumption, if one model cannot be right for all sizes"},
    {"asserts", 0, "drop|keep", "conditions on which the program raises: dropped with a note, or checked by the model"},
    {"frozen", 0, "error|allow", "a declared dynamic size that the program pins; default: error"},
    {"fallback", 0, "none|aten|all-aten|custom", "operators without a lowering: refused, or kept as foreign nodes"},
    {"type", 0, "OP=DTYPE[DIMS]", "the type of what a foreign node gives, or OP=arg0; repeatable"},
    {"custom-opset", 0, "DOMAIN=VERSION", "the version of a custom domain; repeatable"},
    {"rules", 0, "FILE", "user lowerings: ONNX functions in text, named as the operators they stand for"},
    {"modules-as-functions", 0, "CLASS,...", "module classes become ONNX functions; default: all", true},
    {"keep-outputs", 0, "PATTERN", "also output inner values, by module path or name (* and ?)"},
    {"lossy", 0, "", "allow expansions that are wrong on inf, NaN or overflow, or approximate"},
    {"experimental", 0, "", "allow the opset in development"},
    {"no-check", 0, "", "do not check the result by ONNX's rules"},
    {"verify", 0, "FILE", "run the result on --inputs and compare with these outputs (.npz, .npy, a folder)"},
    {"rtol", 0, "X", "relative tolerance of --verify; default: by element type"},
    {"atol", 0, "X", "absolute tolerance of --verify; default: by element type"},
    {"doc-strings", 0, "", "file and line in every node's doc string"},
    {"verbose", 0, "", "print the recorded graph with source lines"},
    {"report", 0, "FILE", "what was done, as .html or .json"},
    {"durable", 0, "", "wait until the disk has the file"},
    no_provenance,
};

// What they ask for; throw use.* for values that make no sense.
ExportSettings export_settings(const Args& args);
// -o, or the second operand, as other verbs have it; else beside the archive.
std::string export_target(const Args& args);
VerifySettings export_tolerance(const Args& args);  // of --verify

}  // namespace cameo::cli
