// Targets as text: a file of rows by hand (targets/NAME.txt), and one of measured facts where the engine runs on our
// machines (facts/NAME.txt). docs/lint.md has the format.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/diag.h"
#include "support/layers.h"

namespace cameo::linting {
using namespace api;

// "1.31.1" as numbers; a part that is no number counts as 0.
using Version = std::vector<int>;
Version version_of(std::string_view text);
int compare(const Version& a, const Version& b);  // of the parts that both have

// One condition of a row: `attr mode = cubic linear`, words taken apart.
struct Term {
  bool negated = false;
  std::string keyword;
  std::vector<std::string> words;
};

struct Row {
  std::string name;  // "resize-cubic"
  Severity severity = Severity::error;
  std::string when;
  std::vector<Term> terms;  // all have to hold
  std::string what, source, cure;
};

// Of a type variable of an operator at one version of its schema: element types that were tried.
struct TriedTypes {
  std::set<std::string, std::less<>> yes, no;  // no: refused, or a wrong result
};
struct OperatorFacts {
  bool unsupported = false;                                // in every form that was tried
  std::map<std::string, TriedTypes, std::less<>> by_type;  // by type variable: "T"
};
struct Facts {
  std::string version, date;
  std::map<std::string, std::map<int, OperatorFacts>, std::less<>> operators;  // by name, then by schema version
  std::map<std::string, std::vector<Row>, std::less<>> forms;  // by name: conditions under which a form of it failed
  // Of the version that was tried, or the newest tried one before it, or the oldest; null: none was.
  const OperatorFacts* find(std::string_view op, int since) const;
};

struct Target {
  std::string name, title, version;                                    // version: judged where none is asked for
  std::map<std::string, std::string, std::less<>> sources;             // "trt-ops" to its address
  std::map<std::string, std::vector<std::string>, std::less<>> wants;  // what `prepare` makes of a model: "sizes"
  std::vector<Row> rows;
  Facts facts;  // empty where nothing was measured
};

// Every target, by name; "any" holds rows for all of them.
const std::map<std::string, Target, std::less<>>& all_targets();

// For tests of the format; throws a Bug for a line that is none.
Target read_target(std::string_view rows, std::string_view facts);

// The files themselves, from the build.
struct EmbeddedFile {
  std::string_view name, text;  // name: "targets/ncnn.txt"
};
std::vector<EmbeddedFile> embedded_files();

}  // namespace cameo::linting
