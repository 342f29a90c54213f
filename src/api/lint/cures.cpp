#include "api/lint/cures.h"

#include <algorithm>

#include "support/error.h"

namespace cameo::linting {

namespace {

using support::cat;

struct Known {
  std::string_view name;
  size_t words;
  // {0}: the first word, {target}, {node}, {op}
  std::string_view command;
};

constexpr Known all_cures[] = {
    {"opset", 1, "cameo convert IN OUT --opset {0}"},
    {"simplify", 0, "cameo simplify IN OUT"},
    {"fixed-sizes", 0, "cameo lint IN --target {target} --fix OUT --dim NAME=SIZE"},
    {"inline", 0, "cameo convert IN OUT --inline"},
    {"expand", 0, "cameo lint IN --target {target} --fix OUT, which replaces {op} by simpler operators"},
    {"widen", 0, "cameo lint IN --target {target} --fix OUT, which computes {op} in another type"},
    {"outputs", 1, "cameo lint IN --target {target} --fix OUT, which names the outputs of {op} that are left out"},
    {"float-grid", 0,
     "cameo lint IN --target {target} --fix OUT, which computes the same numbers in float; or, for speed, quantize the "
     "float model again: cameo quantize IN OUT --target {target} --calibrate DATA"},
    {"f32", 0, "cameo lint IN --target {target} --fix OUT, which computes in f32"},
    {"attr", 1, "cameo edit IN OUT --set-attr {node}:{0}"},
};

const Known* known(std::string_view name) {
  for (const Known& k : all_cures)
    if (k.name == name) return &k;
  return nullptr;
}

void replace(std::string& text, std::string_view what, const std::string& by) {
  for (size_t at; (at = text.find(what)) != text.npos;) text.replace(at, what.size(), by);
}

}  // namespace

std::vector<std::string> words_of(std::string_view text, std::string_view between) {
  std::vector<std::string> out;
  for (size_t at = 0; (at = text.find_first_not_of(between, at)) != text.npos;) {
    const size_t end = std::min(text.find_first_of(between, at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

Cure cure_of(const std::string& cell) {
  if (cell.empty()) return {};
  if (cell.starts_with("say: ")) return {"say", {cell.substr(5)}};
  Cure out;
  out.words = words_of(cell, " ");
  if (!out.words.empty()) {
    out.name = std::move(out.words.front());
    out.words.erase(out.words.begin());
  }
  const Known* k = known(out.name);
  if (!k || k->words != out.words.size())
    throw support::Bug("bug.invariant", cat("a lint row has the cure '", cell, "'"));
  return out;
}

bool is_fixable(const Cure& cure) { return known(cure.name) != nullptr; }

std::string command_text(const Cure& cure, const std::string& target, const std::string& node, const std::string& op) {
  if (cure.name.empty()) return "";
  if (cure.name == "say") return cure.words[0];
  std::string out(known(cure.name)->command);
  if (!cure.words.empty()) replace(out, "{0}", cure.words[0]);
  replace(out, "{target}", target);
  replace(out, "{op}", op);
  replace(out, "{node}", node);
  return out;
}

}  // namespace cameo::linting
