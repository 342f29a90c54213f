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

Bytes Bytes::slice(size_t offset, size_t length) const {
  invariant(offset <= size() && length <= size() - offset, "a slice lies inside its bytes");
  return {owner_, view_.subspan(offset, length)};
}

Bytes Bytes::view(std::string_view inside) const {
  const auto* p = reinterpret_cast<const std::byte*>(inside.data());
  invariant(inside.empty() || (p >= data() && p + inside.size() <= data() + size()), "a view lies inside its bytes");
  return {owner_, {p, inside.size()}};
}

}  // namespace cameo::support
