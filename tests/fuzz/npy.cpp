// One array, or an .npz of them: what is read has the size its shape says, and is written back the same.
#include "formats/npy.h"

#include <cstdlib>

#include "support/error.h"

using namespace cameo;
using namespace cameo::tests;

static void look_at(const npy::Array& a) {
  const npy::Array p = npy::plain(a);
  const npy::Descr d = npy::parse_descr(p.descr);
  invariant(p.data.size() == npy::element_count(p) * d.item_bytes, "the size is the shape's");
  if (d.kind == 'U' || d.kind == 'S') npy::from_strings(npy::to_strings(p), p.shape);
  std::string bytes;
  npy::write(
      [&](std::span<const std::byte> part) { bytes.append(reinterpret_cast<const char*>(part.data()), part.size()); },
      p);
  const npy::Array back = npy::read(Bytes::own(bytes), "written");
  invariant(back.shape == p.shape && back.data.text() == p.data.text(), "what was written reads back");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  const Bytes file(nullptr, {reinterpret_cast<const std::byte*>(data), size});
  if (!zip::looks_like_zip(file.text())) look_at(npy::read(file, "fuzz"));
  else
    for (const npy::Named& each : npy::read_npz(file, "fuzz")) look_at(each.array);
  return 0;
} catch (const Error& e) {
  return e.exit_code() == 3 || e.diag().code == "write.too-large" ? 0 : (std::abort(), 0);
}
