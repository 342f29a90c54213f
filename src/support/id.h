// Typed indices: a NodeId cannot be passed where a ValueId is wanted.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

#include "support/layers.h"

namespace cameo::support {

template <class Tag>
struct Id {
  static constexpr uint32_t none = UINT32_MAX;
  uint32_t index = none;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t i) : index(i) {}
  constexpr bool valid() const { return index != none; }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
using RegionId = Id<struct RegionTag>;

}  // namespace cameo::support

template <class Tag>
struct std::hash<cameo::support::Id<Tag>> {
  size_t operator()(cameo::support::Id<Tag> id) const noexcept { return id.index; }
};
