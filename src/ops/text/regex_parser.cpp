#include "ops/text/regex_parser.h"

#include <algorithm>

#include "ops/text/utf8.h"
#include "support/error.h"

namespace cameo::ops {

namespace {

constexpr size_t max_pattern = 1 << 14, max_steps = 1 << 17;
constexpr int max_depth = 200, max_repeat = 1000;  // the latter is RE2's own limit
constexpr char32_t last_code_point = 0x10ffff;

using Ranges = std::vector<std::pair<char32_t, char32_t>>;

const Ranges digits{{'0', '9'}}, words{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
    spaces{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};

struct PosixClass {
  std::string_view name;
  Ranges ranges;
};
const PosixClass posix_classes[] = {
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
    {"ascii", {{0, 0x7f}}},
    {"blank", {{'\t', '\t'}, {' ', ' '}}},
    {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
    {"digit", digits},
    {"graph", {{'!', '~'}}},
    {"lower", {{'a', 'z'}}},
    {"print", {{' ', '~'}}},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
    {"space", {{'\t', '\r'}, {' ', ' '}}},
    {"upper", {{'A', 'Z'}}},
    {"word", words},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
};

Ranges complement(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end());
  Ranges out;
  char32_t next = 0;
  for (const auto& r : ranges) {
    if (r.first > next) out.emplace_back(next, r.first - 1);
    next = std::max<char32_t>(next, r.second + 1);
  }
  if (next <= last_code_point) out.emplace_back(next, last_code_point);
  return out;
}

// The set of \d, \W and the like; empty when the letter names none.
Ranges perl_class(char32_t letter) {
  switch (letter) {
    case 'd': return digits;
    case 'w': return words;
    case 's': return spaces;
    case 'D': return complement(digits);
    case 'W': return complement(words);
    case 'S': return complement(spaces);
    default: return {};
  }
}

int digit_value(char32_t c) {
  if (c >= '0' && c <= '9') return static_cast<int>(c - '0');
  const char32_t l = lower(c);
  return l >= 'a' && l <= 'f' ? static_cast<int>(l - 'a') + 10 : -1;
}

}  // namespace

RegexParser::RegexParser(std::string_view pattern, Regex& out) : out_(out) {
  if (pattern.size() > max_pattern)
    throw error("model.regex", cat("a pattern of ", pattern.size(), " bytes")).why(cat("the most is ", max_pattern));
  text_ = code_points(pattern);
}

void RegexParser::fail(std::string what) const {
  throw error("model.regex", cat(what, ", at character ", at_, " of the pattern"));
}

bool RegexParser::accept(char32_t c) {
  if (at_end() || peek() != c) return false;
  ++at_;
  return true;
}

bool RegexParser::accept(std::string_view s) {
  if (text_.size() - at_ < s.size()) return false;
  for (size_t i = 0; i < s.size(); ++i)
    if (text_[at_ + i] != static_cast<unsigned char>(s[i])) return false;
  at_ += s.size();
  return true;
}

void RegexParser::compile() {
  const Part whole = choice();
  if (!at_end()) fail("a ')' without its '('");
  write(whole);
  emit({Regex::Step::accept});
}

RegexParser::Part RegexParser::choice() {
  if (++depth_ > max_depth) fail("groups are nested too deep");
  Part all;
  all.kind = Part::choice;
  const Flags outside = flags_;
  do all.parts.push_back(sequence());
  while (accept('|'));
  flags_ = outside;
  --depth_;
  return all;
}

RegexParser::Part RegexParser::sequence() {
  Part all;
  all.kind = Part::sequence;
  while (!at_end() && peek() != '|' && peek() != ')') {
    if (accept("\\Q")) {
      while (!at_end() && !accept("\\E")) all.parts.push_back(literal(text_[at_++]));
      continue;
    }
    all.parts.push_back(repeated());
  }
  return all;
}

RegexParser::Part RegexParser::repeated() {
  Part p = atom();
  for (int times = 0;; ++times) {
    int least = 0, most = -1;
    const size_t before = at_;
    if (accept('*')) {
    } else if (accept('+')) {
      least = 1;
    } else if (accept('?')) {
      most = 1;
    } else if (!bounds(least, most)) {
      at_ = before;
      return p;
    }
    if (times > 0) fail("a repetition of a repetition");
    accept('?');  // lazy or greedy is the same when all of the text must match
    Part r;
    r.kind = Part::repeat;
    r.least = least, r.most = most;
    r.parts.push_back(std::move(p));
    p = std::move(r);
  }
}

// {2}, {2,}, {2,5}; anything else in braces is text.
bool RegexParser::bounds(int& least, int& most) {
  if (!accept('{')) return false;
  const auto number = [&](int& out) {
    bool any = false;
    out = 0;
    for (; !at_end() && peek() >= '0' && peek() <= '9'; ++at_, any = true)
      out = std::min(out * 10 + static_cast<int>(peek() - '0'), max_repeat + 1);
    return any;
  };
  if (!number(least)) return false;
  most = least;
  if (accept(',') && !number(most)) most = -1;
  if (!accept('}')) return false;
  if (least > max_repeat || most > max_repeat || (most >= 0 && most < least)) fail("a repetition count out of range");
  return true;
}

RegexParser::Part RegexParser::atom() {
  const char32_t c = text_[at_++];
  switch (c) {
    case '(': return group();
    case '[': return char_class();
    case '\\': return escape();
    case '.': return set_part({flags_.dot_all ? Ranges{} : Ranges{{'\n', '\n'}}, true});
    case '^': return assertion(flags_.multi_line ? Regex::Step::line_begin : Regex::Step::text_begin);
    case '$': return assertion(flags_.multi_line ? Regex::Step::line_end : Regex::Step::text_end);
    case '*':
    case '+':
    case '?': --at_; fail("a repetition of nothing");
    default: return literal(c);
  }
}

bool RegexParser::read_flags() {
  bool on = true;
  for (; !at_end(); ++at_) {
    switch (peek()) {
      case '-': on = false; break;
      case 'i': flags_.any_case = on; break;
      case 'm': flags_.multi_line = on; break;
      case 's': flags_.dot_all = on; break;
      case 'U': break;
      default: return true;
    }
  }
  return false;
}

RegexParser::Part RegexParser::group() {
  const Flags outside = flags_;
  if (accept('?')) {
    if (accept("P<") || accept('<')) {
      while (!at_end() && peek() != '>') ++at_;
      if (!accept('>')) fail("a group's name without its end");
    } else {
      if (!read_flags()) fail("a group without its end");
      if (accept(')')) return {};  // flags for the rest of the enclosing group
      if (!accept(':')) fail("a kind of group that is not supported");
    }
  }
  Part inside = choice();
  flags_ = outside;
  if (!accept(')')) fail("a '(' without its ')'");
  return inside;
}

RegexParser::Part RegexParser::escape() {
  if (at_end()) fail("a '\\' at the end");
  const char32_t c = text_[at_++];
  if (auto set = perl_class(c); !set.empty()) return set_part({std::move(set), false});
  switch (c) {
    case 'A': return assertion(Regex::Step::text_begin);
    case 'z': return assertion(Regex::Step::text_end);
    case 'b': return assertion(Regex::Step::word_edge);
    case 'B': return assertion(Regex::Step::no_word_edge);
    case 'C': return set_part({{}, true});
    default: return literal(escaped_char(c));
  }
}

char32_t RegexParser::escaped_char(char32_t c) {
  switch (c) {
    case 'a': return 7;
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    case 'x': return hex_char();
    default: break;
  }
  if (c >= '0' && c <= '7') {
    char32_t value = c - '0';
    for (int i = 0; i < 2 && !at_end() && peek() >= '0' && peek() <= '7'; ++i) value = value * 8 + (text_[at_++] - '0');
    if (value < 8 && c != '0') fail("a reference to a group is not supported");
    return value;
  }
  if (c < 0x80 && digit_value(c) < 0 && !(c >= 'g' && c <= 'z') && !(c >= 'G' && c <= 'Z')) return c;
  fail("an escape that is not supported");
}

char32_t RegexParser::hex_char() {
  char32_t value = 0;
  const bool braces = accept('{');
  int digits_read = 0;
  for (; !at_end() && digit_value(peek()) >= 0 && digits_read < (braces ? 8 : 2); ++digits_read)
    value = value * 16 + static_cast<char32_t>(digit_value(text_[at_++]));
  if (digits_read == 0 || (!braces && digits_read != 2) || (braces && !accept('}')) || value > last_code_point)
    fail("a malformed \\x");
  return value;
}

RegexParser::Part RegexParser::char_class() {
  Regex::CharSet set;
  set.negated = accept('^');
  bool first = true;
  while (first || at_end() || peek() != ']') {
    if (at_end()) fail("a '[' without its ']'");
    class_item(set);
    first = false;
  }
  ++at_;
  return set_part(std::move(set));
}

bool RegexParser::posix_class(Regex::CharSet& set) {
  if (!accept("[:")) return false;
  const bool negated = accept('^');
  for (const PosixClass& p : posix_classes) {
    const size_t before = at_;
    if (accept(p.name) && accept(":]")) {
      const Ranges ranges = negated ? complement(p.ranges) : p.ranges;
      set.ranges.insert(set.ranges.end(), ranges.begin(), ranges.end());
      return true;
    }
    at_ = before;
  }
  fail("a class of characters that is not known");
}

void RegexParser::class_item(Regex::CharSet& set) {
  if (posix_class(set)) return;
  const auto one = [&]() -> char32_t {
    if (at_end()) fail("a '[' without its ']'");
    const char32_t c = text_[at_++];
    if (c != '\\') return c;
    if (at_end()) fail("a '\\' at the end");
    return escaped_char(text_[at_++]);
  };
  if (peek() == '\\' && at_ + 1 < text_.size()) {
    if (const auto ranges = perl_class(text_[at_ + 1]); !ranges.empty()) {
      set.ranges.insert(set.ranges.end(), ranges.begin(), ranges.end());
      at_ += 2;
      return;
    }
  }
  const char32_t from = one();
  if (at_ + 1 < text_.size() && peek() == '-' && text_[at_ + 1] != ']') {
    ++at_;
    const char32_t to = one();
    if (to < from) fail("a range that runs backwards");
    set.ranges.emplace_back(from, to);
  } else {
    set.ranges.emplace_back(from, from);
  }
}

RegexParser::Part RegexParser::set_part(Regex::CharSet set) {
  Part p;
  p.kind = Part::step;
  p.what = {Regex::Step::set, static_cast<uint32_t>(out_.sets_.size()), 0, flags_.any_case};
  out_.sets_.push_back(std::move(set));
  return p;
}

RegexParser::Part RegexParser::literal(char32_t c) { return set_part({{{c, c}}, false}); }

RegexParser::Part RegexParser::assertion(Regex::Step::Kind kind) {
  Part p;
  p.kind = Part::step;
  p.what = {kind};
  return p;
}

uint32_t RegexParser::emit(Regex::Step s) {
  if (out_.steps_.size() >= max_steps) fail("repetitions make the pattern too large");
  out_.steps_.push_back(s);
  return static_cast<uint32_t>(out_.steps_.size() - 1);
}

void RegexParser::write(const Part& p) {
  if (++writes_ > max_steps) fail("repetitions make the pattern too large");  // those of nothing too
  auto& steps = out_.steps_;
  const auto here = [&] { return static_cast<uint32_t>(steps.size()); };
  switch (p.kind) {
    case Part::empty: return;
    case Part::step: emit(p.what); return;
    case Part::sequence:
      for (const Part& q : p.parts) write(q);
      return;
    case Part::choice: {
      std::vector<uint32_t> ends;
      for (size_t i = 0; i < p.parts.size(); ++i) {
        const bool last = i + 1 == p.parts.size();
        const uint32_t fork = last ? 0 : emit({Regex::Step::fork});
        if (!last) steps[fork].a = here();
        write(p.parts[i]);
        if (last) break;
        ends.push_back(emit({Regex::Step::jump}));
        steps[fork].b = here();
      }
      for (const uint32_t e : ends) steps[e].a = here();
      return;
    }
    case Part::repeat: {
      for (int i = 0; i < p.least; ++i) write(p.parts[0]);
      if (p.most < 0) {
        const uint32_t fork = emit({Regex::Step::fork});
        steps[fork].a = here();
        write(p.parts[0]);
        emit({Regex::Step::jump, fork});
        steps[fork].b = here();
      }
      std::vector<uint32_t> forks;
      for (int i = p.least; i < p.most; ++i) {
        forks.push_back(emit({Regex::Step::fork}));
        steps[forks.back()].a = here();
        write(p.parts[0]);
      }
      for (const uint32_t f : forks) steps[f].b = here();
      return;
    }
  }
}

}  // namespace cameo::ops
