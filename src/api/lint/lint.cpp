// include/cameo/lint.h: what a model meets on its targets.
#include <algorithm>
#include <set>

#include "ir/describe.h"
#include "runtime/watch.h"
#include "support/near_name.h"

#include "api/lint/cures.h"
#include "api/lint/fix.h"
#include "api/state.h"
#include "cameo/export.h"
#include "cameo/lint.h"

namespace cameo {

namespace {

using linting::FileModel;
using linting::FileNode;
using linting::Found;
using linting::Target;

struct Asked {
  const Target* target;
  std::string version;
};

const Target& target_called(const std::string& name) {
  const auto& all = linting::all_targets();
  if (const auto it = all.find(name); it != all.end() && name != "any") return it->second;
  std::vector<std::string_view> names;
  for (const auto& [n, t] : all)
    if (n != "any") names.push_back(n);
  std::string list;
  for (const auto n : names) list += cat(list.empty() ? "" : ", ", n);
  const auto near = support::nearest(name, names);
  throw error("use.target", cat("unknown target '", name, "'"))
      .help(near.empty() ? cat("there are ", list, ", and all") : cat("did you mean ", near, "?"));
}

std::vector<Asked> targets_of(const std::vector<std::string>& names) {
  std::vector<Asked> out;
  for (const std::string& given : names) {
    if (given == "all") {
      for (const auto& [name, t] : linting::all_targets())
        if (name != "any") out.push_back({&t, t.version});
      continue;
    }
    const size_t colon = given.find(':');
    const Target& t = target_called(given.substr(0, colon));
    out.push_back({&t, colon == given.npos ? t.version : given.substr(colon + 1)});
    if (out.back().version.find_first_not_of("0123456789.") != std::string::npos || out.back().version.empty())
      throw error("use.target", cat("'", out.back().version, "' is not a version of ", t.title))
          .help(cat("write ", t.name, ":", t.version));
  }
  if (out.empty()) throw error("use.target", "no target is given").help("tensorrt, openvino, all, ...");
  return out;
}

// "RULE", "RULE@NODE"; the target may be left out of the rule. Nothing means everything.
class Ignored {
 public:
  explicit Ignored(const std::vector<std::string>& patterns) : patterns_(patterns) {}
  void add(const std::string& list) {
    const auto words = linting::words_of(list, ", \t\n\r");
    patterns_.insert(patterns_.end(), words.begin(), words.end());
    if (words.empty()) patterns_.emplace_back("*");
  }
  bool has(const std::string& rule, const std::string& node) const {
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& p) {
      const size_t at = p.find('@');
      const std::string wanted = p.substr(0, at);
      if (!runtime::matches(rule, wanted) && !runtime::matches(rule.substr(rule.find('.') + 1), wanted)) return false;
      return at == p.npos || runtime::matches(node, p.substr(at + 1));
    });
  }

 private:
  std::vector<std::string> patterns_;
};

// A pattern of the caller's that no rule of any target has is a slip of the pen. Those in files may be newer than we
// are.
void check_known(const std::vector<std::string>& patterns) {
  std::set<std::string> rules{"operator", "type", "form"};
  for (const auto& [name, t] : linting::all_targets())
    for (const linting::Row& r : t.rows) rules.insert(r.name);
  for (const std::string& p : patterns) {
    const std::string whole = p.substr(0, p.find('@'));
    const bool known = std::any_of(rules.begin(), rules.end(), [&](const std::string& rule) {
      return runtime::matches(rule, whole) ||
             std::any_of(linting::all_targets().begin(), linting::all_targets().end(),
                         [&](const auto& t) { return runtime::matches(cat(t.first, ".", rule), whole); });
    });
    if (known) continue;
    const std::vector<std::string_view> names(rules.begin(), rules.end());
    const auto near = support::nearest(whole.substr(whole.find('.') + 1), names);
    throw error("use.rule", cat("no rule is called '", whole, "'"))
        .help(near.empty() ? "cameo lint --list-rules has them all" : cat("did you mean ", near, "?"));
  }
}

bool is_ignore_key(std::string_view key) {
  return key == "cameo: ignore" || key == "cameo:ignore" || key == "cameo.ignore";
}

bool node_ignores(const ir::Node& n, const std::string& rule, const std::string& name) {
  if (!n.notes) return false;
  Ignored own({});
  bool any = false;
  for (const auto& [key, value] : n.notes->metadata)
    if (is_ignore_key(key)) own.add(value), any = true;
  if (const size_t at = n.notes->doc.find("cameo: ignore"); at != std::string::npos) {
    const size_t end = n.notes->doc.find('\n', at);
    own.add(n.notes->doc.substr(at + 13, end == std::string::npos ? end : end - at - 13)), any = true;
  }
  return any && own.has(rule, name);
}

std::string node_name(const ir::Graph& g, const FileNode& n) {
  if (!g[n.id].name.empty()) return g[n.id].name;
  for (const auto v : n.outputs)
    if (v && !g[v].name.empty()) return g[v].name;
  return "";
}

LintFinding finding_of(const Found& f, const Asked& asked, const ir::Graph& g) {
  const Target& t = *asked.target;
  LintFinding out;
  out.severity = f.severity;
  out.target = t.name;
  out.version = asked.version;
  out.rule = cat(t.name, ".", f.rule);
  if (f.node) {
    out.node = node_name(g, *f.node);
    out.op = f.node->domain.empty() ? f.node->op : cat(f.node->domain, "::", f.node->op);
    out.where = ir::place(g, f.node->id);
  }
  out.what = f.what;
  out.source = f.source;
  out.cure = linting::command_text(f.cure, t.name, out.node, out.op);
  out.fixable = linting::is_fixable(f.cure);
  return out;
}

// Calls `report` with all that the targets find, and whether it is to be left out.
template <class F>
void each_finding(const FileModel& file, const std::vector<Asked>& targets, const std::vector<std::string>& ignore,
                  F report) {
  check_known(ignore);
  Ignored ignored(ignore);
  for (const auto& [key, value] : file.model.metadata)
    if (is_ignore_key(key)) ignored.add(value);
  const ir::Graph& g = file.model.graph;
  for (const Asked& asked : targets)
    linting::judge(file, *asked.target, linting::version_of(asked.version), [&](Found f) {
      const std::string rule = cat(asked.target->name, ".", f.rule), node = f.node ? node_name(g, *f.node) : "";
      const bool left_out = ignored.has(rule, node) || (f.node && node_ignores(g[f.node->id], rule, node));
      report(asked, std::move(f), left_out);
    });
}

LintReport report_on(const FileModel& file, const std::string& path, const LintSettings& settings) {
  LintReport out;
  const auto targets = targets_of(settings.targets);
  for (const Asked& a : targets) out.targets.push_back({a.target->name, a.version, a.target->title});
  each_finding(file, targets, settings.ignore, [&](const Asked& asked, const Found& f, bool left_out) {
    if (left_out) return void(++out.ignored);
    out.findings.push_back(finding_of(f, asked, file.model.graph));
    if (Loc& where = out.findings.back().where; where.file.empty()) where.file = path;
  });
  return out;
}

}  // namespace

size_t LintReport::count(Severity severity) const {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(), [&](const LintFinding& f) { return f.severity == severity; }));
}

Model linting::exported_if_archive(const cameo::Model& model) {
  return model.is_archive() ? export_model(model).model : model;
}

linting::Diagnosis linting::diagnose(const cameo::Model& model, const LintFixSettings& settings) {
  const ModelState& s = ModelState::of(model);
  Diagnosis out{file_model(s.model, opset_of(s)), {}};
  each_finding(out.file, targets_of(settings.targets), settings.ignore,
               [&](const Asked& asked, Found f, bool left_out) {
                 if (!left_out) out.all.push_back({std::move(f), asked.target});
               });
  return out;
}

LintReport lint(const Model& model, const LintSettings& settings) {
  targets_of(settings.targets);  // before the work
  const Model exported = linting::exported_if_archive(model);
  const ModelState& s = ModelState::of(exported);
  return report_on(linting::file_model(s.model, opset_of(s)), s.path, settings);
}

std::vector<LintTarget> lint_targets() {
  std::vector<LintTarget> out;
  for (const auto& [name, t] : linting::all_targets())
    if (name != "any") out.push_back({name, t.version, t.title});
  return out;
}

std::vector<LintRule> lint_rules(const std::vector<std::string>& targets) {
  std::vector<LintRule> out;
  std::vector<Asked> all = targets_of(targets);
  all.push_back({&linting::all_targets().at("any"), ""});
  for (const Asked& a : all)
    for (const linting::Row& r : a.target->rows) {
      const auto source = a.target->sources.find(r.source);
      out.push_back({cat(a.target->name, ".", r.name), r.when, r.what,
                     source == a.target->sources.end() ? r.source : source->second,
                     linting::command_text(linting::cure_of(r.cure), a.target->name, "NODE", "OP"), r.severity});
    }
  return out;
}

}  // namespace cameo
