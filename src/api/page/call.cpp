#include "api/page/call.h"

#include "support/near_name.h"

#include "cameo/check.h"
#include "cameo/face.h"

namespace cameo::page {

namespace {
[[noreturn]] void wrong(std::string_view key, std::string_view wanted) {
  throw error("use.params", cat("the parameter '", key, "' is ", wanted));
}
}  // namespace

const Model& Opened::with_types() {
  if (!typed) typed = infer(model);
  return *typed;
}

const Tree& Opened::drawn() {
  if (!tree) tree = std::make_unique<Tree>(tree_of(with_types()));
  return *tree;
}

json::Value Call::value(std::string_view key) const { return params_ ? params_.present(key) : json::Value(); }
bool Call::has(std::string_view key) const { return static_cast<bool>(value(key)); }

std::string Call::text(std::string_view key, std::string_view fallback) const {
  const json::Value v = value(key);
  if (!v) return std::string(fallback);
  if (!v.is_string()) wrong(key, "a text");
  return std::string(v.text());
}

std::string Call::need_text(std::string_view key) const {
  if (!has(key)) throw error("use.params", cat("the parameter '", key, "' is missing"));
  return text(key);
}

int64_t Call::integer(std::string_view key, int64_t fallback) const {
  const json::Value v = value(key);
  if (!v) return fallback;
  if (v.kind() != json::Kind::integer) wrong(key, "a whole number");
  return v.integer();
}

bool Call::flag(std::string_view key, bool fallback) const {
  const json::Value v = value(key);
  if (!v) return fallback;
  if (v.kind() != json::Kind::boolean) wrong(key, "true or false");
  return v.boolean();
}

std::vector<std::string> Call::texts(std::string_view key) const {
  std::vector<std::string> all;
  if (const json::Value v = value(key)) {
    if (!v.is_array()) wrong(key, "a list of texts");
    for (const json::Value item : v.elements()) {
      if (!item.is_string()) wrong(key, "a list of texts");
      all.emplace_back(item.text());
    }
  }
  return all;
}

std::vector<int64_t> Call::integers(std::string_view key) const {
  std::vector<int64_t> all;
  if (const json::Value v = value(key)) {
    if (!v.is_array()) wrong(key, "a list of numbers");
    for (const json::Value item : v.elements()) {
      if (item.kind() != json::Kind::integer) wrong(key, "a list of whole numbers");
      all.push_back(item.integer());
    }
  }
  return all;
}

std::map<std::string, int64_t> Call::sizes(std::string_view key) const {
  std::map<std::string, int64_t> all;
  if (const json::Value v = value(key)) {
    if (!v.is_object()) wrong(key, "an object of sizes");
    for (const auto& [name, size] : v.members()) {
      if (size.kind() != json::Kind::integer) wrong(key, "an object of whole numbers");
      all[std::string(name)] = size.integer();
    }
  }
  return all;
}

// The document is checked: brackets outside of strings match.
std::string Call::json_text(std::string_view key) const {
  const json::Value v = value(key);
  if (!v) return "";
  if (!v.is_object()) wrong(key, "an object");
  const std::string_view rest = request_.substr(v.offset());
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (quoted) {
      if (c == '\\') ++i;
      else quoted = c != '"';
    } else if (c == '"') quoted = true;
    else if (c == '{' || c == '[') ++depth;
    else if ((c == '}' || c == ']') && --depth == 0) return std::string(rest.substr(0, i + 1));
  }
  return "";
}

Opened& Call::model(std::string_view key) const {
  const int64_t number = integer(key, 0);
  const auto it = desk.models.find(number);
  if (it == desk.models.end())
    throw error("use.model",
                number ? cat("there is no open model ", number) : cat("the parameter '", key, "' is missing"))
        .help("open gives a model its number");
  return it->second;
}

const Buffer& Call::given(int64_t number) const {
  if (number < 0 || static_cast<size_t>(number) >= with.given.size())
    throw error("use.params", cat("the call has no blob ", number));
  return with.given[static_cast<size_t>(number)];
}

std::optional<int64_t> Call::give(Buffer bytes) {
  if (!with.results) return std::nullopt;
  with.results->push_back(std::move(bytes));
  return static_cast<int64_t>(with.results->size() - 1);
}

std::optional<int64_t> Call::give(std::string bytes) {
  auto owner = std::make_shared<std::string>(std::move(bytes));
  return give(Buffer{owner, owner->data(), owner->size()});
}

bool Call::progress(const char* what, uint64_t done, uint64_t all) const {
  if (with.progress && !with.progress(what, done, all)) throw error("budget.interrupted", "cancelled");
  return true;
}

void write_findings(json::Writer& w, const std::vector<Diag>& findings) {
  w.array();
  for (const Diag& d : findings) w.raw(d.render_json());
  w.end();
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+";
  const std::string safe = printable_text(text);
  if (!safe.empty() && safe.find_first_not_of(plain) == safe.npos) return safe;
  std::string out = "'";
  for (const char c : safe) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}
std::string shell_file(std::string_view path) { return shell_word(path.starts_with('-') ? cat("./", path) : path); }

}  // namespace cameo::page
