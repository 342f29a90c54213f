// cameo edit: changes by name, in the order they are given.
#include "cameo/edit.h"

#include <charconv>

#include "cli/common.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"add-output", 0, "VALUE", "an inner value becomes an output"},
    {"remove-output", 0, "VALUE", "an output becomes an inner value; nodes that only it needed are removed"},
    {"rename", 0, "a=b", "a value, or a node"},
    {"set-dim", 0, "x:0=batch", "a size of an input: a number, a name, or ? for unknown; other shapes follow"},
    {"fix-shape", 0, "x:1,3,224,224", "all sizes of an input"},
    {"set-attr", 0, "NODE:a=v", "an attribute, in the operator's newest form"},
    {"set-op", 0, "NODE=Type", "another operator; attributes of the same name stay"},
    {"insert", 0, "'y2 = Relu(y)'", "a new node"},
    {"rewire", 0, "y=y2", "uses of y become uses of y2, except in the nodes that compute y2"},
    {"remove-node", 0, "NODE", "its users read its first input"},
    {"set-initializer", 0, "W=f.npy", "another weight; an input of that name becomes one"},
    {"remove-input", 0, "VALUE", "an input that is not used, or has a default"},
    {"set-metadata", 0, "key=value", "an entry of the model's metadata"},
    {"strip", 0, "", "without documentation and descriptions of inner values"},
    weights_flag,
    no_provenance,
    durable_flag,
};
constexpr Verb verb{"edit",
                    "IN OUT",
                    "change names, shapes, nodes, weights; the flags work in the order they are given",
                    "cameo edit net.onnx out.onnx --rename input.1=image --set-dim image:0=batch\ncameo edit net.onnx "
                    "out.onnx --insert 'p = Softmax<axis=-1>(scores)' --add-output p",
                    flags,
                    2,
                    2};

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
    {"rewire", pair<&Editor::rewire>},
    {"remove-node", one<&Editor::remove_node>},
    {"set-initializer", pair<&Editor::load_weight>},
    {"remove-input", one<&Editor::remove_input>},
    {"set-metadata", pair<&Editor::set_metadata>},
    {"strip", [](Editor& edit, std::string_view, const std::string&) { edit.strip(); }},
};

}  // namespace

int edit_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const SaveSettings settings = save_settings(verb, *args);
  Editor edit(opened(args->operands[0], out));
  for (const auto& given : args->given())
    for (const auto& [flag, change] : changes)
      if (flag == given.flag) change(edit, flag, given.value);
  save(edit.apply(), args->operands[1], settings, out);
  return 0;
}

}  // namespace cameo::cli
