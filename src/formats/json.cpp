#include "formats/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "formats/json_table.h"
#include "support/error.h"
#include "support/text.h"

namespace cameo::json {
namespace {
std::string_view name_of(Kind k) {
  static constexpr std::string_view names[] = {"null",     "a boolean", "an integer", "a number",
                                               "a string", "a list",    "an object"};
  return names[static_cast<int>(k)];
}

std::string_view text_of(const Table* table) {
  invariant(table != nullptr, "a missing JSON value is not looked into");
  return table->text.text();
}

std::string_view word_at(std::string_view s, uint32_t at) { return s.substr(at, after_value(s, at) - at); }

std::optional<int64_t> integer_of(std::string_view word) {
  int64_t v = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), v);
  return end == word.data() + word.size() && code == std::errc() ? std::optional(v) : std::nullopt;
}

// The characters of a string, unescaped ones kept by the table.
std::string_view string_at(const Table* table, uint32_t at) {
  const std::string_view raw = raw_string(table->text.text(), at);
  if (raw.find('\\') == raw.npos) return raw;
  const auto [it, fresh] = table->unescaped.try_emplace(at);
  if (fresh) it->second = unescape(raw);
  return it->second;
}

// Sorted by hash, then by key: however many keys have one hash, looking one up stays quick.
const std::vector<Table::Key>& index_of(const Table* table, uint32_t object) {
  const auto [it, fresh] = table->indexes.try_emplace(object);
  auto& keys = it->second;
  if (!fresh) return keys;
  const std::string_view s = table->text.text();
  for (uint32_t k = first_part(s, object); k; k = next_part(s, value_of_key(s, k)))
    keys.push_back({key_hash(string_at(table, k)), k});
  keys.shrink_to_fit();
  std::sort(keys.begin(), keys.end(), [&](const Table::Key& a, const Table::Key& b) {
    return a.hash != b.hash ? a.hash < b.hash : string_at(table, a.offset) < string_at(table, b.offset);
  });
  return keys;
}

uint32_t find_in_index(const Table* table, const std::vector<Table::Key>& keys, std::string_view key) {
  const uint32_t hash = key_hash(key);
  const auto at = std::lower_bound(keys.begin(), keys.end(), key, [&](const Table::Key& k, std::string_view wanted) {
    return k.hash != hash ? k.hash < hash : string_at(table, k.offset) < wanted;
  });
  return at != keys.end() && at->hash == hash && string_at(table, at->offset) == key ? at->offset : 0;
}

// Whether the key that starts at `at` is this one; mostly decided without looking for its end.
bool is_key(const Table* table, std::string_view s, uint32_t at, std::string_view key, bool plain) {
  if (!plain) return string_at(table, at) == key;
  const std::string_view rest = s.substr(at + 1);
  if (rest.starts_with(key) && rest[key.size()] == '"') return true;
  const std::string_view raw = raw_string(s, at);
  return raw.find('\\') != raw.npos && string_at(table, at) == key;
}
}  // namespace

Document::Document(Bytes text, std::string path, Options options) {
  auto table = std::make_shared<Table>();
  table->text = std::move(text);
  table->path = std::move(path);
  check(*table, options);
  table_ = std::move(table);
}

Value Document::root() const { return {table_.get(), table_->root}; }

Kind Value::kind() const {
  const std::string_view s = text_of(table_);
  switch (s[at_]) {
    case 'n': return Kind::null;
    case 't':
    case 'f': return Kind::boolean;
    case '"': return Kind::string;
    case '[': return Kind::array;
    case '{': return Kind::object;
    default: return integer_of(word_at(s, at_)) ? Kind::integer : Kind::number;
  }
}

void Value::fail(std::string what) const {
  throw error("file.schema", std::move(what)).at({.file = table_->path, .offset = offset()});
}

std::string_view Value::expect(Kind wanted) const {
  const std::string_view s = text_of(table_);
  if (const Kind is = kind(); is != wanted) fail(cat("this is ", name_of(is), " where ", name_of(wanted), " belongs"));
  return s;
}

bool Value::boolean() const { return expect(Kind::boolean)[at_] == 't'; }
int64_t Value::integer() const { return *integer_of(word_at(expect(Kind::integer), at_)); }

std::string_view Value::text() const {
  expect(Kind::string);
  return string_at(table_, at_);
}
std::string_view Value::raw() const { return raw_string(expect(Kind::string), at_); }

double Value::number() const {
  const std::string_view word =
      kind() == Kind::integer ? word_at(text_of(table_), at_) : word_at(expect(Kind::number), at_);
  if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (word.ends_with("Infinity"))
    return word[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  return parse_double(word);
}

size_t Value::size() const {
  const bool object = is_object();
  const std::string_view s = object ? text_of(table_) : expect(Kind::array);
  size_t count = 0;
  for (uint32_t at = first_part(s, at_); at; at = next_part(s, object ? value_of_key(s, at) : at)) ++count;
  return count;
}

Value Value::operator[](size_t index) const {
  const std::string_view s = expect(Kind::array);
  uint32_t at = first_part(s, at_);
  for (size_t i = 0; i < index && at; ++i) at = next_part(s, at);
  if (!at) fail(cat("this list has ", size(), " elements, ", index + 1, " are needed"));
  return {table_, at};
}

Value Value::operator[](std::string_view key) const {
  const Value v = find(key);
  if (!v) fail(cat("the key ", key, " is missing"));
  return v;
}

Value Value::find(std::string_view key) const {
  const std::string_view s = expect(Kind::object);
  uint32_t found = 0, members = 0;
  const auto known = table_->indexes.find(at_);
  if (known != table_->indexes.end()) found = find_in_index(table_, known->second, key);
  else {
    const bool plain = key.find_first_of("\"\\") == key.npos;
    found = first_part(s, at_);
    while (found && !is_key(table_, s, found, key, plain)) {
      found = next_part(s, value_of_key(s, found));
      if (!found || (++members <= Table::few_members && found - at_ <= Table::few_bytes)) continue;
      found = find_in_index(table_, index_of(table_, at_), key);
      break;
    }
  }
  return found ? Value{table_, value_of_key(s, found)} : Value{};
}

Value Value::present(std::string_view key) const {
  const Value v = find(key);
  return v && !v.is_null() ? v : Value{};
}

Elements Value::elements() const { return {table_, first_part(expect(Kind::array), at_)}; }
Members Value::members() const { return {table_, first_part(expect(Kind::object), at_)}; }

uint32_t Elements::next(const Table* table, uint32_t at) { return next_part(table->text.text(), at); }
uint32_t Members::next(const Table* table, uint32_t key) {
  const std::string_view s = table->text.text();
  return next_part(s, value_of_key(s, key));
}
Member Members::at(const Table* table, uint32_t key) {
  return {string_at(table, key), {table, value_of_key(table->text.text(), key)}};
}

void Writer::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

Writer& Writer::open(char begin, char end) {
  separate();
  out_ += begin;
  open_ += end;
  first_ = true;
  return *this;
}

Writer& Writer::end() {
  invariant(!open_.empty(), "what is closed was open");
  out_ += open_.back();
  open_.pop_back();
  first_ = false;
  return *this;
}

Writer& Writer::key(std::string_view k) {
  invariant(!open_.empty() && open_.back() == '}', "a key stands in an object");
  separate();
  append_json_string(out_, k);
  out_ += ':';
  first_ = true;
  return *this;
}

Writer& Writer::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

Writer& Writer::value(std::string_view v) {
  separate();
  append_json_string(out_, v);
  return *this;
}

Writer& Writer::value(bool v) { return raw(v ? "true" : "false"); }
Writer& Writer::value(int64_t v) { return raw(cat(v)); }
Writer& Writer::value(uint64_t v) { return raw(cat(v)); }

Writer& Writer::value(double v) {
  if (!std::isfinite(v)) return null();
  std::string digits = cat(v);
  if (digits.find_first_of(".e") == digits.npos) digits += ".0";  // else it would read back as an integer
  return raw(digits);
}

Writer& Writer::null() { return raw("null"); }

}  // namespace cameo::json
