#include "cli/run_inputs.h"

#include <algorithm>

#include "cameo/verify.h"

namespace cameo::cli {

namespace {

std::map<std::string, SizeRange> named_sizes(const Args& args) {
  std::map<std::string, SizeRange> out;
  for (const std::string& d : args.values("dim")) {
    const auto [dim, size] = name_and_value("dim", d);
    const size_t dots = size.find("..");
    SizeRange r;
    r.first = r.last = whole_number("dim", std::string_view(size).substr(0, dots), 0);
    if (dots != size.npos) r.last = whole_number("dim", std::string_view(size).substr(dots + 2), 0);
    if (r.last < r.first)
      throw error("use.value", cat("--dim: ", r.first, " is more than ", r.last, " in '", size, "'"));
    out[dim] = r;
  }
  return out;
}

}  // namespace

RunInputs::RunInputs(const Model& model, const Args& args) : sizes_(named_sizes(args)) {
  const auto inputs = model.graph().inputs();
  if (args.has("inputs") && args.has("random"))
    throw error("use.conflict", "--inputs and --random cannot be used together");
  if (!args.has("inputs") && !args.has("random") &&
      std::any_of(inputs.begin(), inputs.end(), [](const Value& v) { return !v.weight(); }))
    throw error("use.inputs", "the model has inputs, and none were given")
        .help("--inputs FILE.npz, or --random SEED for random ones");
  seed_ = static_cast<uint64_t>(args.integer("random", 0));
  if (const auto file = args.value("inputs")) {
    values_ = load_inputs(model, *file);
    return;
  }
  values_ = made_up(model, 0);
  if (std::any_of(sizes_.begin(), sizes_.end(), [](const auto& s) { return s.second.first != s.second.last; }))
    model_ = model;
}

const std::vector<NamedValue>& RunInputs::of(int64_t run) {
  if (model_) values_ = made_up(*model_, run);
  return values_;
}

std::map<std::string, int64_t> RunInputs::sizes(int64_t run) const {
  std::map<std::string, int64_t> out;
  for (const auto& [dim, range] : sizes_) out[dim] = range.at(run);
  return out;
}

std::vector<NamedValue> RunInputs::made_up(const Model& model, int64_t run) const {
  return random_inputs(model, seed_, sizes(run));
}

std::string RunInputs::sizes_text(const Model& model) const {
  std::string out;
  for (const auto& [name, size] : free_sizes(model, sizes(0))) out += cat(out.empty() ? "" : ", ", name, " = ", size);
  return out;
}

}  // namespace cameo::cli
