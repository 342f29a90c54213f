#include "text/completeness.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "lowering/row.h"
#include "support/error.h"

namespace cameo::tests {

namespace {

using Names = std::set<std::string>;

void each_case(const CaseFiles& files, std::string_view command,
               const std::function<void(const Case&, const std::string& before, const Arguments&)>& look) {
  for (const auto& file : files)
    for (const Case& c : file->cases())
      if (const auto [name, arguments] = command_line(c); name == command && c.find("before") && !c.find("error"))
        look(c, *c.find("before"), arguments);
}

// Each of `all` is in `seen`, or in the folder's list of exceptions, never in both.
void expect_complete(const Names& all, const Names& seen, const std::string& folder, const std::string& what) {
  const std::string list = "tests/text/" + folder + "/without_case.txt";
  std::map<std::string, std::string> excused;
  std::ifstream in(std::string(CAMEO_SOURCE_DIR) + "/" + list);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(": ");
    ASSERT_NE(colon, line.npos) << list << ": " << line << " has no reason; write NAME: REASON";
    excused[line.substr(0, colon)] = line.substr(colon + 2);
  }
  for (const std::string& name : all)
    EXPECT_TRUE(seen.contains(name) || excused.contains(name))
        << "no case of tests/text/" << folder << " has " << what << " " << name;
  for (const auto& [name, why] : excused) {
    EXPECT_TRUE(all.contains(name)) << list << " has " << name << ", which is not there any more";
    EXPECT_FALSE(seen.contains(name)) << list << " has " << name << ", which has a case: take it out";
  }
}

// A rule is tested where a case names it with --only=: one where it applies, one where it does not, and one where it
// applies and the reference kernels compute the same before and after.
void every_rule_of(const std::string& command, const CaseFiles& files) {
  Names applied, refused, ran;
  each_case(files, command, [&](const Case& c, const std::string& before, const Arguments& arguments) {
    const RulesOfCase rules = rules_of_case(command, before, arguments);
    EXPECT_EQ(rules.difference, "") << c.file << ":" << c.line;
    const Names here(rules.applied.begin(), rules.applied.end());
    for (const std::string& r : rules.named) (here.contains(r) ? applied : refused).insert(r);
    if (rules.runs > 0) ran.insert(here.begin(), here.end());
  });
  const std::string none = "no case of tests/text/" + command;
  for (const std::string& r : all_rule_names(command)) {
    EXPECT_TRUE(applied.contains(r)) << none << " has --only=" << r << " and applies it";
    EXPECT_TRUE(refused.contains(r)) << none << " has --only=" << r << " and does not apply it";
    EXPECT_TRUE(ran.contains(r)) << none << " applies " << r << " to a model that can be run";
  }
}

void every_rule(const CaseFiles& files) { every_rule_of("simplify", files); }
void every_engine_rule(const CaseFiles& files) { every_rule_of("engine", files); }

void every_lowering(const CaseFiles& files) {
  Names all, seen;
  for (const std::string_view name : all_row_names()) all.emplace(name);
  each_case(files, "lower", [&](const Case&, const std::string& before, const Arguments&) {
    seen.insert(before.substr(0, before.find('(')));
  });
  expect_complete(all, seen, "lower", "the lowering");
}

void every_shape_rule(const CaseFiles& files) {
  Names all, seen;
  for (const OpDef& op : all_ops())
    if (op.rules.infer) all.emplace(op.name);
  each_case(files, "infer", [&](const Case&, const std::string& before, const Arguments&) {
    const Model m = parse(before);
    for (uint32_t i = 0; i < m.graph.node_capacity(); ++i)
      if (const Node& n = m.graph[NodeId(i)]; !n.dead) seen.emplace(n.op->name);
  });
  expect_complete(all, seen, "infer", "the operator");
}

void every_expansion(const CaseFiles& files) {
  Names all, seen;
  for (const OpDef& op : all_ops())
    for (const Expansion& e : op.rules.expansions) all.insert(expansion_name(op, e));
  each_case(files, "legalise", [&](const Case&, const std::string& before, const Arguments& arguments) {
    for (const std::string& name : expansions_of_case(before, arguments)) seen.insert(name);
  });
  expect_complete(all, seen, "legalise", "the expansion");
}

// A row is tested where a case names it with --only= and finds something.
void every_lint_row(const CaseFiles& files) {
  Names all, seen;
  for (const std::string& r : all_lint_rows()) all.insert(r);
  each_case(files, "lint", [&](const Case& c, const std::string&, const Arguments& arguments) {
    if (*c.find("after") == "nothing") return;
    for (const std::string& a : arguments)
      if (a.starts_with("--only=")) seen.insert(a.substr(7));
  });
  expect_complete(all, seen, "lint", "the row");
}

using Check = void (*)(const CaseFiles&);

class CompletenessTest : public testing::Test {
 public:
  CompletenessTest(Check check, const CaseFiles& files) : check_(check), files_(files) {}
  void TestBody() override { check_(files_); }

 private:
  Check check_;
  const CaseFiles& files_;
};

constexpr std::pair<const char*, Check> checks[] = {
    {"EveryRuleHasACaseWhereItAppliesAndOneWhereItDoesNot", every_rule},
    {"EveryRuleOfTheEngineHasACaseWhereItAppliesAndOneWhereItDoesNot", every_engine_rule},
    {"EveryLoweringHasACase", every_lowering},
    {"EveryShapeRuleHasACase", every_shape_rule},
    {"EveryExpansionHasACase", every_expansion},
    {"EveryRowOfLintHasACaseWhereItApplies", every_lint_row},
};

}  // namespace

std::pair<std::string, Arguments> command_line(const Case& c) {
  std::istringstream words(*c.find("run"));
  std::pair<std::string, Arguments> out;
  words >> out.first;
  for (std::string w; words >> w;) out.second.push_back(w);
  return out;
}

void register_completeness(const CaseFiles& files) {
  for (const auto& [name, check] : checks)
    testing::RegisterTest("Text", name, nullptr, nullptr, __FILE__, __LINE__,
                          [check = check, &files]() -> testing::Test* { return new CompletenessTest(check, files); });
}

}  // namespace cameo::tests
