#include "ops/text/regex.h"

#include <algorithm>

#include "ops/text/regex_parser.h"
#include "ops/text/utf8.h"

namespace cameo::ops {

Regex::Regex(std::string_view pattern) { RegexParser(pattern, *this).compile(); }

bool Regex::CharSet::has(char32_t c) const {
  return std::any_of(ranges.begin(), ranges.end(), [c](const auto& r) { return c >= r.first && c <= r.second; });
}

namespace {

bool is_word(const std::vector<char32_t>& text, size_t i) {
  if (i >= text.size()) return false;
  const char32_t c = text[i];
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
}

bool holds(Regex::Step::Kind kind, const std::vector<char32_t>& text, size_t at) {
  const bool edge = (at > 0 && is_word(text, at - 1)) != is_word(text, at);
  switch (kind) {
    case Regex::Step::text_begin: return at == 0;
    case Regex::Step::text_end: return at == text.size();
    case Regex::Step::line_begin: return at == 0 || text[at - 1] == '\n';
    case Regex::Step::line_end: return at == text.size() || text[at] == '\n';
    case Regex::Step::word_edge: return edge;
    default: return !edge;
  }
}

// The steps a match may stand at, each once.
class Threads {
 public:
  explicit Threads(size_t steps) : seen_(steps, 0) {}

  void restart() {
    list.clear();
    ++round_;
  }
  // Follows all steps that read nothing.
  void add(const std::vector<Regex::Step>& steps, uint32_t first, const std::vector<char32_t>& text, size_t at) {
    todo_.push_back(first);
    while (!todo_.empty()) {
      const uint32_t i = todo_.back();
      todo_.pop_back();
      if (seen_[i] == round_) continue;
      seen_[i] = round_;
      const Regex::Step& s = steps[i];
      switch (s.kind) {
        case Regex::Step::set:
        case Regex::Step::accept: list.push_back(i); break;
        case Regex::Step::jump: todo_.push_back(s.a); break;
        case Regex::Step::fork: todo_.push_back(s.b), todo_.push_back(s.a); break;
        default:
          if (holds(s.kind, text, at)) todo_.push_back(i + 1);
      }
    }
  }
  std::vector<uint32_t> list;

 private:
  std::vector<uint32_t> seen_, todo_;
  uint32_t round_ = 0;
};

}  // namespace

bool Regex::matches_all_of(std::string_view text) const {
  const auto points = code_points(text);
  Threads now(steps_.size()), next(steps_.size());
  now.restart();
  now.add(steps_, 0, points, 0);
  for (size_t at = 0; at < points.size() && !now.list.empty(); ++at) {
    next.restart();
    const char32_t c = points[at];
    for (const uint32_t i : now.list) {
      if (steps_[i].kind != Step::set) continue;
      const CharSet& set = sets_[steps_[i].a];
      const bool in = set.has(c) || (steps_[i].any_case && (set.has(lower(c)) || set.has(upper(c))));
      if (in != set.negated) next.add(steps_, i + 1, points, at + 1);
    }
    std::swap(now, next);
  }
  return std::any_of(now.list.begin(), now.list.end(), [this](uint32_t i) { return steps_[i].kind == Step::accept; });
}

}  // namespace cameo::ops
