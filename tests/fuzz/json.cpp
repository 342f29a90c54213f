#include <cstdlib>

#include "formats/json.h"
#include "support/error.h"

static uint64_t walk(cameo::json::Value v) {
  using cameo::json::Kind;
  uint64_t n = v.offset();
  if (v.kind() == Kind::string) n += v.text().size();
  if (v.is_array())
    for (const auto e : v.elements()) n += walk(e);
  if (v.is_object())
    for (const auto& m : v.members()) n += walk(v[m.key]) + walk(m.value);
  return n;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  using namespace cameo;
  using namespace cameo::tests;
  const json::Document doc(Bytes(nullptr, {reinterpret_cast<const std::byte*>(data), size}), "fuzz",
                           {.depth = 12, .python_numbers = true});
  walk(doc.root());
  return 0;
} catch (const cameo::Error& e) {
  return e.exit_code() == 3 ? 0 : (std::abort(), 0);
}
