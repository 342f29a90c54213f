#include "formats/npy_header.h"

#include <charconv>

#include "support/endian.h"
#include "support/error.h"

namespace cameo::npy {
namespace {
constexpr std::string_view magic("\x93NUMPY", 6);
constexpr size_t max_rank = 64;  // NumPy's own bound

// Reads the few Python literals that a header is made of: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class DictReader {
 public:
  DictReader(std::string_view text, size_t offset, const std::string& path)
      : text_(text), offset_(offset), path_(path) {}

  void read(Array& out) {
    int seen = 0;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") out.descr = descr(), seen |= 1;
      else if (key == "fortran_order") out.fortran_order = boolean(), seen |= 2;
      else if (key == "shape") out.shape = shape(), seen |= 4;
      else fail(cat("it has the unknown key ", key));
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (seen != 7) fail("it lacks descr, fortran_order or shape");
  }

 private:
  [[noreturn]] void fail(std::string what) const {
    throw error("file.damaged", cat("the header of this npy array is damaged: ", what))
        .at({.file = path_, .offset = offset_ + pos_});
  }
  void skip_spaces() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\n')) ++pos_;
  }
  bool accept(char c) {
    skip_spaces();
    if (pos_ == text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(cat("'", c, "' is missing"));
  }
  std::string quoted() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const auto end = text_.find(quote, pos_);
    if (end == text_.npos) fail("a string has no end");
    const auto start = std::exchange(pos_, end + 1);
    return std::string(text_.substr(start, end - start));
  }
  std::string descr() {
    if (accept('['))
      throw error("file.unsupported", "this npy array has a structured dtype")
          .at({.file = path_, .offset = offset_ + pos_})
          .help("save each field as an array of its own");
    return quoted();
  }
  bool boolean() {
    skip_spaces();
    for (const bool value : {true, false})
      if (const std::string_view word = value ? "True" : "False"; text_.substr(pos_).starts_with(word)) {
        pos_ += word.size();
        return value;
      }
    fail("fortran_order is neither True nor False");
  }
  std::vector<int64_t> shape() {
    std::vector<int64_t> dims;
    expect('(');
    while (!accept(')')) {
      dims.push_back(dim());
      if (dims.size() > max_rank) fail(cat("it has more than ", max_rank, " dimensions"));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return dims;
  }
  int64_t dim() {
    skip_spaces();
    int64_t v = -1;
    const char* begin = text_.data() + pos_;
    const auto [after, code] = std::from_chars(begin, text_.data() + text_.size(), v);
    if (code != std::errc{} || v < 0) fail("a dimension is not a number, negative or too large");
    pos_ += static_cast<size_t>(after - begin);
    accept('L');  // Python 2 wrote long integers so
    return v;
  }

  std::string_view text_;
  size_t pos_ = 0, offset_;
  const std::string& path_;
};
}  // namespace

size_t read_header(std::string_view file, const std::string& path, Array& out) {
  const auto damaged = [&](std::string what) {
    return error("file.damaged", std::move(what)).at({.file = path, .offset = 0});
  };
  if (!file.starts_with(magic)) throw error("file.not-npy", cat(path, " is not an npy array")).at({.file = path});
  if (file.size() < 12) throw damaged("the header of this npy array is cut off");
  const auto version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3)
    throw error("file.unsupported", cat("this is version ", int{version}, " of the npy format")).at({.file = path});
  const size_t start = version == 1 ? 10 : 12;
  const uint64_t length = version == 1 ? load_le<uint16_t>(&file[8]) : load_le<uint32_t>(&file[8]);
  if (length > file.size() - start) throw damaged("the header of this npy array is cut off");
  DictReader(file.substr(start, static_cast<size_t>(length)), start, path).read(out);
  return start + static_cast<size_t>(length);
}

std::string header(const Array& a) {
  std::string dict =
      cat("{'descr': '", a.descr, "', 'fortran_order': ", a.fortran_order ? "True" : "False", ", 'shape': (");
  for (size_t i = 0; i < a.shape.size(); ++i) dict += cat(i ? ", " : "", a.shape[i]);
  dict += a.shape.size() == 1 ? ",), }" : "), }";
  constexpr size_t before = 10, alignment = 64;
  dict.append(alignment - 1 - (before + dict.size()) % alignment, ' ');
  dict += '\n';
  std::string out(magic);
  out += std::string_view("\x01\x00", 2);
  append_le<uint16_t>(out, narrow<uint16_t>(dict.size()));
  return out + dict;
}

}  // namespace cameo::npy
