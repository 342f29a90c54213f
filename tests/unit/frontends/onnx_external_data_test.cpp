// The known attacks on external data, each as a model from an attacker.
#include "frontends/onnx/external_data.h"

#include "frontends/onnx/tensor.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/error.h"

namespace cameo::onnx {

namespace {

namespace fs = std::filesystem;

class ExternalDataAttack : public testing::Test {
 protected:
  ExternalDataAttack() {
    folder_ = fs::temp_directory_path() /
              cat("cameo-external-", ::getpid(), "-", testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_ / "model" / "sub");
    put(folder_ / "secret.txt");
    put(folder_ / "model" / "good.bin");
    put(folder_ / "model" / "sub" / "good.bin");
  }
  ~ExternalDataAttack() override { fs::remove_all(folder_); }
  static void put(const fs::path& p) { std::ofstream(p) << "0123456789abcdef"; }

  std::string code(std::string_view location, std::string_view offset = "0", std::string_view length = "8") const {
    ExternalData data((folder_ / "model" / "m.onnx").string());
    try {
      data.find({{"location", location}, {"offset", offset}, {"length", length}}, 8);
    } catch (const Error& e) {
      EXPECT_EQ(e.exit_code(), 3);
      return e.diag().code;
    }
    return "";
  }
  fs::path folder_;
};

constexpr auto refused = "file.external-path";

}  // namespace

TEST_F(ExternalDataAttack, PlainFilesBesideAndBelowAreRead) {
  EXPECT_EQ(code("good.bin"), "");
  EXPECT_EQ(code("./sub/good.bin"), "");
  ExternalData data((folder_ / "model" / "m.onnx").string());
  EXPECT_EQ(data.find({{"location", "good.bin"}, {"offset", "4"}, {"length", "4"}}, 4).bytes.text(), "4567");
}

TEST_F(ExternalDataAttack, AbsolutePath) {
  EXPECT_EQ(code((folder_ / "secret.txt").string()), refused);
  EXPECT_EQ(code("/etc/passwd"), refused);
}

TEST_F(ExternalDataAttack, ParentTraversal) {
  for (const char* path : {"../secret.txt", "sub/../../secret.txt", "..", "sub/..", "./../secret.txt"})
    EXPECT_EQ(code(path), refused) << path;
}

TEST_F(ExternalDataAttack, WindowsTraversal) {
  for (const char* path : {"..\\secret.txt", "C:\\secret.txt", "C:secret.txt", "\\\\host\\share"})
    EXPECT_EQ(code(path), refused) << path;
}

TEST_F(ExternalDataAttack, SymbolicLinkToAFile) {
  fs::create_symlink(folder_ / "secret.txt", folder_ / "model" / "link.bin");
  EXPECT_EQ(code("link.bin"), refused);
}

TEST_F(ExternalDataAttack, SymbolicLinkToAFolder) {
  fs::create_directory_symlink(folder_, folder_ / "model" / "out");
  EXPECT_EQ(code("out/secret.txt"), refused);
}

TEST_F(ExternalDataAttack, HardLink) {
  fs::create_hard_link(folder_ / "secret.txt", folder_ / "model" / "hard.bin");
  EXPECT_EQ(code("hard.bin"), refused);
}

TEST_F(ExternalDataAttack, PipesFoldersAndDevices) {
  ASSERT_EQ(::mkfifo((folder_ / "model" / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(code("pipe"), refused);
  EXPECT_EQ(code("sub"), refused);
  // Reading /dev/zero never ends. Making such a node takes rights that not every user has.
  if (::mknod((folder_ / "model" / "zero").c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0) {
    EXPECT_EQ(code("zero"), refused);
  }
}

TEST_F(ExternalDataAttack, AFileReplacedAfterItWasReadStaysWhatItWas) {
  ExternalData data((folder_ / "model" / "m.onnx").string());
  const auto first = data.find({{"location", "good.bin"}}, 16);
  std::ofstream(folder_ / "other") << "FEDCBA9876543210";
  fs::rename(folder_ / "other", folder_ / "model" / "good.bin");
  EXPECT_EQ(first.bytes.text(), "0123456789abcdef");
  EXPECT_EQ(data.find({{"location", "good.bin"}}, 16).bytes.text(), "0123456789abcdef");
}

// Somebody puts symbolic and hard links to a secret where the plain file was, all the time: the look
// at the path may see one and the opening another. Whatever is read was plain when it was opened.
TEST_F(ExternalDataAttack, AFileReplacedBetweenTheLookAndTheOpening) {
  const fs::path place = folder_ / "model" / "moving.bin", next = folder_ / "next";
  std::ofstream(folder_ / "secret.txt") << "a secret of ours";
  put(place);
  std::atomic<bool> done = false;
  std::thread attacker([&] {
    for (int i = 0; !done; ++i) {
      if (i % 4 == 0) fs::create_symlink(folder_ / "secret.txt", next);
      else if (i % 4 == 2) fs::create_hard_link(folder_ / "secret.txt", next);
      else put(next);
      fs::rename(next, place);
    }
  });
  int read = 0;
  for (int i = 0; i < 3000 || (read == 0 && i < 1'000'000); ++i) {  // the attacker may sleep with a link in place
    ExternalData data((folder_ / "model" / "m.onnx").string());
    try {
      const auto found = data.find({{"location", "moving.bin"}}, 16);
      EXPECT_EQ(found.bytes.text(), "0123456789abcdef");
      ++read;
    } catch (const Error& e) {
      EXPECT_EQ(e.exit_code(), 3) << e.diag().render();
    }
  }
  done = true;
  attacker.join();
  EXPECT_GT(read, 0);
}

// What a kernel has checked is what it uses: such numbers are not read from the file a second time.
TEST_F(ExternalDataAttack, SizesAndPlacesAreReadOnce) {
  for (const auto& [dtype, count, seen] :
       {std::tuple(7, 2, 0x3736353433323130), std::tuple(6, 4, int64_t{0x33323130})}) {
    put(folder_ / "model" / "good.bin");
    TensorSource source({}, (folder_ / "model" / "m.onnx").string());
    TensorProto t;
    t.dims = {count};
    t.data_type = dtype;
    t.external = true;
    t.external_data = {{"location", "good.bin"}};
    const Weight w = to_weight(t, source);
    EXPECT_EQ(w.dense().to_ints()[0], seen);
    std::fstream(folder_ / "model" / "good.bin", std::ios::in | std::ios::out) << "fedcba9876543210";
    EXPECT_EQ(w.dense().to_ints()[0], seen);
  }
}

TEST_F(ExternalDataAttack, EmptyAndBrokenNames) {
  EXPECT_EQ(code(""), refused);
  EXPECT_EQ(code(std::string_view("good.bin\0x", 10)), refused);
  EXPECT_EQ(code("missing.bin"), "file.missing");
}

TEST_F(ExternalDataAttack, RangesOutsideTheFile) {
  EXPECT_EQ(code("good.bin", "12"), "file.external-range");
  EXPECT_EQ(code("good.bin", "18446744073709551615"), "file.external-range");
  EXPECT_EQ(code("good.bin", "99999999999999999999999"), "file.external-range");
  EXPECT_EQ(code("good.bin", "-1"), "file.external-range");
  EXPECT_EQ(code("good.bin", "0", "18446744073709551612"), "file.external-range");
  EXPECT_EQ(code("good.bin", "0", "4"), "file.external-range");
  EXPECT_EQ(code("good.bin", "0x0"), "file.external-range");
}

TEST_F(ExternalDataAttack, ModelsWithoutAFolderHaveNone) {
  ExternalData data("-");
  EXPECT_THROW(data.find({{"location", "good.bin"}}, 8), Error);
}

}  // namespace cameo::onnx
