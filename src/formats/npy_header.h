// The Python dict at the start of an .npy file.
#pragma once

#include <string>
#include <string_view>

#include "formats/npy.h"

namespace cameo::npy {

// Fills descr, fortran_order and shape. Returns the offset of the data.
size_t read_header(std::string_view file, const std::string& path, Array& out);

}  // namespace cameo::npy
