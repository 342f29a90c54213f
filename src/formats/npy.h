// NumPy's array files: .npy (versions 1 to 3) and .npz, as plain structs that know nothing of tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/mapped_file.h"
#include "formats/zip.h"
#include "support/bytes.h"

namespace cameo::npy {

// "<f4" taken apart. Kinds: b bool, i and u integers, f float, c complex, S bytes, U text in UCS-4, V raw bytes
// (what dtypes that NumPy has no letter for are saved as: bfloat16 is "V2").
struct Descr {
  char order = '|';  // '<' little, '>' big, '|' does not matter
  char kind = 'f';
  uint64_t item_bytes = 4;
  uint64_t number_bytes() const;  // what a byte swap turns round: half a complex, one character of a text
};

struct Array {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  Bytes data;  // exactly count * item_bytes; aligned as it happens to stand in the file
};

struct Named {
  std::string name;  // without ".npy"; empty for an .npy file
  Array array;
};

// Throws file.unsupported for object, structured and date dtypes.
Descr parse_descr(std::string_view descr);
uint64_t element_count(const Array& a);

// `path` is only for messages. A result is checked: the shape is valid and the data has its exact size.
// Throws file.damaged, file.unsupported, and what Archive throws.
Array read(const Bytes& file, const std::string& path);
std::vector<Named> read_npz(const Bytes& file, const std::string& path);
// Either kind, recognised by the contents. Also throws file.not-npy.
std::vector<Named> load(const std::string& path);

// The same array with C order, little-endian numbers, and data aligned to them. Copies only when it must.
Array plain(const Array& a);

// Arrays of kind S (bytes as they are) and U (as UTF-8), in C order. Trailing NULs are padding and dropped.
std::vector<std::string> to_strings(const Array& a);
// A "<U" array, or an "S" one when some string is not UTF-8.
Array from_strings(const std::vector<std::string>& strings, std::vector<int64_t> shape);

// The bytes before the data, a multiple of 64.
std::string header(const Array& a);
void write(const Sink& out, const Array& a);

class NpzWriter {
 public:
  explicit NpzWriter(Sink out) : zip_(std::move(out), 64) {}
  void add(std::string_view name, const Array& a);
  void finish() { zip_.finish(); }

 private:
  zip::Writer zip_;
};

}  // namespace cameo::npy
