// Generated models, simplified: the outputs stay, the graph keeps its rules, and a second time changes nothing.
// CAMEO_GRAPHS=10000 sets how many there are.
#include "passes/simplify.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "backends/onnx/writer.h"
#include "backends/text/print.h"
#include "ops/schema_check.h"
#include "property/graphs.h"
#include "runtime/compare.h"
#include "runtime/reference.h"
#include "support/error.h"

namespace cameo::tests {

namespace {

std::string ledger_text(const SimplifyResult& r) {
  std::string out;
  for (const Application& a : r.ledger) out += cat(a.key(), " ");
  return out;
}

// Every other model is smooth and meets all rules; the others have steps, and meet the rules that keep every bit.
// Quotients by small numbers amplify what rounding may change.
constexpr Tolerance tolerance{.rtol = 2e-3, .atol = 2e-3};

// Nothing for a model that is refused, since it cannot run.
std::optional<SimplifyResult> simplified(const Model& before, Model& after, const SimplifyOptions& options,
                                         uint32_t seed) {
  try {
    return simplify(after, options);
  } catch (const Error& e) {
    for (const int64_t n : {1, 3})
      EXPECT_THROW(run_reference(before, random_values(before, seed, n)), Error)
          << "seed " << seed << "\n"
          << e.diag().render() << print_text(before);
    return std::nullopt;
  }
}

TEST(Simplify, KeepsOutputsOfGeneratedModels) {
  const char* wanted = std::getenv("CAMEO_GRAPHS");
  const auto count = static_cast<uint32_t>(wanted ? std::atoi(wanted) : 400);
  const char* first = std::getenv("CAMEO_FIRST_GRAPH");
  const auto start = static_cast<uint32_t>(first ? std::atoi(first) : 1);
  size_t ran = 0, applied = 0;
  std::set<std::string_view> met;
  for (uint32_t seed = start; seed < start + count; ++seed) {
    const bool smooth = seed % 2;
    const Model before = random_model(seed, smooth);
    if (!schema_findings(before).empty()) continue;  // an operand of a type that the schema does not take
    Model after = before;
    SimplifyOptions options;
    options.exact = !smooth;
    options.opset = seed % 3 ? newest_released_opset : 17;
    const auto outcome = simplified(before, after, options, seed);
    if (!outcome) continue;
    const SimplifyResult& result = *outcome;
    applied += result.ledger.size();
    for (const Application& a : result.ledger) met.insert(a.rule);
    const std::string about =
        cat("seed ", seed, "\n", print_text(before), "\n", print_text(after), "\n", ledger_text(result));
    for (const Diag& d : schema_findings(after)) FAIL() << d.render() << about;
    for (const int64_t n : {1, 3}) {
      const auto inputs = random_values(before, seed, n);
      std::vector<Datum> expected;
      try {
        expected = run_reference(before, inputs);
      } catch (const Error&) {
        continue;  // sizes that do not fit for this N
      }
      ++ran;
      std::vector<Datum> found;
      try {
        found = run_reference(after, inputs);
      } catch (const Error& e) {
        FAIL() << e.diag().render() << about;
      }
      ASSERT_EQ(found.size(), expected.size()) << about;
      for (size_t i = 0; i < found.size(); ++i) {
        // Beside a size of 0, a Reshape's -1 could be anything.
        if (expected[i].kind == Datum::Kind::tensor && expected[i].tensor.count() == 0) continue;
        const Comparison c = compare(found[i], expected[i], smooth ? tolerance : Tolerance{.rtol = 0, .atol = 0});
        ASSERT_TRUE(c.same) << "output " << i << " with N = " << n << ": " << c.why << "\n" << about;
      }
    }
    Model again = after;
    const SimplifyResult second = simplify(again, options);
    ASSERT_TRUE(second.ledger.empty()) << "the second time: " << ledger_text(second) << "\n" << about;
  }
  RecordProperty("ran", static_cast<int>(ran));
  EXPECT_GT(ran, count / 2);
  EXPECT_GT(applied, count);
  if (!wanted) return;
  std::string never;
  for (const RuleInfo& r : rule_list())
    if (!met.contains(r.name)) never += cat(" ", r.name);
  std::cout << ran << " runs, " << applied << " applications, " << met.size() << " of " << rule_list().size()
            << " rules met; never:" << never << '\n';
}

// Models for another judge: tests/python/simplify_referee.py asks for them and simplifies them with the command.
TEST(GeneratedModels, AreWritten) {
  const char* folder = std::getenv("CAMEO_WRITE_GRAPHS");
  if (!folder) GTEST_SKIP() << "CAMEO_WRITE_GRAPHS names no folder";
  const char* wanted = std::getenv("CAMEO_GRAPHS");
  const auto count = static_cast<uint32_t>(wanted ? std::atoi(wanted) : 1000);
  for (uint32_t seed = 1; seed <= count; ++seed) {
    const bool smooth = seed % 2;
    const Model m = random_model(seed, smooth);
    if (!schema_findings(m).empty()) continue;
    WriteOptions options;
    options.opset = seed % 3 ? 21 : 17;
    try {
      write_onnx(m, cat(folder, "/", seed, smooth ? ".smooth" : ".steps", ".onnx"), options);
    } catch (const Error& e) {
      EXPECT_NE(e.exit_code(), 4) << e.diag().render();  // what an older opset cannot express is not a fault
    }
  }
}

}  // namespace

}  // namespace cameo::tests
