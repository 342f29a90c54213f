// NumPy's files.
#pragma once

#include <string>
#include <vector>

#include "cameo/session.h"

namespace cameo {

struct NamedArray {
  std::string name;  // empty for the one array of an .npy file
  Array array;
};

// All arrays of an .npz, the one of an .npy, or the inputs of a test_data_set folder as x0, x1, ...
std::vector<NamedArray> load_arrays(const std::string& path);
// As .npz; nothing appears under `path` unless all of it was written.
void save_arrays(const std::string& path, const std::vector<NamedArray>& arrays);

}  // namespace cameo
