// cameo merge: two models into one.
#include "passes/merge.h"

#include "cli/common.h"
#include "cli/verbs.h"
#include "support/error.h"

namespace cameo::cli {

namespace {
constexpr Flag flags[] = {
    {"connect", 0, "a_out=b_in,...", "outputs of A that are inputs of B"},
    {"keep-connected", 0, "", "connected outputs of A stay outputs"},
    weights_flag,
    no_provenance,
    durable_flag,
};
constexpr Verb verb{"merge",
                    "A B OUT",
                    "two models into one, opsets and names reconciled",
                    "cameo merge encoder.onnx decoder.onnx both.onnx --connect features=x",
                    flags,
                    3,
                    3};
}  // namespace

int merge_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  MergeOptions options;
  for (const std::string& pair : args->list("connect")) options.connect.push_back(name_and_value("connect", pair));
  options.keep_connected = args->has("keep-connected");
  Model a = open_model(args->operands[0], out);
  const Model b = open_model(args->operands[1], out);
  merge(a, b, options);
  write_model(a, args->operands[0], args->operands[2], verb, *args, write_options(*args), out);
  out.say(plural(a.graph.node_count(), "node"));
  return 0;
}

}  // namespace cameo::cli
