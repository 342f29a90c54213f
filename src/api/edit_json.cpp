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

// Functions of Editor by name; how many words they take at least and at most.
constexpr size_t many = SIZE_MAX;
struct Change {
  std::string_view name;
  size_t least, most;
  void (*apply)(Editor& e, Words w);
};
constexpr Change changes[] = {
    {"rename", 2, 2, [](Editor& e, Words w) { e.rename(w[0], w[1]); }},
    {"add_output", 1, 1, [](Editor& e, Words w) { e.add_output(w[0]); }},
    {"remove_output", 1, 1, [](Editor& e, Words w) { e.remove_output(w[0]); }},
    {"remove_input", 1, 1, [](Editor& e, Words w) { e.remove_input(w[0]); }},
    {"fix_shape", 1, many,
     [](Editor& e, Words w) {
       e.fix_shape(w[0], {w.begin() + 1, w.end()});
     }},
    {"set_dim", 3, 3, [](Editor& e, Words w) { e.set_dim(w[0], axis_of(w[1]), w[2]); }},
    {"set_attribute", 3, 3, [](Editor& e, Words w) { e.set_attribute(w[0], w[1], w[2]); }},
    {"set_operator", 2, 2, [](Editor& e, Words w) { e.set_operator(w[0], w[1]); }},
    {"insert_node", 1, 1, [](Editor& e, Words w) { e.insert_node(w[0]); }},
    {"remove_node", 1, 1, [](Editor& e, Words w) { e.remove_node(w[0]); }},
    {"rewire", 2, 2, [](Editor& e, Words w) { e.rewire(w[0], w[1]); }},
    {"append_nms", 2, 7,
     [](Editor& e, Words w) {
       e.append_nms(w[0], w[1], nms_settings({w.begin() + 2, w.end()}));
     }},
    {"load_weight", 2, 2, [](Editor& e, Words w) { e.load_weight(w[0], w[1]); }},
    {"set_metadata", 2, 2, [](Editor& e, Words w) { e.set_metadata(w[0], w[1]); }},
    {"strip", 0, 0, [](Editor& e, Words) { e.strip(); }},
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

}  // namespace

Model edited(Model model, std::string_view changes_json) {
  Editor edit(std::move(model));
  const json::Document document = json_document(changes_json, "the changes");
  if (!document.root().is_array())
    throw error("use.settings", "changes are a list of lists: [[\"rename\", \"a\", \"b\"]]");
  for (const json::Value change : document.root().elements()) {
    std::vector<std::string> words;
    if (!change.is_array()) throw error("use.settings", "a change is a list: [\"rename\", \"a\", \"b\"]");
    for (const json::Value word : change.elements()) {
      if (!word.is_string()) throw error("use.settings", "the words of a change are texts");
      words.emplace_back(word.text());
    }
    if (words.empty()) throw error("use.settings", "a change is empty");
    const Change& c = change_called(words[0]);
    const Words arguments = Words(words).subspan(1);
    if (arguments.size() < c.least || arguments.size() > c.most)
      throw error("use.settings", cat(c.name, " takes ", c.least,
                                      c.most == many ? " words or more"
                                      : c.least == 1 ? " word"
                                                     : " words",
                                      ", and ", arguments.size(), " are given"));
    c.apply(edit, arguments);
  }
  return edit.apply();
}

}  // namespace cameo::faces
