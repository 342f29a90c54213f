// Graphs as text, inferred, verified, expanded for an older opset, and run where their inputs are small.
#include <cstdlib>

#include "backends/onnx/legalise.h"
#include "frontends/text/parse.h"
#include "ops/infer.h"
#include "ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  using namespace cameo;
  using namespace cameo::tests;
  DiagSink diags;
  Model m = parse_text({reinterpret_cast<const char*>(data), size}, "fuzz", diags);
  verify(m, "after reading");
  infer(m.graph, m.functions);
  infer(m.graph, m.functions);  // again, on its own results
  verify(m, "after inference");
  onnx::legalise(m, 7 + static_cast<int64_t>(size % 18), {.lossy = true});
  verify(m, "after expansion");
  return 0;
} catch (const cameo::Error& e) {
  return e.exit_code() < 4 ? 0 : (std::abort(), 0);
}
