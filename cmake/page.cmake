# The page that `make page` builds becomes part of the library, where it is there: cameo.html, which carries the module of
# `make wasm`, else page.html.
file(GLOB page CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/build/page/cameo.html)
if(NOT page)
  file(GLOB page CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/build/page/page.html)
endif()
if(page AND NOT EMSCRIPTEN)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/api/page/embedded.cpp PROPERTIES
    COMPILE_DEFINITIONS CAMEO_PAGE="${page}" OBJECT_DEPENDS ${page} SKIP_PRECOMPILE_HEADERS ON)
endif()
