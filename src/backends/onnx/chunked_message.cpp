#include "backends/onnx/chunked_message.h"

#include "formats/file_handle.h"
#include "formats/put.h"
#include "ir/weight_stream.h"
#include "support/error.h"
#include "support/file_bytes.h"

namespace cameo::onnx {

namespace {
constexpr size_t copied_below = 4096;  // shorter runs cost less as a copy than as a chunk
}

void write_dense(const Weight& w, const Sink& sink) {
  if (w.strings) return sink(w.dense().bytes().span());
  if (w.is_dense() && !in_memory(w.source)) {
    check_inside(w);
    return put(sink, w.source.slice(0, w.byte_size()));
  }
  stream_dense(w, sink);
  if (!w.is_dense() && in_memory(w.source)) release_pages(w.source.span());  // a dense one was copied unseen
}

void ChunkedMessage::seal() {
  if (tail_.size() == 0) return;
  Chunk p;
  p.small = tail_.take();
  tail_ = {};
  const uint64_t size = p.small.size();
  add(std::move(p), size);
}

void ChunkedMessage::add(Chunk chunk, uint64_t size) {
  chunks_.push_back(std::move(chunk));
  sealed_ += size;
}

void ChunkedMessage::bytes(uint32_t field, const Bytes& v) {
  tail_.header(field, length_of(v));
  raw(v);
}

void ChunkedMessage::raw(const Bytes& v) {
  if (length_of(v) < copied_below) return tail_.raw(v.text());
  seal();
  add({.small = {}, .view = v, .weight = {}, .late = {}}, length_of(v));
}

void ChunkedMessage::weight(uint32_t field, std::shared_ptr<const Weight> w) {
  const uint64_t size = w->byte_size();
  tail_.header(field, size);
  if (size == 0) return;
  seal();
  add({.small = {}, .view = {}, .weight = std::move(w), .late = {}}, size);
}

void ChunkedMessage::late_text(uint32_t field, std::shared_ptr<const std::string> v) {
  const uint64_t size = v->size();
  tail_.header(field, size);
  seal();
  add({.small = {}, .view = {}, .weight = {}, .late = std::move(v)}, size);
}

void ChunkedMessage::message(uint32_t field, ChunkedMessage&& inner) {
  tail_.header(field, inner.size());
  append(std::move(inner));
}

void ChunkedMessage::append(ChunkedMessage&& inner) {
  if (inner.chunks_.empty() && inner.tail_.size() < copied_below) return tail_.raw(inner.tail_.buffer());
  seal();
  inner.seal();
  chunks_.insert(chunks_.end(), std::make_move_iterator(inner.chunks_.begin()),
                 std::make_move_iterator(inner.chunks_.end()));
  sealed_ += inner.sealed_;
}

void ChunkedMessage::write(const Sink& sink) const {
  for (const Chunk& p : chunks_) {
    if (p.late) sink(as_bytes(*p.late));
    else if (p.weight) write_dense(*p.weight, sink);
    else if (!p.view.empty()) put(sink, p.view);
    else sink(as_bytes(p.small));
  }
  sink(as_bytes(tail_.buffer()));
}

std::string ChunkedMessage::flat() const {
  std::string out;
  out.reserve(static_cast<size_t>(size()));
  write([&out](std::span<const std::byte> s) { out.append(reinterpret_cast<const char*>(s.data()), s.size()); });
  return out;
}

}  // namespace cameo::onnx
