// include/cameo/face.h.
#include <new>
#include <stdexcept>

#include "formats/mapped_file.h"
#include "support/budget.h"
#include "support/error.h"
#include "support/near_name.h"
#include "support/text.h"

#include "cameo/face.h"

namespace cameo {

Error caught() {
  try {
    throw;
  } catch (const Error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return support::out_of_memory();
  } catch (const std::length_error&) {  // of a container that no memory could hold
    return support::out_of_memory();
  } catch (const support::Bug& bug) {
    return Error(bug.diag());
  } catch (const std::exception& e) {
    return Error(support::Bug("bug.exception", e.what()).diag());
  } catch (...) {
    return Error(support::Bug("bug.exception", "something was thrown that is not an exception").diag());
  }
}

std::string printable_text(std::string_view text) { return support::printable(text); }
std::string printable_lines(std::string_view text) { return support::printable_lines(text); }
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
  return support::nearest(word, names);
}

void require_whole_files() { formats::require_whole_files(); }

void operator_new_counts() noexcept { support::allocator_counts(); }
bool count_memory(uint64_t bytes) noexcept { return support::take_memory(bytes); }
void uncount_memory(uint64_t bytes) noexcept { support::give_memory(bytes); }

}  // namespace cameo
