#include "api/lint/judge.h"

#include <algorithm>
#include <set>

#include "support/budget.h"
#include "support/error.h"

namespace cameo::linting {

namespace {

using support::cat;

class Judge {
 public:
  Judge(const FileModel& file, const Target& target, const Version& version, const Report& report)
      : target_(target), report_(report), subject_{file, nullptr, version} {
    for (const Target* t : {&target, &all_targets().at("any")})
      for (const Row& r : t->rows) (is_about_nodes(r) ? node_rows_ : model_rows_).push_back({t, &r});
  }

  void run() {
    for (const auto& [owner, row] : model_rows_)
      if (holds(*row, subject_)) add(*owner, *row);
    for (const FileNode& n : subject_.file.nodes) {
      support::checkpoint();
      subject_.node = &n;
      if (is_folded(n)) continue;
      bool failed = false;
      for (const auto& [owner, row] : node_rows_)
        if (holds(*row, subject_)) failed |= row->severity == Severity::error, add(*owner, *row);
      if (!failed) measured(n);
    }
  }

 private:
  struct Owned {
    const Target* owner;
    const Row* row;
  };

  void add(const Target& owner, const Row& row) {
    const auto source = owner.sources.find(row.source);
    Found f{row.severity, row.name, subject_.node, row.what, row.source, cure_of(row.cure)};
    if (source != owner.sources.end()) f.source = source->second;
    if (row.source == "measured") f.source = measured_source();
    if (const size_t at = f.what.find("{op}"); at != f.what.npos && subject_.node)
      f.what.replace(at, 4, subject_.node->op);
    report_(std::move(f));
  }

  std::string measured_source() const {
    return cat("measured with ", target_.title, " ", target_.facts.version, ", ", target_.facts.date);
  }

  // What was tried with the engine itself, operator by operator.
  void measured(const FileNode& n) {
    if (!n.domain.empty() || !n.schema) return;
    const OperatorFacts* facts = target_.facts.find(n.op, n.since());
    if (!facts) return void(form_fails(n));
    if (facts->unsupported)
      return report_({Severity::error, "operator", &n, cat(target_.title, " does not support ", n.op),
                      measured_source(), cure_of("expand")});
    if (form_fails(n)) return;
    std::set<std::string> told;
    const auto look = [&](const ops::Formal* f, ValueId v) {
      if (!f || f->type_var < 0 || !v) return;
      const Type& type = subject_.graph()[v].fact.type;
      if (!type.is_tensor() || type.elem == DType::undefined) return;
      const auto tried = facts->by_type.find(n.schema->types[static_cast<size_t>(f->type_var)].name);
      if (tried == facts->by_type.end() || !tried->second.no.contains(name(type.elem))) return;
      if (!told.insert(std::string(name(type.elem))).second) return;
      report_({Severity::error, "type", &n, cat(target_.title, " does not support ", n.op, " on ", name(type.elem)),
               measured_source(), cure_of("widen")});
    };
    for (size_t i = 0; i < n.inputs.size(); ++i) look(n.schema->input(i), n.inputs[i]);
    for (size_t i = 0; i < n.outputs.size(); ++i) look(n.schema->output(i), n.outputs[i]);
  }

  // Forms of an operator that were tried: with these ranks, axes, attributes, constants.
  bool form_fails(const FileNode& n) {
    const auto forms = target_.facts.forms.find(n.op);
    if (forms == target_.facts.forms.end() || is_computed_ahead(n)) return false;
    for (const Row& form : forms->second) {
      if (!holds(form, subject_)) continue;
      report_({Severity::error, "form", &n, cat(target_.title, " does not take ", n.op, " in this form: ", form.when),
               measured_source(), cure_of("expand")});
      return true;
    }
    return false;
  }

  // A converter computes what depends on constants and on sizes only: the engine never meets it.
  bool is_folded(const FileNode& n) {
    if (!target_.wants.contains("constants") || n.depth || n.op.starts_with("Random") || n.op == "Bernoulli")
      return false;
    const ir::Graph& g = subject_.graph();
    const bool all = n.op == "Shape" || n.op == "Size" || std::all_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) {
                       return !v || is_given(g, v) || folded_.contains(v);
                     });
    if (all) folded_.insert(n.outputs.begin(), n.outputs.end());
    return all;
  }

  // Engines compute constants and sizes before the model runs.
  bool is_computed_ahead(const FileNode& n) const {
    const ir::Graph& g = subject_.graph();
    return std::all_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) {
      return !v || is_given(g, v) || g[v].fact.tensor() || g[v].fact.dtype() == DType::i64;
    });
  }

  const Target& target_;
  const Report& report_;
  Subject subject_;
  std::vector<Owned> node_rows_, model_rows_;
  std::set<ValueId> folded_;
};

}  // namespace

void judge(const FileModel& file, const Target& target, const Version& version, const Report& report) {
  Judge(file, target, version, report).run();
}

}  // namespace cameo::linting
