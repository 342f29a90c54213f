// An ONNX file through everything that is done with one: checked, read and upgraded, inferred, written at its own opset
// and at another one, printed as text.
#include <cstdlib>
#include <functional>

#include "backends/onnx/writer.h"
#include "backends/text/text_file.h"
#include "frontends/onnx/check.h"
#include "frontends/onnx/reader.h"
#include "ops/infer.h"
#include "ir/verify.h"

static void attempt(const std::function<void()>& step) try { step(); } catch (const cameo::Error& e) {
  if (e.exit_code() == 4) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cameo;
  using namespace cameo::tests;
  const Bytes bytes = Bytes::own(std::string_view(reinterpret_cast<const char*>(data), size));
  attempt([&] { check_onnx(bytes, ""); });
  attempt([&] { onnx_to_text(bytes, ""); });
  attempt([&] {
    DiagSink diags;
    Model m = read_onnx(bytes, "", diags);
    verify(m, "after reading");
    infer(m.graph, m.functions);
    verify(m, "after inference");
    WriteOptions same, other;
    same.weights = other.weights = WeightMode::embed;
    other.opset = size % 2 ? 13 : 22;
    attempt([&] { write_onnx(m, same); });
    attempt([&] { write_onnx(m, other); });
  });
  return 0;
}
