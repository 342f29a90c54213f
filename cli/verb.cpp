#include "cli/verb.h"

#include "cameo/face.h"
#include "cli/budgets.h"

namespace cameo::cli {

namespace {

const Flag* find_flag(const Verb& verb, std::string_view name) {
  for (const Flag& f : verb.flags)
    if (f.name == name) return &f;
  return nullptr;
}

const Flag* find_letter(const Verb& verb, char letter) {
  for (const Flag& f : verb.flags)
    if (f.letter && f.letter == letter) return &f;
  return nullptr;
}

std::string hint_for(const Verb& verb, std::string_view given) {
  if (given == "-o" || given == "--output") return cat("cameo ", verb.name, " prints: > FILE keeps what it prints");
  if (const auto habit = instead_of(given, verb.name); !habit.empty())
    return cat("you wrote ", given, ", write ", habit);
  std::vector<std::string_view> names;
  for (const Flag& f : verb.flags) names.push_back(f.name);
  const auto close = nearest_name(given.substr(given.find_first_not_of('-')), names);
  return close.empty() ? cat("cameo ", verb.name, " --help lists them") : cat("did you mean --", close, "?");
}

[[noreturn]] void unknown_flag(const Verb& verb, std::string_view given) {
  throw error("use.unknown-flag", cat("cameo ", verb.name, " has no flag ", given)).help(hint_for(verb, given));
}

// Whether the last operand is a file to write, so that -o may name it too.
bool writes_an_operand(const Verb& verb) { return verb.operands.ends_with(" OUT") && !find_letter(verb, 'o'); }

// What was meant by one operand too many: onnxsim's number of checks, or an example of the verb.
std::string operands_hint(const Verb& verb, const std::vector<std::string>& operands) {
  const std::string last = operands.empty() ? "" : operands.back();
  if (operands.size() == verb.max_operands + 1 && find_flag(verb, "check") &&
      last.find_first_not_of("0123456789") == last.npos)
    return cat("the number of checks is --check ", last);
  return cat("for example: ", verb.example.substr(0, verb.example.find('\n')));
}

// For shells: flag, what it takes, help; tab-separated.
std::string flag_list(const Verb& verb) {
  std::string out;
  for (const Flag& f : verb.flags) out += cat("--", f.name, "\t", f.value, "\t", f.help, "\n");
  for (const Flag& f : budget_flags) out += cat("--", f.name, "\t", f.value, "\t", f.help, "\n");
  return out + "--json\t\tfor machines\n--help\t\tflags and an example\n";
}
}  // namespace

bool is_flag(std::string_view word) { return word.size() > 1 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9'); }

std::optional<Args> parse(const Verb& verb, std::span<const std::string_view> raw, Out& out) {
  Args args;
  std::optional<std::string_view> target;  // -o OUT, of a verb whose last operand it is
  bool flags_end = false;
  for (size_t i = 0; i < raw.size(); ++i) {
    const std::string_view a = raw[i];
    if (flags_end || !is_flag(a)) {
      args.operands.emplace_back(a);
      continue;
    }
    if (a == "--") {
      flags_end = true;
      continue;
    }
    if (a == "--help" || a == "-h") {
      out.print(help_text(verb));
      return std::nullopt;
    }
    if (a == "--list-flags") {
      out.print(flag_list(verb));
      return std::nullopt;
    }
    if ((a == "-o" || a == "--output") && writes_an_operand(verb)) {
      if (i + 1 == raw.size()) throw error("use.missing-value", cat(a, " wants a value: OUT"));
      target = raw[++i];
      continue;
    }
    const bool is_long = a.starts_with("--");
    const size_t equals = is_long ? a.find('=') : a.npos;
    const Flag* flag =
        is_long ? find_flag(verb, a.substr(2, equals == a.npos ? a.npos : equals - 2)) : find_letter(verb, a[1]);
    if (!flag || (!is_long && a.size() > 2 && flag->value.empty())) unknown_flag(verb, a.substr(0, equals));
    Args::Given given{flag->name, ""};
    if (equals != a.npos) {
      if (flag->value.empty()) throw error("use.value", cat("--", flag->name, " takes no value"));
      given.value = a.substr(equals + 1);
    } else if (!is_long && a.size() > 2) {
      given.value = a.substr(2);
    } else if (!flag->value.empty() && !flag->optional_value) {
      if (i + 1 == raw.size()) throw error("use.missing-value", cat("--", flag->name, " wants a value: ", flag->value));
      given.value = raw[++i];
    }
    args.given_.push_back(std::move(given));
  }
  if (target) args.operands.emplace_back(*target);
  if (args.operands.size() < verb.min_operands || args.operands.size() > verb.max_operands)
    throw error("use.operands", cat("cameo ", verb.name, " wants ", verb.operands.empty() ? "no files" : verb.operands,
                                    ", not ", args.operands.size(), args.operands.size() == 1 ? " name" : " names"))
        .help(operands_hint(verb, args.operands));
  return args;
}

}  // namespace cameo::cli
