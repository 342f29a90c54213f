// cameo verify: two models, or a model and recorded outputs, on the same inputs.
#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/common.h"
#include "cli/verbs.h"
#include "engine/session.h"
#include "formats/json.h"
#include "formats/mapped_file.h"
#include "formats/zip.h"
#include "runtime/arrays.h"
#include "runtime/compare.h"
#include "runtime/inputs.h"
#include "runtime/reference.h"
#include "support/error.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"inputs", 0, "FILE", "an .npz, an .npy or a test_data_set folder"},
    {"random", 0, "SEED", "make the inputs up; 0 unless said"},
    {"dim", 0, "NAME=N", "a named size, for made-up inputs; 1 unless said"},
    {"rtol", 0, "X", "relative tolerance; by element type unless said"},
    {"atol", 0, "X", "absolute tolerance; by element type unless said"},
};
constexpr Verb verb{"verify", "A B", "run two models, or a model and compare with recorded outputs (.npz, or a test_data_set folder); names the first value that differs",
                    "cameo verify net.onnx simpler.onnx --random 1\ncameo verify net.onnx expected.npz --inputs x.npz", flags, 2, 2};

bool is_recorded(const std::string& path) {
  if (std::filesystem::is_directory(path)) return true;
  if (path.ends_with(".npz") || path.ends_with(".npy")) return true;
  return false;
}

using Inner = std::vector<std::pair<std::string, Datum>>;  // named values of the main graph, in order

Inner inner_values(const Model& m, const std::vector<Datum>& inputs) {
  Inner out;
  ReferenceOptions options;
  options.observe = [&](ValueId v, const Datum& d) {
    if (!m.graph[v].name.empty()) out.emplace_back(m.graph[v].name, d);
  };
  run_reference(m, inputs, options);
  return out;
}

// Of values that both models name alike, the first that differs.
std::string first_inner(const Inner& a, const Inner& b, const Tolerance& tolerance) {
  std::map<std::string_view, const Datum*> wanted;
  for (const auto& [name, d] : b) wanted[name] = &d;
  for (const auto& [name, d] : a) {
    const auto it = wanted.find(name);
    if (it == wanted.end()) continue;
    if (const Comparison c = compare(d, *it->second, tolerance); !c.same) return cat("'", name, "': ", c.why);
  }
  return "";
}

std::vector<Datum> inputs_for(const Graph& g, const Args& args) {
  const auto params = run_inputs(g);
  std::vector<Datum> inputs;
  if (const auto file = args.value("inputs")) inputs = load_values(*file, g, params);
  else if (std::filesystem::is_directory(args.operands[1])) inputs = load_values(args.operands[1], g, params);
  else {
    std::map<std::string, int64_t> sizes;
    for (const std::string& d : args.values("dim")) {
      const auto [dim, size] = name_and_value("dim", d);
      sizes[dim] = std::atoll(size.c_str());
    }
    inputs = random_inputs(g, params, static_cast<uint64_t>(args.integer("random", 0)), sizes);
  }
  check_inputs(g, params, inputs);
  return inputs;
}

}  // namespace

int verify_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  Tolerance tolerance;
  if (args->has("rtol")) tolerance.rtol = args->number("rtol", 0);
  if (args->has("atol")) tolerance.atol = args->number("atol", 0);
  const std::string &path_a = args->operands[0], &path_b = args->operands[1];
  const Model a = open_model(path_a, out);
  const auto inputs = inputs_for(a.graph, *args);
  const auto& outputs = a.graph[a.graph.main()].outputs;
  const bool recorded = is_recorded(path_b);
  const auto got = Session(a).run(inputs);
  std::vector<Datum> wanted;
  Model b;
  if (recorded) {
    wanted = load_values(path_b, a.graph, outputs, "output");
  } else {
    b = open_model(path_b, out);
    check_inputs(b.graph, run_inputs(b.graph), inputs.size() == run_inputs(b.graph).size() ? inputs : throw error("verify.inputs", cat("the models have ", inputs.size(), " and ", run_inputs(b.graph).size(), " inputs")));
    wanted = Session(b).run(inputs);
    if (wanted.size() != got.size()) throw error("verify.outputs", cat("the models have ", got.size(), " and ", wanted.size(), " outputs"));
  }
  double worst = 0;
  size_t compared = 0;
  std::vector<Diag> wrong;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (recorded && wanted[i].kind == Datum::Kind::none) continue;  // not recorded
    ++compared;
    const Comparison c = compare(got[i], wanted[i], tolerance);
    worst = std::max(worst, c.worst);
    if (!c.same) wrong.push_back(error("verify.mismatch", cat("the output '", a.graph[outputs[i]].name, "' differs: ", c.why)).diag());
  }
  if (compared == 0) throw error("verify.outputs", cat(path_b, " has none of the model's outputs"));
  if (!wrong.empty()) {
    const std::string inner = recorded ? "" : first_inner(inner_values(a, inputs), inner_values(b, inputs), tolerance);
    if (!inner.empty()) wrong.front().because = cat("the first value that differs is ", inner);
    throw Error(std::move(wrong));
  }
  if (out.json) {
    json::Writer w;
    w.object().key("outputs").value(uint64_t{compared}).key("max_difference").value(worst).key("same").value(true).end();
    out.line(w.text());
  } else {
    out.line(cat(plural(compared, "output"), " agree", compared == 1 ? "s" : "", "; the largest difference is ", worst));
  }
  return 0;
}

}  // namespace cameo::cli
