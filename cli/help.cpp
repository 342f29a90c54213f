// What --help prints of a verb.
#include <algorithm>

#include "cli/budgets.h"
#include "cli/verb.h"

namespace cameo::cli {

namespace {

constexpr size_t indent = 38, width = 120;  // columns

// Columns of a text in UTF-8, all of whose letters are one column wide.
size_t columns(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Appends the text, whose first line begins at `column`; further lines begin at `indent`.
void append_wrapped(std::string& out, std::string_view text, size_t column) {
  for (bool first = true; !text.empty(); first = false) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!first && column + 1 + columns(word) > width) out += cat("\n", std::string(indent, ' ')), column = indent;
    else if (!first) out += " ", ++column;
    out += word;
    column += columns(word);
  }
}

}  // namespace

std::string help_text(const Verb& verb) {
  std::string out =
      cat("cameo ", verb.name, " ", verb.operands, verb.operands.empty() ? "" : " ", "[flags]\n  ", verb.summary, "\n");
  if (!verb.flags.empty()) out += "\nflags:\n";
  for (const Flag& f : verb.flags) {
    std::string head = f.letter ? cat("  -", f.letter, ", --", f.name) : cat("      --", f.name);
    if (!f.value.empty()) head += f.optional_value ? cat("[=", f.value, "]") : cat(" ", f.value);
    const size_t taken = columns(head);
    out += cat(head, taken < indent ? "" : "\n", std::string(taken < indent ? indent - taken : indent, ' '));
    append_wrapped(out, f.help, indent);
    out += "\n";
  }
  out +=
      "\neverywhere: -q (errors only), -v (notes too), --json (for machines), --help,\n"
      "  --max-memory SIZE, --max-time SECONDS, --max-turns N, --max-steps N (budgets: docs/trust.md)\n\nfor "
      "example:\n";
  for (const std::string& example : split(verb.example, '\n')) out += cat("  ", example, "\n");
  return out;
}

}  // namespace cameo::cli
