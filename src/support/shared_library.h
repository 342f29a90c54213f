// An optional library, loaded at run time on first use. Its absence is not an error.
#pragma once

#include <type_traits>

#include "support/layers.h"

namespace cameo::support {

class SharedLibrary {
 public:
  explicit SharedLibrary(
      const char* file);  // by its file name, as in "libz.so.1"; stays loaded to the end of the program
  bool there() const { return handle_ != nullptr; }

  // The function of that name; false and null where there is none.
  template <class F>
  bool find(F*& function, const char* name) const {
    static_assert(std::is_function_v<F>);
    function = reinterpret_cast<F*>(address(name));
    return function != nullptr;
  }

 private:
  void* address(const char* name) const;
  void* handle_ = nullptr;
};

}  // namespace cameo::support
