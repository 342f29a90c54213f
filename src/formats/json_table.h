// How a parsed document lies in memory: one node per value, children next to each other.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "formats/json.h"

namespace cameo::json {

struct Node {
  Kind kind = Kind::null;
  bool flag = false;    // of a boolean
  uint32_t count = 0;   // children of an array or object (keys and values alternate), or length of a string
  uint64_t offset = 0;  // in the text
  union {
    int64_t integer;
    double number;
    const char* text;  // in the document, or in `unescaped`
    struct {
      uint32_t first;   // index of the first child
      uint32_t sorted;  // of a large object: where its key order starts in `key_order`
    } children;
  } as{.integer = 0};

  std::string_view string() const { return {as.text, count}; }
};

struct Table {
  // Objects with more members than this are searched by bisection.
  static constexpr uint32_t small_object = 16;

  Bytes text;
  std::string path;
  std::vector<Node> nodes;          // the root is the last
  std::vector<uint32_t> key_order;  // indices of key nodes, sorted by key, one run per large object
  std::deque<std::string> unescaped;
};

void parse(Table& table, const Options& options);

}  // namespace cameo::json
