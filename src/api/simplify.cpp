// include/cameo/simplify.h.
#include <algorithm>

#include "api/simplify_check.h"
#include "backends/onnx/simplify_for_opset.h"
#include "ops/inline.h"
#include "ops/schema.h"
#include "passes/edit.h"
#include "support/progress.h"
#include "support/near_name.h"

#include "api/compared.h"
#include "api/kernels.h"
#include "api/state.h"
#include "api/stats_of.h"
#include "cameo/json.h"
#include "cameo/simplify.h"

namespace cameo {

namespace {

passes::SimplifyOptions options_of(const SimplifySettings& s) {
  if (s.unroll < 0) throw error("use.value", cat("unroll is ", s.unroll));
  passes::SimplifyOptions o;
  o.skip = s.skip;
  o.only = s.only;
  o.veto.insert(s.without.begin(), s.without.end());
  o.exact = s.exact;
  o.freeze_initializers = s.freeze_initializers;
  o.fuse = s.fuse;
  o.fold = s.fold;
  o.sizes_may_be_zero = s.sizes_may_be_zero;
  o.unroll = s.unroll;
  return o;
}

Rewriting rewriting_of(const passes::Application& a) {
  return {std::string(a.rule), std::string(passes::name(a.exactness)), a.value, a.removed, a.added};
}

std::vector<Rewriting> rewritings(const std::vector<passes::Application>& all) {
  std::vector<Rewriting> out;
  for (const auto& a : all) out.push_back(rewriting_of(a));
  return out;
}

void check_rule(const std::string& rule) {
  std::vector<std::string_view> names;
  for (const auto& r : passes::rule_list()) names.push_back(r.name);
  if (std::find(names.begin(), names.end(), rule) != names.end()) return;
  const auto close = support::nearest(rule, names);
  throw error("use.rule", cat("there is no rule '", rule, "'"))
      .help(close.empty() ? "cameo simplify --list-rules lists them" : cat("did you mean ", close, "?"));
}

}  // namespace

namespace {

api::CheckOptions check_options(const ir::Graph& g, const SimplifySettings& settings) {
  if (settings.check < 0) throw error("use.value", cat("check is ", settings.check));
  need_sizes(g, settings.check_sizes);
  api::CheckOptions check;
  check.inputs = settings.check;
  check.sizes = settings.check_sizes;
  check.kernels = api::custom_ops(settings.kernels);
  check.tolerance.rtol = settings.rtol;
  check.tolerance.atol = settings.atol;
  for (const auto& [name, sizes] : settings.check_shapes) {
    const ir::Type& t = g[passes::find_value(g, name)].fact.type;
    if (!t.has_rank() || static_cast<size_t>(t.rank()) != sizes.size())
      throw error("use.value", cat("the check's shape of '", name, "' has ", sizes.size(), " sizes, and '", name,
                                   "' is ", t.text()));
    for (size_t i = 0; i < sizes.size(); ++i)
      if (const ir::Dim d = (*t.shape)[i]; d.is_symbol()) check.sizes[std::string(ir::symbol_name(d))] = sizes[i];
  }
  return check;
}

// Shapes must not make a file grow by more than this; those of a small model and its provenance may.
uint64_t grown(uint64_t bytes) {
  constexpr uint64_t always = 1024;
  return bytes + std::max(bytes / 100, always);
}

api::CheckedResult simplify_state(ModelState& s, const passes::SimplifyOptions& options,
                                  const SimplifySettings& settings, support::DiagSink& diags) {
  api::CheckedResult out;
  if (settings.check == 0) {
    out.result = backends::simplify_for_opset(s.model, opset_of(s), options, false, &diags);
    return out;
  }
  out = api::simplify_checked(s.model, opset_of(s), options, check_options(s.model.graph, settings), &diags);
  for (const auto& a : out.undone)
    diags.warn("simplify.undone", cat("the rewrite ", a.rule, " at '", a.value, "' changed an output and was undone"));
  for (const std::string& why : out.skipped)
    diags.warn("simplify.not-checked", cat("one set of inputs could not be run: ", why));
  return out;
}

}  // namespace

namespace {

// Constants and copies cost an engine nothing.
size_t working_nodes(const ir::Graph& g) {
  size_t n = 0;
  for (uint32_t i = 0; i < g.node_capacity(); ++i)
    if (const ir::Node& node = g[support::NodeId(i)]; !node.dead) n += !node.is("Constant") && !node.is("Identity");
  return n;
}

// The model without its functions where that pays; nothing if functions stay.
std::optional<api::CheckedResult> simplify_inlined(ModelState& s, const passes::SimplifyOptions& options,
                                                   const SimplifySettings& settings, support::DiagSink& diags) {
  if (s.model.functions.empty() || settings.functions == FunctionCalls::keep) return std::nullopt;
  const bool must = settings.functions == FunctionCalls::inlined;
  ModelState flat = s;
  try {
    ops::inline_functions(flat.model);
  } catch (const Error& e) {
    if (must || support::ends_work(e)) throw;
    return std::nullopt;  // too large, or they call themselves
  }
  const size_t nodes = working_nodes(flat.model.graph);
  support::DiagSink found;
  api::CheckedResult result = simplify_state(flat, options, settings, found);
  if (!must && working_nodes(flat.model.graph) >= nodes) return std::nullopt;
  for (Diag& d : found.all()) diags.add(std::move(d));
  s = std::move(flat);
  return result;
}

}  // namespace

Simplified simplify(Model model, const SimplifySettings& settings) {
  const support::ProgressScope told(settings.progress);
  ModelState s = ModelState::changed(std::move(model));
  support::tell_progress("simplifying", 0, 1);
  for (const auto& [name, sizes] : settings.input_shapes) passes::fix_shape(s.model, name, sizes);
  passes::SimplifyOptions options = options_of(settings);
  std::optional<Stats> before;
  if (!s.model.functions.empty()) {
    infer_types(s);
    before = stats_of(s.model);
  }
  options.before = [&](const ir::Model& read) {
    if (!before) before = stats_of(read);
  };
  support::DiagSink diags;
  std::optional<api::CheckedResult> inlined = simplify_inlined(s, options, settings, diags);
  api::CheckedResult result = inlined ? std::move(*inlined) : simplify_state(s, options, settings, diags);
  if (settings.shapes) {
    s.write.value_info = backends::WriteOptions::ValueInfo::all;
    if (s.source_bytes) s.write.shapes_up_to = grown(*s.source_bytes);
  }
  s.inferred.reset();
  s.findings = std::move(diags.all());
  std::vector<Diag> findings = s.findings;
  Stats after = stats_of(s.model);
  return {.model = ModelState::make(std::move(s)),
          .ledger = rewritings(result.result.ledger),
          .undone = rewritings(result.undone),
          .rounds = result.result.rounds,
          .before = before.value_or(Stats()),
          .after = std::move(after),
          .checked = result.compared,
          .worst = result.worst,
          .findings = std::move(findings)};
}

namespace {
void write(json::Writer& w, const Rewriting& r) {
  w.object().key("rule").value(r.rule).key("class").value(r.kind).key("value").value(r.value);
  w.key("nodes_removed").value(uint64_t{r.nodes_removed}).key("nodes_added").value(uint64_t{r.nodes_added}).end();
}
}  // namespace

std::string to_json(const Rewriting& r) {
  json::Writer w;
  write(w, r);
  return w.text();
}

std::string to_json(const Simplified& s) {
  json::Writer w;
  w.object().key("checked").value(uint64_t{s.checked}).key("worst").value(s.worst);
  for (const auto& [key, list] : {std::pair("ledger", &s.ledger), std::pair("undone", &s.undone)}) {
    w.key(key).array();
    for (const Rewriting& r : *list) write(w, r);
    w.end();
  }
  return w.end().text();
}

std::vector<RuleInfo> rules() {
  std::vector<RuleInfo> out;
  for (const auto& r : passes::rule_list())
    out.push_back({std::string(r.name), std::string(passes::name(r.exactness))});
  return out;
}

std::string to_json(const std::vector<RuleInfo>& all) {
  json::Writer w;
  w.array();
  for (const RuleInfo& r : all) w.object().key("name").value(r.name).key("kind").value(r.kind).end();
  return w.end().text();
}

std::string to_json(const Explanation& e) {
  json::Writer w;
  w.object();
  for (const auto& [key, list] : {std::pair("applied", &e.applied), std::pair("refused", &e.refused)}) {
    w.key(key).array();
    for (const Explanation::Place& p : *list) {
      w.object().key("rule").value(p.rule).key("value").value(p.value);
      if (!p.why.empty()) w.key("why").value(p.why);
      w.end();
    }
    w.end();
  }
  w.key("waiting").array();
  for (const std::string& text : e.waiting) w.value(text);
  return w.end().end().text();
}

Explanation explain(Model model, const std::string& rule, int opset) {
  if (!rule.empty()) check_rule(rule);
  ModelState s = ModelState::changed(std::move(model));
  passes::SimplifyOptions options;
  options.opset = opset ? known_opset(opset) : opset_of(s);
  options.keep_misses = true;
  const auto result = passes::simplify(s.model, options);
  Explanation out;
  const auto asked = [&](std::string_view name) { return rule.empty() || name == rule; };
  for (const auto& a : result.ledger)
    if (asked(a.rule)) out.applied.push_back({std::string(a.rule), a.value, ""});
  std::map<std::pair<std::string, std::string>, std::string> missed;  // the last reason counts
  for (const auto& m : result.misses)
    if (asked(m.rule)) missed[{std::string(m.rule), m.value}] = m.why;
  for (const auto& [place, why] : missed) out.refused.push_back({place.first, place.second, why});
  for (const passes::Rule& r : passes::all_rules())
    if (asked(r.name))
      for (const std::string_view op : r.makes)
        if (!ops::find_op("", op)->at(options.opset))
          out.waiting.push_back(cat(rule.empty() ? cat(r.name, ": ") : "", "opset ", options.opset, " has no ", op,
                                    ": the rule needs opset ", ops::find_op("", op)->first_version()));
  return out;
}

}  // namespace cameo
