// include/cameo/lint.h: reports for people, programs and code scanning.
#include <algorithm>
#include <map>

#include "support/ascii.h"
#include "support/error.h"

#include "cameo/json.h"
#include "cameo/lint.h"
#include "cameo/version.h"

namespace cameo {

namespace {

using support::cat;

constexpr size_t most_named = 5;  // nodes of one rule

std::string_view word(Severity s) {
  return s == Severity::error ? "error" : s == Severity::warning ? "warning" : "note";
}

// Rule and words, which may differ by operator and type.
using Key = std::pair<std::string, std::string>;

// Which version of its target a finding is about, where several were asked for: " (tensorrt:8.6)".
std::string of_version(const LintReport& report, const LintFinding& f) {
  const auto same = std::count_if(report.targets.begin(), report.targets.end(),
                                  [&](const LintTarget& t) { return t.name == f.target; });
  return same > 1 ? cat(" (", f.target, ":", f.version, ")") : "";
}

// A path as a URI reference.
std::string as_uri(const std::string& path) {
  constexpr std::string_view plain = "-._~/", digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && ascii::is_alnum(byte)) || plain.find(c) != plain.npos) out += c;
    else out += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

std::string named(const LintFinding& f) { return f.node.empty() ? f.op : cat(f.op, " '", f.node, "'"); }

}  // namespace

std::vector<Diag> findings_of(const LintReport& report, const std::string& file) {
  std::vector<Key> order;
  std::map<Key, std::vector<const LintFinding*>> groups;
  for (const LintFinding& f : report.findings) {
    const Key key{f.rule, f.what + of_version(report, f)};
    auto& group = groups[key];
    if (group.empty()) order.push_back(key);
    group.push_back(&f);
  }
  std::vector<Diag> out;
  for (const Key& key : order) {
    const auto& group = groups[key];
    const LintFinding& first = *group[0];
    Diag d;
    d.severity = first.severity;
    d.code = cat("lint.", first.rule);
    d.what = key.second;
    if (!first.op.empty()) {
      d.what += cat(": ", named(first));
      for (size_t i = 1; i < group.size() && i < most_named; ++i) d.what += cat(", ", named(*group[i]));
      if (group.size() > most_named) d.what += cat(" and ", group.size() - most_named, " more");
    }
    d.because = first.source;
    d.hint = first.cure;
    d.where.file = file.empty() ? first.where.file : file;
    out.push_back(std::move(d));
  }
  return out;
}

std::string to_json(const LintReport& report, const std::string& file) {
  json::Writer w;
  w.object().key("file").value(file).key("targets").array();
  for (const LintTarget& t : report.targets)
    w.object().key("name").value(t.name).key("version").value(t.version).key("title").value(t.title).end();
  w.end().key("errors").value(uint64_t{report.count(Severity::error)});
  w.key("warnings").value(uint64_t{report.count(Severity::warning)});
  w.key("notes").value(uint64_t{report.count(Severity::note)});
  w.key("ignored").value(uint64_t{report.ignored}).key("findings").array();
  for (const LintFinding& f : report.findings) {
    w.object().key("severity").value(word(f.severity)).key("target").value(f.target).key("version").value(f.version);
    w.key("rule").value(f.rule);
    w.key("node").value(f.node).key("op").value(f.op).key("what").value(f.what).key("source").value(f.source);
    w.key("cure").value(f.cure).key("fixable").value(f.fixable);
    if (f.where.line) w.key("place").value(f.where.describe());
    w.end();
  }
  return w.end().end().text();
}

std::string to_sarif(const LintReport& report, const std::string& file) {
  json::Writer w;
  w.object().key("$schema").value("https://json.schemastore.org/sarif-2.1.0.json").key("version").value("2.1.0");
  w.key("runs").array().object().key("tool").object().key("driver").object();
  w.key("name").value("cameo lint").key("version").value(version).key("rules").array();
  std::map<std::string, const LintFinding*> rules;
  for (const LintFinding& f : report.findings) rules.emplace(f.rule, &f);
  for (const auto& [id, f] : rules) {
    w.object().key("id").value(id).key("shortDescription").object().key("text").value(f->what).end();
    if (f->source.starts_with("https://")) w.key("helpUri").value(f->source);
    w.key("defaultConfiguration").object().key("level").value(word(f->severity)).end().end();
  }
  w.end().end().end().key("results").array();
  for (const LintFinding& f : report.findings) {
    const std::string text = cat(f.op.empty() ? "" : cat(named(f), ": "), f.what, of_version(report, f),
                                 f.cure.empty() ? "" : cat(". Cure: ", f.cure));
    w.object().key("ruleId").value(f.rule).key("level").value(word(f.severity));
    w.key("message").object().key("text").value(text).end().key("locations").array().object();
    w.key("physicalLocation").object().key("artifactLocation").object().key("uri").value(as_uri(file)).end();
    w.key("region").object().key("startLine").value(1).end().end();  // a model has none, code scanning wants one
    if (!f.op.empty())
      w.key("logicalLocations").array().object().key("name").value(f.node).key("kind").value(f.op).end().end();
    w.end().end().end();
  }
  return w.end().end().end().end().text();
}

}  // namespace cameo
