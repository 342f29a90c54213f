#include "formats/queued_writer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "formats/atomic_file.h"
#include "support/error.h"

namespace cameo::tests {
namespace {

std::string scratch(const char* name) { return (std::filesystem::temp_directory_path() / name).string(); }

TEST(QueuedWriter, LargeFilesArriveWholeAndInOrder) {
  const std::string path = scratch("cameo_queued_writer_test.bin");
  std::string wanted;
  {
    AtomicFile file(path);
    for (int i = 0; i < 300; ++i) {  // some 15 MB in pieces of all sizes
      const std::string piece(static_cast<size_t>(i) * 331, static_cast<char>(i));
      file.append(piece);
      wanted += piece;
      EXPECT_EQ(file.position(), wanted.size());
    }
    const std::string large(size_t{5} << 20, 'x');
    file.append(large);
    wanted += large;
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  EXPECT_TRUE(map_file(path).text() == wanted);
  std::filesystem::remove(path);
}

TEST(QueuedWriter, LeavesNothingBehindWithoutCommit) {
  const std::string folder = scratch("cameo_queued_writer_folder");
  std::filesystem::create_directory(folder);
  {
    AtomicFile file(folder + "/a.bin");
    file.append(std::string(size_t{20} << 20, 'y'));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST(QueuedWriter, TellsOfFailures) {
  auto closed = FileHandle::open_for_reading("/dev/null");  // cannot be written
  const auto writer = QueuedWriter::start(closed);
  if (!writer) GTEST_SKIP() << "no threads here";
  WriteBuffer buffer;
  for (int i = 0; i < 10; ++i) {
    buffer.room()[0] = std::byte{'z'};
    buffer.used = 1;
    buffer = writer->exchange(std::move(buffer));
  }
  EXPECT_NE(writer->finish(), 0);
}

}  // namespace
}  // namespace cameo::tests
