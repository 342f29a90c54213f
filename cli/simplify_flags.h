// The flags of `cameo simplify`, and what they ask for.
#pragma once

#include "cameo/simplify.h"
#include "cli/common.h"

namespace cameo::cli {

inline constexpr Flag simplify_flags[] = {
    {"overwrite-input-shape", 0, "NAME:1,3,224,224",
     "fix an input's shape first; a size may be a name; NAME: may be left out if there is one input; repeatable"},
    {"check", 0, "N",
     "run the model before and after on N sets of inputs; a rewrite that changes an output is found, undone and named"},
    {"test-input-shape", 0, "NAME:1,3,224,224", "sizes for --check; repeatable"},
    {"rtol", 0, "X", "relative tolerance of --check; default: 1e-3"},
    {"atol", 0, "X", "absolute tolerance of --check; default: 1e-4 of an output's largest number"},
    {"skip", 0, "RULE,…", "leave out these rules"},
    {"only", 0, "RULE,…", "apply only these rules"},
    {"without", 0, "RULE@VALUE", "leave out this one rewrite, as --ledger names it; repeatable"},
    {"list-rules", 0, "", "every rule's name and class"},
    {"exact", 0, "", "only rules that keep every bit"},
    {"freeze-initializers", 0, "", "weights that are also inputs become constants"},
    {"no-fuse", 0, "", "do not fuse several operators into one"},
    {"no-fold", 0, "", "do not compute constant nodes"},
    {"sizes-may-be-zero", 0, "", "do not assume that named sizes of inputs are at least 1"},
    {"unroll", 0, "N", "unroll loops of at most N iterations; loops of one iteration always"},
    {"functions", 0, "auto|keep|inline",
     "calls of the model's own functions; auto: replace them by their nodes if rules can then remove some"},
    {"no-shapes", 0, "",
     "do not write inferred shapes into the result; they are also omitted if the file would grow by more than 1 %"},
    {"ledger", 0, "FILE", "write every rewrite that was done, as JSON lines"},
    weights_flag,
    no_provenance,
    durable_flag,
};

// "x:1,3,224,224", or only the sizes where there is one input. Throws use.value.
std::pair<std::string, std::vector<std::string>> input_shape(const Model& m, std::string_view flag,
                                                             const std::string& text);
SimplifySettings simplify_settings(const Args& args, const Model& m);  // throws use.value

}  // namespace cameo::cli
