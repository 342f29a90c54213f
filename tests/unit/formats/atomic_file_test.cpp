#include "formats/atomic_file.h"

#include "formats/file_handle.h"
#include "formats/temporary_names.h"
#include "unit/formats/file_test.h"

namespace cameo::tests {

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
  const std::pair<size_t, size_t> parts[] = {
      {0, 70'000}, {5, 3 << 20}, {100, 50}, {1 << 20, 6 << 20}, {(4 << 20) + 3, 8'388'605}};
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

TEST_F(FileTest, DeadTemporariesGoAndLivingOnesStay) {
  const std::string name = temporary_name(at("a")), held = temporary_name(at("a"));
  ASSERT_NE(name, held);
  for (const std::string& path : {name, held, at("a.tmp"), at("a.cameo-12.tmp")}) std::ofstream(path) << "half";
  fs::create_directory(temporary_name(at("folder")));
  fs::create_symlink("a.tmp", temporary_name(at("link")));
  FileHandle living = FileHandle::open_for_reading(held);
  if (living.try_lock() != FileHandle::Lock::taken) GTEST_SKIP() << "no locks here";
  EXPECT_EQ(count(), 6u);
  remove_dead_temporaries(folder.string());
  EXPECT_FALSE(fs::exists(name));
  EXPECT_TRUE(fs::exists(held));
  EXPECT_EQ(count(), 5u);
  living.close();
  AtomicFile out(at("b"));  // every writer looks
  EXPECT_FALSE(fs::exists(held));
}

TEST_F(FileTest, TheNameMayBeSettledLate) {
  AtomicFile out(at("a"));
  out.hash_contents();
  out.append(std::string(3 << 20, 'x'));
  const uint64_t whole = out.content_hash();
  out.append("y");
  EXPECT_NE(out.content_hash(), whole);
  out.go_to(at("b"));
  out.commit();
  EXPECT_FALSE(fs::exists(at("a")));
  EXPECT_EQ(fs::file_size(at("b")), (3u << 20) + 1);
  AtomicFile unwanted(at("c"));
  unwanted.append("z");
  unwanted.give_up();
  unwanted.commit();
  EXPECT_EQ(count(), 1u);
}

}  // namespace cameo::tests
