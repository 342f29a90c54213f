// What people type here out of habit, and what to write instead.
#pragma once

#include <span>
#include <string_view>

namespace cameo::cli {

struct Habit {
  std::string_view word, instead;
  std::string_view verb = {};  // the answer for this verb; such rows come first
};

std::string_view habit_answer(std::span<const Habit> rows, std::string_view word, std::string_view verb);

}  // namespace cameo::cli
