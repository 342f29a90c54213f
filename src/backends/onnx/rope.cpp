#include "backends/onnx/rope.h"

#include "formats/file_handle.h"
#include "ir/weight_stream.h"
#include "support/error.h"

namespace cameo::onnx {

namespace {
constexpr size_t copied_below = 4096;  // shorter runs cost less as a copy than as a piece
}

void write_dense(const Weight& w, const Sink& sink) {
  if (w.strings) return sink(w.dense().bytes().span());
  stream_dense(w, sink);
  if (!w.is_dense()) release_pages(w.source.span());  // a dense one was copied unseen
}

void Rope::seal() {
  if (tail_.size() == 0) return;
  Piece p;
  p.small = tail_.take();
  tail_ = {};
  const uint64_t size = p.small.size();
  add(std::move(p), size);
}

void Rope::add(Piece piece, uint64_t size) {
  pieces_.push_back(std::move(piece));
  sealed_ += size;
}

void Rope::bytes(uint32_t field, const Bytes& v) {
  tail_.header(field, v.size());
  raw(v);
}

void Rope::raw(const Bytes& v) {
  if (v.size() < copied_below) return tail_.raw(v.text());
  seal();
  add({.small = {}, .view = v, .weight = {}, .late = {}}, v.size());
}

void Rope::weight(uint32_t field, std::shared_ptr<const Weight> w) {
  const uint64_t size = w->byte_size();
  tail_.header(field, size);
  if (size == 0) return;
  seal();
  add({.small = {}, .view = {}, .weight = std::move(w), .late = {}}, size);
}

void Rope::late_text(uint32_t field, std::shared_ptr<const std::string> v) {
  const uint64_t size = v->size();
  tail_.header(field, size);
  seal();
  add({.small = {}, .view = {}, .weight = {}, .late = std::move(v)}, size);
}

void Rope::message(uint32_t field, Rope&& inner) {
  tail_.header(field, inner.size());
  append(std::move(inner));
}

void Rope::append(Rope&& inner) {
  if (inner.pieces_.empty() && inner.tail_.size() < copied_below) return tail_.raw(inner.tail_.buffer());
  seal();
  inner.seal();
  pieces_.insert(pieces_.end(), std::make_move_iterator(inner.pieces_.begin()),
                 std::make_move_iterator(inner.pieces_.end()));
  sealed_ += inner.sealed_;
}

void Rope::write(const Sink& sink) const {
  for (const Piece& p : pieces_) {
    if (p.late) sink(as_bytes(*p.late));
    else if (p.weight) write_dense(*p.weight, sink);
    else if (p.view.data()) sink(p.view.span());
    else sink(as_bytes(p.small));
  }
  sink(as_bytes(tail_.buffer()));
}

std::string Rope::flat() const {
  std::string out;
  out.reserve(static_cast<size_t>(size()));
  write([&out](std::span<const std::byte> s) { out.append(reinterpret_cast<const char*>(s.data()), s.size()); });
  return out;
}

}  // namespace cameo::onnx
