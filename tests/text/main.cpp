// Runs the cases of tests/text/**/*.test; with --update it writes what came out where something else was expected.
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>

#include "ir/structure.h"
#include "ir/verify.h"
#include "support/error.h"
#include "text/case_file.h"
#include "text/commands.h"
#include "text/completeness.h"

namespace cameo::tests {

namespace {

namespace fs = std::filesystem;
bool update = false;

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& l : lines) out += (out.empty() ? "" : "\n") + l;
  return out;
}

const Command* command_named(std::string_view name) {
  for (const Command& c : commands())
    if (c.name == name) return &c;
  return nullptr;
}

class CaseTest : public testing::Test {
 public:
  CaseTest(const Case& c, CaseFile& file) : case_(c), file_(file) {}

  void TestBody() override {
    const Outcome outcome = run();
    lines("error", outcome.errors);
    lines("refused", outcome.refused);
    if (outcome.text) text("after", *outcome.text);
    if (outcome.model) {
      verify(*outcome.model, "after the command");
      model(*outcome.model, outcome.types);
    }
    if (!outcome.text && !outcome.model && case_.find("after"))
      ADD_FAILURE() << "the command gives nothing to compare with after:";
  }

 private:
  Outcome run() {
    const auto [name, arguments] = command_line(case_);
    const Command* command = command_named(name);
    const std::string* before = case_.find("before");
    if (!command || !before) {
      ADD_FAILURE() << (command ? "the case has no before:" : "there is no command " + name);
      return {};
    }
    try {
      return command->run(*before, arguments);
    } catch (const Error& e) {
      Outcome out;
      for (const Diag& d : e.diags()) out.errors.push_back(error_line(d));
      return out;
    }
  }

  void lines(const std::string& key, const std::vector<std::string>& found) {
    if (!found.empty() || case_.find(key)) text(key, joined(found));
  }

  void text(const std::string& key, const std::string& found) {
    const std::string* wanted = case_.find(key);
    if (wanted && *wanted == found) return;
    if (update) file_.replace(case_, key, found);
    else EXPECT_EQ(found, wanted ? *wanted : "(nothing)") << key << ": of " << case_.file << ":" << case_.line;
  }

  void model(const Model& found, bool types) {
    const std::string* wanted = case_.find("after");
    if (!wanted && !update) return;
    std::string why = "there is no after:";
    try {
      const auto d = wanted ? structural_difference(parse(*wanted), found, {.types = types}) : std::optional(why);
      if (!d) return;
      why = *d;
    } catch (const Error& e) {
      why = e.diag().render();
    }
    if (update) file_.replace(case_, "after", print(found, types));
    else
      ADD_FAILURE() << case_.file << ":" << case_.line << ": " << why << "\nfound:\n"
                    << print(found, types) << "\nwanted:\n"
                    << *wanted;
  }

  const Case& case_;
  CaseFile& file_;
};

CaseFiles register_cases(const fs::path& folder) {
  CaseFiles files;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".test") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const std::string shown = fs::relative(path, folder).generic_string();
    CaseFile& file = *files.emplace_back(std::make_unique<CaseFile>(path.string(), "tests/text/" + shown));
    for (const Case& c : file.cases())
      testing::RegisterTest("Text", (shown + ":" + std::to_string(c.line)).c_str(), nullptr, nullptr,
                            path.string().c_str(), static_cast<int>(c.line),
                            [&c, &file]() -> testing::Test* { return new CaseTest(c, file); });
  }
  return files;
}

}  // namespace

}  // namespace cameo::tests

int main(int argc, char** argv) {
  using namespace cameo;
  using namespace cameo::tests;
  std::setlocale(LC_ALL, "");  // as a program around the library may: tests/consume/run gives others than C
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--update") != 0) {
      std::cerr << "text_tests: unknown argument " << argv[i] << "; there is --update\n";
      return 2;
    }
    update = true;
  }
  try {
    const auto files = register_cases(fs::path(CAMEO_SOURCE_DIR) / "tests" / "text");
    register_completeness(files);
    const int failed = RUN_ALL_TESTS();
    for (const auto& f : files) f->save();
    return failed;
  } catch (const std::exception& e) {
    std::cerr << "text_tests: " << e.what() << '\n';
    return 1;
  }
}
