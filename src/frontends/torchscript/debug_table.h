// The archive's `.debug_pkl` records: which line of the user's Python each place of a code file came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/pickle.h"
#include "frontends/torchscript/program.h"

namespace cameo::torchscript {

class DebugTable {
 public:
  DebugTable() = default;
  // Records that make no sense are left out: debug information never stops a conversion.
  explicit DebugTable(pickle::Document document);

  // Innermost first. Scripted code has one frame; traced code has the Python stack of the trace. PyTorch tags
  // expressions, not statements: a place without a source takes the next one before `line_end`.
  // What it returns lives until the table dies or moves.
  const std::vector<UserFrame>& frames(uint32_t offset, uint32_t line_end);

 private:
  struct Record {
    uint32_t offset;
    uint64_t start;               // in the source's text
    const pickle::Value* source;  // (text or lines, file, first line)
  };
  const std::vector<UserFrame>& frames(const Record& record);
  std::vector<UserFrame> scripted_frame(const Record& record, std::string_view text) const;
  std::string_view text_at(const pickle::Value& index) const;
  std::string source_text(const pickle::Value& lines) const;

  pickle::Document document_;
  std::vector<std::string_view> texts_;
  bool has_texts_ = false;
  std::vector<Record> records_;  // by offset
  // Many places share a stack: by source for stacks, by record for scripted lines.
  std::unordered_map<const void*, std::vector<UserFrame>> known_;
};

}  // namespace cameo::torchscript
