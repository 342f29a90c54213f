// cameo edit: changes by name, in the order they are given.
#include "passes/edit.h"

#include <charconv>

#include "cli/common.h"
#include "cli/verbs.h"
#include "passes/dce.h"
#include "runtime/arrays.h"
#include "support/error.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"add-output", 0, "VALUE", "an inner value becomes an output"},
    {"remove-output", 0, "VALUE", "an output becomes an inner value; what only it needed goes"},
    {"rename", 0, "a=b", "a value, or a node"},
    {"set-dim", 0, "x:0=batch", "a size of an input: a number, a name, or ? for open; other shapes follow"},
    {"fix-shape", 0, "x:1,3,224,224", "all sizes of an input"},
    {"set-attr", 0, "NODE:a=v", "an attribute, in the operator's newest form"},
    {"set-op", 0, "NODE=Type", "another operator; attributes of the same name stay"},
    {"insert", 0, "'y2 = Relu(y)'", "a new node"},
    {"rewire", 0, "y=y2", "what reads y reads y2, but for what computes y2"},
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

void apply(Model& m, std::string_view flag, const std::string& value, bool& dead_code) {
  if (flag == "add-output") add_output(m, value);
  else if (flag == "remove-output") remove_output(m, value), dead_code = true;
  else if (flag == "remove-input") remove_input(m, value);
  else if (flag == "insert") insert_node(m, value);
  else if (flag == "remove-node") remove_node(m, value), dead_code = true;
  else if (flag == "strip") strip(m);
  else if (flag == "fix-shape") {
    const auto [name, sizes] = name_and_rest(flag, value);
    fix_shape(m, name, sizes.empty() ? std::vector<std::string>() : split(sizes, ','));
  } else if (flag == "set-dim") {
    const auto [place, size] = name_and_value(flag, value);
    const auto [name, axis_text] = name_and_rest(flag, place);
    int64_t axis = 0;
    const auto r = std::from_chars(axis_text.data(), axis_text.data() + axis_text.size(), axis);
    if (r.ec != std::errc() || r.ptr != axis_text.data() + axis_text.size())
      throw error("use.value", cat("--set-dim wants an axis, not '", axis_text, "'"));
    set_dim(m, name, axis, size);
  } else if (flag == "set-attr") {
    const auto [place, text] = name_and_value(flag, value);
    const auto [node, attribute] = name_and_rest(flag, place);
    set_attribute(m, node, attribute, text);
  } else if (flag != weights_flag.name && flag != no_provenance.name && flag != durable_flag.name) {
    const auto [a, b] = name_and_value(flag, value);
    if (flag == "rename") rename(m, a, b);
    else if (flag == "set-op") set_operator(m, a, b);
    else if (flag == "rewire") rewire(m, a, b);
    else if (flag == "set-initializer")
      set_initializer(m, a, load_npy(b, m.graph[find_value(m.graph, a)].fact.type.elem));
    else if (flag == "set-metadata") set_metadata(m, a, b);
  }
}

}  // namespace

int edit_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  Model m = open_model(args->operands[0], out);
  bool dead_code = false;
  for (const auto& given : args->given()) apply(m, given.flag, given.value, dead_code);
  if (dead_code) remove_dead_code(m.graph);
  WriteOptions options = write_options(*args);
  if (args->has("strip")) options.value_info = WriteOptions::ValueInfo::none;
  write_model(m, args->operands[0], args->operands[1], verb, *args, options, out);
  return 0;
}

}  // namespace cameo::cli
