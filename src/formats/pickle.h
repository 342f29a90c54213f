// Python pickles as plain values. Nothing is imported, called or built: a global is a name, a call is a record of its
// callee and arguments. Opcodes outside an allow-list (what protocols 2 to 5 need for data) are refused.
//
// One object of the pickle is one Value: what the pickle's memo shares is the same address here. Values form a graph
// without cycles (a container that would hold itself is refused), so a walk ends; but shared parts can make the tree
// that they unfold to exponentially large, so walk with a visited set.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "support/bytes.h"

namespace cameo::pickle {

enum class Kind : uint8_t {
  none,
  boolean,
  integer,
  big_integer,  // more than 64 bits: `text` holds its little-endian two's complement bytes
  floating,
  string,
  bytes,
  tuple,
  list,
  dict,
  set,
  global,      // module() and name()
  object,      // NEWOBJ: callee, args, perhaps state
  call,        // REDUCE: callee, args, perhaps state and items set on the result
  persistent,  // BINPERSID: args is the id, mostly a tuple
};

struct Value {
  struct Record {
    const Value *callee = nullptr, *args = nullptr, *state = nullptr;
  };

  Kind kind = Kind::none;
  bool sealed = false;    // the reader's: a part of something, so it may grow no more
  uint16_t depth = 0;     // of values inside values
  uint32_t capacity = 0;  // the reader's
  union {
    bool boolean;
    int64_t integer = 0;
    double floating;
  };
  std::string_view text;  // string, bytes, big_integer; global: "module\nname"
  // tuple, list, set: the items. dict: key, value, key, value... object, call: what APPENDS or SETITEMS put into it.
  std::span<const Value* const> items;
  const Record* record = nullptr;  // object, call, persistent

  const Value* callee() const { return record ? record->callee : nullptr; }
  const Value* args() const { return record ? record->args : nullptr; }
  const Value* state() const { return record ? record->state : nullptr; }  // from BUILD; null without one
  std::string_view module() const { return text.substr(0, text.find('\n')); }
  std::string_view name() const { return text.substr(text.find('\n') + 1); }
  bool is_global(std::string_view in_module, std::string_view called) const {
    return kind == Kind::global && name() == called && module() == in_module;
  }
  bool is_call_of(std::string_view in_module, std::string_view called) const {
    return kind == Kind::call && callee()->is_global(in_module, called);
  }
};

struct Limits {
  uint32_t values = 1u << 23;  // made in all, and on the stack at once
  uint16_t depth = 500;        // of values inside values
  uint64_t bytes = 1u << 30;   // of the pickle
};

// A pickle's values. They view the pickle's bytes, which it keeps.
class Document {
 public:
  const Value& root() const { return *root_; }
  size_t consumed() const { return consumed_; }  // bytes up to and with STOP; more may follow

 private:
  friend Document read(Bytes, const std::string&, const Limits&);
  std::shared_ptr<const void> storage_;
  Bytes bytes_;
  const Value* root_ = nullptr;
  size_t consumed_ = 0;
};

// Throws file.pickle-damaged (with the byte offset), file.pickle-opcode, file.pickle-limit. `name` is for messages.
Document read(Bytes bytes, const std::string& name, const Limits& limits = {});

}  // namespace cameo::pickle
