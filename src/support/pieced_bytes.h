// Bytes where files cannot be mapped: a file is read in pieces, each when something first looks at it. For a browser,
// which has no mmap and addresses of 32 bits. Included by bytes.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "support/layers.h"

#if !CAMEO_PIECES
#error "bytes.h has the bytes of files that are mapped"
#else

namespace cameo::support {

// A file that is read in pieces. It may be larger than the address space.
class PieceSource {
 public:
  explicit PieceSource(uint64_t bytes);
  PieceSource(const PieceSource&) = delete;
  PieceSource& operator=(const PieceSource&) = delete;
  virtual ~PieceSource() = default;
  virtual void read(uint64_t offset, std::span<std::byte> into) const = 0;  // throws where the file lacks any of it

  const uint64_t size;
  const uint64_t place;                     // see place_of (file_bytes.h)
  mutable std::weak_ptr<const void> whole;  // all of it, while somebody holds it
};

class Bytes {
 public:
  Bytes() = default;
  // `owner` keeps `view` alive; null when the bytes live for ever.
  Bytes(std::shared_ptr<const void> owner, std::span<const std::byte> view) : owner_(std::move(owner)), view_(view) {}
  explicit Bytes(std::shared_ptr<const PieceSource> source) : length_(source->size), source_(std::move(source)) {}
  static Bytes own(std::vector<std::byte> data);
  static Bytes own(std::string_view text);

  // Looking at bytes reads them, and keeps them. Throws file.too-large if memory could not hold them.
  const std::byte* data() const { return looked_at().data(); }
  size_t size() const;
  std::span<const std::byte> span() const { return looked_at(); }
  std::string_view text() const { return {reinterpret_cast<const char*>(data()), size()}; }
  const std::shared_ptr<const void>& owner() const { return looked_at(), owner_; }

  uint64_t length() const { return source_ ? length_ : view_.size(); }
  bool empty() const { return length() == 0; }
  bool in_memory() const { return !source_ || owner_ || length_ == 0; }
  uint64_t place() const { return source_ ? source_->place + offset_ : reinterpret_cast<uintptr_t>(view_.data()); }
  // Precondition: offset + length <= length(). Checked (invariant).
  Bytes slice(uint64_t offset, uint64_t length) const;
  // The same owner for a view that lies inside these bytes.
  Bytes view(std::string_view inside) const;

 private:
  std::span<const std::byte> looked_at() const {
    if (!in_memory()) fetch();
    return view_;
  }
  void fetch() const;
  mutable std::shared_ptr<const void> owner_;
  mutable std::span<const std::byte> view_;
  uint64_t offset_ = 0, length_ = 0;  // in `source_`
  std::shared_ptr<const PieceSource> source_;
};

}  // namespace cameo::support

#endif
