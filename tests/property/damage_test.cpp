// Every sample file of the repository, cut off at every length (large ones at some) and with bits turned over: what
// comes of it is what the file says now, or an Error that blames the file, never a crash and never a bug of ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "backends/onnx/writer.h"
#include "formats/mapped_file.h"
#include "formats/npy.h"
#include "formats/zip.h"
#include "frontends/onnx/check.h"
#include "frontends/onnx/reader.h"
#include "frontends/recognise.h"
#include "frontends/text/parse.h"
#include "ops/infer.h"
#include "ir/verify.h"
#include "staging/export.h"

namespace cameo::tests {
namespace {

namespace fs = std::filesystem;

void read_as_arrays(const Bytes& file) {
  if (!zip::looks_like_zip(file.text())) npy::plain(npy::read(file, "damaged"));
  else
    for (const auto& each : npy::read_npz(file, "damaged")) npy::plain(each.array);
}

void read_as_onnx(const Bytes& file) {
  check_onnx(file, "");
  DiagSink diags;
  Model m = read_onnx(file, "", diags);
  infer(m.graph, m.functions);
  verify(m, "after inference");
  WriteOptions options;
  options.weights = WeightMode::embed;
  write_onnx(m, options);
}

void read_as_text(const Bytes& file) {
  DiagSink diags;
  Model m = parse_text(file.text(), "damaged", diags);
  infer(m.graph, m.functions);
}

ExportOptions bounded() {
  ExportOptions options;
  options.stage.max_steps = 100'000, options.stage.max_nodes = 20'000;
  return options;
}

void write_staged(const Model& m) {
  verify(m, "after staging");
  WriteOptions write;
  write.opset = 18;
  write_onnx(m, write);
}

void read_as_archive(const Bytes& file) {
  auto program = torchscript::read_torchscript(file, "damaged.pt");
  ExportOptions options = bounded();
  for (const auto& p : program.root().cls->method("forward") ? program.root().cls->method("forward")->params
                                                             : std::span<const torchscript::Param>())
    if (p.type && p.type->is(torchscript::TypeKind::tensor) && program.example_inputs().empty())
      options.inputs.push_back(parse_input_spec(cat(p.name, "=f32[b,3]")));
  DiagSink diags;
  write_staged(export_torchscript(program, options, diags));
}

void read_as_exported(const Bytes& file) {
  auto program = pt2::read_pt2(file, "damaged.pt2");
  DiagSink diags;
  write_staged(export_pt2(program, bounded(), diags));
}

using Reader = void (*)(const Bytes&);
Reader reader_of(const fs::path& path) {
  static const std::map<std::string, Reader> readers = {
      {".npy", read_as_arrays},  {".npz", read_as_arrays},  {".onnx", read_as_onnx},
      {".pt", read_as_archive},  {".ptl", read_as_archive}, {".onnxtxt", read_as_text},
      {".pkl", read_as_archive}, {".zip", read_as_arrays},  {".pt2", read_as_exported}};
  const auto found = readers.find(path.extension().string());
  return found == readers.end() ? nullptr : found->second;
}

// 0 when it was read to the end; else the status that the command would end with.
int outcome(Reader read, std::string_view bytes) {
  constexpr size_t small = 20'000;  // a copy of its own, so that sanitizers see where it ends
  try {
    read(bytes.size() < small ? Bytes::own(bytes) : Bytes(nullptr, std::as_bytes(std::span(bytes))));
    return 0;
  } catch (const Error& e) {
    EXPECT_NE(e.exit_code(), 4) << e.diag().render();
    return e.exit_code();
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
    return 4;
  }
}

class Samples : public testing::TestWithParam<const char*> {
 protected:
  // Calls f(path, its bytes, its reader) for each.
  template <class F>
  void each(F f) {
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(CAMEO_SOURCE_DIR) / GetParam())) {
      const Reader read = reader_of(entry.path());
      if (!read) continue;
      SCOPED_TRACE(entry.path().string());
      f(entry.path(), std::string(read_file(entry.path().string()).text()), read);
      ++count;
    }
    EXPECT_GT(count, 0u);
  }
};

// Every length of a small file. Of a large one, mostly weights, every length near its two ends, where the headers and
// the directory are, and a thousand between.
size_t next_length(size_t n, size_t size) {
  constexpr size_t small = 20'000, near = 2'000;
  return size <= small || n < near || n + near >= size ? n + 1 : std::min(n + (size - 2 * near) / 1'000, size - near);
}

TEST_P(Samples, CutOffAnywhere) {
  each([](const fs::path& path, const std::string& whole, Reader read) {
    const bool archive = zip::looks_like_zip(whole);
    // A zip ends with its directory, so that nothing shorter is one. The other formats may end earlier.
    for (size_t n = 0; n < whole.size(); n = next_length(n, whole.size())) {
      const int status = outcome(read, std::string_view(whole).substr(0, n));
      if (archive || path.extension() == ".npy") {
        EXPECT_EQ(status, 3) << n;
      }
    }
  });
}

TEST_P(Samples, BitsTurnedOver) {
  each([](const fs::path&, std::string bytes, Reader read) {
    const size_t step = std::max<size_t>(1, bytes.size() / 400);  // several hundred places of each file
    for (size_t i = 0; i < bytes.size(); i += step) {
      SCOPED_TRACE(i);
      const char was = bytes[i];
      bytes[i] = static_cast<char>(was ^ (1 << (i / step % 8)));
      outcome(read, bytes);
      bytes[i] = was;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Damage, Samples,
                         testing::Values("tests/data/export", "tests/data/formats", "tests/data/onnx", "tests/data/pt2",
                                         "tests/data/torchscript", "examples"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace cameo::tests
