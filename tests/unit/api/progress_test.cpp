// What long calls tell of how far they are, and that they stop wherever they are told to.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cameo/cameo.h"

namespace cameo::tests {

namespace {

const std::string archive_path = CAMEO_SOURCE_DIR "/tests/data/export/blocks.pt";

cameo::Model archive() {
  static const cameo::Model m = cameo::load(archive_path);
  return m;
}
cameo::Model net() {
  static const cameo::Model m = cameo::export_model(archive(), {.inputs = {"x=f32[batch,6]"}}).model;
  return m;
}

SampleSource samples() {
  return [made = 0](std::vector<NamedValue>& inputs) mutable {
    inputs = cameo::random_inputs(net(), static_cast<uint64_t>(made), {{"batch", 4}});
    return ++made <= 3;
  };
}

struct LongCall {
  const char* name;
  std::function<void(const Progress&)> run;
};
const std::vector<LongCall>& long_calls() {
  static const std::vector<LongCall> all = {
      {"export",
       [](const Progress& p) { cameo::export_model(archive(), {.inputs = {"x=f32[batch,6]"}, .progress = p}); }},
      {"simplify", [](const Progress& p) { cameo::simplify(net(), {.check = 2, .progress = p}); }},
      {"verify", [](const Progress& p) { cameo::verify(net(), net(), {.progress = p}); }},
      {"convert", [](const Progress& p) { cameo::convert(net(), {.float_type = FloatType::f16, .progress = p}); }},
      {"quantize", [](const Progress& p) { cameo::quantize(net(), samples(), {.progress = p}); }},
      {"weights", [](const Progress& p) { cameo::quantize_weights(net(), {.bits = 8, .block = 16, .progress = p}); }},
      {"prepare", [](const Progress& p) { cameo::prepare(net(), {.target = "onnxruntime", .progress = p}); }},
      {"fix_lint",
       [](const Progress& p) {
         cameo::fix_lint(net(), {.targets = {"rknn"}, .sizes = {{"batch", 1}}, .progress = p});
       }},
      {"save",
       [](const Progress& p) {
         const auto path = std::filesystem::temp_directory_path() / "cameo_progress_test.onnx";
         std::filesystem::remove(path);
         try {
           net().save(path.string(), {.progress = p});
         } catch (...) {
           EXPECT_FALSE(std::filesystem::exists(path)) << "a save that was stopped";
           throw;
         }
         std::filesystem::remove(path);
       }},
  };
  return all;
}

// The code of what it throws; empty where it is done.
std::string code_of(const LongCall& call, const Progress& progress) {
  try {
    call.run(progress);
    return "";
  } catch (const cameo::Error& e) {
    return e.diag().code;
  }
}

}  // namespace

TEST(Progress, EveryLongCallTells) {
  for (const LongCall& call : long_calls()) {
    size_t told = 0;
    EXPECT_EQ(code_of(call,
                      [&](const char* what, uint64_t, uint64_t) {
                        EXPECT_NE(std::string(what), "") << call.name;
                        return ++told > 0;
                      }),
              "")
        << call.name;
    EXPECT_GT(told, 0u) << call.name;
  }
}

// Also by a caller that says so once and then goes on: no trial takes the stop for a verdict about the model.
TEST(Progress, NoGivesBudgetInterruptedWhereverItIsSaid) {
  for (const LongCall& call : long_calls()) {
    size_t all = 0;
    code_of(call, [&](const char*, uint64_t, uint64_t) { return ++all > 0; });
    for (size_t at = 1; at <= all; at += 1 + all / 20) {
      size_t told = 0;
      EXPECT_EQ(code_of(call, [&](const char*, uint64_t, uint64_t) { return ++told != at; }), "budget.interrupted")
          << call.name << " at " << at << " of " << all;
    }
  }
}

TEST(Progress, WhatTheCallerThrowsComesOut) {
  struct Mine : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  for (const LongCall& call : long_calls())
    EXPECT_THROW(call.run([](const char*, uint64_t, uint64_t) -> bool { throw Mine("mine"); }), Mine) << call.name;
}

TEST(Progress, AnEmptyOneInsideIsTheOuterOne) {
  size_t told = 0;
  cameo::prepare(net(),
                 {.target = "rknn", .sizes = {{"batch", 1}}, .progress = [&](const char* what, uint64_t, uint64_t) {
                    told += std::string(what) == "comparing";
                    return true;
                  }});
  EXPECT_GT(told, 0u);
}

// A model that is interrupted while it is compared is not said to agree.
TEST(Progress, LateComparisonsAreNoAgreement) {
  const LimitScope within({.seconds = 1e-6});
  EXPECT_THROW(cameo::verify(net(), net()), cameo::Error);
}

}  // namespace cameo::tests
