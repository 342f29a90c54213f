// The flags of `cameo export`, and what they ask for.
#pragma once

#include "api/export_archive.h"
#include "cli/common.h"

namespace cameo::cli {

inline constexpr Flag export_flags[] = {
    {"output", 'o', "FILE", "where to write; IN with .onnx unless said"},
    {"input", 0, "NAME=DTYPE[DIMS]", "an input's type, or NAME=VALUE to fix an argument; repeatable"},
    {"inputs", 0, "FILE", "example inputs (.npz, .npy, a test_data_set folder): types and sizes come from it"},
    {"input-names", 0, "A,B", "names of the inputs, in order"},
    {"output-names", 0, "C,D", "names of the outputs, in order"},
    {"dynamic-axes", 0, "JSON", "torch's forms: {\"x\": [0]}, {\"x\": {\"0\": \"batch\"}}, or both mixed"},
    {"rename-dim", 0, "OLD=NEW", "another name for a named size; repeatable"},
    {"opset", 0, "N", "7 to the newest released; 18 unless said"},
    {"no-fold", 0, "", "keep constants and weights as the program uses them"},
    {"no-simplify", 0, "", "keep the graph as recorded"},
    {"weights", 0, "embed|external|in-place", "where the weights go; embed unless that would pass 1.9 GiB"},
    {"no-params", 0, "", "weights become inputs, after the others, in state_dict order"},
    {"keep-initializers-as-inputs", 0, "", "list the weights as inputs too, as IR version 3 did"},
    {"number-params", 0, "", "weights are called 0, 1, ..."},
    {"method", 0, "NAME", "which method; forward unless said"},
    {"training", 0, "eval|preserve|train", "what self.training is; eval unless said. Said, it changes literals too"},
    {"state", 0, "drop|outputs", "what forward writes into the module: dropped, or outputs NAME_out"},
    {"loops", 0, "keep|unroll", "scripted loops with a known count; keep unless said"},
    {"assume", 0, "CONDITION", "sizes that will be so: 't != 1', '2 <= t <= 64', 'n == 2*m'; repeatable"},
    {"no-assume", 0, "", "what one model can do for some sizes only is an error, not an assumption with a note"},
    {"frozen", 0, "error|allow", "a declared dynamic size that the program pins; error unless said"},
    {"fallback", 0, "none|aten|all-aten|custom", "operators without a lowering: refused, or kept as foreign nodes"},
    {"custom-opset", 0, "DOMAIN=VERSION", "the version of a custom domain; repeatable"},
    {"rules", 0, "FILE", "user lowerings: ONNX functions in text, named as the operators they stand for"},
    {"modules-as-functions", 0, "CLASS,...", "module classes become ONNX functions; all unless said", true},
    {"keep-outputs", 0, "PATTERN", "also output inner values, by module path or name (* and ?)"},
    {"lossy", 0, "", "allow expansions that are wrong on inf, NaN or overflow, or approximate"},
    {"experimental", 0, "", "allow the opset in development"},
    {"no-check", 0, "", "do not hold the result against ONNX's rules"},
    {"verify", 0, "FILE", "run the result on --inputs and compare with these outputs (.npz, .npy, a folder)"},
    {"rtol", 0, "X", "relative tolerance of --verify; by element type unless said"},
    {"atol", 0, "X", "absolute tolerance of --verify; by element type unless said"},
    {"doc-strings", 0, "", "file and line in every node's doc string"},
    {"verbose", 0, "", "print the recorded graph with source lines"},
    {"report", 0, "FILE", "what was done, as .html or .json"},
    {"durable", 0, "", "wait until the disk has the file"},
    no_provenance,
};

// Everything but where to read and write. Throws use.* for values that make no sense.
ArchiveExport export_request(const Args& args);

}  // namespace cameo::cli
