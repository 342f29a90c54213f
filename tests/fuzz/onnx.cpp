#include <cstdlib>

#include "frontends/onnx/reader.h"
#include "ops/infer.h"

// Reads a model and infers it; the input decides nothing but what the findings are.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  cameo::DiagSink diags;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  cameo::Model m = cameo::read_onnx(cameo::Bytes::own(text), "", diags);
  cameo::infer(m.graph, m.functions);
  return 0;
} catch (const cameo::Error& e) {
  return e.exit_code() == 4 ? (std::abort(), 0) : 0;
}
