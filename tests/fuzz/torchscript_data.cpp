#include <cstdlib>
#include <string>

#include "api/archive_info.h"
#include "formats/zip.h"
#include "frontends/torchscript/program.h"

// Archives as programs. An input that is not a zip is the data.pkl of an archive with sound code and weights.
static cameo::support::Bytes archive(std::string_view pickle) {
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
  return cameo::support::Bytes::own(bytes);
}

// Everything that can be asked of a program: its weights' bytes, its code, and the user's lines behind each statement.
static void look_at(cameo::torchscript::Program& p) {
  using namespace cameo::torchscript;
  dump(p);
  for (const NamedTensor& t : named_tensors(p.root()))
    if (t.value->tensor && t.value->tensor->storage) p.bytes(*t.value->tensor->storage);
  for (const SourceFile* f : p.all_sources()) {
    for (const ClassDef* c : f->classes)
      for (const FunctionDef* m : c->methods)
        for (const Stmt* s : m->body) p.user_frame(s->pos), p.locate(s->pos);
    print(*f);
  }
  for (const std::string& name : p.extra_files()) p.extra_file(name);
  cameo::api::archive_info(p);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto p = cameo::torchscript::read_torchscript(
      cameo::zip::looks_like_zip(text) ? cameo::support::Bytes::own(text) : archive(text), "fuzz.pt");
  look_at(p);
  return 0;
} catch (const cameo::Error& e) {
  return e.exit_code() == 3 ? 0 : (std::abort(), 0);
}
