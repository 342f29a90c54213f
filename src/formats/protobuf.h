// Protocol-buffer messages as views of a file: nothing is copied, every bound is checked here and only here.
//
//   NodeProto read_node(pb::Reader in) {
//     NodeProto n;
//     while (auto f = in.next()) switch (f.number) {
//       case 1: n.inputs.push_back(f.text()); break;
//       case 5: n.attributes.push_back(read_attribute(f.message())); break;
//     }
//     return n;
//   }
//
// The first fault is kept in a slot shared by a reader and all readers made from it; from then on next() ends every
// loop and accessors give zero or empty. The caller asks once, at the end: `in.throw_if_fault("net.onnx")`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/layers.h"

namespace cameo::pb {

enum class Wire : uint8_t { varint = 0, fixed64 = 1, bytes = 2, group = 3, fixed32 = 5 };

struct Limits {
  uint32_t depth = 200;            // nested messages
  uint64_t messages = 32'000'000;  // in all: an empty message takes two bytes in a file and far more in memory
};

struct Fault {
  std::string what;
  uint64_t offset = 0;         // from the start of the file
  std::vector<uint32_t> path;  // field numbers from the root message to the one at fault
};

class Reader;

// What a reader and all readers made from it share; the first of them owns it.
struct ReadState {
  const char* start = nullptr;
  Limits limits;
  uint64_t messages = 0;
  std::optional<Fault> fault;
  // The field that opened the message at each depth. Messages are read one inside the other, so one stack serves all.
  std::vector<uint32_t> path;
};

// One field, already skipped over. Valid while the reader of the whole file lives.
class Field {
 public:
  uint32_t number = 0;  // 0 at the end of the message
  Wire wire = Wire::varint;

  explicit operator bool() const { return number != 0; }

  // Scalars; a wire type that cannot hold the asked type is a fault.
  uint64_t uint64() const;
  int64_t int64() const { return static_cast<int64_t>(uint64()); }
  int32_t int32() const { return static_cast<int32_t>(uint64()); }  // the low bits, as every protobuf reader does
  bool boolean() const { return uint64() != 0; }
  uint32_t fixed32() const;
  uint64_t fixed64() const;
  float float32() const;
  double float64() const;

  std::string_view bytes() const { return payload(Wire::bytes); }  // a view of the file
  std::string_view text() const { return bytes(); }
  Reader message() const;

  // Repeated numbers: appends all of a packed field, or the one of an unpacked field.
  void append_to(std::vector<int64_t>& out) const;
  void append_to(std::vector<int32_t>& out) const;
  void append_to(std::vector<uint64_t>& out) const;
  void append_to(std::vector<float>& out) const;
  void append_to(std::vector<double>& out) const;

  std::string_view raw() const {  // tag and payload as they stand in the file
    return {begin_, static_cast<size_t>(payload_ - begin_) + (wire == Wire::varint ? 0 : static_cast<size_t>(value_))};
  }
  uint64_t offset() const;            // of raw() in the file
  void fail(std::string what) const;  // the caller's own finding about this field

 private:
  friend class Reader;
  std::string_view payload() const { return {payload_, static_cast<size_t>(value_)}; }
  std::string_view payload(Wire wanted) const {
    if (wire == wanted) [[likely]]
      return payload();
    return wrong_wire(wanted);
  }
  std::string_view wrong_wire(Wire wanted) const;
  template <class T>
  void append_varints(std::vector<T>& out) const;
  template <class T, class Bits>
  void append_fixed(std::vector<T>& out, Wire single) const;

  uint16_t depth_ = 0;  // of the message it stands in
  const char* begin_ = nullptr;
  const char* payload_ = nullptr;  // of a varint: its end
  uint64_t value_ = 0;             // of a varint; else the payload's length
  ReadState* state_ = nullptr;
};

class Reader {
 public:
  // `file` must outlive the readers, and is what offsets count from. Readers made from this one must not outlive it.
  explicit Reader(std::string_view file, Limits limits = {});
  explicit Reader(std::string&& gone, Limits limits = {}) = delete;

  // The next field; a Field that is false at the end and after a fault.
  Field next();
  std::string_view rest() const { return {pos_, static_cast<size_t>(end_ - pos_)}; }

  void fail(std::string what) const;  // at the current place
  bool ok() const;
  const std::optional<Fault>& fault() const;
  // Throws file.damaged with the offset and the path of field numbers.
  void throw_if_fault(const std::string& file) const;

 private:
  friend class Field;
  Reader() = default;
  bool read_varint(uint64_t& out);
  bool take(uint64_t length, Field& f);
  bool skip_group(uint32_t number, uint32_t level);
  bool read_value(Field& f, uint64_t wire);
  Field next_of_any_kind();

  const char* pos_ = nullptr;
  const char* end_ = nullptr;
  uint16_t depth_ = 0;
  ReadState* state_ = nullptr;
  std::shared_ptr<ReadState> owner_;  // of the first reader and its copies
};

// Most fields are a run of bytes with a tag of one byte and a length of one or two.
inline Field Reader::next() {
  if (end_ - pos_ >= 3 && !state_->fault) [[likely]] {
    const auto tag = static_cast<unsigned char>(pos_[0]), low = static_cast<unsigned char>(pos_[1]),
               high = static_cast<unsigned char>(pos_[2]);
    const bool is_long = low >= 0x80;
    const ptrdiff_t head = is_long ? 3 : 2, length = is_long ? (low & 0x7f) | high << 7 : low;
    if (tag > 7 && (tag & 0x87) == static_cast<unsigned>(Wire::bytes) && (!is_long || high < 0x80) &&
        length <= end_ - pos_ - head) [[likely]] {
      Field f;
      f.number = tag >> 3;
      f.wire = Wire::bytes;
      f.depth_ = depth_;
      f.begin_ = pos_;
      f.payload_ = pos_ + head;
      f.value_ = static_cast<uint64_t>(length);
      f.state_ = state_;
      pos_ += head + length;
      return f;
    }
  }
  return next_of_any_kind();
}

// Appends fields to a buffer it owns. Zero and empty values are written: leaving them out is the caller's choice.
class Writer {
 public:
  void varint(uint32_t field, uint64_t v);
  void int64(uint32_t field, int64_t v) { varint(field, static_cast<uint64_t>(v)); }
  void float32(uint32_t field, float v);
  void float64(uint32_t field, double v);
  void bytes(uint32_t field, std::string_view v);
  void text(uint32_t field, std::string_view v) { bytes(field, v); }
  void message(uint32_t field, const Writer& nested) { bytes(field, nested.buffer()); }
  void packed(uint32_t field, const std::vector<int64_t>& v);
  void packed(uint32_t field, const std::vector<int32_t>& v);
  void packed(uint32_t field, const std::vector<uint64_t>& v);
  void packed(uint32_t field, const std::vector<float>& v);
  void packed(uint32_t field, const std::vector<double>& v);
  // Only tag and length: the caller writes `length` bytes after them, elsewhere (weights that are streamed).
  void header(uint32_t field, uint64_t length);
  void raw(std::string_view whole_fields);

  // A nested message in the same buffer: end(begin(7)) brackets its fields. One of 128 bytes or more costs a move.
  size_t begin(uint32_t field);
  void end(size_t mark);

  void reserve(size_t bytes) { out_.reserve(bytes); }
  const std::string& buffer() const {
    out_.resize(used_);
    return out_;
  }
  std::string take() {
    out_.resize(used_);
    used_ = 0;
    return std::exchange(out_, {});
  }
  size_t size() const { return used_; }

 private:
  // Where the next `most` bytes go; the caller adds to used_ what it wrote.
  char* room(size_t most) {
    if (out_.size() - used_ < most) grow(most);
    return out_.data() + used_;
  }
  void grow(size_t most);
  void tag(uint32_t field, Wire wire);
  void append_varint(uint64_t v);
  template <class T>
  void append_fixed(T v);
  template <class T>
  void packed_varints(uint32_t field, const std::vector<T>& v);
  mutable std::string out_;  // longer than what was written, so that small fields need no call
  size_t used_ = 0;
};

// How many bytes a varint takes, and a field of `length` bytes with its tag and length.
uint32_t varint_size(uint64_t v);
uint64_t field_size(uint32_t field, uint64_t length);
// Whether `bytes` are the tag and length of such a field, as Writer writes them.
bool is_header(std::string_view bytes, uint32_t field, uint64_t length);

}  // namespace cameo::pb
