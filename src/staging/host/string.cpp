// Methods of strings, known while staging, by PyTorch's rules (bytes, and an end of -1 is the end).
#include <algorithm>
#include <charconv>

#include "staging/host/tables.h"
#include "staging/joins/choice.h"
#include "support/ascii.h"

namespace cameo::staging {

namespace {

bool on_text(const HostCall& c) { return c.size() > 0 && c[0].is<std::string>(); }
const std::string& text(const HostCall& c, size_t i = 0) { return c[i].need<std::string>(); }
int64_t known(HostCall& c, size_t i, int64_t otherwise) { return i < c.size() ? c.s.known_int(c[i]) : otherwise; }
Value number(size_t n) { return n == std::string::npos ? Value(Dim(-1)) : Value(Dim(static_cast<int64_t>(n))); }

// A part of the string, from the arguments `start` and `end` at 2 and 3.
struct Window {
  std::string_view part;
  size_t start;
};
Window window(HostCall& c) {
  const std::string_view all = text(c);
  const auto n = static_cast<int64_t>(all.size());
  int64_t start = known(c, 2, 0), end = known(c, 3, -1);
  if (start < 0) start = std::max<int64_t>(0, start + n);
  if (end < 0) end = std::max<int64_t>(0, end + n + 1);
  start = std::min(start, n), end = std::clamp(end, start, n);
  return {all.substr(static_cast<size_t>(start), static_cast<size_t>(end - start)), static_cast<size_t>(start)};
}
template <bool Last>
size_t place(HostCall& c) {
  const Window w = window(c);
  const size_t at = Last ? w.part.rfind(text(c, 1)) : w.part.find(text(c, 1));
  return at == std::string_view::npos ? at : at + w.start;
}
template <bool Last>
Results find(HostCall& c) {
  return on_text(c) ? one(number(place<Last>(c))) : std::nullopt;
}
template <bool Last>
Results index(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  const size_t at = place<Last>(c);
  if (at != std::string::npos) return one(number(at));
  c.s.raise("a substring is not found");
}
Results count(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  const std::string_view all = window(c).part, part = text(c, 1);
  if (part.empty()) return one(Dim(static_cast<int64_t>(all.size()) + 1));
  int64_t n = 0;
  for (size_t at = 0; (at = all.find(part, at)) != all.npos; at += part.size()) ++n;
  return one(Dim(n));
}
Results starts_with(HostCall& c) { return on_text(c) ? one(window(c).part.starts_with(text(c, 1))) : std::nullopt; }
Results ends_with(HostCall& c) { return on_text(c) ? one(window(c).part.ends_with(text(c, 1))) : std::nullopt; }

// A `start` or `end` that the inputs decide: what each gives that makes a difference, and the number picks among them.
template <Results (*F)(HostCall&)>
Results in_window(HostCall& c) {
  constexpr int64_t longest = 200;
  if (!on_text(c)) return std::nullopt;
  const auto n = static_cast<int64_t>(text(c).size());
  size_t at = 2;
  const auto open = [&](size_t i) {
    return c[i].is<Dim>() && !c.s.graph.facts.simplify(c.s.int_from(c[i])).is_literal();
  };
  while (at < c.size() && !open(at)) ++at;
  if (at >= c.size() || n > longest) return F(c);
  std::vector<Value> args, values;
  for (size_t i = 0; i < c.size(); ++i) args.push_back(c[i]);
  for (int64_t k = -n - 1; k <= n; ++k) {
    args[at] = Dim(k);
    HostCall with{c.s, args, c.keywords};
    try {
      values.push_back(in_window<F>(with)->front());
    } catch (const Raised&) {
      c.s.fail("stage.choice",
               "a part of a string is looked for between numbers that depend on the inputs, and may not be there");
    }
  }
  const Dim place = max(min(c.s.int_from(c[at]), Dim(n)), Dim(-n - 1)) + Dim(n + 1);
  const auto out = picked(c.s, c.s.on.int_scalar(place), values);
  return out ? one(*out) : F(c);
}

template <char (*F)(int)>
Results mapped(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  std::string out = text(c);
  std::transform(out.begin(), out.end(), out.begin(), [](char ch) { return F(ch); });
  return one(std::move(out));
}
char other_case(int ch) { return ascii::is_lower(ch) ? ascii::to_upper(ch) : ascii::to_lower(ch); }
// First letters of words (or only of the string) are capitals.
template <bool EveryWord>
Results capitals(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  std::string out = text(c);
  bool first = true;
  for (char& ch : out) {
    ch = first ? ascii::to_upper(ch) : ascii::to_lower(ch);
    first = EveryWord && !ascii::is_alpha(ch);
  }
  return one(std::move(out));
}

template <bool (*F)(int)>
Results all_of(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  const auto& t = text(c);
  return one(!t.empty() && std::all_of(t.begin(), t.end(), [](char ch) { return F(ch); }));
}
template <bool (*Wanted)(int), bool (*Other)(int)>
Results cased(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  const auto& t = text(c);
  const auto some = [&](bool (*f)(int)) { return std::any_of(t.begin(), t.end(), [&](char ch) { return f(ch); }); };
  return one(some(Wanted) && !some(Other));
}
Results is_title(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  bool found = false, after_letter = false;
  for (const char ch : text(c)) {
    if (ascii::is_alpha(ch) && (after_letter ? ascii::is_upper(ch) : ascii::is_lower(ch))) return one(false);
    found |= ascii::is_alpha(ch);
    after_letter = ascii::is_alpha(ch);
  }
  return one(found);
}
Results is_identifier(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  const auto& t = text(c);
  return one(!t.empty() && !ascii::is_digit(t[0]) &&
             std::all_of(t.begin(), t.end(), [](char ch) { return ascii::is_alnum(ch) || ch == '_'; }));
}
Results is_printable(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  const auto& t = text(c);
  return one(
      std::all_of(t.begin(), t.end(), [](char ch) { return ascii::is_alnum(ch) || ascii::is_punct(ch) || ch == ' '; }));
}

// Filled to a width: the share of it that goes to the left, in halves.
template <int Left>
Results filled(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  const auto& t = text(c);
  const int64_t width = known(c, 1, 0), pad = std::max<int64_t>(0, width - static_cast<int64_t>(t.size()));
  c.s.need_text(t.size() + static_cast<size_t>(pad));
  const std::string fill = c.size() > 2 ? text(c, 2) : " ";
  if (fill.size() != 1) c.s.fail("stage.string", "the fill of a string is not one character");
  const auto left = static_cast<size_t>(Left * pad / 2);
  return one(std::string(left, fill[0]) + t + std::string(static_cast<size_t>(pad) - left, fill[0]));
}
Results zero_filled(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  std::string t = text(c);
  const int64_t pad = known(c, 1, 0) - static_cast<int64_t>(t.size());
  if (pad <= 0) return one(std::move(t));
  c.s.need_text(t.size() + static_cast<size_t>(pad));
  t.insert(!t.empty() && (t[0] == '+' || t[0] == '-') ? 1 : 0, static_cast<size_t>(pad), '0');
  return one(std::move(t));
}

template <bool Last>
Results partition(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  const auto &t = text(c), &by = text(c, 1);
  const size_t at = Last ? t.rfind(by) : t.find(by);
  if (at == std::string::npos)
    return Last ? std::vector<Value>{std::string(), std::string(), t}
                : std::vector<Value>{t, std::string(), std::string()};
  return std::vector<Value>{t.substr(0, at), by, t.substr(at + by.size())};
}

std::vector<Value> words(const std::string& t, int64_t most) {
  std::vector<Value> out;
  const std::string space = " \n\t\f\v\r";
  for (size_t at = t.find_first_not_of(space); at != std::string::npos;) {
    const size_t end =
        most >= 0 && static_cast<int64_t>(out.size()) == most ? std::string::npos : t.find_first_of(space, at);
    out.emplace_back(t.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : t.find_first_not_of(space, end);
  }
  return out;
}
template <bool FromEnd>
Results split(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  const std::string& t = text(c);
  const int64_t most = known(c, 2, -1);
  if (!FromEnd && (c.size() < 2 || c[1].is_none())) return one(c.s.list(words(t, most)));
  const std::string by = c.size() > 1 ? text(c, 1) : " ";
  if (by.empty()) c.s.fail("stage.string", "a string is split by an empty one");
  std::vector<Value> out;
  size_t start = 0, end = t.size();
  const auto more = [&] { return most < 0 || static_cast<int64_t>(out.size()) < most; };
  if constexpr (FromEnd) {
    for (size_t at; more() && end >= by.size() && (at = t.rfind(by, end - by.size())) != std::string::npos; end = at) {
      out.emplace_back(t.substr(at + by.size(), end - at - by.size()));
      if (at == 0) {
        end = 0;
        break;
      }
    }
    out.emplace_back(t.substr(0, end));
    std::reverse(out.begin(), out.end());
  } else {
    for (size_t at; more() && (at = t.find(by, start)) != std::string::npos; start = at + by.size())
      out.emplace_back(t.substr(start, at - start));
    out.emplace_back(t.substr(start));
  }
  return one(c.s.list(std::move(out)));
}
Results split_lines(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  const std::string& t = text(c);
  const bool keep = c.size() > 1 && c[1].is<bool>() && c[1].need<bool>();
  std::vector<Value> out;
  for (size_t start = 0; start < t.size();) {
    const size_t at = t.find_first_of("\n\r\f\v", start);
    if (at == std::string::npos) {
      out.emplace_back(t.substr(start));
      break;
    }
    const size_t ends = t.compare(at, 2, "\r\n") == 0 ? 2 : 1;
    out.emplace_back(t.substr(start, at - start + (keep ? ends : 0)));
    start = at + ends;
  }
  return one(c.s.list(std::move(out)));
}

Results characters(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  std::vector<Value> out;
  for (const char ch : text(c)) out.emplace_back(std::string(1, ch));
  return one(c.s.list(std::move(out)));
}
template <int Base>
Results digits(HostCall& c) {
  const auto* d = c.size() == 1 ? c[0].as<Dim>() : nullptr;
  if (!d) return std::nullopt;
  const int64_t v = c.s.known_int(c[0]);
  char buffer[72];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer,
                                 v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v), Base)
                       .ptr;
  return one(cat(v < 0 ? "-" : "", Base == 2 ? "0b" : Base == 8 ? "0o" : "0x", std::string(buffer, end)));
}
Results character(HostCall& c) {
  if (c.size() != 1 || !c[0].is<Dim>()) return std::nullopt;
  return one(std::string(1, static_cast<char>(c.s.known_int(c[0]))));
}
Results code(HostCall& c) {
  return on_text(c) && text(c).size() == 1 ? one(Dim(static_cast<unsigned char>(text(c)[0]))) : std::nullopt;
}
Results parsed(HostCall& c) {
  if (!on_text(c)) return std::nullopt;
  const auto& t = text(c);
  int64_t v = 0;
  const auto r = std::from_chars(t.data(), t.data() + t.size(), v);
  if (r.ec != std::errc() || r.ptr != t.data() + t.size()) c.s.fail("stage.number", cat("'", t, "' is made an int"));
  return one(Dim(v));
}

constexpr HostRow table[] = {
    {"aten::find", in_window<find<false>>},
    {"aten::rfind", in_window<find<true>>},
    {"aten::index", in_window<index<false>>},
    {"aten::rindex", in_window<index<true>>},
    {"aten::count", in_window<count>},
    {"aten::startswith", in_window<starts_with>},
    {"aten::endswith", in_window<ends_with>},
    {"aten::upper", mapped<ascii::to_upper>},
    {"aten::lower", mapped<ascii::to_lower>},
    {"aten::swapcase", mapped<other_case>},
    {"aten::capitalize", capitals<false>},
    {"aten::title", capitals<true>},
    {"aten::isalnum", all_of<ascii::is_alnum>},
    {"aten::isalpha", all_of<ascii::is_alpha>},
    {"aten::isdecimal", all_of<ascii::is_digit>},
    {"aten::isdigit", all_of<ascii::is_digit>},
    {"aten::isnumeric", all_of<ascii::is_digit>},
    {"aten::isspace", all_of<ascii::is_space>},
    {"aten::islower", cased<ascii::is_lower, ascii::is_upper>},
    {"aten::isupper", cased<ascii::is_upper, ascii::is_lower>},
    {"aten::istitle", is_title},
    {"aten::isidentifier", is_identifier},
    {"aten::isprintable", is_printable},
    {"aten::center", filled<1>},
    {"aten::rjust", filled<2>},
    {"aten::ljust", filled<0>},
    {"aten::zfill", zero_filled},
    {"aten::partition", partition<false>},
    {"aten::rpartition", partition<true>},
    {"aten::split", split<false>},
    {"aten::rsplit", split<true>},
    {"aten::splitlines", split_lines},
    {"aten::list", characters},
    {"aten::bin", digits<2>},
    {"aten::oct", digits<8>},
    {"aten::hex", digits<16>},
    {"aten::chr", character},
    {"aten::ord", code},
    {"aten::Int", parsed},
};

}  // namespace

std::span<const HostRow> host_string_rows() { return table; }

}  // namespace cameo::staging
