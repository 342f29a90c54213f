// Files of text tests: cases of `run:`, `before:` and what is expected, `after:`, `error:` or `refused:`.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cameo::tests {

struct Block {
  std::string text;
  size_t first_line = 0, end_line = 0;  // 0-based; end excluded
};

struct Case {
  std::string file;  // as shown
  size_t line = 0;   // 1-based, of `run:`
  std::map<std::string, Block> blocks;

  const std::string* find(const std::string& key) const;
};

class CaseFile {
 public:
  CaseFile(std::string path, std::string shown);  // throws std::runtime_error with file and line

  const std::vector<Case>& cases() const { return cases_; }
  // Replaces a block, adds it after `before:`, or takes it out (an empty text); `save` writes what changed.
  void replace(const Case& c, const std::string& key, const std::string& text);
  void save() const;

 private:
  std::string path_;
  std::vector<std::string> lines_;
  std::vector<Case> cases_;
  struct Edit {
    size_t first, end;
    std::string text;
  };
  std::vector<Edit> edits_;
};

}  // namespace cameo::tests
