#include <cstdlib>

#include "frontends/torchscript/source.h"
#include "support/error.h"

static std::string reprint(std::string_view text) {
  using namespace cameo;
  using namespace cameo::tests;
  torchscript::TypeTable types;
  torchscript::SourceFile file;
  file.path = "fuzz";
  file.prefix = "__torch__";
  file.text = Bytes::own(text);
  parse_source(file, types);
  return print(file);
}

// What was read is printed, and what was printed reads as the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string once;
  try {
    once = reprint({reinterpret_cast<const char*>(data), size});
  } catch (const cameo::Error& e) {
    if (e.exit_code() != 3) std::abort();
    return 0;
  }
  cameo::support::invariant(reprint(once) == once, "printing is stable");
  return 0;
}
