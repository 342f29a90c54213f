# WebAssembly with Debian's Emscripten 3.1. Its C++ library is libc++ 13, which lacks std::ranges algorithms and much of
# <=>; the headers of Debian's libc++ 16 for wasm32 are used in its place. Included before any target is made.
set(CAMEO_LIBCXX_DIR /usr/lib/llvm-16/include/wasm32-wasi/c++/v1 CACHE PATH "Headers of a newer libc++ for wasm32")
if(NOT EXISTS ${CAMEO_LIBCXX_DIR}/__config_site)
  message(FATAL_ERROR "${CAMEO_LIBCXX_DIR} holds no libc++; `scripts/bootstrap wasm` installs libc++-16-dev-wasm32")
endif()

# That package is configured for WASI, without files and mutexes; Emscripten has them.
file(STRINGS ${CAMEO_LIBCXX_DIR}/__config_site config_site)
list(FILTER config_site EXCLUDE REGEX "NO_FILESYSTEM|NO_THREADS")
list(JOIN config_site "\n" config_site)
file(WRITE ${PROJECT_BINARY_DIR}/libcxx/__config_site "${config_site}\n")

add_compile_options(-fexceptions -nostdinc++
  "SHELL:-isystem ${PROJECT_BINARY_DIR}/libcxx" "SHELL:-isystem ${CAMEO_LIBCXX_DIR}")
