// Regular expressions in RE2's syntax, matched without backtracking: time grows with pattern times text, never worse.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "support/layers.h"

namespace cameo::ops {

class Regex {
 public:
  // Throws "model.regex" with the position for what is malformed, too large, or not supported (Unicode properties).
  explicit Regex(std::string_view pattern);
  bool matches_all_of(std::string_view text) const;

  struct CharSet {
    std::vector<std::pair<char32_t, char32_t>> ranges;
    bool negated = false;
    bool has(char32_t c) const;
  };
  struct Step {
    enum Kind : uint8_t {
      set,
      fork,
      jump,
      text_begin,
      text_end,
      line_begin,
      line_end,
      word_edge,
      no_word_edge,
      accept
    } kind;
    uint32_t a = 0, b = 0;  // set: index of the set; fork, jump: where to go on
    bool any_case = false;
  };

 private:
  friend class RegexParser;
  std::vector<Step> steps_;
  std::vector<CharSet> sets_;
};

}  // namespace cameo::ops
