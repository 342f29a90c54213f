// A folder of its own for each test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "formats/mapping.h"
#include "support/error.h"

namespace cameo::tests {
namespace fs = std::filesystem;

struct FileTest : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) /
                    (std::string("cameo_") + testing::UnitTest::GetInstance()->current_test_info()->name());
  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void TearDown() override {
    fs::remove_all(folder);
    lost_files();  // what this test did to its files is no news to the next
    changed_files();
  }
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

}  // namespace cameo::tests
