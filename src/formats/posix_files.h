// Whether files are what POSIX says they are: descriptors, mappings, locks, names that can be given and taken away.
#pragma once

#if (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
#define CAMEO_POSIX_FILES 1
#else
#define CAMEO_POSIX_FILES 0
#endif
