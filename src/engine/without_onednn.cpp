// Stands in for src/engine/onednn where the library is absent.
#include "engine/emit.h"
#include "engine/session.h"
#include "support/error.h"

namespace cameo::engine {

std::span<const EmitterRow> onednn_emitters() { return {}; }

bool onednn_adds_bytes_exactly() { return false; }

std::unique_ptr<Kernel> make_reorder(const Desc&, const Desc&) {
  invariant(false, "another layout than row-major without oneDNN");
  return nullptr;
}

Desc dense_desc(DType dtype, std::vector<int64_t> dims, const std::vector<size_t>&) {
  return {dtype, std::move(dims), nullptr};
}

std::string onednn_version() { return ""; }

}  // namespace cameo::engine
