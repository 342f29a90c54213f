#include "formats/pickle.h"

#include <cstdlib>
#include <unordered_set>

#include "support/error.h"

using cameo::pickle::Value;

// Every value once; what is inside is never as deep as what holds it, so there is no cycle.
static void walk(const Value* v, std::unordered_set<const Value*>& seen) {
  if (!v || !seen.insert(v).second) return;
  for (const Value* part : v->items) cameo::support::invariant(part->depth < v->depth, "parts are less deep");
  for (const Value* part : v->items) walk(part, seen);
  for (const Value* part : {v->callee(), v->args(), v->state()}) {
    cameo::support::invariant(!part || part->depth < v->depth, "parts are less deep");
    walk(part, seen);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  using namespace cameo;
  using namespace cameo::tests;
  const auto d = pickle::read(Bytes(nullptr, {reinterpret_cast<const std::byte*>(data), size}), "fuzz", {.depth = 100});
  std::unordered_set<const Value*> seen;
  walk(&d.root(), seen);
  return 0;
} catch (const cameo::Error& e) {
  return e.exit_code() == 3 ? 0 : (std::abort(), 0);
}
