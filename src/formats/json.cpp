#include "formats/json.h"

#include <algorithm>
#include <cmath>

#include "formats/json_table.h"
#include "support/error.h"
#include "support/text.h"

namespace cameo::json {
namespace {
std::string_view name_of(Kind k) {
  static constexpr std::string_view names[] = {"null", "a boolean", "an integer", "a number", "a string", "a list", "an object"};
  return names[static_cast<int>(k)];
}

const Node& node(const Table* table, uint32_t index) {
  invariant(table != nullptr, "a missing JSON value is not looked into");
  return table->nodes[index];
}
}  // namespace

Document::Document(Bytes text, std::string path, Options options) {
  auto table = std::make_shared<Table>();
  table->text = std::move(text);
  table->path = std::move(path);
  parse(*table, options);
  table_ = std::move(table);
}

Value Document::root() const { return {table_.get(), static_cast<uint32_t>(table_->nodes.size() - 1)}; }

Kind Value::kind() const { return node(table_, index_).kind; }
uint64_t Value::offset() const { return node(table_, index_).offset; }

void Value::fail(std::string what) const {
  const uint64_t where = offset();
  throw error("file.schema", std::move(what)).at({.file = table_->path, .offset = where});
}

static const Node& expect(const Value& v, const Node& n, Kind wanted) {
  if (n.kind != wanted) v.fail(cat("this is ", name_of(n.kind), " where ", name_of(wanted), " belongs"));
  return n;
}

bool Value::boolean() const { return expect(*this, node(table_, index_), Kind::boolean).flag; }
int64_t Value::integer() const { return expect(*this, node(table_, index_), Kind::integer).as.integer; }
std::string_view Value::text() const { return expect(*this, node(table_, index_), Kind::string).string(); }

double Value::number() const {
  const Node& n = node(table_, index_);
  return n.kind == Kind::integer ? static_cast<double>(n.as.integer) : expect(*this, n, Kind::number).as.number;
}

size_t Value::size() const {
  const Node& n = node(table_, index_);
  return n.kind == Kind::object ? n.count / 2 : expect(*this, n, Kind::array).count;
}

Value Value::operator[](size_t index) const {
  const Node& n = expect(*this, node(table_, index_), Kind::array);
  if (index >= n.count) fail(cat("this list has ", n.count, " elements, ", index + 1, " are needed"));
  return {table_, n.as.children.first + static_cast<uint32_t>(index)};
}

Value Value::operator[](std::string_view key) const {
  const Value v = find(key);
  if (!v) fail(cat("the key ", key, " is missing"));
  return v;
}

Value Value::find(std::string_view key) const {
  const Node& n = expect(*this, node(table_, index_), Kind::object);
  const auto& nodes = table_->nodes;
  const uint32_t first = n.as.children.first;
  if (n.count / 2 <= Table::small_object) {
    for (uint32_t i = first; i < first + n.count; i += 2)
      if (nodes[i].string() == key) return {table_, i + 1};
    return {};
  }
  const auto begin = table_->key_order.begin() + n.as.children.sorted, end = begin + n.count / 2;
  const auto at = std::lower_bound(begin, end, key, [&](uint32_t i, std::string_view k) { return nodes[i].string() < k; });
  return at == end || nodes[*at].string() != key ? Value{} : Value{table_, *at + 1};
}

Value Value::present(std::string_view key) const {
  const Value v = find(key);
  return v && !v.is_null() ? v : Value{};
}

Elements Value::elements() const {
  const Node& n = expect(*this, node(table_, index_), Kind::array);
  return {table_, n.as.children.first, n.as.children.first + n.count};
}

Members Value::members() const {
  const Node& n = expect(*this, node(table_, index_), Kind::object);
  return {table_, n.as.children.first, n.as.children.first + n.count};
}

Member Members::at(const Table* table, uint32_t index) { return {table->nodes[index].string(), {table, index + 1}}; }

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
