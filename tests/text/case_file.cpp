#include "text/case_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace cameo::tests {

namespace {

constexpr std::string_view keys[] = {"run", "before", "after", "error", "refused"};

std::string_view key_of(std::string_view line) {
  for (const auto key : keys)
    if (line.starts_with(key) && line.substr(key.size()).starts_with(":")) return key;
  return {};
}

void trim(std::string& s) {
  while (!s.empty() && (s.back() == '\n' || s.back() == ' ')) s.pop_back();
  s.erase(0, s.find_first_not_of(" \n"));
}

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t") == std::string::npos; }

}  // namespace

const std::string* Case::find(const std::string& key) const {
  const auto it = blocks.find(key);
  return it == blocks.end() ? nullptr : &it->second.text;
}

CaseFile::CaseFile(std::string path, std::string shown) : path_(std::move(path)) {
  std::ifstream in(path_);
  for (std::string line; std::getline(in, line);) lines_.push_back(line);
  const auto fail = [&](size_t line, const std::string& what) {
    throw std::runtime_error(shown + ":" + std::to_string(line + 1) + ": " + what);
  };
  for (size_t i = 0; i < lines_.size();) {
    const auto key = key_of(lines_[i]);
    if (key.empty()) {
      if (!is_blank(lines_[i]) && lines_[i][0] != '#')
        fail(i, "expected run:, before:, after:, error:, refused: or a comment");
      ++i;
      continue;
    }
    Block block;
    block.first_line = i;
    block.text = lines_[i].substr(key.size() + 1);
    for (++i; i < lines_.size() && key_of(lines_[i]).empty() && !lines_[i].starts_with("#"); ++i)
      block.text += "\n" + lines_[i];
    block.end_line = i;
    while (block.end_line > block.first_line + 1 && is_blank(lines_[block.end_line - 1])) --block.end_line;
    trim(block.text);
    if (key == "run") {
      cases_.push_back({shown, block.first_line + 1, {}});
    } else if (cases_.empty()) {
      fail(block.first_line, "a case begins with run:");
    }
    if (!cases_.back().blocks.emplace(key, block).second)
      fail(block.first_line, "there are two such blocks in this case");
  }
}

void CaseFile::replace(const Case& c, const std::string& key, const std::string& text) {
  const std::string line = key + ": " + text;
  const bool fits = text.find('\n') == std::string::npos && line.size() <= 120;
  const std::string block = text.empty() ? "" : fits ? line : key + ":\n" + text;
  if (const auto it = c.blocks.find(key); it != c.blocks.end()) {
    if (it->second.text != text) edits_.push_back({it->second.first_line, it->second.end_line, block});
  } else {
    const auto before = c.blocks.find("before");
    const size_t at = before == c.blocks.end() ? c.line : before->second.end_line;
    edits_.push_back({at, at, block});
  }
}

void CaseFile::save() const {
  if (edits_.empty()) return;
  auto lines = lines_;
  auto edits = edits_;
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return std::pair(a.first, a.end) > std::pair(b.first, b.end); });
  for (const Edit& e : edits) {
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(e.first),
                lines.begin() + static_cast<std::ptrdiff_t>(e.end));
    if (!e.text.empty()) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(e.first), e.text);
  }
  std::ofstream out(path_);
  for (const auto& line : lines) out << line << '\n';
}

}  // namespace cameo::tests
