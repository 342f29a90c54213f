#include "formats/zip.h"

#include <gtest/gtest.h>

#include "support/endian.h"
#include "support/error.h"

namespace cameo::zip {

static std::string data_file(const char* name) { return std::string(CAMEO_SOURCE_DIR "/tests/data/formats/") + name; }

static std::string written(uint32_t alignment) {
  std::string out;
  Writer w([&](std::span<const std::byte> d) { out.append(reinterpret_cast<const char*>(d.data()), d.size()); },
           alignment);
  w.add("net/data.pkl", "pickled");
  w.add("net/data/0", std::string(100, 'w'));
  w.add("net/empty", "");
  w.finish();
  EXPECT_EQ(w.position(), out.size());
  return out;
}

static std::string code_of(const std::string& bytes, Limits limits = {}) {
  try {
    const Archive z(Bytes::own(bytes), "z", limits);
    for (const Entry& e : z.entries()) z.read(e, Crc::check);
  } catch (const Error& e) {
    return e.diag().code;
  }
  return "";
}

TEST(Zip, ReadsWhatItWrites) {
  for (const uint32_t alignment : {0u, 64u, 4096u}) {
    const Archive z(Bytes::own(written(alignment)), "z");
    ASSERT_EQ(z.entries().size(), 3u);
    EXPECT_EQ(z.top_folder(), "net");
    EXPECT_EQ(z.find("none"), nullptr);
    const Entry* e = z.find("net/data/0");
    ASSERT_TRUE(e);
    EXPECT_EQ(e->data_offset % std::max(alignment, 1u), 0u);
    const Bytes data = z.read(*e, Crc::check);
    EXPECT_EQ(data.text(), std::string(100, 'w'));
    EXPECT_EQ(data.data(), z.file().data() + e->data_offset) << "a stored entry is a view";
  }
}

TEST(Zip, ReadsPyTorchsWriter) {
  const Archive z(map_file(data_file("torch_writer.pt")), "torch_writer.pt");
  EXPECT_EQ(z.top_folder(), "torch_writer");
  const Entry* e = z.find("torch_writer/data/0");
  ASSERT_TRUE(e);
  EXPECT_EQ(e->data_offset % 64, 0u);
  EXPECT_EQ(z.read(*e, Crc::check).size(), 512u);
  EXPECT_TRUE(z.read(*z.find("torch_writer/empty"), Crc::check).empty());
}

TEST(Zip, ReadsDeflatedEntriesBeforeAComment) {
  const Archive z(map_file(data_file("deflated.zip")), "deflated.zip");
  EXPECT_EQ(z.read(*z.find("a/text.txt"), Crc::check).text(), "hello hello hello hello");
  EXPECT_EQ(z.read(*z.find("a/zeros"), Crc::check).text(), std::string(3000, '\0'));
  EXPECT_EQ(z.read(*z.find("a/empty"), Crc::check).size(), 0u);
}

TEST(Zip, RefusesWhatIsDamaged) {
  const std::string good = written(0);
  EXPECT_EQ(code_of(good), "");
  EXPECT_EQ(code_of("not a zip"), "file.not-zip");
  EXPECT_EQ(code_of(""), "file.not-zip");
  EXPECT_EQ(code_of(good.substr(0, good.size() - 1)), "file.damaged");
  std::string crc = good;
  crc[crc.find("pickled")] = 'P';
  EXPECT_EQ(code_of(crc), "file.damaged");
  std::string other_name = good;
  other_name[other_name.find("net/data.pkl")] = 'N';
  EXPECT_EQ(code_of(other_name), "file.damaged");
}

TEST(Zip, RefusesTwinsAndOverlaps) {
  std::string out;
  Writer w([&](std::span<const std::byte> d) { out.append(reinterpret_cast<const char*>(d.data()), d.size()); });
  w.add("same", "1");
  w.add("same", "2");
  w.finish();
  EXPECT_EQ(code_of(out), "file.damaged");
  // Both directory entries now point at the first local header.
  out.replace(out.rfind("PK\x01\x02") + 42, 4, std::string(4, '\0'));
  EXPECT_EQ(code_of(out), "file.damaged");
}

TEST(Zip, RefusesBombs) {
  const std::string good(read_file(data_file("deflated.zip")).text());
  EXPECT_EQ(code_of(good, {.unpacked_bytes = 1000, .ratio = 1}), "file.too-large");
  EXPECT_EQ(code_of(good, {.entries = 2}), "file.too-large");
  std::string lies = good;
  const size_t central = lies.find("PK\x01\x02");
  std::string size;
  append_le<uint32_t>(size, 0x7fffffff);
  lies.replace(central + 24, 4, size);
  EXPECT_EQ(code_of(lies), "file.damaged") << "deflate cannot pack that tight";
}

TEST(Zip, ReadsZip64Fields) {
  // One stored entry of three bytes whose sizes and offset all stand in the extra field.
  std::string z;
  Writer w([&](std::span<const std::byte> d) { z.append(reinterpret_cast<const char*>(d.data()), d.size()); });
  w.add("n", "abc");
  w.finish();
  const size_t central = z.find("PK\x01\x02");
  std::string extra("\x01\x00\x18\x00", 4);
  for (const uint64_t v : {3, 3, 0}) append_le<uint64_t>(extra, v);
  z.replace(central + 20, 8, std::string(8, '\xff'));
  z.replace(central + 42, 4, std::string(4, '\xff'));
  z[central + 30] = static_cast<char>(extra.size());
  z.insert(central + 47, extra);
  const size_t end = z.find("PK\x05\x06");
  z[end + 12] = static_cast<char>(end - central);
  const Archive archive(Bytes::own(z), "z");
  EXPECT_EQ(archive.read(archive.entries()[0], Crc::check).text(), "abc");
  z[central + 49] = 8;  // the field holds one of the three
  EXPECT_EQ(code_of(z), "file.damaged");
}

TEST(Zip, EveryTruncationAndBitFlipEnds) {
  for (const char* name : {"torch_writer.pt", "deflated.zip"}) {
    const std::string bytes(read_file(data_file(name)).text());
    for (size_t n = 0; n < bytes.size(); ++n) code_of(bytes.substr(0, n));
    std::string flipped = bytes;
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      code_of(flipped, {.unpacked_bytes = 1 << 20});
      flipped[bit / 8] = bytes[bit / 8];
    }
  }
}

}  // namespace cameo::zip
