#include "staging/export/assumptions.h"

#include <algorithm>

namespace cameo::staging {

namespace {

std::string names_of(const Graph& g) {
  std::string out;
  for (const ValueId v : g[g.main()].inputs)
    if (g[v].fact.has_rank())
      for (const Dim d : g[v].fact.shape())
        for (const Dim s : symbols_of(d))
          if (!is_fresh(s) && cat(", ", out, ", ").find(cat(", ", symbol_name(s), ", ")) == std::string::npos)
            out += cat(out.empty() ? "" : ", ", symbol_name(s));
  return out;
}

// Whether the inputs' shapes decide the condition.
bool decided_by_inputs(const Graph& g, const SizeRelation& c) {
  Dims named;
  for (const ValueId v : g[g.main()].inputs)
    if (g[v].fact.has_rank())
      for (const Dim d : g[v].fact.shape())
        if (d.is_symbol()) named.push_back(d);
  const auto known = [&](Dim symbol) { return std::find(named.begin(), named.end(), symbol) != named.end(); };
  const auto a = symbols_of(c.a), b = symbols_of(c.b);
  return std::all_of(a.begin(), a.end(), known) && std::all_of(b.begin(), b.end(), known);
}

}  // namespace

std::vector<Machine::Check> checks_of_guesses(Machine& s) {
  std::vector<Machine::Check> out;
  for (const Lower::Guess& g : s.on.guesses) {
    if (decided_by_inputs(s.graph, g.condition)) continue;
    if (!s.on.available(g.condition.a))
      throw error("stage.guess", cat(g.because, " where ", g.condition.a.text(), " is ", g.condition.b.text(),
                                     ", and one model cannot do that and the other case"))
          .at(g.where)
          .why("only the turns of a loop or one side of a branch know that size")
          .help("name the axis or the rank: squeeze(1), reshape(-1)");
    // As floats: as sizes the comparison would be decided by what was guessed.
    const V size = s.on.to(s.on.int_scalar(g.condition.a), DType::f64);
    const V is = s.on.Equal(size, s.on.to(s.on.int_scalar(g.condition.b), DType::f64));
    out.push_back({s.on.Not(is), cat("assumed that ", g.condition.text())});
  }
  return out;
}

namespace {
std::vector<SizeRelation> conditions_in(DimContext& names, const std::string& text) {
  try {
    return parse_conditions(names, text);
  } catch (const Error& e) {
    throw error("use.assume", cat("--assume '", text, "' is no condition: ", e.diag().what))
        .help("write it like 't != 1' or '2 <= t <= 64'");
  }
}
}  // namespace

void take_assumptions(Machine& s) {
  for (const std::string& text : s.options.assumptions) {
    DimContext names;
    for (const SizeRelation& c : conditions_in(names, text))
      for (const Dim d : {c.a, c.b})
        for (const Dim symbol : symbols_of(d))
          if (!s.graph.dims().has_symbol(symbol_name(symbol))) {
            const std::string there = names_of(s.graph);
            throw error("use.assume",
                        cat("--assume '", text, "': no input has a size named '", symbol_name(symbol), "'"))
                .help(there.empty() ? "all sizes are numbers" : cat("there are: ", there));
          }
    for (const SizeRelation& c : parse_conditions(s.graph.dims(), text))
      if (c.assume(s.graph.facts, {FactSource::user, "--assume", {}}) == Answer::no)
        throw error("use.assume", cat("--assume '", text, "' contradicts what is known of the sizes"));
  }
}

void tell_assumptions(Machine& s) {
  std::vector<SizeRelation> all;
  const auto add = [&](const SizeRelation& c) {
    if (std::any_of(all.begin(), all.end(),
                    [&](const SizeRelation& o) { return o.is == c.is && o.a == c.a && o.b == c.b; }))
      return false;
    all.push_back(c);
    return true;
  };
  for (const std::string& text : s.options.assumptions)
    for (const SizeRelation& c : parse_conditions(s.graph.dims(), text)) add(c);
  for (const Lower::Guess& g : s.on.guesses)
    if (add(g.condition)) {
      Diag& d =
          s.sink().warn("stage.assumed", cat("assumed that ", g.condition.text(), ": otherwise ", g.because), g.where);
      d.hint = decided_by_inputs(s.graph, g.condition)
                   ? cat("--assume '", g.condition.text(), "' if that is so; --no-assume makes it an error")
                   : "runs fail where it does not hold; --no-assume makes it an error";
    }
  if (!all.empty()) s.model.metadata.emplace_back(assumptions_key, joined_text(all));
  std::vector<SizeRelation> empty;
  for (const DimFact& f : s.graph.facts.all())
    if (f.kind == DimFact::Kind::range && f.origin.source == FactSource::user && f.a.is_symbol() && f.lo && *f.lo == 0)
      empty.push_back({SizeRelation::Is::less_equal, Dim(0), f.a});
  if (!empty.empty()) s.model.metadata.emplace_back(empty_sizes_key, joined_text(empty));
}

void rename_assumptions(Model& m, const std::vector<std::pair<std::string, std::string>>& from_to) {
  for (auto& [key, text] : m.metadata) {
    if (from_to.empty() || (key != assumptions_key && key != empty_sizes_key)) continue;
    DimContext names;
    std::vector<SizeRelation> all = split_conditions(names, text);
    std::vector<Substitution> map;
    for (const auto& [from, to] : from_to) map.push_back({names.symbol(from), names.symbol(to)});
    for (SizeRelation& c : all) c.a = substitute(c.a, map), c.b = substitute(c.b, map);
    text = joined_text(all);
  }
}

}  // namespace cameo::staging
