#include <cstdlib>
#include <string>

#include "formats/zip.h"
#include "frontends/torchscript/program.h"

// An archive with sound code and weights whose data.pkl is the input.
static cameo::Bytes archive(std::string_view pickle) {
  std::string bytes;
  cameo::zip::Writer w(
      [&](std::span<const std::byte> d) { bytes.append(reinterpret_cast<const char*>(d.data()), d.size()); }, 64);
  w.add("a/data.pkl", pickle);
  w.add("a/constants.pkl", "\x80\x02).");
  w.add("a/version", "3\n");
  for (const char* key : {"0", "1", "2"}) w.add(std::string("a/data/") + key, std::string(48, '\1'));
  w.add("a/code/__torch__.py",
        "class Net(Module):\n  __parameters__ = [\"weight\", ]\n  __buffers__ = []\n  weight : Tensor\n"
        "  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n    return x\n"
        "class Color(Enum):\n  RED = 1\n"
        "class State:\n  n : int\n  def __getstate__(self: __torch__.State) -> int:\n    return 1\n"
        "  def __setstate__(self: __torch__.State,\n    n: int) -> NoneType:\n    return None\n");
  w.finish();
  return cameo::Bytes::own(bytes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  using namespace cameo::torchscript;
  Program p = read_torchscript(archive({reinterpret_cast<const char*>(data), size}), "fuzz.pt");
  dump(p);
  return 0;
} catch (const cameo::Error& e) {
  return e.exit_code() == 3 ? 0 : (std::abort(), 0);
}
