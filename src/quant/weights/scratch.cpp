#include "quant/weights/scratch.h"

#include <filesystem>

#include "support/error.h"

namespace cameo::quant {

namespace {
constexpr size_t most_held = 4 << 20;
}

std::byte* Scratch::next(size_t bytes) {
  if (!held_.empty() && held_.size() + bytes > most_held) spill();
  held_.resize(held_.size() + bytes);
  return held_.data() + held_.size() - bytes;
}

void Scratch::spill() {
  std::error_code code;
  const std::string folder = std::filesystem::temp_directory_path(code).string();
  if (!file_.valid() && written_ == 0) file_ = FileHandle::open_unnamed(folder);
  if (!file_.valid()) return;  // no such files here: all stays in memory
  if (file_.write_all(held_) != 0)
    throw error("write.failed", cat("quantized weights cannot be kept in ", folder))
        .help("make room there, or let TMPDIR name another folder");
  written_ += held_.size();
  held_.clear();
}

Bytes Scratch::take() {
  if (written_ == 0) return Bytes::own(std::move(held_));
  if (!held_.empty()) spill();
  Bytes mapped = file_.map(static_cast<size_t>(written_), "quantized weights");
  if (mapped.size() != written_) throw error("write.failed", "quantized weights cannot be mapped");
  return mapped;
}

}  // namespace cameo::quant
