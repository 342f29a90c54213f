#include "support/shared_library.h"

#if defined(__unix__) && !defined(__EMSCRIPTEN__)
#include <dlfcn.h>
#define CAMEO_HAS_DLOPEN 1
#endif

#ifdef __SANITIZE_ADDRESS__
// GCC 12's leak checker crashes in the thread-local storage of libraries that are loaded late, so it must not
// follow it. Weak: a program may have settings of its own.
extern "C" __attribute__((weak, visibility("default"))) const char* __asan_default_options() {
  return "intercept_tls_get_addr=0";
}
#endif

namespace cameo::support {

#ifdef CAMEO_HAS_DLOPEN
SharedLibrary::SharedLibrary(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {}
void* SharedLibrary::address(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }
#else
SharedLibrary::SharedLibrary(const char*) {}
void* SharedLibrary::address(const char*) const { return nullptr; }
#endif

}  // namespace cameo::support
