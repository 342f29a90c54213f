// Writing JSON. Results have to_json functions of their own (stats.h, verify.h, simplify.h, ...).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cameo::json {

// Appends to a buffer; commas and colons come by themselves.
//   w.object(); w.key("n").value(3); w.key("list").array(); w.value("a"); w.end(); w.end();
class Writer {
 public:
  Writer& object() { return open('{', '}'); }
  Writer& array() { return open('[', ']'); }
  Writer& end();
  Writer& key(std::string_view k);
  Writer& value(std::string_view v);
  Writer& value(const char* v) { return value(std::string_view(v)); }
  Writer& value(bool v);
  Writer& value(int v) { return value(static_cast<int64_t>(v)); }
  Writer& value(int64_t v);
  Writer& value(uint64_t v);
  Writer& value(double v);  // shortest form that reads back the same; null for NaN and infinity
  Writer& null();
  Writer& raw(std::string_view json);  // a value that is already JSON
  // Everything written, once all is closed.
  const std::string& text() const { return out_; }

 private:
  Writer& open(char begin, char end);
  void separate();
  std::string out_, open_;
  bool first_ = true;
};

}  // namespace cameo::json
