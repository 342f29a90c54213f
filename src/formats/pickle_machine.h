// The stack machine behind pickle::read.
#pragma once

#include <string>
#include <vector>

#include "formats/pickle.h"
#include "support/arena.h"
#include "support/error.h"

namespace cameo::pickle {

class Machine {
 public:
  Machine(Bytes bytes, const std::string& name, const Limits& limits, Arena& arena);

  const Value* run();
  size_t position() const { return at_; }

 private:
  // Input. Every read is checked against the end.
  std::string_view take(uint64_t count);
  std::string_view take_line();
  uint64_t little(int bytes);
  double big_endian_double();
  [[noreturn]] void damaged(std::string what) const;
  [[noreturn]] void too_much(std::string what) const;
  Loc place() const;

  // Values.
  Value* make(Kind kind);
  void push(Value* v);
  Value* pop();
  Value* top();
  void push_mark();
  size_t pop_mark();  // stack height at the mark
  void push_integer(int64_t v);
  void push_long(std::string_view little_endian);
  void push_text(Kind kind, std::string_view text);
  void push_global(std::string_view module, std::string_view name);
  void push_tuple(size_t from);
  void push_container(Kind kind, size_t from);
  void push_record(Kind kind, Value* callee, Value* args);
  void build();
  // Makes the values above `from` parts of `container`; they leave the stack.
  void fill(Value* container, size_t from, bool pairs);
  void count_items(size_t more);
  void contain(Value* container, Value* part);
  void put(uint64_t index);
  void get(uint64_t index);

  // Opcodes by family; false when the opcode is not theirs.
  bool control(uint8_t op);
  bool scalars(uint8_t op);
  bool texts(uint8_t op);
  bool containers(uint8_t op);
  bool records(uint8_t op);

  Bytes bytes_;
  std::string_view text_;
  const std::string& name_;
  const Limits& limits_;
  Arena& arena_;
  size_t at_ = 0, opcode_at_ = 0;
  uint64_t made_ = 0, contained_ = 0;
  bool stopped_ = false;
  Value *none_ = nullptr, *true_ = nullptr, *false_ = nullptr;
  std::vector<Value*> small_integers_;
  std::vector<Value*> stack_, memo_;
  std::vector<size_t> marks_;
};

}  // namespace cameo::pickle
