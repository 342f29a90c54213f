// Conditions of rows. Every keyword is a row of the table in terms.cpp; docs/lint.md lists them.
#pragma once

#include "api/lint/file_nodes.h"
#include "api/lint/target_file.h"

namespace cameo::linting {

struct Subject {
  const FileModel& file;
  const FileNode* node = nullptr;  // null while a rule about the whole model is asked
  Version version;                 // of the target

  const Graph& graph() const { return file.model.graph; }
};

// Whether a row is about nodes; others are about the model.
bool is_about_nodes(const Row& row);
bool holds(const Row& row, const Subject& s);
// Throws a Bug for a keyword or a form that there is not.
void check_terms(const Row& row);

bool is_known_check(std::string_view name);
bool run_check(std::string_view name, const Subject& s);  // checks.cpp: conditions that are code

// An initializer or Constant, also one that callers may give another value for: every engine takes it as it is.
bool is_given(const Graph& g, ValueId v);
// The contents of a small constant, or of what inference knows; nothing: unknown, or too large.
std::optional<Tensor> small_constant(const Graph& g, ValueId v);

}  // namespace cameo::linting
