#include "api/lint/target_file.h"

#include <charconv>

#include "support/error.h"

namespace cameo::linting {

namespace {

using support::Bug;
using support::cat;

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

std::vector<std::string_view> split(std::string_view s, std::string_view at) {
  std::vector<std::string_view> out;
  for (size_t end; (end = s.find(at)) != s.npos; s.remove_prefix(end + at.size()))
    out.push_back(trimmed(s.substr(0, end)));
  out.push_back(trimmed(s));
  return out;
}

std::vector<std::string> words_of(std::string_view s) {
  std::vector<std::string> out;
  for (const std::string_view w : split(s, " "))
    if (!w.empty()) out.emplace_back(w);
  return out;
}

[[noreturn]] void wrong(std::string_view line, std::string_view why) {
  throw Bug("bug.invariant", cat("a row of a lint target: ", why, ": ", line));
}

Severity severity_of(std::string_view word, std::string_view line) {
  if (word == "error") return Severity::error;
  if (word == "warning") return Severity::warning;
  if (word == "note") return Severity::note;
  wrong(line, "no such severity");
}

Term term_of(std::string_view text, std::string_view line) {
  Term out;
  out.words = words_of(text);
  if (!out.words.empty() && out.words[0] == "not") out.negated = true, out.words.erase(out.words.begin());
  if (out.words.empty()) wrong(line, "an empty condition");
  out.keyword = out.words[0];
  out.words.erase(out.words.begin());
  return out;
}

std::vector<Term> terms_of(std::string_view when, std::string_view line) {
  std::vector<Term> out;
  for (const std::string_view term : split(when, ";")) out.push_back(term_of(term, line));
  return out;
}

// name | severity | when | what | source | cure
Row row_of(std::string_view line) {
  const auto cells = split(line, " | ");
  if (cells.size() != 6) wrong(line, "it has six cells");
  Row out;
  out.name = cells[0];
  out.severity = severity_of(cells[1], line);
  out.when = cells[2];
  out.terms = terms_of(cells[2], line);
  out.what = cells[3];
  out.source = cells[4];
  out.cure = cells[5] == "-" ? "" : cells[5];
  return out;
}

template <class F>
void each_line(std::string_view text, F look) {
  for (const std::string_view line : split(text, "\n"))
    if (!line.empty() && line[0] != '#') look(line);
}

std::pair<std::string_view, std::string_view> first_word(std::string_view s) {
  const size_t space = s.find(' ');
  return space == s.npos ? std::pair(s, std::string_view()) : std::pair(s.substr(0, space), trimmed(s.substr(space)));
}

void read_rows(std::string_view text, Target& out) {
  each_line(text, [&](std::string_view line) {
    const auto [word, rest] = first_word(line);
    if (word == "title") out.title = rest;
    else if (word == "version") out.version = rest;
    else if (word == "source") {
      const auto [key, address] = first_word(rest);
      out.sources[std::string(key)] = address;
    } else if (word == "wants") {
      const auto [key, words] = first_word(rest);
      out.wants[std::string(key)] = words_of(words);
    } else out.rows.push_back(row_of(line));
  });
}

// Abs 13 T yes f32 f64 no i8
void read_fact(std::string_view line, Facts& out) {
  const auto words = words_of(line);
  int since = 0;
  if (words.size() < 3 || std::from_chars(words[1].data(), words[1].data() + words[1].size(), since).ec != std::errc())
    wrong(line, "a fact is an operator, a version, a type variable and types");
  OperatorFacts& op = out.operators[words[0]][since];
  if (words[2] == "none") return void(op.unsupported = true);
  TriedTypes& types = op.by_type[words[2]];
  std::set<std::string, std::less<>>* into = &types.yes;
  for (size_t i = 3; i < words.size(); ++i) {
    if (words[i] == "yes") into = &types.yes;
    else if (words[i] == "no") into = &types.no;
    else into->insert(words[i]);
  }
}

// when Softmax in 0 rank = 5; axis = 1
void read_form(std::string_view text, std::string_view line, Facts& out) {
  const auto [op, when] = first_word(text);
  Row& row = out.forms[std::string(op)].emplace_back();
  row.name = "form";
  row.when = when;
  row.terms = terms_of(when, line);
}

void read_facts(std::string_view text, Facts& out) {
  each_line(text, [&](std::string_view line) {
    const auto [word, rest] = first_word(line);
    if (word == "engine") {
      const auto words = words_of(rest);
      if (words.size() != 2) wrong(line, "an engine has a version and a date");
      out.version = words[0];
      out.date = words[1];
    } else if (word == "when") read_form(rest, line, out);
    else read_fact(line, out);
  });
}

std::map<std::string, Target, std::less<>> read_all() {
  std::map<std::string, std::pair<std::string_view, std::string_view>> texts;
  for (const EmbeddedFile& f : embedded_files()) {
    const size_t slash = f.name.find('/');
    auto& both = texts[std::string(f.name.substr(slash + 1, f.name.size() - slash - 5))];
    (f.name.starts_with("facts/") ? both.second : both.first) = f.text;
  }
  std::map<std::string, Target, std::less<>> out;
  for (const auto& [name, both] : texts) {
    Target& t = out[name] = read_target(both.first, both.second);
    t.name = name;
  }
  return out;
}

}  // namespace

Version version_of(std::string_view text) {
  Version out;
  for (const std::string_view part : split(text, ".")) {
    int n = 0;
    std::from_chars(part.data(), part.data() + part.size(), n);
    out.push_back(n);
  }
  return out;
}

int compare(const Version& a, const Version& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

const OperatorFacts* Facts::find(std::string_view op, int since) const {
  const auto it = operators.find(op);
  if (it == operators.end()) return nullptr;
  const auto after = it->second.upper_bound(since);
  if (after != it->second.begin()) return &std::prev(after)->second;
  return after->second.unsupported ? nullptr : &after->second;  // a new version may be what is not supported
}

Target read_target(std::string_view rows, std::string_view facts) {
  Target out;
  read_rows(rows, out);
  read_facts(facts, out.facts);
  return out;
}

const std::map<std::string, Target, std::less<>>& all_targets() {
  static const auto all = read_all();
  return all;
}

}  // namespace cameo::linting
