// Reads a pattern into a tree and writes the tree as steps of a Regex.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/text/regex.h"

namespace cameo::ops {

class RegexParser {
 public:
  RegexParser(std::string_view pattern, Regex& out);
  void compile();

 private:
  struct Flags {
    bool any_case = false, multi_line = false, dot_all = false;
  };
  struct Part {
    enum Kind : uint8_t { empty, step, sequence, choice, repeat } kind = empty;
    Regex::Step what{};
    std::vector<Part> parts;
    int least = 0, most = 0;  // most < 0: unbounded
  };

  Part choice();
  Part sequence();
  Part repeated();
  Part atom();
  Part group();
  Part char_class();
  Part escape();
  void class_item(Regex::CharSet& set);
  bool posix_class(Regex::CharSet& set);
  char32_t escaped_char(char32_t c);
  char32_t hex_char();
  Part set_part(Regex::CharSet set);
  Part literal(char32_t c);
  static Part assertion(Regex::Step::Kind kind);
  bool read_flags();
  bool bounds(int& least, int& most);

  uint32_t emit(Regex::Step s);
  void write(const Part& p);

  bool at_end() const { return at_ >= text_.size(); }
  char32_t peek() const { return text_[at_]; }
  bool accept(char32_t c);
  bool accept(std::string_view s);
  [[noreturn]] void fail(std::string what) const;

  std::vector<char32_t> text_;
  size_t at_ = 0;
  int depth_ = 0;
  size_t writes_ = 0;
  Flags flags_;
  Regex& out_;
};

}  // namespace cameo::ops
