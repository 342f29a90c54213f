#include "staging/joins/open_text.h"

#include <charconv>

#include "staging/joins/truth.h"

namespace cameo::staging {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The int that a text is as Python writes it: no sign but -, no zeros in front.
std::optional<int64_t> int_written(std::string_view text) {
  int64_t n = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (fault != std::errc() || end != text.data() + text.size() || std::to_string(n) != text) return std::nullopt;
  return n;
}

// Whether parts[i...] make this text, by every way to cut it; null where there are too many.
struct Matcher {
  Machine& s;
  const std::vector<Value>& parts;
  size_t left = 256;  // ways are few: an int ends where digits end

  std::optional<Value> matches(size_t i, std::string_view text) {
    if (left-- == 0) return std::nullopt;
    if (i == parts.size()) return Value(text.empty());
    if (const auto* literal = parts[i].as<std::string>())
      return text.starts_with(*literal) ? matches(i + 1, text.substr(literal->size())) : std::optional(Value(false));
    Value any = false;
    for (size_t end = 1; end <= text.size() && (is_digit(text[end - 1]) || (end == 1 && text[0] == '-')); ++end) {
      const auto n = int_written(text.substr(0, end));
      if (!n) continue;
      const auto rest = matches(i + 1, text.substr(end));
      if (!rest) return std::nullopt;
      if (s.known_bool(*rest) == false) continue;
      any = either(s, any, both(s, s.compare_ints("eq", parts[i].need<Dim>(), Dim(*n)), *rest));
    }
    return any;
  }
};

// Ints that are apart by the same texts, none of which begins with a digit: equal where all ints are.
std::optional<Value> equal_parts(Machine& s, const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return std::nullopt;
  Value all = true;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto *x = a[i].as<std::string>(), *y = b[i].as<std::string>();
    if (!x != !y || (x && *x != *y)) return std::nullopt;
    if (i > 0 && (x ? is_digit((*x)[0]) : !a[i - 1].is<std::string>())) return std::nullopt;
    if (!x) all = both(s, all, s.compare_ints("eq", a[i].need<Dim>(), b[i].need<Dim>()));
  }
  return all;
}

Dim digits(Machine& s, Dim n) {
  auto& on = s.on;
  Ints powers, negative;
  for (int64_t p = 10; p <= 1'000'000'000'000'000'000 / 10; p *= 10) powers.push_back(p), negative.push_back(-p);
  powers.push_back(1'000'000'000'000'000'000), negative.push_back(-1'000'000'000'000'000'000);
  const V value = on.int_scalar(n);
  V more = on.GreaterOrEqual(value, on.ints(powers));
  const Value below = s.compare_ints("lt", n, Dim(0));
  if (s.known_bool(below) != false) more = on.Or(more, on.LessOrEqual(value, on.ints(negative)));
  const V count = on.ReduceSum(on.to(more, DType::i64), {}, op::ReduceSum{.keepdims = 0});
  return on.int_of(count) + Dim(1) + s.int_from(below);
}

}  // namespace

std::vector<Value> parts_of_text(const Value& text) {
  if (const auto* open = text.as<OpenText>()) return *open->parts;
  return {text};
}

Value text_of_parts(const std::vector<Value>& parts, Poison why) {
  std::vector<Value> out;
  for (const Value& part : parts) {
    const auto* d = part.as<Dim>();
    if (d && !d->is_literal()) {
      out.push_back(part);
      continue;
    }
    const std::string known = d ? d->text() : part.need<std::string>();
    if (known.empty()) continue;
    if (!out.empty() && out.back().is<std::string>()) out.back() = out.back().need<std::string>() + known;
    else out.emplace_back(known);
  }
  if (out.empty()) return std::string();
  if (out.size() == 1 && out[0].is<std::string>()) return out[0];
  return Value(OpenText{std::make_shared<const std::vector<Value>>(std::move(out)), std::move(why)});
}

Value equal_text(Machine& s, const Value& a, const Value& b) {
  const auto *x = a.as<OpenText>(), *y = b.as<OpenText>();
  if (!x) return y ? equal_text(s, b, a) : Value(same(a, b));
  std::optional<Value> answer;
  if (y) answer = equal_parts(s, *x->parts, *y->parts);
  else if (const auto* text = b.as<std::string>()) answer = Matcher{s, *x->parts}.matches(0, *text);
  else answer = false;
  return answer ? *answer : Value(x->lost);
}

Dim length_of_text(Machine& s, const OpenText& text) {
  Dim length(0);
  for (const Value& part : std::vector<Value>(*text.parts)) {
    const auto* known = part.as<std::string>();
    length = length + (known ? Dim(static_cast<int64_t>(known->size())) : digits(s, part.need<Dim>()));
  }
  return length;
}

}  // namespace cameo::staging
