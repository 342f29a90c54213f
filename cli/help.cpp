// What --help prints of a verb.
#include "cli/budgets.h"
#include "cli/verb.h"

namespace cameo::cli {

std::string help_text(const Verb& verb) {
  std::string out =
      cat("cameo ", verb.name, " ", verb.operands, verb.operands.empty() ? "" : " ", "[flags]\n  ", verb.summary, "\n");
  if (!verb.flags.empty()) out += "\nflags:\n";
  for (const Flag& f : verb.flags) {
    std::string head = f.letter ? cat("  -", f.letter, ", --", f.name) : cat("      --", f.name);
    if (!f.value.empty()) head += f.optional_value ? cat("[=", f.value, "]") : cat(" ", f.value);
    head += head.size() < 38 ? std::string(38 - head.size(), ' ') : std::string("\n") + std::string(38, ' ');
    out += cat(head, f.help, "\n");
  }
  out +=
      "\neverywhere: -q (errors only), -v (notes too), --json (for machines), --help,\n"
      "  --max-memory SIZE, --max-time SECONDS, --max-turns N, --max-steps N (budgets: docs/trust.md)\n\nfor "
      "example:\n";
  for (const std::string& example : split(verb.example, '\n')) out += cat("  ", example, "\n");
  return out;
}

}  // namespace cameo::cli
