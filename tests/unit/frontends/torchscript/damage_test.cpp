// Whatever happens to an archive's bytes, reading it ends in a program or an Error.
#include <gtest/gtest.h>

#include "formats/mapped_file.h"
#include "unit/frontends/torchscript/samples.h"

namespace cameo::torchscript {
namespace {

enum class Result { fine, refused };

Result try_read(const std::string& bytes) {
  try {
    Program p = read_torchscript(Bytes::own(bytes), "damaged.pt");
    dump(p);
    for (const SourceFile* f : p.all_sources())
      for (const ClassDef* c : f->classes)
        for (const FunctionDef* m : c->methods)
          for (const Stmt* s : m->body) p.user_frames(s->pos);
    return Result::fine;
  } catch (const Error& e) {
    EXPECT_NE(e.exit_code(), 4) << e.diag().render();
    return Result::refused;
  }
}

std::string bytes_of(const std::string& name) { return std::string(read_file(sample_path(name)).text()); }

TEST(TorchScriptDamage, EveryTruncationIsRefused) {
  for (const auto name : {"tuples.pt", "function_traced.pt", "state.pt"}) {
    const std::string whole = bytes_of(name);
    ASSERT_EQ(try_read(whole), Result::fine);
    for (size_t n = 0; n < whole.size(); n += n < 1500 ? 1 : 3)
      EXPECT_EQ(try_read(whole.substr(0, n)), Result::refused) << name << " " << n;
  }
}

TEST(TorchScriptDamage, BitFlipsNeverCrash) {
  for (const auto name : {"tuples.pt", "containers.pt", "function_traced.pt"}) {
    std::string bytes = bytes_of(name);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const char flip = static_cast<char>(1 << (i % 8));
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      try_read(bytes);
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
    }
  }
}

}  // namespace
}  // namespace cameo::torchscript
