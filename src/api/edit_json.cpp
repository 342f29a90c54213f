#include <charconv>
#include <span>
#include <vector>

#include "api/json_document.h"
#include "support/error.h"
#include "support/near_name.h"

#include "api/edit_json.h"
#include "cameo/edit.h"

namespace cameo::faces {

namespace {

using support::cat;
using support::error;
using Words = std::span<const std::string>;

int axis_of(const std::string& text) {
  int axis = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), axis);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size())
    throw error("use.settings", cat("set_dim needs an axis, not '", text, "'"));
  return axis;
}

std::string joined(Words w, char between) {
  std::string out;
  for (size_t i = 0; i < w.size(); ++i) out += cat(i ? std::string(1, between) : "", w[i]);
  return out;
}

// Flags' values, as cli/edit_changes.cpp reads them.
std::string one(Words w) { return w[0]; }
std::string pair(Words w) { return cat(w[0], "=", w[1]); }
std::string inside(Words w) { return cat(w[0], ":", w[1], "=", w[2]); }

// Functions of Editor by name, how many words they take at least and at most, and the command's flag for the same.
constexpr size_t many = SIZE_MAX;
struct Change {
  std::string_view name;
  size_t least, most;
  void (*apply)(Editor& e, Words w);
  std::string_view flag;
  std::string (*value)(Words w);
  bool reads_file = false;
};
constexpr Change changes[] = {
    {"rename", 2, 2, [](Editor& e, Words w) { e.rename(w[0], w[1]); }, "rename", pair},
    {"add_output", 1, 1, [](Editor& e, Words w) { e.add_output(w[0]); }, "add-output", one},
    {"remove_output", 1, 1, [](Editor& e, Words w) { e.remove_output(w[0]); }, "remove-output", one},
    {"remove_input", 1, 1, [](Editor& e, Words w) { e.remove_input(w[0]); }, "remove-input", one},
    {"fix_shape", 1, many,
     [](Editor& e, Words w) {
       e.fix_shape(w[0], {w.begin() + 1, w.end()});
     },
     "fix-shape", [](Words w) { return cat(w[0], ":", joined(w.subspan(1), ',')); }},
    {"set_dim", 3, 3, [](Editor& e, Words w) { e.set_dim(w[0], axis_of(w[1]), w[2]); }, "set-dim", inside},
    {"set_attribute", 3, 3, [](Editor& e, Words w) { e.set_attribute(w[0], w[1], w[2]); }, "set-attr", inside},
    {"set_operator", 2, 2, [](Editor& e, Words w) { e.set_operator(w[0], w[1]); }, "set-op", pair},
    {"insert_node", 1, 1, [](Editor& e, Words w) { e.insert_node(w[0]); }, "insert", one},
    {"remove_node", 1, 1, [](Editor& e, Words w) { e.remove_node(w[0]); }, "remove-node", one},
    {"rewire", 2, 2, [](Editor& e, Words w) { e.rewire(w[0], w[1]); }, "rewire", pair},
    {"append_nms", 2, 7,
     [](Editor& e, Words w) {
       e.append_nms(w[0], w[1], nms_settings({w.begin() + 2, w.end()}));
     },
     "append-nms", [](Words w) { return joined(w, ','); }},
    {"load_weight", 2, 2, [](Editor& e, Words w) { e.load_weight(w[0], w[1]); }, "set-initializer", pair, true},
    {"set_metadata", 2, 2, [](Editor& e, Words w) { e.set_metadata(w[0], w[1]); }, "set-metadata", pair},
    {"strip", 0, 0, [](Editor& e, Words) { e.strip(); }, "strip", [](Words) { return std::string(); }},
};

const Change& change_called(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Change& c : changes) {
    if (c.name == name) return c;
    names.push_back(c.name);
  }
  const std::string_view near = support::nearest(name, names);
  throw error("use.settings", cat("unknown change '", name, "'"))
      .help(near.empty() ? "" : cat("did you mean ", near, "?"));
}

// The words of one change: texts, and whole numbers as texts.
std::vector<std::string> words_of(const json::Value& change) {
  if (!change.is_array()) throw error("use.settings", "a change is a list: [\"rename\", \"a\", \"b\"]");
  std::vector<std::string> out;
  for (const json::Value word : change.elements()) {
    if (word.kind() == json::Kind::integer) out.push_back(cat(word.integer()));
    else if (word.is_string()) out.emplace_back(word.text());
    else throw error("use.settings", "the words of a change are texts and whole numbers");
  }
  if (out.empty()) throw error("use.settings", "a change is empty");
  return out;
}

void need_words(const Change& c, size_t given) {
  if (given < c.least || given > c.most)
    throw error("use.settings", cat(c.name, " takes ", c.least,
                                    c.most == many ? " words or more"
                                    : c.least == 1 ? " word"
                                                   : " words",
                                    ", and ", given, " are given"));
}

}  // namespace

Edited edited(Model model, const json::Value& list, bool files) {
  Editor edit(std::move(model));
  std::vector<std::pair<std::string_view, std::string>> flags;
  if (!list || !list.is_array())
    throw error("use.settings", "changes are a list of lists: [[\"rename\", \"a\", \"b\"]]");
  for (const json::Value change : list.elements()) {
    const std::vector<std::string> words = words_of(change);
    const Change& c = change_called(words[0]);
    const Words arguments = Words(words).subspan(1);
    need_words(c, arguments.size());
    if (c.reads_file && !files) throw error("use.file", cat(c.name, " reads a file, which is not allowed here"));
    c.apply(edit, arguments);
    flags.emplace_back(c.flag, c.value(arguments));
  }
  return {edit.apply(), std::move(flags)};
}

Model edited(Model model, std::string_view changes_json) {
  const json::Document document = json_document(changes_json, "the changes");
  return edited(std::move(model), document.root(), true).model;
}

}  // namespace cameo::faces
