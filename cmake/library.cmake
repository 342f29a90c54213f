# cameo::cameo, the library as others see it: one archive of all layers, and the headers of include/cameo alone.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY CAMEO_LAYERS_WITH_OBJECTS)
get_property(externals GLOBAL PROPERTY CAMEO_EXTERNAL_TARGETS)
get_property(packages GLOBAL PROPERTY CAMEO_EXTERNAL_PACKAGES)

list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(cameo STATIC ${objects})
add_library(cameo::cameo ALIAS cameo)
set_target_properties(cameo PROPERTIES LINKER_LANGUAGE CXX)
target_compile_features(cameo PUBLIC cxx_std_20)
target_include_directories(cameo INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(cameo PRIVATE ${externals} ${CMAKE_DL_LIBS})
cameo_options(cameo)

# libcameo.so: the functions of cameo/c.h alone; nothing else of it can be seen from outside.
add_library(cameo_shared SHARED ${objects})
set_target_properties(cameo_shared PROPERTIES OUTPUT_NAME cameo LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                      C_VISIBILITY_PRESET hidden)
target_include_directories(cameo_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(cameo_shared PRIVATE ${externals} ${CMAKE_DL_LIBS})
target_link_options(cameo_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exported.map -Wl,--gc-sections)
set_target_properties(cameo_shared PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exported.map)
cameo_options(cameo_shared)

if(PROJECT_IS_TOP_LEVEL)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cameo)
  set(config "include(CMakeFindDependencyMacro)\n")
  foreach(package IN LISTS packages)
    string(APPEND config "find_dependency(${package})\n")
  endforeach()
  string(APPEND config "include(\${CMAKE_CURRENT_LIST_DIR}/cameo-targets.cmake)\n")
  file(WRITE ${PROJECT_BINARY_DIR}/cameo-config.cmake "${config}")
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/cameo-config-version.cmake COMPATIBILITY SameMinorVersion)

  install(TARGETS cameo cameo_shared EXPORT cameo-targets COMPONENT library)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
  file(RELATIVE_PATH CAMEO_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)  # wherever it is installed
  configure_file(${PROJECT_SOURCE_DIR}/cmake/cameo.pc.in ${PROJECT_BINARY_DIR}/cameo.pc @ONLY)
  if(CAMEO_ZLIB)
    set(CAMEO_PC_LIBS -lz)
  else()
    set(CAMEO_PC_LIBS "")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/cameo-cpp.pc.in ${PROJECT_BINARY_DIR}/cameo-cpp.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cameo.pc ${PROJECT_BINARY_DIR}/cameo-cpp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
  install(EXPORT cameo-targets NAMESPACE cameo:: DESTINATION ${package_dir} COMPONENT library)
  install(FILES ${PROJECT_BINARY_DIR}/cameo-config.cmake ${PROJECT_BINARY_DIR}/cameo-config-version.cmake
          DESTINATION ${package_dir} COMPONENT library)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cameo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
endif()
