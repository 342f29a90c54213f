// JSON: a document is checked once and parsed where it is needed, through light handles. The writer: cameo/json.h.
//
//   const json::Document doc(file, "net.pt2!models/model.json");
//   for (json::Value node : doc.root()["graph"]["nodes"].elements()) use(node["target"].text());
//
// What is missing or of another kind throws file.schema with its byte offset, so that readers need no checks of their
// own; `find` and the is_... questions are for what may be missing or differ. Nothing is kept of values but the indexes
// of large objects in which a key was looked up: what is iterated or asked for twice is read twice. One thread at a
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/json.h"
#include "support/bytes.h"

namespace cameo::json {

enum class Kind : uint8_t { null, boolean, integer, number, string, array, object };

struct Options {
  uint32_t depth = 512;
  uint64_t bytes = uint64_t{2} << 30;
  bool python_numbers = false;  // also NaN, Infinity and -Infinity, as Python writes them
};

struct Table;
class Elements;
class Members;

// Valid while its document lives.
class Value {
 public:
  Value() = default;  // missing: false, and an error to access
  explicit operator bool() const { return table_ != nullptr; }

  Kind kind() const;
  bool is_null() const { return kind() == Kind::null; }
  bool is_string() const { return kind() == Kind::string; }
  bool is_array() const { return kind() == Kind::array; }
  bool is_object() const { return kind() == Kind::object; }

  bool boolean() const;
  int64_t integer() const;        // of an integer that fits 64 bits: 1.0 is not one
  double number() const;          // of any number
  std::string_view text() const;  // of a string, unescaped; valid while the document lives
  std::string_view raw() const;   // of a string, as written: for long ones of which a part is wanted

  size_t size() const;                           // of an array or object
  Value operator[](size_t index) const;          // of an array; out of range is an error
  Value operator[](std::string_view key) const;  // of an object; a missing key is an error
  Value find(std::string_view key) const;        // of an object; missing is a false Value
  Value present(std::string_view key) const;     // the same, and null counts as missing
  Elements elements() const;                     // for (Value v : x.elements())
  Members members() const;                       // for (auto [key, v] : x.members()), in the order of the file

  uint64_t offset() const { return at_; }  // in the document
  // Throws file.schema at this value, for findings of the caller.
  [[noreturn]] void fail(std::string what) const;

 private:
  friend class Document;
  friend class Elements;
  friend class Members;
  Value(const Table* table, uint32_t at) : table_(table), at_(at) {}
  std::string_view expect(Kind wanted) const;  // the document's text
  const Table* table_ = nullptr;
  uint32_t at_ = 0;
};

std::string unescape(
    std::string_view raw);  // of a string of a document, or a part that begins and ends between characters

struct Member {
  std::string_view key;
  Value value;
};

// Both go from part to part by the text; position 0, where no part can be, is the end.
class Elements {
 public:
  struct Iterator {
    const Table* table;
    uint32_t at;
    Value operator*() const { return Elements::at(table, at); }
    Iterator& operator++() { return at = next(table, at), *this; }
    bool operator!=(const Iterator& other) const { return at != other.at; }
  };
  Iterator begin() const { return {table_, first_}; }
  Iterator end() const { return {table_, 0}; }

 private:
  friend class Value;
  Elements(const Table* table, uint32_t first) : table_(table), first_(first) {}
  static Value at(const Table* table, uint32_t at) { return {table, at}; }
  static uint32_t next(const Table* table, uint32_t at);
  const Table* table_;
  uint32_t first_;
};

class Members {
 public:
  struct Iterator {
    const Table* table;
    uint32_t key;
    Member operator*() const { return Members::at(table, key); }
    Iterator& operator++() { return key = next(table, key), *this; }
    bool operator!=(const Iterator& other) const { return key != other.key; }
  };
  Iterator begin() const { return {table_, first_}; }
  Iterator end() const { return {table_, 0}; }

 private:
  friend class Value;
  Members(const Table* table, uint32_t first) : table_(table), first_(first) {}
  static Member at(const Table* table, uint32_t key);
  static uint32_t next(const Table* table, uint32_t key);
  const Table* table_;
  uint32_t first_;
};

class Document {
 public:
  // Strict RFC 8259: UTF-8, no duplicate keys, nothing after the value. `path` is only for messages.
  // Throws file.damaged with the byte offset, file.too-large.
  Document(Bytes text, std::string path, Options options = {});
  Value root() const;

 private:
  std::shared_ptr<const Table> table_;
};

}  // namespace cameo::json
