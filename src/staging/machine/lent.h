// What a program around Cameo lends to staging: lowerings of its own, and weights that stay in its memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "staging/machine/value.h"
#include "support/bytes.h"

namespace cameo::lowering {
struct Schema;
}

namespace cameo::staging {

class Machine;
struct CallArgs;

// Called for the operators in `names` ("mylib::op" stands for all overloads, "mylib::op.Tensor" for one) before any
// other lowering. Arguments are in the schema's order, defaults filled, or as written where there is no schema.
struct HostLowerings {
  std::set<std::string, std::less<>> names;
  std::function<std::vector<Value>(Machine&, const std::string& op, const Schema*, const CallArgs&)> call;
  std::shared_ptr<std::map<std::string, int64_t>> versions;  // of domains, as the calls asked for them; may be null
  bool has(std::string_view op) const;
};

// An archive that was written without its weights has, in place of each, a storage of 16 bytes: `stamp` and an index.
struct LentWeights {
  struct Lent {
    std::vector<int64_t> sizes, strides;  // in elements; all that they reach lies in `storage`
    int64_t offset = 0;
    Bytes storage;
  };
  uint64_t stamp = 0;
  std::vector<Lent> tensors;
  const Lent* find(const Bytes& placeholder,
                   int64_t item_bytes) const;  // null: no placeholder. Throws use.lent where it does not fit
};

}  // namespace cameo::staging
