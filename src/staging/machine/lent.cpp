#include "staging/machine/lent.h"

#include "support/endian.h"
#include "support/error.h"

namespace cameo::staging {

bool HostLowerings::has(std::string_view op) const {
  return names.contains(op) || names.contains(op.substr(0, op.find('.')));
}

const LentWeights::Lent* LentWeights::find(const Bytes& placeholder, int64_t item_bytes) const {
  if (placeholder.size() != 16 || load_le<uint64_t>(placeholder.data()) != stamp) return nullptr;
  const auto index = load_le<uint64_t>(placeholder.data() + 8);
  if (index >= tensors.size()) throw error("use.lent", "the archive stands for weights that were not given");
  const Lent& t = tensors[static_cast<size_t>(index)];
  bool fits = t.sizes.size() == t.strides.size() && t.offset >= 0;
  int64_t last = t.offset, reach = 0;
  for (size_t i = 0; fits && i < t.sizes.size(); ++i) {
    if (t.sizes[i] == 0) return &t;
    fits = t.sizes[i] > 0 && t.strides[i] >= 0 && !__builtin_mul_overflow(t.sizes[i] - 1, t.strides[i], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  if (!fits || static_cast<uint64_t>(last) >= t.storage.size() / static_cast<uint64_t>(item_bytes))
    throw error("use.lent", "a weight reaches beyond its memory");
  return &t;
}

}  // namespace cameo::staging
