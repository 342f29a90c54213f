#include "cli/edit_changes.h"

#include <charconv>

#include "cli/common.h"

namespace cameo::cli {

namespace {

// "x:0=batch" to x:0 and batch; names may hold colons: the last one before '=' counts.
std::pair<std::string, std::string> name_and_rest(std::string_view flag, const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0) throw error("use.value", cat("--", flag, " wants NAME:..., not '", text, "'"));
  return {text.substr(0, colon), text.substr(colon + 1)};
}

using Change = void (*)(Editor& edit, std::string_view flag, const std::string& value);

void set_dim(Editor& edit, std::string_view flag, const std::string& value) {
  const auto [place, size] = name_and_value(flag, value);
  const auto [name, axis_text] = name_and_rest(flag, place);
  int axis = 0;
  const auto r = std::from_chars(axis_text.data(), axis_text.data() + axis_text.size(), axis);
  if (r.ec != std::errc() || r.ptr != axis_text.data() + axis_text.size())
    throw error("use.value", cat("--set-dim needs an axis, not '", axis_text, "'"));
  edit.set_dim(name, axis, size);
}

void fix_shape(Editor& edit, std::string_view flag, const std::string& value) {
  const auto [name, sizes] = name_and_rest(flag, value);
  edit.fix_shape(name, sizes.empty() ? std::vector<std::string>() : split(sizes, ','));
}

void set_attribute(Editor& edit, std::string_view flag, const std::string& value) {
  const auto [place, text] = name_and_value(flag, value);
  const auto [node, attribute] = name_and_rest(flag, place);
  edit.set_attribute(node, attribute, text);
}

// NAME,NAME, then numbers and words.
void append_nms(Editor& edit, std::string_view flag, const std::string& value) {
  const std::vector<std::string> parts = split(value, ',');
  if (parts.size() < 2)
    throw error("use.value", cat("--", flag, " wants boxes,scores[,iou,score,max], not '", value, "'"));
  edit.append_nms(parts[0], parts[1], nms_settings({parts.begin() + 2, parts.end()}));
}

// Functions of one name, and of NAME=VALUE.
template <Editor& (Editor::*function)(const std::string&)>
void one(Editor& edit, std::string_view, const std::string& value) {
  (edit.*function)(value);
}
template <Editor& (Editor::*function)(const std::string&, const std::string&)>
void pair(Editor& edit, std::string_view flag, const std::string& value) {
  const auto [a, b] = name_and_value(flag, value);
  (edit.*function)(a, b);
}

constexpr std::pair<std::string_view, Change> changes[] = {
    {"add-output", one<&Editor::add_output>},
    {"remove-output", one<&Editor::remove_output>},
    {"rename", pair<&Editor::rename>},
    {"set-dim", set_dim},
    {"fix-shape", fix_shape},
    {"set-attr", set_attribute},
    {"set-op", pair<&Editor::set_operator>},
    {"insert", one<&Editor::insert_node>},
    {"append-nms", append_nms},
    {"rewire", pair<&Editor::rewire>},
    {"remove-node", one<&Editor::remove_node>},
    {"set-initializer", pair<&Editor::load_weight>},
    {"remove-input", one<&Editor::remove_input>},
    {"set-metadata", pair<&Editor::set_metadata>},
    {"strip", [](Editor& edit, std::string_view, const std::string&) { edit.strip(); }},
};

}  // namespace

void apply_change(Editor& edit, std::string_view flag, const std::string& value) {
  for (const auto& [name, change] : changes)
    if (name == flag) change(edit, flag, value);
}

}  // namespace cameo::cli
