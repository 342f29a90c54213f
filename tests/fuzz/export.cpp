// A whole archive, damaged as it likes, from the zip to the ONNX file. An input that is not a zip is the code of a
// small module, so that the fuzzer works on programs too.
#include "staging/export.h"

#include <cstdlib>

#include "backends/onnx/writer.h"
#include "formats/zip.h"
#include "ir/verify.h"

using namespace cameo;
using namespace cameo::tests;
using namespace std::string_view_literals;

// An archive whose module __torch__.Net has a weight of 2 x 3 floats, a number n and training = False.
static Bytes archive(std::string_view code) {
  std::string bytes;
  zip::Writer w([&](std::span<const std::byte> d) { bytes.append(reinterpret_cast<const char*>(d.data()), d.size()); },
                64);
  w.add("a/data.pkl",
        "\x80\x02"
        "c__torch__\nNet\n)\x81}(X\x08\0\0\0training\x89X\x01\0\0\0nK\x03X\x06\0\0\0weight"
        "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
        "0X\x03\0\0\0cpuK\x06tQ"
        "K\0K\x02K\x03\x86K\x03K\x01\x86\x89"
        "ccollections\nOrderedDict\n)RtRub."sv);
  w.add("a/constants.pkl", "\x80\x02).");
  w.add("a/version", "10\n");
  w.add("a/data/0", std::string(24, '\x3f'));
  w.add("a/code/__torch__.py", code);
  w.finish();
  return Bytes::own(bytes);
}

static ExportOptions options() {
  ExportOptions o;
  o.stage.max_steps = 20'000, o.stage.max_nodes = 2'000, o.stage.max_unrolled_nodes = 200, o.stage.max_depth = 60;
  return o;
}

// Scripted archives do not say what their inputs look like: the parameters' own types tell enough to go on.
static ExportOptions guessed(torchscript::Program& program) {
  ExportOptions o = options();
  const auto* forward = program.root().cls->method("forward");
  if (!forward) return o;
  for (const auto& p : forward->params)
    if (p.name != "self")
      o.inputs.push_back(
          parse_input_spec(cat(p.name, p.type && p.type->is(torchscript::TypeKind::tensor) ? "=f32[b,3]" : "=2")));
  return o;
}

static Model stage(const Bytes& file) {
  torchscript::Program program = torchscript::read_torchscript(file, "fuzz.pt");
  DiagSink diags;
  try {
    return export_torchscript(program, options(), diags);
  } catch (const Error& e) {
    if (e.diag().code != "use.input-missing") throw;
  }
  return export_torchscript(program, guessed(program), diags);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Model m = stage(zip::looks_like_zip(text) ? Bytes::own(text) : archive(text));
  verify(m, "after staging");
  WriteOptions write;
  write.opset = size % 3 ? 18 : 11;
  write_onnx(m, write);
  return 0;
} catch (const Error& e) {
  return e.exit_code() < 4 ? 0 : (std::abort(), 0);
}
