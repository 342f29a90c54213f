#include "passes/simplify.h"

#include <algorithm>

#include "ir/size_relation.h"
#include "ops/inline.h"
#include "ops/schema.h"
#include "passes/dce.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

constexpr RuleInfo passes[] = {
    {"common-subexpression", RuleClass::exact},
    {"equal-weights", RuleClass::exact},
    {"if-impossible", RuleClass::exact},
    {"slices-to-split", RuleClass::exact},
};

bool listed(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool wanted(std::string_view name, RuleClass c, const SimplifyOptions& o) {
  if (o.exact && c != RuleClass::exact) return false;
  if (!o.fold && name.starts_with("fold")) return false;
  if (!o.only.empty() && !listed(o.only, name)) return false;
  return !listed(o.skip, name);
}

void check_names(const SimplifyOptions& o) {
  const auto all = rule_list();
  for (const auto* list : {&o.skip, &o.only})
    for (const std::string& name : *list)
      if (std::none_of(all.begin(), all.end(), [&](const RuleInfo& r) { return r.name == name; }))
        throw error("use.rule", cat("there is no rule '", name, "'")).help("cameo simplify --list-rules lists them");
}

int64_t target_opset(const Model& m, const SimplifyOptions& o) {
  if (o.opset) return o.opset;
  const auto it = m.opsets.find("");
  return it == m.opsets.end() ? newest_released_opset : it->second;
}

void freeze(Graph& g) {
  for (size_t i = g[g.main()].inputs.size(); i-- > 0;) {
    const ValueId v = g[g.main()].inputs[i];
    if (!g[v].weight) continue;
    const std::string name = g[v].name;
    const ValueId fixed = g.add_initializer(g.main(), "", g[v].weight);
    g.replace_uses(v, fixed);
    g.label(v).name.clear();
    g.remove_region_input(g.main(), i);
    g.rename(fixed, name);
  }
}

// Engines are not asked to run on nothing: without this, hardly a Reshape could be proved to be one.
void assume_sizes(Model& m) {
  Graph& g = m.graph;
  std::vector<Dim> empty;
  for (const auto& [key, text] : m.metadata)
    if (key == empty_sizes_key)
      for (const SizeRelation& r : split_conditions(g.dims(), text)) empty.push_back(r.b);
  for (const ValueId v : g[g.main()].inputs)
    if (g[v].fact.has_rank())
      for (const Dim d : Shape(g[v].fact.shape()))
        for (const Dim symbol : symbols_of(d))
          if (std::find(empty.begin(), empty.end(), symbol) == empty.end())
            g.facts.assume_range(symbol, 1, std::nullopt,
                                 {FactSource::convention, "sizes of inputs are at least 1", {}});
}

struct Chosen {
  std::vector<const Rule*> early, all;
};

Chosen choose(const SimplifyOptions& o) {
  Chosen out;
  for (const Rule& r : all_rules()) {
    if (!wanted(r.name, r.exactness, o) || (!o.fuse && !r.makes.empty())) continue;
    if (!r.late) out.early.push_back(&r);
    out.all.push_back(&r);
  }
  return out;
}

class Simplifier {
 public:
  Simplifier(Model& m, const SimplifyOptions& o) : m_(m), o_(o), chosen_(choose(o)), opset_(target_opset(m, o)) {}

  SimplifyResult run() {
    if (o_.freeze_initializers) freeze(m_.graph);
    if (!o_.sizes_may_be_zero) assume_sizes(m_);
    constexpr size_t most_rounds = 12;
    bool late = false, changed = true;
    for (size_t left = most_rounds; left-- > 0;) {
      if (changed) look();
      if (result_.rounds == 0 && o_.before) o_.before(m_);
      ++result_.rounds;
      changed = round(late ? chosen_.all : chosen_.early) > 0;
      if (changed) continue;
      if (late) break;
      if (decide()) {
        changed = true;
        left = most_rounds;
      } else late = true;
    }
    remove_dead_code(m_.graph);
    drop_uncalled(m_);
    return std::move(result_);
  }

 private:
  // Types of everything, and which nodes rules may look at.
  void look() {
    judged_ = judge(m_);
    refuse_certain(m_, judged_);  // simpler shapes may show what could not be seen before
    if (result_.rounds == 0) result_.warnings = warnings_of(m_, judged_);
  }

  RewriterOptions engine_options(const std::vector<const Rule*>& rules) const {
    RewriterOptions how;
    how.opset = opset_;
    how.rules = &rules;
    how.veto = &o_.veto;
    how.limit = o_.limit;
    how.keep_misses = o_.keep_misses;
    how.unroll = o_.unroll;
    how.exact = o_.exact;
    how.judged = &judged_;
    return how;
  }

  // One branch that is never taken; how many there may be does not count as rounds.
  bool decide() {
    if (!o_.try_branches || !wanted("if-impossible", RuleClass::exact, o_)) return false;
    const RewriterOptions how = engine_options(chosen_.early);
    Rewriter rewriter(m_.graph, how);
    rewriter.ledger = std::move(result_.ledger);
    const bool found = decide_by_trial(m_, rewriter) > 0;
    result_.ledger = std::move(rewriter.ledger);
    return found;
  }

  size_t round(const std::vector<const Rule*>& rules) {
    const RewriterOptions how = engine_options(rules);
    Rewriter rewriter(m_.graph, how);
    rewriter.ledger = std::move(result_.ledger);
    rewriter.spare_bytes = spare_bytes_;
    const size_t before = rewriter.ledger.size();
    rewriter.push_all();
    rewriter.run();
    while (passes_once(rewriter)) rewriter.run();
    spare_bytes_ = rewriter.spare_bytes;
    result_.ledger = std::move(rewriter.ledger);
    result_.misses = std::move(rewriter.misses);  // those of the last round stand
    return result_.ledger.size() - before;
  }

  size_t passes_once(Rewriter& e) {
    size_t applied = 0;
    if (wanted("equal-weights", RuleClass::exact, o_)) applied += merge_equal_weights(m_.graph, e);
    if (wanted("common-subexpression", RuleClass::exact, o_)) applied += merge_equal_nodes(m_.graph, e);
    if (wanted("slices-to-split", RuleClass::exact, o_)) applied += split_slices(m_.graph, e);
    return applied;
  }

  Model& m_;
  const SimplifyOptions& o_;
  Chosen chosen_;
  int64_t opset_;
  int64_t spare_bytes_ = 0;
  Soundness judged_;
  SimplifyResult result_;
};

}  // namespace

std::vector<RuleInfo> rule_list() {
  std::vector<RuleInfo> out(std::begin(passes), std::end(passes));
  for (const Rule& r : all_rules()) out.push_back({r.name, r.exactness});
  std::sort(out.begin(), out.end(), [](const RuleInfo& a, const RuleInfo& b) { return a.name < b.name; });
  return out;
}

SimplifyResult simplify(Model& m, const SimplifyOptions& options) {
  check_names(options);
  return Simplifier(m, options).run();
}

}  // namespace cameo::passes
