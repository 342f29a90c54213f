// For programs that expose the library to users: a command, a binding, a web page.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cameo/diag.h"

namespace cameo {

// In a catch block: what was thrown, as an Error. Want of memory is budget.memory; a mistake of ours is bug.*.
Error caught();

// Names are as in the file. This is the form to print: one line, with `\n`, `\t` and `\xNN` for unprintable bytes.
std::string printable_text(std::string_view text);
// Text put together from such pieces: the same, but its line breaks and tabs stay.
std::string printable_lines(std::string_view text);

// Models are views of their files. Throws file.changed if a file was cut short since it was read: results computed from
// it are not valid.
void require_whole_files();

// The nearest of some names, for "did you mean"; empty where none is near.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);

// For a program whose operator new counts every allocation against Limits::memory_bytes: says so, once; counts before
// it allocates, where false means that the limit would be passed and nothing was counted; and takes back.
void operator_new_counts() noexcept;
bool count_memory(uint64_t bytes) noexcept;
void uncount_memory(uint64_t bytes) noexcept;

}  // namespace cameo
