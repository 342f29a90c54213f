#include "api/page/edits.h"

#include "support/near_name.h"

#include "api/state.h"
#include "cameo/edit.h"

namespace cameo::page {

namespace {

std::string text_in(const json::Value& change, std::string_view key) {
  const json::Value v = change.present(key);
  if (!v || !v.is_string()) throw error("use.params", cat("the change lacks '", key, "', a text"));
  return std::string(v.text());
}

int64_t integer_in(const json::Value& change, std::string_view key) {
  const json::Value v = change.present(key);
  if (!v || v.kind() != json::Kind::integer)
    throw error("use.params", cat("the change lacks '", key, "', a whole number"));
  return v.integer();
}

using Given = const json::Value&;
std::string name_in(Given c) { return text_in(c, "name"); }
std::string to_in(Given c) { return text_in(c, "to"); }

struct Row {
  std::string_view change;
  void (*apply)(Editor& e, Given c);
  std::string_view flag;
  std::string (*value)(Given c);
};

std::string name_to(Given c) { return cat(name_in(c), "=", to_in(c)); }

constexpr Row rows[] = {
    {"rename", [](Editor& e, Given c) { e.rename(name_in(c), to_in(c)); }, "rename", name_to},
    {"add_output", [](Editor& e, Given c) { e.add_output(name_in(c)); }, "add-output", name_in},
    {"remove_output", [](Editor& e, Given c) { e.remove_output(name_in(c)); }, "remove-output", name_in},
    {"remove_input", [](Editor& e, Given c) { e.remove_input(name_in(c)); }, "remove-input", name_in},
    {"set_dim",
     [](Editor& e, Given c) { e.set_dim(name_in(c), support::narrow<int>(integer_in(c, "axis")), to_in(c)); },
     "set-dim", [](Given c) { return cat(name_in(c), ":", integer_in(c, "axis"), "=", to_in(c)); }},
    {"set_attribute", [](Editor& e, Given c) { e.set_attribute(name_in(c), text_in(c, "attribute"), to_in(c)); },
     "set-attr", [](Given c) { return cat(name_in(c), ":", text_in(c, "attribute"), "=", to_in(c)); }},
    {"set_operator", [](Editor& e, Given c) { e.set_operator(name_in(c), to_in(c)); }, "set-op", name_to},
    {"insert_node", [](Editor& e, Given c) { e.insert_node(text_in(c, "text")); }, "insert",
     [](Given c) { return text_in(c, "text"); }},
    {"remove_node", [](Editor& e, Given c) { e.remove_node(name_in(c)); }, "remove-node", name_in},
    {"rewire", [](Editor& e, Given c) { e.rewire(name_in(c), to_in(c)); }, "rewire", name_to},
    {"set_metadata", [](Editor& e, Given c) { e.set_metadata(name_in(c), to_in(c)); }, "set-metadata", name_to},
    {"strip", [](Editor& e, Given) { e.strip(); }, "strip", [](Given) { return std::string(); }},
};

const Row& row_of(std::string_view change) {
  std::vector<std::string_view> names;
  for (const Row& r : rows) {
    if (r.change == change) return r;
    names.push_back(r.change);
  }
  const auto close = support::nearest(change, names);
  throw error("use.params", cat("there is no change '", change, "'"))
      .help(close.empty() ? "" : cat("did you mean ", close, "?"));
}

}  // namespace

Model apply_edits(Call& call, const Model& model, std::string& flags) {
  const json::Value changes = call.value("changes");
  if (!changes || !changes.is_array()) throw error("use.params", "the parameter 'changes' is a list");
  Editor editor(model);
  for (const json::Value change : changes.elements()) {
    if (!change.is_object()) throw error("use.params", "a change is an object");
    const Row& row = row_of(text_in(change, "change"));
    row.apply(editor, change);
    const std::string value = row.value(change);
    flags += cat(" --", row.flag, value.empty() ? "" : " ", value.empty() ? "" : shell_word(value));
  }
  return editor.apply();
}

}  // namespace cameo::page
