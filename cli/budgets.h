// How much a command may take.
#pragma once

#include <span>
#include <string_view>

#include "cameo/limits.h"
#include "cli/verb.h"

namespace cameo::cli {

// Flags of every verb.
inline constexpr Flag budget_flags[] = {
    {"max-memory", 0, "SIZE", "stop if more memory is needed: 500M, 2G; default: what the machine has"},
    {"max-time", 0, "SECONDS", "stop after this time; default: never"},
    {"max-turns", 0, "N", "iterations of one Loop of a model; default: 100000000"},
    {"max-steps", 0, "N", "statements of a program that is exported; default: 2000000"},
};
Limits limits_of(std::span<const std::string_view> given, Out& out);  // throws use.value, use.missing-value

}  // namespace cameo::cli
