// Every expansion of every operator, applied to ONNX's own node cases whatever their opset: the recorded outputs stay.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "formats/mapped_file.h"
#include "frontends/onnx/datum.h"
#include "frontends/onnx/reader.h"
#include "kernels/carrier.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "runtime/reference.h"

namespace cameo::tests {

namespace {

namespace fs = std::filesystem;

bool close(double a, double b, double relative) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-6 + relative * std::fabs(b);
}

std::string difference(const Datum& got, const Datum& wanted) {
  if (got.kind != Datum::Kind::tensor || wanted.kind != Datum::Kind::tensor)
    return got.kind == wanted.kind ? "" : "another kind of value";
  const Tensor &a = got.tensor, &b = wanted.tensor;
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return "another type or shape";
  if (carrier_of(a.dtype()) == Carrier::none) return a == b ? "" : "other elements";
  const double relative = bits(a.dtype()) <= 16 ? 1e-2 : 1e-3;  // some cases record four digits
  for (int64_t i = 0; i < a.count(); ++i)
    if (!close(a.double_at(i), b.double_at(i), relative))
      return cat("element ", i, " is ", a.double_at(i), ", not ", b.double_at(i));
  return "";
}

struct Case {
  fs::path folder;
  Model model;
  std::vector<Datum> inputs, outputs;

  explicit Case(const fs::path& path) : folder(path) {
    DiagSink diags;
    model = read_onnx((folder / "model.onnx").string(), diags);
    const Region& main = model.graph[model.graph.main()];
    inputs = recorded("input_", main.inputs);
    outputs = recorded("output_", main.outputs);
  }
  std::vector<Datum> recorded(std::string_view kind, const std::vector<ValueId>& values) {
    std::vector<Datum> out(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const fs::path file = folder / "test_data_set_0" / cat(kind, i, ".pb");
      if (fs::exists(file)) out[i] = read_datum(map_file(file.string()), model.graph[values[i]].fact.type);
    }
    return out;
  }
  // Axes, shapes and similar operands are inputs in these cases; expansions may need them constant, as they are in real
  // models.
  void freeze_integers() {
    Graph& g = model.graph;
    const auto values = g[g.main()].inputs;
    for (size_t i = 1; i < values.size(); ++i)
      if (inputs[i].kind == Datum::Kind::tensor && is_int(inputs[i].tensor.dtype()) && inputs[i].tensor.count() < 64)
        g.replace_uses(values[i], g.add_constant(inputs[i].tensor));
  }
};

enum class Outcome { absent, refused, done };

Outcome apply(Graph& g, NodeId n, const Expansion& x, int64_t target) {
  if (x.needed && !x.needed(g[n].attrs.get(), g, n, target)) return Outcome::absent;
  On on(g, g.main(), n);
  Expand e(on, g, n, target);
  x.expand(g[n].attrs.get(), e);
  if (e.refusal) return Outcome::refused;
  const auto outputs = g[n].outputs;
  EXPECT_EQ(e.replacement.size(), outputs.size());
  for (size_t i = 0; i < outputs.size() && i < e.replacement.size(); ++i) {
    if (!e.replacement[i] && !g.used(outputs[i])) continue;
    EXPECT_TRUE(merge(g[e.replacement[i]].fact.type, g[outputs[i]].fact.type)) << g[e.replacement[i]].fact.type.text();
    g.replace_uses(outputs[i], e.replacement[i]);
  }
  g.erase(n);
  return Outcome::done;
}

// Infinities and NaN are where these may differ.
bool may_differ(const Expansion& x) {
  return x.exactness == Exactness::domain || x.exactness == Exactness::approximate;
}

// Applies expansion number `which` of the case's only node; false when it has no such one.
bool try_expansion(const fs::path& folder, size_t which, std::map<std::string, int>& kept) {
  Case c(folder);
  Graph& g = c.model.graph;
  if (g.node_count() != 1) return false;
  const NodeId n = g[g.main()].first;
  if (g[n].op->is_opaque() || which >= def(*g[n].op).rules.expansions.size()) return false;
  const Expansion& x = def(*g[n].op).rules.expansions[which];
  if (may_differ(x) || !def(*g[n].op).rules.deterministic) return true;
  const std::string name = cat(g[n].op->name, " below ", x.below);
  c.freeze_integers();
  infer(g);
  if (apply(g, n, x, x.below - 1) != Outcome::done) return true;
  const auto results = run_reference(c.model, c.inputs);
  for (size_t i = 0; i < results.size(); ++i)
    if (c.outputs[i].kind != Datum::Kind::none) {
      EXPECT_EQ(difference(results[i], c.outputs[i]), "") << name << ", output " << i;
    }
  ++kept[name];
  return true;
}

// What the case's only node gives once it is expanded; nullopt when there is no expansion of class exact or rounding.
std::optional<std::vector<Datum>> expanded_outputs(const fs::path& folder) {
  Case c(folder);
  Graph& g = c.model.graph;
  const NodeId n = g[g.main()].first;
  if (g[n].next || g[n].op->is_opaque() || !def(*g[n].op).rules.deterministic) return std::nullopt;
  c.freeze_integers();
  infer(g);
  const int64_t lacks_it = std::max(def(*g[n].op).first_version() - 1, 7);
  for (const Expansion& x : def(*g[n].op).rules.expansions)
    if (!may_differ(x) && apply(g, n, x, std::min<int64_t>(x.below - 1, lacks_it)) == Outcome::done)
      return run_reference(c.model, c.inputs);
  return std::nullopt;
}

}  // namespace

TEST(Expansions, KeepTheRecordedOutputs) {
  const char* folder = std::getenv("CAMEO_CONFORMANCE");
  if (!folder) GTEST_SKIP() << "CAMEO_CONFORMANCE does not name the unpacked node cases";
  std::map<std::string, int> kept;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!fs::exists(entry.path() / "model.onnx")) continue;
    SCOPED_TRACE(entry.path().filename().string());
    try {
      for (size_t i = 0; try_expansion(entry.path(), i, kept); ++i) continue;
    } catch (const Error& e) {
      EXPECT_EQ(e.diag().code, "eval.no-kernel") << e.diag().render();
    }
  }
  EXPECT_GE(kept.size(), 60u);
}

// ONNX itself says many operators by others, and records these models beside the plain ones.
TEST(Expansions, AgreeWithOnnxsOwn) {
  const char* folder = std::getenv("CAMEO_CONFORMANCE");
  if (!folder) GTEST_SKIP() << "CAMEO_CONFORMANCE does not name the unpacked node cases";
  int agree = 0, twins = 0;
  std::map<std::string, int> without;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path twin = entry.path().string() + "_expanded";
    if (!fs::exists(entry.path() / "model.onnx") || !fs::exists(twin / "model.onnx")) continue;
    SCOPED_TRACE(entry.path().filename().string());
    try {
      const auto ours = expanded_outputs(entry.path());
      ++twins;
      if (!ours) {
        Case plain(entry.path());
        ++without[std::string(plain.model.graph[plain.model.graph[plain.model.graph.main()].first].op->name)];
        continue;
      }
      Case theirs(twin);
      const auto results = run_reference(theirs.model, theirs.inputs);
      for (size_t i = 0; i < results.size(); ++i)
        if (theirs.outputs[i].kind != Datum::Kind::none) {
          EXPECT_EQ(difference((*ours)[i], results[i]), "") << "output " << i;
        }
      ++agree;
    } catch (const Error& e) {
      EXPECT_EQ(e.diag().code, "eval.no-kernel") << e.diag().render();
    }
  }
  // Nothing to expand: these are as old as the oldest opset that is written, or random.
  for (const auto& [op, count] : without) std::cout << "not expanded: " << op << " (" << count << " cases)\n";
  std::cout << agree << " of " << twins << " agree with their twins\n";
  EXPECT_GE(agree, 340);
}

}  // namespace cameo::tests
