// A torch.export archive, from the zip to the ONNX file. An input that is not a zip is the model.json of a small
// archive, so that the fuzzer works on node lists too.
#include <cstdlib>

#include "backends/onnx/writer.h"
#include "formats/zip.h"
#include "ir/verify.h"
#include "staging/export.h"

using namespace cameo;
using namespace cameo::tests;

static Bytes archive(std::string_view model) {
  std::string bytes;
  zip::Writer w([&](std::span<const std::byte> d) { bytes.append(reinterpret_cast<const char*>(d.data()), d.size()); },
                64);
  w.add("a/models/model.json", model);
  w.add("a/data/weights/model_weights_config.json", R"({"config":{}})");
  w.add("a/data/constants/model_constants_config.json", R"({"config":{}})");
  w.add("a/archive_format", "pt2");
  w.add("a/archive_version", "0");
  w.add("a/byteorder", "little");
  w.finish();
  return Bytes::own(bytes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  pt2::Program program = pt2::read_pt2(zip::looks_like_zip(text) ? Bytes::own(text) : archive(text), "fuzz.pt2");
  ExportOptions options;
  options.stage.max_steps = 20'000, options.stage.max_nodes = 2'000, options.stage.max_unrolled_nodes = 200,
  options.stage.max_depth = 60;
  DiagSink diags;
  const Model m = export_pt2(program, options, diags);
  verify(m, "after staging");
  WriteOptions write;
  write.opset = size % 3 ? 18 : 11;
  write_onnx(m, write);
  return 0;
} catch (const Error& e) {
  return e.exit_code() < 4 ? 0 : (std::abort(), 0);
}
