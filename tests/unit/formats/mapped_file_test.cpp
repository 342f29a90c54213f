#include "formats/mapped_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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
