#include "formats/mapped_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "formats/file_handle.h"
#include "support/error.h"

namespace cameo {
namespace fs = std::filesystem;

struct FileTest : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) /
                    (std::string("cameo_") + testing::UnitTest::GetInstance()->current_test_info()->name());
  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string at(const char* name) const { return (folder / name).string(); }
  size_t count() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {})); }
  static std::string code_of(auto call) {
    try {
      call();
    } catch (const Error& e) {
      return e.diag().code;
    }
    return "";
  }
};

TEST_F(FileTest, WritesAppearAtCommitOnly) {
  {
    AtomicFile out(at("a"));
    out.append("hello");
    EXPECT_EQ(out.position(), 5u);
    EXPECT_FALSE(fs::exists(at("a")));
    out.pad_to(64);
    out.append(std::string(3 << 20, 'x'));
    EXPECT_EQ(out.position(), 64u + (3 << 20));
    out.commit(/*durable=*/true);
  }
  const Bytes mapped = map_file(at("a")), read = read_file(at("a"));
  EXPECT_EQ(mapped.size(), 64u + (3 << 20));
  EXPECT_EQ(mapped.text().substr(0, 6), std::string_view("hello\0", 6));
  EXPECT_EQ(mapped.text(), read.text());
  EXPECT_EQ(count(), 1u);
}

TEST_F(FileTest, WithoutCommitNothingIsLeft) {
  { AtomicFile(at("a")).append("half"); }
  EXPECT_EQ(count(), 0u);
}

TEST_F(FileTest, OverwritingAMappedFileKeepsTheMapping) {
  std::ofstream(at("a")) << "old";
  const Bytes old = map_file(at("a"));
  AtomicFile out(at("a"));
  out.append("new contents");
  out.commit();
  EXPECT_EQ(old.text(), "old");
  EXPECT_EQ(map_file(at("a")).text(), "new contents");
}

TEST_F(FileTest, FollowsLinksAndKeepsPermissions) {
  std::ofstream(at("real")) << "old";
  fs::permissions(at("real"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real", at("link"));
  AtomicFile out(at("link"));
  out.append("new");
  out.commit();
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(map_file(at("real")).text(), "new");
  EXPECT_EQ(fs::status(at("real")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// They go from file to file, before and after the writer has a thread of its own, in order with what is in memory.
TEST_F(FileTest, PartsOfMappedFilesAreCopied) {
  std::string text;
  for (uint32_t i = 0; text.size() < (12u << 20); ++i) text.append(reinterpret_cast<const char*>(&i), sizeof i);
  {
    AtomicFile out(at("source"));
    out.append(text);
    out.commit();
  }
  const Bytes source = map_file(at("source"));
  const std::pair<size_t, size_t> parts[] = {{0, 70'000}, {5, 3 << 20}, {100, 50}, {1 << 20, 6 << 20}, {(4 << 20) + 3, 8'388'605}};
  AtomicFile out(at("copy"));
  std::string wanted;
  for (const auto& [offset, size] : parts) {
    out.append("head");
    out.append(source.slice(offset, size).span());
    wanted += "head" + text.substr(offset, size);
    EXPECT_EQ(out.position(), wanted.size());
  }
  out.commit();
  EXPECT_TRUE(map_file(at("copy")).text() == wanted);
}

TEST_F(FileTest, ReleasedPagesComeBack) {
  const std::string text(3 << 20, 'x');
  AtomicFile out(at("a"));
  out.append(text);
  out.commit();
  const Bytes a = map_file(at("a"));
  EXPECT_TRUE(a.text() == text);
  release_pages(a.slice(5000, 2 << 20).span());
  release_pages(as_bytes(text));  // not mapped: nothing to do
  EXPECT_TRUE(a.text() == text);
  EXPECT_FALSE(mapped_range(as_bytes(text)).file);
}

TEST_F(FileTest, SaysWhatIsWrong) {
  EXPECT_EQ(code_of([&] { map_file(at("none")); }), "file.missing");
  EXPECT_EQ(code_of([&] { map_file(folder.string()); }), "file.not-regular");
  EXPECT_EQ(code_of([&] { map_file("/dev/null"); }), "file.not-regular");
  EXPECT_EQ(code_of([&] { AtomicFile out(at("no/such/folder")); }), "write.failed");
  EXPECT_EQ(code_of([&] { AtomicFile out(folder.string()); }), "write.failed");
}

TEST_F(FileTest, DevicesAreWrittenDirectlyAndEmptyFilesAreRead) {
  AtomicFile out("/dev/null");
  out.append("x");
  out.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  std::ofstream(at("empty")).flush();
  EXPECT_TRUE(map_file(at("empty")).empty());
}

}  // namespace cameo
