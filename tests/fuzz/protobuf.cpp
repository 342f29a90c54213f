#include <cstdlib>

#include "formats/protobuf.h"
#include "support/error.h"

// Reads every field in every way its number suggests, wrong ones included.
static void walk(cameo::pb::Reader in) {
  std::vector<int64_t> ints;
  std::vector<int32_t> shorts;
  std::vector<float> floats;
  std::vector<double> doubles;
  while (auto f = in.next()) switch (f.number % 8) {
      case 0: f.append_to(ints); break;
      case 1: f.append_to(floats); break;
      case 2: f.append_to(doubles); break;
      case 3: f.append_to(shorts); break;
      case 4: (void)f.float64(); break;
      case 5: (void)f.float32(); break;
      case 6: (void)f.int64(); break;
      case 7: walk(f.message()); break;
    }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  cameo::pb::Reader in(std::string_view(reinterpret_cast<const char*>(data), size), {.depth = 50, .messages = 10000});
  walk(in);
  in.throw_if_fault("fuzz");
  return 0;
} catch (const cameo::Error& e) {
  return e.exit_code() == 3 ? 0 : (std::abort(), 0);
}
