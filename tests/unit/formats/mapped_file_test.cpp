#include "formats/mapped_file.h"

#include "formats/atomic_file.h"
#include "formats/file_handle.h"
#include "unit/formats/file_test.h"

namespace cameo::tests {

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

TEST_F(FileTest, AFileThatIsCutShortIsFoundOut) {
  const std::string text(3 << 20, 'x');
  std::ofstream(at("a")) << text;
  std::ofstream(at("b")) << text;
  {
    const Bytes a = map_file(at("a")), b = map_file(at("b"));
    EXPECT_EQ(code_of([] { require_unchanged_files(); }), "");
    fs::resize_file(at("a"), 5000);
    EXPECT_EQ(code_of([] { require_whole_files(); }), "") << "the missing bytes were not read";
    EXPECT_EQ(a.text().substr(0, 4096), text.substr(0, 4096));
    EXPECT_EQ(a.text()[2 << 20], '\0');
    EXPECT_EQ(a.text()[(3 << 20) - 1], '\0');
    EXPECT_TRUE(b.text() == text);
    EXPECT_EQ(code_of([] { require_whole_files(); }), "file.changed");
    EXPECT_EQ(code_of([] { require_whole_files(); }), "file.changed") << "as long as it is held";
    EXPECT_EQ(code_of([&] {
                AtomicFile out(at("c"));
                out.commit();
              }),
              "file.changed");
    EXPECT_FALSE(fs::exists(at("c")));
  }
  EXPECT_EQ(code_of([] { require_whole_files(); }), "file.changed") << "and once after that";
  EXPECT_EQ(code_of([] { require_unchanged_files(); }), "file.changed") << "its size told of it too";
  EXPECT_EQ(code_of([] { require_unchanged_files(); }), "");
}

TEST_F(FileTest, PartsThatAreGoneAreNotCopied) {
  std::ofstream(at("a")) << std::string(3 << 20, 'x');
  const Bytes a = map_file(at("a"));
  fs::resize_file(at("a"), 5000);
  AtomicFile out(at("b"));
  EXPECT_EQ(code_of([&] { out.append(a.span()); }), "file.changed");
}

TEST_F(FileTest, SmallFilesAreOursOnceTheyAreRead) {
  std::ofstream(at("a")) << "small";
  const Bytes a = map_file(at("a"));
  fs::resize_file(at("a"), 0);
  EXPECT_EQ(a.text(), "small");
  EXPECT_EQ(code_of([] { require_unchanged_files(); }), "");
}

}  // namespace cameo::tests
