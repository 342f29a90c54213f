// The flags of `cameo export`, and what they ask for.
#pragma once

#include "cameo/export.h"
#include "cli/common.h"

namespace cameo::cli {

inline constexpr Flag export_flags[] = {
    {"output", 'o', "FILE", "where to write; default: IN with .onnx"},
    {"input", 0, "NAME=DTYPE[DIMS]", "an input's type, or NAME=VALUE to fix an argument; repeatable"},
    {"inputs", 0, "FILE", "example inputs (.npz, .npy, a test_data_set folder); types and sizes come from them"},
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
    {"method", 0, "NAME", "which method to export; default: forward"},
    {"training", 0, "eval|preserve|train",
     "the value of self.training; default: eval. If given, training=False written in the program is replaced too"},
    {"state", 0, "drop|outputs",
     "values that forward writes into the module: drop them (default), or add outputs NAME_out"},
    {"loops", 0, "keep|unroll", "scripted loops with a known number of iterations; default: keep"},
    {"assume", 0, "CONDITION",
     "a condition on sizes that always holds: 't != 1', '2 <= t <= 64', 'n == 2*m'; repeatable"},
    {"no-assume", 0, "", "fail if one model cannot be right for all sizes; default: assume a condition and report it"},
    {"asserts", 0, "drop|keep",
     "conditions that make the program raise an error: drop them with a note (default), or let the model check them"},
    {"frozen", 0, "error|allow", "when the program fixes a size that was declared dynamic; default: error"},
    {"fallback", 0, "none|aten|all-aten|custom",
     "operators that Cameo cannot convert: refuse them (default), or keep them as foreign nodes"},
    {"type", 0, "OP=DTYPE[DIMS]", "the output type of a foreign node, or OP=arg0: as its first argument; repeatable"},
    {"custom-opset", 0, "DOMAIN=VERSION", "the version of a custom domain; repeatable"},
    {"rules", 0, "FILE",
     "your own conversions: a text file of ONNX functions, each named after the operator it replaces"},
    {"modules-as-functions", 0, "CLASS,...", "module classes become ONNX functions; default: all", true},
    {"keep-outputs", 0, "PATTERN", "also output inner values whose module path or name matches (* and ?)"},
    {"lossy", 0, "", "allow conversions that are wrong on inf, NaN or overflow, or approximate"},
    {"experimental", 0, "", "allow the opset in development"},
    {"no-check", 0, "", "do not check the result by ONNX's rules"},
    {"verify", 0, "FILE", "run the result on --inputs and compare with these outputs (.npz, .npy, a folder)"},
    {"rtol", 0, "X", "relative tolerance of --verify; default: by element type"},
    {"atol", 0, "X", "absolute tolerance of --verify; default: by element type"},
    {"doc-strings", 0, "", "write source file and line into every node's doc string"},
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
