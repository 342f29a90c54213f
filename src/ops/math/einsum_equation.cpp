#include "ops/math/einsum_equation.h"

#include <algorithm>
#include <cstdint>

#include "support/error.h"

namespace cameo::ops {

namespace {

constexpr std::string_view dots = "...";
constexpr int64_t most_ellipsis_axes = 10;  // one digit names each

[[noreturn]] void fail(std::string_view equation, std::string why) {
  throw error("model.einsum", cat("einsum '", equation, "': ", why));
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string digits(int64_t count) {
  // Aligned at the end: the last axis is always '9'.
  return std::string("0123456789").substr(static_cast<size_t>(most_ellipsis_axes - count));
}

// The letters of one term; an ellipsis becomes `ellipsis_axes` digits.
std::string letters(std::string_view equation, std::string_view term, int64_t ellipsis_axes) {
  const size_t at = term.find(dots);
  const auto only_letters = [&](std::string_view part) {  // digits are ours
    for (const char c : part)
      if (!is_letter(c)) fail(equation, cat("'", c, "' is not a letter"));
  };
  only_letters(term.substr(0, at));
  if (at != term.npos) only_letters(term.substr(at + dots.size()));
  std::string out(term.substr(0, at));
  if (at != term.npos) out += digits(ellipsis_axes) + std::string(term.substr(at + dots.size()));
  return out;
}

std::string implicit_result(const std::vector<std::string>& operands) {
  std::string all, once, ellipsis;
  for (const auto& o : operands) all += o;
  for (const char c : all) {
    if (is_letter(c) && std::count(all.begin(), all.end(), c) == 1) once += c;
    if (!is_letter(c) && ellipsis.find(c) == ellipsis.npos) ellipsis += c;
  }
  std::sort(once.begin(), once.end());
  std::sort(ellipsis.begin(), ellipsis.end());
  return ellipsis + once;
}

}  // namespace

EinsumEquation::EinsumEquation(std::string_view equation, const std::vector<int64_t>& ranks) {
  std::string text(equation);
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  int64_t widest = 0;
  while (true) {
    const size_t comma = left.find(',');
    const std::string_view term = left.substr(0, comma);
    const size_t i = operands.size();
    if (i >= ranks.size()) fail(equation, cat("there are more terms than the ", ranks.size(), " operands"));
    const auto plain = static_cast<int64_t>(term.size());
    const bool open = term.find(dots) != term.npos;
    const int64_t extra = open ? ranks[i] - (plain - static_cast<int64_t>(dots.size())) : 0;
    if (extra < 0 || extra > most_ellipsis_axes || (!open && plain != ranks[i]))
      fail(equation, cat("term '", term, "' does not fit operand ", i, " of rank ", ranks[i]));
    operands.push_back(letters(equation, term, extra));
    widest = std::max(widest, extra);
    if (comma == left.npos) break;
    left.remove_prefix(comma + 1);
  }
  if (operands.size() != ranks.size())
    fail(equation, cat("there are ", operands.size(), " terms for ", ranks.size(), " operands"));
  result = arrow == text.npos ? implicit_result(operands)
                              : letters(equation, std::string_view(text).substr(arrow + 2), widest);
  for (const char c : result) {
    if (std::count(result.begin(), result.end(), c) > 1) fail(equation, cat("'", c, "' is twice in the result"));
    if (std::none_of(operands.begin(), operands.end(), [&](const std::string& o) { return o.find(c) != o.npos; }))
      fail(equation, cat("'", c, "' is in no operand"));
  }
}

}  // namespace cameo::ops
