// Valid calls of every operator, damaged: where the shape rule accepts what it is given, the kernels, reference and
// fast, compute what the rule said or refuse with a finding. Under the sanitizers this also says that they stay in
// their buffers. CAMEO_HOSTILE_TRIES sets how many calls of each operator are tried, CAMEO_HOSTILE_SEED which;
// CAMEO_HOSTILE_VERBOSE prints each before it is tried, for those that end the program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "engine/session.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "property/node_damage.h"
#include "runtime/reference.h"
#include "support/error.h"

namespace cameo::tests {

namespace {

// Operators whose rules or kernels do not check everything yet, by folder of src/ops.
const std::vector<std::string_view> unchecked = {
#include "property/unchecked_operators.inc"
};

int64_t setting(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : fallback;
}

// Operators of which no call can be written down, and why.
constexpr std::pair<std::string_view, std::string_view> uncalled[] = {
    {"CastMap", "takes a map"},
    {"DictVectorizer", "takes a map"},
    {"Gradient", "takes a graph"},
    {"Scatter", "an older spelling: graphs have ScatterElements"},
    {"SequenceEmpty", "has neither operands nor sizes"},
    {"Upsample", "an older spelling: graphs have Resize"},
};

using Calls = std::map<std::string, std::vector<Call>>;
const Calls& calls() {
  static const Calls all = [] {
    Calls out;
    const char* folder = std::getenv("CAMEO_CONFORMANCE");
    for (auto& [op, call] : valid_calls(folder ? folder : "")) out[op].push_back(std::move(call));
    return out;
  }();
  return all;
}

// What the kernels say of a call: outputs, or a finding. Everything else is a fault of ours.
struct Outcome {
  std::optional<std::vector<Datum>> outputs;
  std::string finding, fault;
};

template <class F>
Outcome outcome_of(F run) {
  try {
    return {run(), "", ""};
  } catch (const Error& e) {
    return {std::nullopt, e.what(), e.exit_code() == 4 ? cat("fault of ours: ", e.what()) : ""};
  } catch (const std::exception& e) {
    return {std::nullopt, "", cat("exception: ", e.what())};
  }
}

bool alike(const Datum& a, const Datum& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == Datum::Kind::tensor)
    return a.tensor.dtype() == b.tensor.dtype() && a.tensor.shape() == b.tensor.shape();
  return a.kind != Datum::Kind::sequence || a.items->size() == b.items->size();
}

std::string disagreement(const Outcome& reference, const Outcome& other) {
  if (!other.fault.empty()) return other.fault;
  if (!other.outputs) return "";
  if (!reference.outputs) return cat("it computes what the reference refuses: ", reference.finding);
  for (size_t i = 0; i < reference.outputs->size(); ++i)
    if (!alike((*reference.outputs)[i], (*other.outputs)[i]))
      return cat("output ", i, " is", describe_operands({(*other.outputs)[i]}), " and not",
                 describe_operands({(*reference.outputs)[i]}));
  return "";
}

// What is wrong with a call that the rules accept.
std::string fault_of(Call& call, const std::vector<Type>& types, bool open) {
  const Outcome reference = outcome_of([&] { return run_reference(call.model, call.inputs); });
  if (!reference.fault.empty()) return cat("reference: ", reference.fault);
  for (size_t i = 0; reference.outputs && i < types.size(); ++i)
    if (const Datum& d = (*reference.outputs)[i]; d.kind == Datum::Kind::tensor && !describes(types[i], d.tensor))
      return cat("output ", i, " is inferred as ", types[i].text(), " and computed as", describe_operands({d}));
  declare_inputs(call, open);
  SessionOptions how;
  how.threads = 2;
  const std::string fast =
      disagreement(reference, outcome_of([&] { return Session(call.model, how).run(call.inputs); }));
  return fast.empty() ? "" : cat(open ? "session, sizes open: " : "session: ", fast);
}

// A Loop runs as long as its inputs say; a caller with an untrusted model limits the time.
bool may_not_end(const Call& call) {
  const Graph& g = call.model.graph;
  for (const NodeId n : g.nodes(g.main())) {
    if (!g[n].is("Loop")) continue;
    const ValueId trips = g.input(n, 0);
    const auto known = trips ? g.constant(trips) : std::nullopt;
    Tensor count = known ? *known : Tensor();
    for (size_t i = 0; i < call.inputs.size(); ++i)
      if (g[g.main()].inputs[i] == trips) count = call.inputs[i].tensor;
    if (!is_int(count.dtype()) || count.count() != 1 || count.int_at(0) > 100) return true;
  }
  return false;
}

std::string try_once(const Call& valid, const std::string& op, Sampler& s, size_t& accepted) {
  Call call = valid;
  for (int64_t i = s.between(1, 2); i > 0; --i) damage(call, op, s);
  declare_inputs(call, false);
  freeze_some_inputs(call, s);
  if (may_not_end(call)) return "";
  const bool open = s.chance(50);
  static const bool verbose = setting("CAMEO_HOSTILE_VERBOSE", 0) != 0;
  if (verbose) std::fprintf(stderr, "%s\n", describe(call).c_str());
  Graph& g = call.model.graph;
  std::vector<Type> types;
  const Outcome ruled = outcome_of([&]() -> std::vector<Datum> {
    const InferResult inferred = infer(g);
    if (!inferred.findings.empty()) throw Error(inferred.findings.front());
    for (const ValueId v : g[g.main()].outputs) types.push_back(g[v].fact.type);
    return {};
  });
  if (!ruled.fault.empty()) return cat("rule: ", ruled.fault, "\n", describe(call));
  if (!ruled.outputs) return "";
  ++accepted;
  const std::string fault = fault_of(call, types, open);
  return fault.empty() ? "" : cat(fault, "\n", describe(call));
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const OpDef& op : all_ops())
    if (op.rules.eval && std::find(out.begin(), out.end(), op.name) == out.end()) out.emplace_back(op.name);
  return out;
}

class HostileNodes : public testing::TestWithParam<std::string> {};

TEST_P(HostileNodes, AreComputedOrRefused) {
  const std::string& op = GetParam();
  if (std::find(unchecked.begin(), unchecked.end(), op) != unchecked.end()) GTEST_SKIP() << "listed as unchecked";
  const auto found = calls().find(op);
  if (found == calls().end()) {
    const auto why =
        std::find_if(std::begin(uncalled), std::end(uncalled), [&](const auto& u) { return u.first == op; });
    if (why != std::end(uncalled)) GTEST_SKIP() << why->second;
    ASSERT_FALSE(std::getenv("CAMEO_CONFORMANCE")) << "no valid call of it: node_calls.inc has those that ONNX lacks";
    GTEST_SKIP() << "without the conformance corpus no valid call of it is at hand";
  }
  Sampler s(static_cast<uint32_t>(setting("CAMEO_HOSTILE_SEED", 7)));
  size_t accepted = 0;
  for (int64_t i = setting("CAMEO_HOSTILE_TRIES", 25); i > 0; --i)
    ASSERT_EQ(try_once(s.pick(found->second), op, s, accepted), "");
  RecordProperty("accepted", static_cast<int>(accepted));
}

INSTANTIATE_TEST_SUITE_P(All, HostileNodes, testing::ValuesIn(names()), [](const auto& about) { return about.param; });

}  // namespace

}  // namespace cameo::tests
