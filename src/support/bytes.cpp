#include "support/bytes.h"

#include "support/budget.h"

namespace cameo::support {

namespace {
struct Counted {
  MemoryClaim claim;
  std::vector<std::byte> data;
};
constexpr size_t is_large = 1 << 20;  // smaller ones are not worth counting
}  // namespace

Bytes Bytes::own(std::vector<std::byte> data) {
  if (data.size() >= is_large) {
    auto owner = std::make_shared<const Counted>(Counted{MemoryClaim(data.size()), std::move(data)});
    const std::span<const std::byte> view(owner->data);
    return {std::move(owner), view};
  }
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(data));
  const std::span<const std::byte> view(*owner);
  return {std::move(owner), view};
}

Bytes Bytes::own(std::string_view text) {
  const auto* p = reinterpret_cast<const std::byte*>(text.data());
  return own(std::vector<std::byte>(p, p + text.size()));
}

#if !CAMEO_PIECES

Bytes Bytes::slice(size_t offset, size_t length) const {
  invariant(offset <= size() && length <= size() - offset, "a slice lies inside its bytes");
  return {owner_, view_.subspan(offset, length)};
}

Bytes Bytes::view(std::string_view inside) const {
  const auto* p = reinterpret_cast<const std::byte*>(inside.data());
  invariant(inside.empty() || (p >= data() && p + inside.size() <= data() + size()), "a view lies inside its bytes");
  return {owner_, {p, inside.size()}};
}

#else

namespace {
// Addresses of files begin where those of memory end, a terabyte for each.
uint64_t next_place() {
  static uint64_t files = 0;
  return ++files << 40;
}
struct Fetched {
  MemoryClaim claim;
  std::unique_ptr<std::byte[]> data;
};
}  // namespace

PieceSource::PieceSource(uint64_t bytes) : size(bytes), place(next_place()) {}

size_t Bytes::size() const {
  constexpr uint64_t most = SIZE_MAX / 2;
  if (length() > most)
    throw error("file.too-large", cat(length(), " bytes are needed at once, more than this machine can address"));
  return static_cast<size_t>(length());
}

void Bytes::fetch() const {
  const size_t bytes = size();
  const bool is_whole = offset_ == 0 && length_ == source_->size;
  std::shared_ptr<const void> owner = is_whole ? source_->whole.lock() : nullptr;
  if (!owner) {
    auto made = std::make_shared<Fetched>(
        Fetched{MemoryClaim(bytes >= is_large ? bytes : 0), std::make_unique_for_overwrite<std::byte[]>(bytes)});
    source_->read(offset_, {made->data.get(), bytes});
    owner = std::move(made);
    if (is_whole) source_->whole = owner;
  }
  view_ = {static_cast<const Fetched*>(owner.get())->data.get(), bytes};
  owner_ = std::move(owner);
}

Bytes Bytes::slice(uint64_t offset, uint64_t length) const {
  invariant(offset <= this->length() && length <= this->length() - offset, "a slice lies inside its bytes");
  Bytes out = *this;
  out.offset_ += offset;
  out.length_ = length;
  if (!source_ || owner_) out.view_ = view_.subspan(static_cast<size_t>(offset), static_cast<size_t>(length));
  return out;
}

Bytes Bytes::view(std::string_view inside) const {
  const auto* p = reinterpret_cast<const std::byte*>(inside.data());
  invariant(inside.empty() || (p >= data() && p + inside.size() <= data() + size()), "a view lies inside its bytes");
  return inside.empty() ? Bytes() : slice(static_cast<uint64_t>(p - data()), inside.size());
}

#endif

}  // namespace cameo::support
