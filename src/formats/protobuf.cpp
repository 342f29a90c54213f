#include "formats/protobuf.h"

#include <algorithm>

#include "support/endian.h"
#include "support/error.h"

namespace cameo::pb {

namespace {
std::string_view wire_name(Wire w) {
  switch (w) {
    case Wire::varint: return "a varint";
    case Wire::fixed64: return "8 bytes";
    case Wire::fixed32: return "4 bytes";
    case Wire::bytes: return "a run of bytes";
    case Wire::group: return "a group";
  }
  return "nothing known";
}

// Precondition: p < end. Returns the first byte after the varint, or null when it is cut off or longer than 64 bits.
const char* decode_varint(const char* p, const char* end, uint64_t& out) {
  uint64_t v = 0;
  for (unsigned shift = 0; p < end && shift < 70; shift += 7) {
    const auto b = static_cast<unsigned char>(*p++);
    v |= shift < 64 ? static_cast<uint64_t>(b & 0x7f) << shift : 0;
    if (b < 0x80) {
      out = v;
      return p;
    }
  }
  return nullptr;
}

void record_fault(ReadState& state, uint32_t depth, const char* where, std::string what) {
  if (state.fault) return;
  Fault f;
  f.what = std::move(what);
  f.offset = static_cast<uint64_t>(where - state.start);
  f.path.assign(state.path.begin(), state.path.begin() + std::min<ptrdiff_t>(depth, std::ssize(state.path)));
  state.fault = std::move(f);
}
}  // namespace

Reader::Reader(std::string_view file, Limits limits)
    : pos_(file.data()), end_(file.data() + file.size()), owner_(std::make_shared<ReadState>()) {
  state_ = owner_.get();
  state_->start = pos_;
  state_->limits = limits;
  state_->path.reserve(16);
}

bool Reader::ok() const { return !state_->fault; }
const std::optional<Fault>& Reader::fault() const { return state_->fault; }
void Reader::fail(std::string what) const { record_fault(*state_, depth_, pos_, std::move(what)); }

void Reader::throw_if_fault(const std::string& file) const {
  if (ok()) return;
  const Fault& f = *state_->fault;
  std::string path;
  for (const uint32_t number : f.path) path += cat(path.empty() ? "" : ".", number);
  throw error("file.damaged", cat("this is not a whole protobuf message: ", f.what))
      .at({.file = file, .offset = f.offset})
      .why(path.empty() ? "" : cat("inside fields ", path));
}

bool Reader::read_varint(uint64_t& out) {
  if (pos_ != end_ && static_cast<unsigned char>(*pos_) < 0x80) [[likely]]
    return out = static_cast<unsigned char>(*pos_++), true;
  const char* after = decode_varint(pos_, end_, out);
  if (!after) return fail("a number is cut off or longer than ten bytes"), false;
  pos_ = after;
  return true;
}

bool Reader::take(uint64_t length, Field& f) {
  const auto left = static_cast<uint64_t>(end_ - pos_);
  if (length > left) return fail(cat("a field wants ", length, " bytes, its message has ", left, " left")), false;
  f.payload_ = pos_;
  f.value_ = length;
  pos_ += length;
  return true;
}

bool Reader::read_value(Field& f, uint64_t wire) {
  switch (wire) {
    case 0: f.wire = Wire::varint; return read_varint(f.value_) && (f.payload_ = pos_, true);
    case 1: f.wire = Wire::fixed64; return take(8, f);
    case 2: {
      f.wire = Wire::bytes;
      uint64_t length = 0;
      return read_varint(length) && take(length, f);
    }
    case 3: {
      f.wire = Wire::group;
      f.payload_ = pos_;
      if (!skip_group(f.number, 0)) return false;
      f.value_ = static_cast<uint64_t>(pos_ - f.payload_);
      return true;
    }
    case 5: f.wire = Wire::fixed32; return take(4, f);
    default: return fail(cat("field ", f.number, " has the unknown wire type ", wire)), false;
  }
}

// Groups are long deprecated but still legal as unknown fields.
bool Reader::skip_group(uint32_t number, uint32_t level) {
  if (depth_ + level >= state_->limits.depth) return fail("groups are nested too deep"), false;
  while (pos_ < end_) {
    uint64_t tag = 0;
    if (!read_varint(tag)) return false;
    if ((tag & 7) == 4) {
      if (tag >> 3 != number) return fail("a group ends that was not begun"), false;
      return true;
    }
    Field inner;
    if (tag >> 3 == 0 || tag >> 32 != 0) return fail("a field has no valid number"), false;
    inner.number = static_cast<uint32_t>(tag >> 3);
    if ((tag & 7) == 3 ? !skip_group(inner.number, level + 1) : !read_value(inner, tag & 7)) return false;
  }
  return fail("a group has no end"), false;
}

Field Reader::next_of_any_kind() {
  Field f;
  if (pos_ == end_ || state_->fault) return f;
  f.begin_ = pos_;
  uint64_t tag = 0;
  if (!read_varint(tag)) return {};
  if (tag >> 3 == 0 || tag >> 32 != 0)
    return record_fault(*state_, depth_, f.begin_, "a field has no valid number"), Field{};
  f.number = static_cast<uint32_t>(tag >> 3);
  f.depth_ = depth_;
  f.state_ = state_;
  if (!read_value(f, tag & 7)) return {};
  return f;
}

uint64_t Field::offset() const { return static_cast<uint64_t>(begin_ - state_->start); }
void Field::fail(std::string what) const { record_fault(*state_, depth_, begin_, std::move(what)); }

std::string_view Field::wrong_wire(Wire wanted) const {
  fail(cat("field ", number, " holds ", wire_name(wire), " where ", wire_name(wanted), " belongs"));
  return {};
}

uint64_t Field::uint64() const {
  if (wire == Wire::varint) return value_;
  wrong_wire(Wire::varint);
  return 0;
}

uint32_t Field::fixed32() const {
  const auto p = payload(Wire::fixed32);
  return p.empty() ? 0 : load_le<uint32_t>(p.data());
}

uint64_t Field::fixed64() const {
  const auto p = payload(Wire::fixed64);
  return p.empty() ? 0 : load_le<uint64_t>(p.data());
}

float Field::float32() const { return bit_cast<float>(fixed32()); }
double Field::float64() const { return bit_cast<double>(fixed64()); }

Reader Field::message() const {
  Reader child;
  child.state_ = state_;
  child.depth_ = static_cast<uint16_t>(depth_ + 1);
  const auto p = bytes();
  child.pos_ = p.data();
  child.end_ = p.data() + p.size();
  ReadState& state = *child.state_;
  if (child.depth_ > state.limits.depth) fail("messages are nested too deep");
  else if (++state.messages > state.limits.messages) fail("there are too many messages");
  else {
    if (state.path.size() < child.depth_) state.path.resize(child.depth_);
    state.path[child.depth_ - 1u] = number;
  }
  return child;
}

template <class T>
void Field::append_varints(std::vector<T>& out) const {
  if (wire == Wire::varint) return out.push_back(static_cast<T>(value_));
  const auto p = bytes();
  for (const char *at = p.data(), *end = at + p.size(); at != end;) {
    uint64_t v = 0;
    at = decode_varint(at, end, v);
    if (!at) return fail(cat("field ", number, " is a list whose last number is cut off"));
    out.push_back(static_cast<T>(v));
  }
}

template <class T, class Bits>
void Field::append_fixed(std::vector<T>& out, Wire single) const {
  const auto p = payload(wire == single ? single : Wire::bytes);
  if (p.size() % sizeof(T) != 0) return fail(cat("field ", number, " is a list whose last number is cut off"));
  out.reserve(std::max(out.size() + p.size() / sizeof(T), out.capacity()));
  for (size_t i = 0; i < p.size(); i += sizeof(T)) out.push_back(bit_cast<T>(load_le<Bits>(p.data() + i)));
}

void Field::append_to(std::vector<int64_t>& out) const { append_varints(out); }
void Field::append_to(std::vector<int32_t>& out) const { append_varints(out); }
void Field::append_to(std::vector<uint64_t>& out) const { append_varints(out); }
void Field::append_to(std::vector<float>& out) const { append_fixed<float, uint32_t>(out, Wire::fixed32); }
void Field::append_to(std::vector<double>& out) const { append_fixed<double, uint64_t>(out, Wire::fixed64); }

}  // namespace cameo::pb
