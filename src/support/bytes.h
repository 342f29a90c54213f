// A read-only run of bytes and what keeps it alive (a mapping, a buffer, a browser blob).
#pragma once
#if !defined(__EMSCRIPTEN__) && !defined(CAMEO_PIECES)  // else files are read in pieces
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "support/layers.h"

namespace cameo::support {

class Bytes {
 public:
  Bytes() = default;
  // `owner` keeps `view` alive; null when the bytes live for ever.
  Bytes(std::shared_ptr<const void> owner, std::span<const std::byte> view) : owner_(std::move(owner)), view_(view) {}
  static Bytes own(std::vector<std::byte> data);
  static Bytes own(std::string_view text);

  const std::byte* data() const { return view_.data(); }
  size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  std::span<const std::byte> span() const { return view_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data()), size()}; }
  // Precondition: offset + length <= size(). Checked (invariant).
  Bytes slice(size_t offset, size_t length) const;
  // The same owner for a view that lies inside these bytes.
  Bytes view(std::string_view inside) const;
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> view_;
};

}  // namespace cameo::support
#else
#ifndef CAMEO_PIECES
#define CAMEO_PIECES 1
#endif
#include "support/pieced_bytes.h"
#endif
