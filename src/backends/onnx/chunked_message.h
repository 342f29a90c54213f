// A protobuf message in chunks: small parts in memory, large ones as views of mapped files or weights still to be made
// dense. Its length is known before any large part is touched, so nested lengths can be written first.
#pragma once

#include <memory>
#include <vector>

#include "formats/mapped_file.h"
#include "formats/protobuf.h"
#include "ir/tensor.h"

namespace cameo::onnx {

class ChunkedMessage {
 public:
  // Fields are written through `small()`; `bytes`, `weight` and `message` come after what was written before.
  pb::Writer& small() { return tail_; }
  void bytes(uint32_t field, const Bytes& v);
  void raw(const Bytes& whole_fields);
  void weight(uint32_t field, std::shared_ptr<const Weight> w);  // its dense bytes; not for strings
  void message(uint32_t field, ChunkedMessage&& inner);
  void append(ChunkedMessage&& fields);  // of the same message
  void text(uint32_t field, std::string_view v) { tail_.text(field, v); }
  // Text that may still change, but not its length, until the message is written.
  void late_text(uint32_t field, std::shared_ptr<const std::string> v);

  uint64_t size() const { return sealed_ + tail_.size(); }
  void write(const Sink& sink) const;
  std::string flat() const;

 private:
  struct Chunk {
    std::string small;
    Bytes view;
    std::shared_ptr<const Weight> weight;
    std::shared_ptr<const std::string> late;
  };
  void seal();
  void add(Chunk chunk, uint64_t size);

  std::vector<Chunk> chunks_;
  uint64_t sealed_ = 0;
  pb::Writer tail_;
};

// The weight's dense bytes, at most a few megabytes at a time in memory unless it has to be rearranged.
void write_dense(const Weight& w, const Sink& sink);

}  // namespace cameo::onnx
