#include "support/near_name.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cameo::support {

namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  std::string_view best;
  size_t least = SIZE_MAX;
  for (const auto name : names) {
    size_t d = edit_distance(word, name);
    if (word.size() >= 3 && name.starts_with(word)) d = 1;
    if (d < least) least = d, best = name;
  }
  return least <= std::max<size_t>(word.size() < 4 ? 1 : 2, word.size() / 3) ? best : std::string_view();
}

}  // namespace cameo::support
