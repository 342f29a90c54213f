#include <cstdlib>

#include "formats/zip.h"
#include "support/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  using namespace cameo;
  using namespace cameo::tests;
  const zip::Archive z(Bytes(nullptr, {reinterpret_cast<const std::byte*>(data), size}), "fuzz",
                       {.unpacked_bytes = 1 << 20});
  (void)z.top_folder();
  for (const auto& e : z.entries()) z.read(*z.find(e.name), zip::Crc::check);
  return 0;
} catch (const cameo::Error& e) {
  return e.exit_code() == 3 ? 0 : (std::abort(), 0);
}
