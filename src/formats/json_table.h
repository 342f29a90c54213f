// A checked document and its indexes. Values are parsed from the text when they are asked for: an exported
// program may be 100 MB of JSON, most of which is unused metadata.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "formats/json.h"

namespace cameo::json {

struct Table {
  // Looking further than this for a key makes an index of the object.
  static constexpr uint32_t few_members = 16, few_bytes = 4096;
  struct Key {
    uint32_t hash, offset;  // of the key's opening quote
  };

  Bytes text;
  std::string path;
  uint32_t root = 0;                                               // where the value starts
  mutable std::unordered_map<uint32_t, std::vector<Key>> indexes;  // by the object's offset; sorted by hash, then key
  mutable std::unordered_map<uint32_t, std::string> unescaped;     // by the string's offset
};

// Throws file.damaged, file.too-large. Everything else here assumes that the document is valid.
void check(Table& table, const Options& options);

uint32_t skip_spaces(std::string_view s, uint32_t at);
uint32_t after_string(std::string_view s, uint32_t at);  // at its opening quote
uint32_t after_value(std::string_view s, uint32_t at);
uint32_t value_of_key(std::string_view s, uint32_t key);
uint32_t first_part(std::string_view s, uint32_t container);  // of the first key or element; 0 when there is none
uint32_t next_part(std::string_view s, uint32_t value);       // the same for what follows a value
// A string's characters without its quotes; nothing is unescaped.
std::string_view raw_string(std::string_view s, uint32_t at);
uint32_t key_hash(std::string_view key);
double parse_double(std::string_view s);

}  // namespace cameo::json
