#include "cli/export_flags.h"

#include <charconv>

#include "cli/common.h"
#include "formats/json.h"
#include "ops/schema.h"
#include "support/error.h"

namespace cameo::cli {

namespace {

std::string choice(const Args& args, std::string_view flag, std::string_view fallback,
                   std::initializer_list<std::string_view> allowed) {
  std::string v = args.text(flag, fallback);
  std::string list;
  for (const auto a : allowed) {
    if (a == v) return v;
    list += cat(list.empty() ? "" : ", ", a);
  }
  throw error("use.value", cat("--", flag, " is one of ", list, ", not '", v, "'"));
}

[[noreturn]] void bad_axes(std::string why) {
  throw error("use.dynamic-axes", cat("--dynamic-axes: ", why))
      .help("write {\"x\": [0, 2]} or {\"x\": {\"0\": \"batch\", \"2\": \"width\"}}");
}

int64_t axis_number(std::string_view text) {
  int64_t n = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size()) bad_axes(cat("'", text, "' is no axis"));
  return n;
}

// Lists of axes get names as torch makes them up; maps name each axis.
void add_axes(std::vector<DynamicAxis>& out, const std::string& value, const json::Value& axes) {
  if (axes.is_array()) {
    size_t i = 0;
    for (const json::Value a : axes.elements()) {
      if (a.kind() != json::Kind::integer) bad_axes(cat("the axes of '", value, "' are no numbers"));
      out.push_back({value, a.integer(), cat(value, "_dynamic_axes_", ++i)});
    }
  } else if (axes.is_object()) {
    for (const auto& [axis, label] : axes.members()) {
      if (!label.is_string()) bad_axes(cat("axis ", axis, " of '", value, "' has no name"));
      out.push_back({value, axis_number(axis), std::string(label.text())});
    }
  } else bad_axes(cat("'", value, "' has neither a list nor a map"));
}

std::vector<DynamicAxis> dynamic_axes(const std::string& text) {
  const auto doc = [&] {
    try {
      return json::Document(Bytes::own(std::string_view(text)), "--dynamic-axes");
    } catch (const Error& e) {
      bad_axes(e.diag().what);
    }
  }();
  if (!doc.root().is_object()) bad_axes("no map of names");
  std::vector<DynamicAxis> out;
  for (const auto& [name, axes] : doc.root().members()) add_axes(out, std::string(name), axes);
  return out;
}

staging::Fallback fallback_mode(const std::string& v) {
  using enum staging::Fallback;
  return v == "aten" ? aten : v == "all-aten" ? all_aten : v == "custom" ? custom : none;
}

WeightMode weight_mode(const std::string& v) {
  return v == "embed"      ? WeightMode::embed
         : v == "external" ? WeightMode::external
         : v == "in-place" ? WeightMode::in_place
                           : WeightMode::automatic;
}

void staging_flags(const Args& args, ExportOptions& o) {
  for (const auto& text : args.values("input")) o.inputs.push_back(parse_input_spec(text));
  o.input_names = args.list("input-names");
  o.output_names = args.list("output-names");
  if (const auto text = args.value("dynamic-axes")) o.dynamic_axes = dynamic_axes(*text);
  for (const auto& text : args.values("rename-dim")) o.rename_dims.push_back(name_and_value("rename-dim", text));
  o.method = args.text("method", "forward");
  o.allow_frozen = choice(args, "frozen", "error", {"error", "allow"}) == "allow";
  o.stage.asserts = choice(args, "asserts", "drop", {"drop", "keep"}) == "keep";
  o.stage.assume = !args.has("no-assume");
  o.stage.assumptions = args.values("assume");
  o.state_outputs = choice(args, "state", "drop", {"drop", "outputs"}) == "outputs";
  const std::string training = choice(args, "training", "eval", {"eval", "preserve", "train"});
  if (training != "preserve") o.stage.training = training == "train";
  o.stage.change_literals = args.has("training") && training == "eval";
  o.stage.unroll = choice(args, "loops", "keep", {"keep", "unroll"}) == "unroll";
  o.stage.fold = !args.has("no-fold") && !args.has("no-simplify") && !args.has("no-params") &&
                 !args.has("keep-initializers-as-inputs");
  o.stage.weights_as_inputs = args.has("no-params");
  o.stage.fallback = fallback_mode(choice(args, "fallback", "none", {"none", "aten", "all-aten", "custom"}));
}

}  // namespace

ArchiveExport export_request(const Args& args) {
  ArchiveExport how;
  staging_flags(args, how.options);
  how.inputs = args.text("inputs", "");
  how.expected = args.text("verify", "");
  if (!how.expected.empty() && how.inputs.empty())
    throw error("use.verify", "--verify compares outputs, and wants the inputs they came from")
        .help("add --inputs FILE.npz");
  for (const std::string_view flag : {"rtol", "atol"})
    if (args.has(flag) && how.expected.empty())
      throw error("use.conflict", cat("--", flag, " is for --verify, which is not given"));
  if (args.has("rtol")) how.tolerance.rtol = args.number("rtol", 0);
  if (args.has("atol")) how.tolerance.atol = args.number("atol", 0);
  how.rules = args.text("rules", "");
  if (const auto classes = args.value("modules-as-functions"))
    how.functions = classes->empty() ? std::vector<std::string>() : args.list("modules-as-functions");
  how.keep_outputs = args.list("keep-outputs");
  for (const auto& text : args.values("custom-opset")) {
    const auto [domain, version] = name_and_value("custom-opset", text);
    int64_t n = 0;
    const auto r = std::from_chars(version.data(), version.data() + version.size(), n);
    if (r.ec != std::errc() || r.ptr != version.data() + version.size() || n < 1)
      throw error("use.value", cat("--custom-opset wants DOMAIN=VERSION, not '", text, "'"));
    how.custom_opsets[domain] = n;
  }
  how.simplify =
      !args.has("no-simplify") && !args.has("keep-initializers-as-inputs");  // which may be overridden one by one
  how.check = !args.has("no-check");
  how.doc_strings = args.has("doc-strings");
  how.number_weights = args.has("number-params");
  how.write.opset = args.integer("opset", 18, 7, args.has("experimental") ? newest_opset : newest_released_opset);
  how.write.weights = weight_mode(choice(args, "weights", "auto", {"auto", "embed", "external", "in-place"}));
  how.write.initializers_as_inputs = args.has("keep-initializers-as-inputs");
  how.write.lossy = args.has("lossy");
  how.write.durable = args.has("durable");
  return how;
}

}  // namespace cameo::cli
