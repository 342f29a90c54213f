#include "cli/simplify_flags.h"

#include <cstdlib>

namespace cameo::cli {

std::pair<std::string, std::vector<std::string>> input_shape(const Model& m, std::string_view flag,
                                                             const std::string& text) {
  const size_t colon = text.rfind(':');
  std::string input = colon == text.npos ? "" : text.substr(0, colon);
  if (input.empty()) {
    const auto inputs = m.inputs();
    if (inputs.size() != 1)
      throw error("use.value", cat("--", flag, " ", text, ": the model has ", inputs.size(), " inputs, say which"))
          .help("NAME:1,3,224,224");
    input = inputs[0].name;
  }
  return {input, split(text.substr(colon == text.npos ? 0 : colon + 1), ',')};
}

SimplifySettings simplify_settings(const Args& args, const Model& m) {
  SimplifySettings s;
  s.skip = args.list("skip");
  s.only = args.list("only");
  s.without = args.values("without");
  s.exact = args.has("exact");
  s.freeze_initializers = args.has("freeze-initializers");
  s.fuse = !args.has("no-fuse");
  s.fold = !args.has("no-fold");
  s.sizes_may_be_zero = args.has("sizes-may-be-zero");
  s.unroll = static_cast<int>(args.integer("unroll", 0, 0, 100000));
  s.functions = static_cast<FunctionCalls>(args.choice("functions", {"auto", "keep", "inline"}));
  s.shapes = !args.has("no-shapes");
  s.check = static_cast<int>(args.integer("check", 0, 0, 1000));
  s.rtol = args.number("rtol");
  s.atol = args.number("atol");
  for (const std::string& text : args.values("overwrite-input-shape")) {
    const auto [input, sizes] = input_shape(m, "overwrite-input-shape", text);
    s.input_shapes[input] = sizes;
  }
  for (const std::string& text : args.values("test-input-shape")) {
    const auto [input, sizes] = input_shape(m, "test-input-shape", text);
    for (const std::string& size : sizes) s.check_shapes[input].push_back(whole_number("test-input-shape", size, 0));
  }
  return s;
}

}  // namespace cameo::cli
