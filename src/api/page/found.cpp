#include "api/page/found.h"

#include <algorithm>

#include "api/page/call.h"

namespace cameo::page {

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : lower(text)) {
    if (c != ' ' && c != '\t') word += c;
    else if (!word.empty()) out.push_back(std::exchange(word, ""));
  }
  if (!word.empty()) out.push_back(word);
  return out;
}

// "64×3×7×7" is found by 64x3x7x7 too.
std::string searched(std::string_view text) {
  std::string out = lower(text);
  for (size_t at = out.find("×"); at != out.npos; at = out.find("×")) out.replace(at, 2, "x");
  return out;
}

struct Text {
  uint32_t item;
  std::string_view what;
  std::string text;
  std::string_view whole = {};  // what is as good as the whole text
};

std::vector<Text> texts_of(const Tree& tree) {
  std::vector<Text> out;
  for (uint32_t i = 1; i < tree.items.size(); ++i) {
    const Item& item = tree.items[i];
    if (item.parent == no_item) continue;
    if (item.kind == ItemKind::node) {
      out.push_back({i, "operator", item.path.empty() ? item.label : cat(item.label, " ", item.path), item.label});
      for (const Value& v : tree.nodes[item.node].inputs())
        if (v.present() && v.weight() && !v.name().empty()) out.push_back({i, "weight", cat(v.name(), " ", v.type())});
    } else out.push_back({i, name(item.kind), item.path.empty() ? item.label : item.path});
  }
  for (const Wire& w : tree.wires) out.push_back({w.from, "value", cat(w.value, " ", w.type)});
  return out;
}

}  // namespace

Hits found(const Tree& tree, std::string_view text, size_t most) {
  Hits out;
  const auto words = words_of(searched(text));
  if (words.empty()) return out;
  std::vector<Hit> whole, part;
  for (Text& t : texts_of(tree)) {
    const std::string in = searched(t.text);
    if (!std::all_of(words.begin(), words.end(), [&](const std::string& w) { return in.find(w) != in.npos; })) continue;
    ++out.count;
    auto& list = words.size() == 1 && (in == words[0] || searched(t.whole) == words[0]) ? whole : part;
    if (list.size() < most) list.push_back({t.item, t.what, std::move(t.text)});
  }
  out.hits = std::move(whole);
  for (Hit& h : part)
    if (out.hits.size() < most) out.hits.push_back(std::move(h));
  return out;
}

}  // namespace cameo::page
