#include "ir/op_info.h"

#include <map>
#include <mutex>

namespace cameo::ir {

namespace {
struct OpaqueOp {
  std::string domain, name;
  OpInfo info;
};
}  // namespace

const OpInfo& opaque_op(std::string_view domain, std::string_view name) {
  static std::mutex guard;
  static std::map<std::pair<std::string, std::string>, std::unique_ptr<OpaqueOp>, std::less<>> known;
  const std::lock_guard lock(guard);
  auto& slot = known[{std::string(domain), std::string(name)}];
  if (!slot) {
    slot = std::make_unique<OpaqueOp>();
    slot->domain = domain;
    slot->name = name;
    slot->info.domain = slot->domain;
    slot->info.name = slot->name;
  }
  return slot->info;
}

}  // namespace cameo::ir
