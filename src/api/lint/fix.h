// Cures at work: each takes a model and gives another one that computes the same.
#pragma once

#include "api/lint/judge.h"
#include "api/state.h"
#include "cameo/lint.h"

namespace cameo::linting {

// A finding that has a cure, with what the cure needs to know of it.
struct Ailment {
  Found found;
  const Target* target;
};

// Everything that the targets find, in a model's own words.
struct Diagnosis {
  FileModel file;
  std::vector<Ailment> all;
};
Diagnosis diagnose(const cameo::Model& model, const LintFixSettings& settings);  // lint.cpp
cameo::Model exported_if_archive(const cameo::Model& model);

// Applies one cure to all findings that ask for it. Throws what the verbs behind it throw.
cameo::Model cured(const cameo::Model& model, const Cure& cure, const Diagnosis& diagnosis,
                   const LintFixSettings& settings);

// Names in the order in which cures are tried: what later ones see should be settled.
int order_of(const Cure& cure);

}  // namespace cameo::linting
