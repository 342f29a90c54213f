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
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/libcxx/__config_site CONTENT "${config_site}\n" @ONLY)  # where it differs

# Atomics and bulk memory are what a module with threads needs; the one without is linked of the same objects, and browsers know
# both for longer than exceptions.
add_compile_options(-fwasm-exceptions -msimd128 -matomics -mbulk-memory -nostdinc++
  "SHELL:-isystem ${PROJECT_BINARY_DIR}/libcxx" "SHELL:-isystem ${CAMEO_LIBCXX_DIR}")

# What computes is compiled for speed, all else for size: the page carries the whole module.
set(CAMEO_FAST cameo_support cameo_formats cameo_ir cameo_kernels cameo_ops cameo_passes cameo_runtime cameo_engine)

# After all layers: leaves out what a browser's tab has no use for, and sets the optimisation of each layer.
function(cameo_wasm_layers)
  get_property(layers GLOBAL PROPERTY CAMEO_LAYERS_WITH_OBJECTS)
  foreach(layer IN LISTS layers)
    if(layer IN_LIST CAMEO_FAST)
      target_compile_options(${layer} PRIVATE -O2)
    else()
      target_compile_options(${layer} PRIVATE -Oz)
    endif()
  endforeach()
  get_target_property(sources cameo_api SOURCES)
  list(FILTER sources EXCLUDE REGEX "/api/(c|c_kernels|c_view|metric)\\.cpp$|/api/page/(server|http)\\.cpp$")
  set_target_properties(cameo_api PROPERTIES SOURCES "${sources}")
endfunction()
