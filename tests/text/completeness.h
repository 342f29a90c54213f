// Nothing without a case: every rule, lowering, shape rule and expansion is in some file of tests/text.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/case_file.h"
#include "text/commands.h"

namespace cameo::tests {

using CaseFiles = std::vector<std::unique_ptr<CaseFile>>;

std::pair<std::string, Arguments> command_line(const Case& c);
void register_completeness(const CaseFiles& files);  // tests of their own

}  // namespace cameo::tests
