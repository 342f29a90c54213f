// The stand-in for zlib accepts what zlib accepts, and makes the same bytes of it.
#include <cstdlib>
#include <vector>

#include "formats/deflate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cameo;
  using namespace cameo::tests;
  if (size < 2) return 0;
  const size_t room = data[0] | data[1] << 8;
  const auto in = std::as_bytes(std::span(data, size)).subspan(2);
  std::vector<std::byte> ours(room), theirs(room);
  const bool accepted = inflate_into(in, theirs);
  if (portable::inflate_into(in, ours) != accepted || (accepted && ours != theirs)) std::abort();
  if (portable::crc32_of(in) != crc32_of(in)) std::abort();
  return 0;
}
