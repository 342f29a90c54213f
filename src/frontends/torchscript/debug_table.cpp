#include "frontends/torchscript/debug_table.h"

#include <algorithm>
#include <charconv>

namespace cameo::torchscript {

namespace {
using pickle::Kind;
using pickle::Value;

constexpr size_t longest_source = 1 << 20;

// `build_intlist([..])` or a plain list.
const Value* as_list(const Value& v) {
  if (v.kind == Kind::list) return &v;
  if (v.kind == Kind::call && v.args()->kind == Kind::tuple && v.args()->items.size() == 1 &&
      v.args()->items[0]->kind == Kind::list)
    return v.args()->items[0];
  return nullptr;
}

// "/home/me/net.py(12): forward", a line of a Python stack as tracing records it.
std::optional<UserFrame> stack_line(std::string_view line) {
  const auto close = line.rfind("): ");
  if (close == line.npos) return std::nullopt;
  const auto open = line.rfind('(', close);
  if (open == line.npos || open == 0) return std::nullopt;
  UserFrame f;
  const char* end = line.data() + close;
  const auto result = std::from_chars(line.data() + open + 1, end, f.line);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  f.file = line.substr(0, open);
  f.function = line.substr(close + 3);
  return f;
}

std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t");
  return first == s.npos ? std::string_view() : s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<UserFrame> stack_frames(std::string_view text) {
  std::vector<UserFrame> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (auto frame = stack_line(text.substr(0, end))) out.push_back(std::move(*frame));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// The name of the function whose source this is.
std::string defined_name(std::string_view text) {
  const auto at = text.find("def ");
  if (at == text.npos) return {};
  const auto rest = text.substr(at + 4);
  return std::string(rest.substr(0, rest.find('(')).substr(0, 200));
}
}  // namespace

DebugTable::DebugTable(pickle::Document document) : document_(std::move(document)) {
  const Value& root = document_.root();
  if (root.kind != Kind::tuple) return;
  std::span<const Value* const> records = root.items;
  if (records.size() == 3 && records[0]->kind == Kind::string && records[0]->text == "FORMAT_WITH_STRING_TABLE") {
    has_texts_ = true;
    for (const Value* t : records[1]->items) texts_.push_back(t->kind == Kind::string ? t->text : std::string_view());
    records = records[2]->items;
  }
  for (const Value* r : records) {
    if (r->kind != Kind::tuple || r->items.size() < 2 || r->items[0]->kind != Kind::integer) continue;
    const Value& range = *r->items[1];
    if (range.kind != Kind::tuple || range.items.size() < 3 || range.items[1]->kind != Kind::integer) continue;
    const Value& source = *range.items[0];
    if (source.kind != Kind::tuple || source.items.size() < 3) continue;
    const int64_t offset = r->items[0]->integer, start = range.items[1]->integer;
    if (offset < 0 || offset > UINT32_MAX || start < 0) continue;
    records_.push_back({static_cast<uint32_t>(offset), static_cast<uint64_t>(start), &source});
  }
  std::stable_sort(records_.begin(), records_.end(),
                   [](const Record& a, const Record& b) { return a.offset < b.offset; });
}

std::string_view DebugTable::text_at(const Value& index) const {
  if (index.kind == Kind::string) return index.text;
  if (index.kind != Kind::integer || index.integer < 0 || static_cast<uint64_t>(index.integer) >= texts_.size())
    return {};
  return texts_[static_cast<size_t>(index.integer)];
}

std::string DebugTable::source_text(const Value& lines) const {
  if (lines.kind == Kind::string) return std::string(lines.text.substr(0, longest_source));
  std::string out;
  if (const Value* list = as_list(lines))
    for (const Value* line : list->items) {
      if (out.size() > longest_source) break;
      out += text_at(*line);
    }
  return out;
}

const std::vector<UserFrame>& DebugTable::frames(uint32_t offset, uint32_t line_end) {
  static const std::vector<UserFrame> none;
  auto at = std::upper_bound(records_.begin(), records_.end(), offset,
                             [](uint32_t o, const Record& r) { return o < r.offset; });
  if (at != records_.begin()) --at;  // the last record at or before the place
  for (; at != records_.end() && at->offset < line_end; ++at)
    if (const auto& found = frames(*at); !found.empty()) return found;
  return none;
}

const std::vector<UserFrame>& DebugTable::frames(const Record& r) {
  if (const auto known = known_.find(r.source); known != known_.end()) return known->second;
  if (const auto known = known_.find(&r); known != known_.end()) return known->second;
  const std::string text = source_text(*r.source->items[0]);
  if (text.empty()) return known_[r.source];
  if (stack_line(std::string_view(text).substr(0, text.find('\n')))) return known_[r.source] = stack_frames(text);
  return known_[&r] = scripted_frame(r, text);
}

std::vector<UserFrame> DebugTable::scripted_frame(const Record& r, std::string_view text) const {
  UserFrame f;
  f.file = text_at(*r.source->items[1]);
  if (f.file.empty()) return {};
  const std::string_view before = text.substr(0, static_cast<size_t>(std::min<uint64_t>(r.start, text.size())));
  const Value& first = *r.source->items[2];
  const int64_t first_line =
      first.kind == Kind::integer && first.integer >= 0 && first.integer < INT32_MAX ? first.integer : 0;
  f.line = static_cast<uint32_t>(first_line + std::count(before.begin(), before.end(), '\n'));
  const auto line_start = before.rfind('\n');
  const auto rest = text.substr(line_start == before.npos ? 0 : line_start + 1);
  f.text = trimmed(rest.substr(0, rest.find('\n')));
  f.function = defined_name(text);
  return {std::move(f)};
}

}  // namespace cameo::torchscript
