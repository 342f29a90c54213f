#include "frontends/onnx/outline.h"

#include <algorithm>
#include <vector>

#include "support/file_bytes.h"

namespace cameo::onnx {

namespace {

constexpr uint32_t model_graph = 7, graph_initializer = 5, tensor_raw_data = 9;

// A field of a message in the file.
struct Place {
  uint32_t number = 0;
  bool has_length = false;
  uint64_t begin = 0, payload = 0, end = 0;
  uint64_t length() const { return end - payload; }
};

// The file through a window: small fields that lie side by side are read at once.
class Window {
 public:
  explicit Window(const Bytes& file) : file_(file) {}

  std::string_view at(uint64_t offset, uint64_t length) {
    if (offset < from_ || offset + length > from_ + length_of(here_)) {
      from_ = offset;
      here_ = file_.slice(offset, std::min(std::max(length, usual), length_of(file_) - offset));
    }
    return here_.text().substr(static_cast<size_t>(offset - from_), static_cast<size_t>(length));
  }

  // False at the end of a message, and from the first place on whose bytes are none: `is_whole` tells.
  bool next(uint64_t& offset, uint64_t end, Place& out) {
    if (!is_whole || offset == end) return false;
    out.begin = offset;
    uint64_t tag = 0, length = 0;
    if (!varint(offset, end, tag) || tag >> 3 == 0 || tag >> 3 > most_number) return is_whole = false;
    out.number = static_cast<uint32_t>(tag >> 3);
    const auto wire = static_cast<pb::Wire>(tag & 7);
    out.has_length = wire == pb::Wire::bytes;
    bool fits = true;
    switch (wire) {
      case pb::Wire::varint: fits = varint(offset, end, length), length = 0; break;
      case pb::Wire::bytes: fits = varint(offset, end, length); break;
      case pb::Wire::fixed32: length = 4; break;
      case pb::Wire::fixed64: length = 8; break;
      default: fits = false;  // groups: no writer of models makes them
    }
    if (!fits || length > end - offset) return is_whole = false;
    out.payload = offset;
    out.end = offset += length;
    return true;
  }
  bool is_whole = true;

 private:
  static constexpr uint64_t usual = uint64_t{1} << 16, most_number = (uint64_t{1} << 29) - 1;

  bool varint(uint64_t& offset, uint64_t end, uint64_t& out) {
    out = 0;
    for (int shift = 0; shift < 64 && offset < end; shift += 7) {
      const auto byte = static_cast<unsigned char>(at(offset++, 1)[0]);
      out |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  const Bytes& file_;
  Bytes here_;
  uint64_t from_ = 0;
};

class Outliner {
 public:
  Outliner(const Bytes& file, uint64_t from) : window_(file), end_(length_of(file)), from_(from) {}

  std::optional<Outline> run() {
    pb::Writer model;
    uint64_t offset = 0;
    for (Place f; window_.next(offset, end_, f);) {
      if (f.number == model_graph && f.has_length) nested(f, model, [&](pb::Writer& w) { graph(f, w); });
      else copy(f, model);
    }
    if (!window_.is_whole || cuts_.empty()) return std::nullopt;
    Outline out;
    out.text = Bytes::own(model.buffer());
    for (const auto& [at, cut] : cuts_) out.cuts.emplace(out.text.text().data() + at, cut);
    return out;
  }

  void tensor(const Place& whole, pb::Writer& to) {
    uint64_t offset = whole.payload;
    for (Place f; window_.next(offset, whole.end, f);) {
      if (f.number != tensor_raw_data || !f.has_length || f.length() < from_) {
        copy(f, to);
        continue;
      }
      to.header(tensor_raw_data, 0);
      cuts_.emplace_back(to.size(), Outline::Cut{whole.payload, whole.length(), f.payload, f.length()});
    }
  }

 private:
  void copy(const Place& f, pb::Writer& to) { to.raw(window_.at(f.begin, f.end - f.begin)); }

  // The message of a field, made by `fill`. What was cut in it lies behind its head then.
  template <class Fill>
  void nested(const Place& f, pb::Writer& to, Fill fill) {
    pb::Writer inner;
    const size_t before = cuts_.size();
    fill(inner);
    to.header(f.number, inner.size());
    for (size_t i = before; i < cuts_.size(); ++i) cuts_[i].first += to.size();
    to.raw(inner.buffer());
  }

  void graph(const Place& whole, pb::Writer& to) {
    uint64_t offset = whole.payload;
    for (Place f; window_.next(offset, whole.end, f);) {
      if (f.number == graph_initializer && f.has_length && f.length() >= from_)
        nested(f, to, [&](pb::Writer& w) { tensor(f, w); });
      else copy(f, to);
    }
  }

  Window window_;
  uint64_t end_, from_;
  std::vector<std::pair<size_t, Outline::Cut>> cuts_;  // by the place in the message at hand
};

}  // namespace

std::optional<Outline> outline_of(const Bytes& file, uint64_t from) { return Outliner(file, from).run(); }

Bytes outline_of_tensor(const Bytes& message, uint64_t from) {
  pb::Writer text;
  Outliner(message, from).tensor({.end = length_of(message)}, text);
  return Bytes::own(text.buffer());
}

}  // namespace cameo::onnx
