// The library's texts name the command's flags; here they are replaced by Python's arguments.
#include "words.h"

#include <string_view>

namespace cameo::python {

namespace {

// The first that fits a place counts, so that longer ones come first.
struct Row {
  std::string_view command, python;
};
constexpr Row rows[] = {
    {"in Python: torch.jit.trace(model.eval(), example).save(\"net.pt\"), or "
     "torch.export.save(torch.export.export(model.eval(), (example,)), \"net.pt2\")",
     "cameo.export(model.eval(), (example,), \"net.onnx\")"},
    {"torch.jit.trace(model.eval(), example).save(\"net.pt\"), or "
     "torch.export.save(torch.export.export(model.eval(), (example,)), \"net.pt2\")",
     "cameo.export(model.eval(), (example,), \"net.onnx\")"},
    {"build the model in Python, load the weights", "build the model, load the weights"},
    {"load it in Python with torch.load", "load it with torch.load"},
    {"give that axis a fixed size with --input", "give that axis a fixed size: leave it out of dynamic_axes"},
    {"give all inputs' shapes with --input", "give examples of all inputs as args"},
    {"give the sizes of all inputs with --input", "leave the sizes of all inputs out of dynamic_axes"},
    {"check the shapes and values given with --input", "check the shapes and values of args"},
    {"arrays are given with --inputs", "arrays are given to Session.run"},
    {"give it with --inputs", "give it yourself"},
    {"--inputs FILE.npz gives them", "give them as args"},
    {"--inputs", "args"},
    {"with --image", "with image="},
    {"--image", "image"},
    {"--max-float-macs", "max_float_macs"},
    {"--keep NODE", "keep="},
    {"--input ", "the input "},
    {"--input", "args"},
    {"say which with --method", "say which with method="},
    {"--no-assume", "assume=False"},
    {"--assume '", "assume='"},
    {"--assume", "assume"},
    {"--asserts keep", "asserts='keep'"},
    {"--loops unroll", "loops='unroll'"},
    {"--state outputs", "state='outputs'"},
    {"--frozen allow", "frozen='allow'"},
    {"--training eval", "training='EVAL'"},
    {"--fallback", "fallback='custom'"},
    {"--type declares it", "types={OPERATOR: TYPE} declares it"},
    {"--rules", "rules="},
    {"--dynamic-axes", "dynamic_axes"},
    {"--lossy", "lossy=True"},
    {"--no-check", "enable_onnx_checker=False"},
    {"--verbose prints their names", "model.nodes has their names"},
    {"cameo simplify --list-rules", "cameo.rules()"},
    {"simplify without --check, or give its size with --overwrite-input-shape",
     "simplify without check=, or give its size with input_shapes="},
    {"--unroll N", "unroll=N"},
    {"add it to --from", "add it to inputs="},
    {"edit --set-initializer", "edit(set_initializer=...)"},
    {"--keep-io", "keep_io=True"},
    {"--float mixed", "float_type=\"mixed\""},
    {"--calibrate DATA", "samples="},
    {"--bits 4", "cameo.quantize_weights(model, bits=4)"},
    {"--keep", "keep="},
    {"--fix-size", "sizes="},
    {"--no-verify", "verify=False"},
    {"--normalise keep or fold, or no --image", "normalise=\"keep\" or \"fold\", or no image="},
    {"--normalise", "normalise="},
    {"--append-nms ", "append_nms="},
    {"--append-nms", "append_nms="},
    {"cameo lint --list-targets lists them", "cameo.lint_targets() lists them"},
    {"--max-time", "cameo.limits(seconds=...)"},
    {"--max-memory", "cameo.limits(memory=...)"},
    {"--max-turns", "cameo.limits(turns=...)"},
    {"--max-steps", "cameo.limits(steps=...)"},
    {"cameo convert IN OUT --opset ", "cameo.convert(model) to opset "},
    {"cameo convert IN OUT --inline", "cameo.convert(model, inline_functions=True)"},
    {"cameo edit IN OUT --set-attr ", "cameo.edit(model): set_attribute of "},
    {"cameo simplify IN OUT", "cameo.simplify(model)"},
    {"cameo lint IN --target ", "cameo.fix_lint(model) for "},
    {" --fix OUT --dim NAME=SIZE", " with sizes="},
    {" --fix OUT", ""},
    {"cameo ops lists what is supported", "docs/operators.md lists what is supported"},
    {"cameo show lists the names of the exported model", "model.inputs and model.outputs have the names"},
};

// x=f32[batch,3] as dynamic_axes={"x": {0: "batch"}}; empty where no size has a name.
std::string dynamic_axes(std::string_view spec) {
  const size_t equals = spec.find('='), open = spec.find('[');
  if (equals == spec.npos || open == spec.npos || !spec.ends_with(']')) return "";
  std::string axes;
  std::string_view rest = spec.substr(open + 1, spec.size() - open - 2);
  for (size_t axis = 0; !rest.empty(); ++axis) {
    const std::string_view size = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(size.size() + 1, rest.size()));
    if (size == "..." || size.find_first_not_of("0123456789") == size.npos) continue;
    axes += (axes.empty() ? "" : ", ") + std::to_string(axis) + ": \"" + std::string(size) + "\"";
  }
  if (axes.empty()) return "";
  return "dynamic_axes={\"" + std::string(spec.substr(0, equals)) + "\": {" + axes + "}}";
}

// --input 'x=f32[batch,3]', which begins at `at`: in Python's words, and `at` behind it. A name may hold quotes: what
// is quoted ends where a blank, a colon or the text's end follows.
std::string quoted_input(std::string_view text, size_t& at) {
  constexpr std::string_view flag = "--input '";
  size_t end = at + flag.size();
  while (end < text.size() &&
         !(text[end] == '\'' && (end + 1 == text.size() || text[end + 1] == ' ' || text[end + 1] == ':')))
    ++end;
  const std::string spec(text.substr(at + flag.size(), end - at - flag.size()));
  const bool is_dynamic = text.substr(0, at).ends_with("for a dynamic axis, export with ");
  at = std::min(end + 1, text.size());
  const std::string axes = is_dynamic ? dynamic_axes(spec) : "";
  return axes.empty() ? "args=\"" + spec + "\"" : axes;
}

const Row* row_at(std::string_view text) {
  for (const Row& row : rows)
    if (text.starts_with(row.command)) return &row;
  return nullptr;
}

}  // namespace

std::string in_python(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("--input '")) {
      out += quoted_input(text, at);
    } else if (const Row* row = row_at(text.substr(at))) {
      out += row->python;
      at += row->command.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

Diag in_python(Diag d) {
  for (std::string* text : {&d.what, &d.because, &d.hint}) *text = in_python(*text);
  for (Note& n : d.notes) n.text = in_python(n.text);
  return d;
}

}  // namespace cameo::python
