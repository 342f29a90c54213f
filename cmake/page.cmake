# The page that `make page` builds (build/page/page.html) becomes part of the library, where it is there.
file(GLOB page CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/build/page/page.html)
if(page AND NOT EMSCRIPTEN)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/api/page/embedded.cpp PROPERTIES
    COMPILE_DEFINITIONS CAMEO_PAGE="${page}" OBJECT_DEPENDS ${page} SKIP_PRECOMPILE_HEADERS ON)
endif()
