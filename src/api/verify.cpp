// include/cameo/verify.h.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "backends/onnx/writer.h"
#include "ir/dim_name.h"
#include "engine/session.h"
#include "runtime/arrays.h"
#include "runtime/compare.h"
#include "runtime/free_sizes.h"
#include "runtime/inputs.h"
#include "runtime/reference.h"
#include "runtime/tries.h"
#include "support/progress.h"

#include "api/compared.h"
#include "api/kernels.h"
#include "api/state.h"
#include "cameo/json.h"

namespace cameo {

namespace {

using Data = std::vector<kernels::Datum>;
using Inner = std::vector<std::pair<std::string, kernels::Datum>>;  // named values of the main graph, in order

Inner inner_values(const ir::Model& m, const Data& inputs, const ops::CustomOps& kernels) {
  Inner out;
  runtime::ReferenceOptions options;
  options.kernels = kernels;
  options.observe = [&](support::ValueId v, const kernels::Datum& d) {
    if (!m.graph[v].name.empty()) out.emplace_back(m.graph[v].name, d);
  };
  runtime::run_reference(m, inputs, options);
  return out;
}

// Of values that both models name alike, the first that differs.
std::string first_inner(const ir::Model& first, const ir::Model& second, const Data& inputs,
                        const runtime::Tolerance& tolerance, const ops::CustomOps& kernels) {
  const Inner a = inner_values(first, inputs, kernels), b = inner_values(second, inputs, kernels);
  std::map<std::string_view, const kernels::Datum*> wanted;
  for (const auto& [name, d] : b) wanted[name] = &d;
  for (const auto& [name, d] : a) {
    const auto it = wanted.find(name);
    if (it == wanted.end()) continue;
    if (const auto c = runtime::compare(d, *it->second, tolerance); !c.same) return cat("'", name, "': ", c.why);
  }
  return "";
}

}  // namespace

// Throws use.dim where a size is given that no input has.
void need_sizes(const ir::Graph& g, const std::map<std::string, int64_t>& sizes) {
  std::set<std::string> names;
  for (const ir::ValueId v : runtime::run_inputs(g, false))
    if (const ir::Type& t = g[v].fact.type; t.is_tensor() && t.has_rank())
      for (const ir::Dim d : *t.shape)
        if (!d.is_literal()) names.insert(ir::name_or_text(d));
  std::string listed;
  for (const std::string& name : names) listed += cat(listed.empty() ? "" : ", ", name);
  for (const auto& [name, size] : sizes)
    if (!names.contains(name))
      throw error("use.dim", cat("no input has a size called '", name, "'"))
          .help(listed.empty() ? "all sizes of the inputs are numbers" : cat("they have: ", listed));
}

namespace {

Data inputs_for(const ir::Graph& g, const std::string& recorded, const VerifySettings& settings) {
  for (const auto& tolerance : {settings.rtol, settings.atol})
    if (tolerance && !(*tolerance >= 0)) throw error("use.value", cat("a tolerance is ", *tolerance));
  const auto params = runtime::run_inputs(g);
  Data inputs;
  if (!settings.inputs.empty()) inputs = runtime::load_values(settings.inputs, g, params);
  else if (!recorded.empty() && std::filesystem::is_directory(recorded))
    inputs = runtime::load_values(recorded, g, params);
  else {
    need_sizes(g, settings.sizes);
    inputs = runtime::random_inputs(g, params, settings.random, settings.sizes);
  }
  runtime::check_inputs(g, params, inputs);
  return inputs;
}

}  // namespace

Verified compared(const ir::Model& m, const Data& got, const Data& wanted, const runtime::Tolerance& tolerance) {
  Verified out;
  const auto& outputs = m.graph[m.graph.main()].outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i >= wanted.size() || wanted[i].kind == kernels::Datum::Kind::none) continue;  // not recorded
    const auto c = runtime::compare(got[i], wanted[i], tolerance);
    out.agree &= c.same;
    out.outputs.push_back({m.graph[outputs[i]].name, c.same ? "" : c.why, c.worst});
  }
  return out;
}

namespace {

engine::SessionOptions run_options(const VerifySettings& settings) {
  engine::SessionOptions out;
  out.kernels = api::custom_ops(settings.kernels);
  return out;
}

// Models that agree on one set of made-up inputs may go another way on others.
void try_others(const ir::Model& a, const ir::Model& b, const engine::Session& first, const engine::Session& second,
                const VerifySettings& settings, const runtime::Tolerance& tolerance, const ops::CustomOps& kernels,
                Verified& out) {
  const auto tries = runtime::other_tries(a.graph, runtime::run_inputs(a.graph), settings.random, settings.sizes);
  uint64_t done = 0;
  for (const runtime::Try& t : tries) {
    support::tell_progress("comparing", ++done, tries.size() + 1);
    Data got, wanted;
    try {
      wanted = second.run(t.inputs);
      got = first.run(t.inputs);
    } catch (const Error& e) {
      if (support::ends_work(e)) throw;
      continue;  // sizes or numbers that one of them refuses: nothing is silently wrong
    }
    Verified found = compared(a, got, wanted, tolerance);
    if (found.agree) continue;
    for (Verified::Output& o : found.outputs)
      if (!o.why.empty()) o.why = cat(t.how, ": ", o.why);
    found.first_difference = first_inner(a, b, t.inputs, tolerance, kernels);
    out = std::move(found);
    return;
  }
}

}  // namespace

Compared compare_values(const RunValue& got, const RunValue& wanted, const CompareSettings& settings) {
  const auto c =
      runtime::compare(datum_of(got, ""), datum_of(wanted, ""), {settings.rtol, settings.atol, settings.other_program});
  const double worst = c.unbounded ? std::numeric_limits<double>::infinity() : c.worst;
  return {c.same, c.why, c.differing, worst, c.largest > 0 ? worst / c.largest : worst};
}

std::map<std::string, int64_t> free_sizes(const Model& model, const std::map<std::string, int64_t>& sizes) {
  const ir::Graph& g = ModelState::onnx(model).graph;
  need_sizes(g, sizes);
  return runtime::free_sizes(g, runtime::run_inputs(g, false), sizes);
}

std::vector<std::pair<std::string, RunValue>> random_inputs(const Model& model, uint64_t seed,
                                                            const std::map<std::string, int64_t>& sizes) {
  const ir::Graph& g = ModelState::onnx(model).graph;
  need_sizes(g, sizes);
  const auto params = runtime::run_inputs(g, false);
  const Data made = runtime::random_inputs(g, params, seed, sizes);
  std::vector<std::pair<std::string, RunValue>> out;
  for (size_t i = 0; i < params.size(); ++i) out.emplace_back(g[params[i]].name, run_value_of(made[i]));
  return out;
}

Verified verify(const Model& model, const Model& reference, const VerifySettings& settings) {
  const support::ProgressScope told(settings.progress);
  support::tell_progress("comparing", 0, 1);
  const ir::Model &a = ModelState::onnx(model), &b = ModelState::onnx(reference);
  const runtime::Tolerance tolerance{settings.rtol, settings.atol};
  const Data inputs = inputs_for(a.graph, "", settings);
  const auto others = runtime::run_inputs(b.graph);
  if (inputs.size() != others.size())
    throw error("verify.inputs", cat("the models have ", inputs.size(), " and ", others.size(), " inputs"));
  runtime::check_inputs(b.graph, others, inputs);
  const engine::SessionOptions how = run_options(settings);
  const bool made_up = settings.inputs.empty();  // then there are more tries, which run the same sessions
  std::optional<engine::Session> first(std::in_place, a, how);
  const Data got = first->run(inputs);
  if (!made_up) first.reset();
  const engine::Session second(b, how);
  const Data wanted = second.run(inputs);
  if (wanted.size() != got.size())
    throw error("verify.outputs", cat("the models have ", got.size(), " and ", wanted.size(), " outputs"));
  Verified out = compared(a, got, wanted, tolerance);
  if (!out.agree) out.first_difference = first_inner(a, b, inputs, tolerance, how.kernels);
  else if (made_up) try_others(a, b, *first, second, settings, tolerance, how.kernels, out);
  return out;
}

double Verified::worst() const {
  double out = 0;
  for (const Output& o : outputs) out = std::max(out, o.worst);
  return out;
}

std::vector<Diag> Verified::findings() const {
  std::vector<Diag> out;
  for (const Output& o : outputs)
    if (!o.why.empty())
      out.push_back(
          error("verify.mismatch", cat("the output '", o.name, "' differs",
                                       recorded.empty() ? "" : cat(" from what ", recorded, " says"), ": ", o.why))
              .diag());
  if (!out.empty() && !first_difference.empty())
    out.front().because = cat("the first value that differs is ", first_difference);
  return out;
}

std::string to_json(const Verified& v) {
  json::Writer w;
  w.object().key("outputs").value(uint64_t{v.outputs.size()}).key("max_difference").value(v.worst());
  w.key("same").value(v.agree).key("results").array();
  for (const auto& o : v.outputs) {
    w.object().key("name").value(o.name).key("max_difference").value(o.worst);
    if (!o.why.empty()) w.key("why").value(o.why);
    w.end();
  }
  w.end();
  if (!v.first_difference.empty()) w.key("first_difference").value(v.first_difference);
  return w.end().text();
}

Verified verify(const Model& model, const std::string& recorded, const VerifySettings& settings) {
  const support::ProgressScope told(settings.progress);
  support::tell_progress("comparing", 0, 1);
  const ir::Model& m = ModelState::onnx(model);
  const Data inputs = inputs_for(m.graph, recorded, settings);
  const Data got = engine::Session(m, run_options(settings)).run(inputs);
  const Data wanted = runtime::load_values(recorded, m.graph, m.graph[m.graph.main()].outputs, "output");
  Verified out = compared(m, got, wanted, {settings.rtol, settings.atol});
  out.recorded = recorded;
  if (out.outputs.empty()) throw error("verify.outputs", cat(recorded, " has none of the model's outputs"));
  return out;
}

}  // namespace cameo
