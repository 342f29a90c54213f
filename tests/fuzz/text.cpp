// Texts: what is read prints and reads back.
#include <cstdlib>

#include "frontends/text/parse.h"
#include "ir/structure.h"
#include "backends/text/print.h"
#include "ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  using namespace cameo;
  using namespace cameo::tests;
  DiagSink diags;
  const Model m = parse_text({reinterpret_cast<const char*>(data), size}, "fuzz", diags);
  verify(m, "after reading");
  TensorTable tensors;
  const std::string text = print_text(m, {.tensors = &tensors});
  const Model back = parse_text(text, "printed", diags, {.tensors = &tensors});
  if (!same_structure(m, back)) std::abort();
  return 0;
} catch (const cameo::Error& e) {
  return e.exit_code() < 4 ? 0 : (std::abort(), 0);
}
