// The archive's `.debug_pkl` records: which line of the user's Python each place of a code file came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
  std::vector<UserFrame> frames(uint32_t offset, uint32_t line_end) const;

 private:
  struct Record {
    uint32_t offset;
    uint64_t start;               // in the source's text
    const pickle::Value* source;  // (text or lines, file, first line)
  };
  std::vector<UserFrame> frames(const Record& record) const;
  std::string_view text_at(const pickle::Value& index) const;
  std::string source_text(const pickle::Value& lines) const;

  pickle::Document document_;
  std::vector<std::string_view> texts_;
  bool has_texts_ = false;
  std::vector<Record> records_;  // by offset
};

}  // namespace cameo::torchscript
