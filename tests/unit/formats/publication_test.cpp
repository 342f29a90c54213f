#include "formats/publication.h"

#include <thread>

#include "formats/file_handle.h"
#include "unit/formats/file_test.h"

namespace cameo::tests {

TEST_F(FileTest, AllFilesOfAPublicationAppearTogetherTheModelLast) {
  Publication files;
  AtomicFile& model = files.open(at("model"), Publication::Turn::model);
  AtomicFile& other = files.open(at("other"));
  AtomicFile& data = files.open(at("data"), Publication::Turn::data);
  model.append("m");
  other.append("o");
  data.append("d");
  bool looked = false, tidied = false;
  files.just_before([&] { looked = count() == 0; });
  files.just_after([&] {
    tidied = count() == 3;
    throw error("write.failed", "of no importance");
  });
  EXPECT_EQ(count(), 0u);
  files.commit();
  EXPECT_EQ(count(), 3u);
  EXPECT_TRUE(looked);
  EXPECT_TRUE(tidied);
}

TEST_F(FileTest, APublicationThatFailsLeavesNothing) {
  {
    Publication files;
    files.open(at("a")).append("a");
    EXPECT_EQ(code_of([&] { files.open(at("no/such/b")); }), "write.failed");
    EXPECT_EQ(code_of([&] { files.open(at("../") + folder.filename().string() + "/a"); }), "use.output");
    files.just_before([] { throw error("write.exists", "no"); });
    EXPECT_EQ(code_of([&] { files.commit(); }), "write.exists");
  }
  EXPECT_EQ(count(), 0u);
}

TEST_F(FileTest, APublicationWaitsForAnother) {
  FileHandle lock = FileHandle::open_folder(folder.string());
  if (lock.try_lock() != FileHandle::Lock::taken) GTEST_SKIP() << "no locks here";
  Publication files;
  files.open(at("model"), Publication::Turn::model).append("m");
  std::thread publisher([&] { files.commit(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(count(), 0u);
  lock.close();
  publisher.join();
  EXPECT_EQ(count(), 1u);
}

}  // namespace cameo::tests
