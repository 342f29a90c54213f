// A verb of the command: its description, its flags as a table, and what it was given on the command line.
//
//   constexpr Flag flags[] = {{"output", 'o', "FILE", "where to write"}, {"strict", 0, "", "stop at the first
//   finding"}}; constexpr Verb verb{"infer", "IN OUT", "symbolic shape inference", "cameo infer net.onnx typed.onnx",
//   flags, 2, 2}; int infer_main(std::span<const std::string_view> raw, Out& out) {
//     const auto args = parse(verb, raw, out);
//     if (!args) return 0;                       // --help was asked for and printed
//     ... args->has("strict") ... args->text("output", "-") ...
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/out.h"
#include "cli/words.h"

namespace cameo::cli {

struct Flag {
  std::string_view name;   // without dashes: "opset"
  char letter = 0;         // 'o' for -o; 0: none
  std::string_view value;  // what it takes, for the help: "N". Empty: a switch
  std::string_view help;
  bool optional_value = false;  // `--flag` and `--flag=VALUE`; never takes the next argument
};

struct Verb {
  std::string_view name;
  std::string_view operands;  // "IN OUT"
  std::string_view summary;
  std::string_view example;  // one command per line
  std::span<const Flag> flags;
  size_t min_operands = 0, max_operands = 0;
};

class Args {
 public:
  std::vector<std::string> operands;

  bool has(std::string_view flag) const;
  // The last value given.
  std::optional<std::string> value(std::string_view flag) const;
  std::string text(std::string_view flag, std::string_view fallback) const;
  int64_t integer(std::string_view flag, int64_t fallback, int64_t least = INT64_MIN, int64_t most = INT64_MAX) const;
  double number(std::string_view flag, double fallback) const;
  std::optional<double> number(std::string_view flag) const;
  // The place of the value among those allowed, of which the first is the default. Throws use.value.
  size_t choice(std::string_view flag, std::initializer_list<std::string_view> allowed) const;
  std::vector<std::string> values(std::string_view flag) const;  // of a flag that may be repeated, in order
  std::vector<std::string> list(std::string_view flag) const;    // the same, each split at commas
  // Flags and values in the order given: what provenance records. Files to read and write are not among them.
  struct Given {
    std::string_view flag;
    std::string value;
  };
  const std::vector<Given>& given() const { return given_; }

 private:
  friend std::optional<Args> parse(const Verb& verb, std::span<const std::string_view> raw, Out& out);
  std::vector<Given> given_;
};

// Nothing when --help was printed. Throws use.unknown-flag (with the nearest name), use.missing-value, use.operands.
std::optional<Args> parse(const Verb& verb, std::span<const std::string_view> raw, Out& out);
// '-' is standard input or output; '-1' and other numbers are values.
bool is_flag(std::string_view word);
std::string help_text(const Verb& verb);
// Of a flag or verb that other tools have; empty: unknown.
std::string_view instead_of(std::string_view flag, std::string_view verb);
std::string_view instead_of_verb(std::string_view name);

// "a=b" taken apart at the first '='; throws use.value, naming the flag.
std::pair<std::string, std::string> name_and_value(std::string_view flag, std::string_view text);
// The same where the value is a size.
std::pair<std::string, int64_t> name_and_size(std::string_view flag, std::string_view text);
// A whole number that a flag gives, alone or in a list.
int64_t whole_number(std::string_view flag, std::string_view text, int64_t least = INT64_MIN, int64_t most = INT64_MAX);

}  // namespace cameo::cli
