// Bytes that are made piece by piece and read later: small ones in memory, large ones in a file without a name.
#pragma once

#include <vector>

#include "formats/file_handle.h"
#include "quant/layer.h"
#include "support/bytes.h"

namespace cameo::quant {

class Scratch {
 public:
  std::byte* next(size_t bytes);  // room for so many more
  Bytes take();                   // all of them; mapped where they went to a file

 private:
  void spill();

  std::vector<std::byte> held_;
  FileHandle file_;
  uint64_t written_ = 0;
};

}  // namespace cameo::quant
