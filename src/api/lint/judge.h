// One model against one target: rows and measured facts.
#pragma once

#include <functional>

#include "api/lint/cures.h"
#include "api/lint/terms.h"

namespace cameo::linting {

struct Found {
  Severity severity = Severity::error;
  std::string rule;                // without the target: "resize-cubic"
  const FileNode* node = nullptr;  // null: the model
  std::string what, source;
  Cure cure;
};

using Report = std::function<void(Found)>;

// Rows of the target and of "any", then facts, in the order of the model's nodes.
void judge(const FileModel& file, const Target& target, const Version& version, const Report& report);

}  // namespace cameo::linting
