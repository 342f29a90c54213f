// cameo merge: two models into one.
#include "cameo/edit.h"
#include "cli/common.h"
#include "cli/verbs.h"

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
  MergeSettings settings;
  for (const std::string& pair : args->list("connect")) settings.connect.push_back(name_and_value("connect", pair));
  settings.keep_connected = args->has("keep-connected");
  Model first = opened(args->operands[0], out);
  const Model both = merge(std::move(first), opened(args->operands[1], out), settings);
  save(both, args->operands[2], save_settings(verb, *args), out);
  out.say(plural(both.node_count(), "node"));
  return 0;
}

}  // namespace cameo::cli
