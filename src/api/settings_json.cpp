#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "api/json_document.h"
#include "support/error.h"
#include "support/near_name.h"

#include "api/dynamic_axes.h"
#include "api/settings_json.h"

namespace cameo::faces {

namespace {

using support::cat;
using support::error;

[[noreturn]] void wrong(std::string_view key, std::string_view wanted) {
  throw error("use.settings", cat("the setting '", key, "' is ", wanted));
}

void take(const json::Value& v, std::string_view key, bool& out) {
  if (v.kind() != json::Kind::boolean) wrong(key, "true or false");
  out = v.boolean();
}
void take(const json::Value& v, std::string_view key, int64_t& out) {
  if (v.kind() != json::Kind::integer) wrong(key, "a whole number");
  out = v.integer();
}
void take(const json::Value& v, std::string_view key, int& out) {
  int64_t n = 0;
  take(v, key, n);
  if (n < INT32_MIN || n > INT32_MAX) wrong(key, "too large");
  out = static_cast<int>(n);
}
void take(const json::Value& v, std::string_view key, uint16_t& out) {
  int64_t n = 0;
  take(v, key, n);
  if (n < 0 || n > UINT16_MAX) wrong(key, "from 0 to 65535");
  out = static_cast<uint16_t>(n);
}
void take(const json::Value& v, std::string_view key, uint64_t& out) {
  int64_t n = 0;
  take(v, key, n);
  if (n < 0) wrong(key, "not negative");
  out = static_cast<uint64_t>(n);
}
void take(const json::Value& v, std::string_view key, double& out) {
  if (v.kind() != json::Kind::integer && v.kind() != json::Kind::number) wrong(key, "a number");
  out = v.number();
}
void take(const json::Value& v, std::string_view key, std::string& out) {
  if (!v.is_string()) wrong(key, "a text");
  out = std::string(v.text());
}
// Settings inside settings; defined below.
void take(const json::Value& v, std::string_view key, Detections& out);
void take(const json::Value& v, std::string_view key, ExportSettings& out);
void take(const json::Value& v, std::string_view key, QuantizeSettings& out);
template <class T>
void take(const json::Value& v, std::string_view key, std::vector<T>& out) {
  if (!v.is_array()) wrong(key, "a list");
  out.clear();  // of the default
  for (const json::Value item : v.elements()) take(item, key, out.emplace_back());
}
template <class T>
void take(const json::Value& v, std::string_view key, std::map<std::string, T>& out) {
  if (!v.is_object()) wrong(key, "an object");
  for (const auto& [name, item] : v.members()) take(item, key, out[std::string(name)]);
}
template <class T>
void take(const json::Value& v, std::string_view key, std::optional<T>& out) {
  take(v, key, out.emplace());
}
// Pairs as an object: {"features": "x"}.
void take(const json::Value& v, std::string_view key, std::vector<std::pair<std::string, std::string>>& out) {
  if (!v.is_object()) wrong(key, "an object");
  for (const auto& [name, item] : v.members()) take(item, key, out.emplace_back(std::string(name), "").second);
}
void take(const json::Value& v, std::string_view, std::vector<DynamicAxis>& out) { out = dynamic_axes_of(v); }
template <class E, size_t N>
void choose(const json::Value& v, std::string_view key, const std::string_view (&names)[N], E& out) {
  std::string given;
  take(v, key, given);
  std::string all;
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == given) return void(out = static_cast<E>(i));
    all += cat(i ? ", " : "", names[i]);
  }
  wrong(key, cat("one of ", all, ", not '", given, "'"));
}
constexpr std::string_view weight_names[] = {"keep", "automatic", "embed", "external", "in_place"},
                           training_names[] = {"eval", "preserve", "train"},
                           fallback_names[] = {"none", "aten", "all_aten", "custom"},
                           float_names[] = {"keep", "f16", "bf16", "mixed"},
                           call_names[] = {"automatic", "keep", "inlined"},
                           normalise_names[] = {"automatic", "fold", "keep", "out"};
void take(const json::Value& v, std::string_view key, Weights& out) { choose(v, key, weight_names, out); }
void take(const json::Value& v, std::string_view key, Training& out) { choose(v, key, training_names, out); }
void take(const json::Value& v, std::string_view key, Fallback& out) { choose(v, key, fallback_names, out); }
void take(const json::Value& v, std::string_view key, FunctionCalls& out) { choose(v, key, call_names, out); }
void take(const json::Value& v, std::string_view key, FloatType& out) { choose(v, key, float_names, out); }
void take(const json::Value& v, std::string_view key, Normalise& out) { choose(v, key, normalise_names, out); }
// As words: "auto", "score=0.3,max=100".
void take(const json::Value& v, std::string_view key, Detections& out) {
  std::string words;
  take(v, key, words);
  out = detections_of(words);
}

template <class S>
struct Row {
  std::string_view key;
  void (*take)(const json::Value& v, std::string_view key, S& into);
};
template <auto member, class S>
constexpr Row<S> row(std::string_view key) {
  return {key, [](const json::Value& v, std::string_view k, S& into) { take(v, k, into.*member); }};
}

template <class S>
void fill(const json::Value& object, std::span<const Row<S>> rows, S& out) {
  for (const auto& [key, value] : object.members()) {
    const auto it = std::find_if(rows.begin(), rows.end(), [&, name = key](const Row<S>& r) { return r.key == name; });
    if (it == rows.end()) {
      std::vector<std::string_view> names;
      for (const Row<S>& r : rows) names.push_back(r.key);
      const auto near = support::nearest(key, names);
      throw error("use.settings", cat("unknown setting '", key, "'"))
          .help(near.empty() ? "" : cat("did you mean ", near, "?"));
    }
    it->take(value, key, out);
  }
}

template <class S>
S read(std::string_view text, std::span<const Row<S>> rows) {
  S out;
  if (text.empty()) return out;
  const json::Document document = json_document(text, "the settings");
  if (!document.root().is_object()) throw error("use.settings", "the settings are not a JSON object");
  fill(document.root(), rows, out);
  return out;
}

#define CAMEO_ROW(type, member) row<&type::member, type>(#member)

constexpr Row<SaveSettings> save_rows[] = {CAMEO_ROW(SaveSettings, opset),         CAMEO_ROW(SaveSettings, weights),
                                           CAMEO_ROW(SaveSettings, external_name), CAMEO_ROW(SaveSettings, lossy),
                                           CAMEO_ROW(SaveSettings, durable),       CAMEO_ROW(SaveSettings, provenance)};
constexpr Row<ExportSettings> export_rows[] = {
    CAMEO_ROW(ExportSettings, inputs),        CAMEO_ROW(ExportSettings, example_inputs),
    CAMEO_ROW(ExportSettings, input_names),   CAMEO_ROW(ExportSettings, output_names),
    CAMEO_ROW(ExportSettings, dynamic_axes),  CAMEO_ROW(ExportSettings, rename_dims),
    CAMEO_ROW(ExportSettings, method),        CAMEO_ROW(ExportSettings, opset),
    CAMEO_ROW(ExportSettings, training),      CAMEO_ROW(ExportSettings, change_literals),
    CAMEO_ROW(ExportSettings, fold),          CAMEO_ROW(ExportSettings, simplify),
    CAMEO_ROW(ExportSettings, params),        CAMEO_ROW(ExportSettings, initializers_as_inputs),
    CAMEO_ROW(ExportSettings, number_params), CAMEO_ROW(ExportSettings, unroll),
    CAMEO_ROW(ExportSettings, allow_frozen),  CAMEO_ROW(ExportSettings, assumptions),
    CAMEO_ROW(ExportSettings, assume),        CAMEO_ROW(ExportSettings, asserts),
    CAMEO_ROW(ExportSettings, state_outputs), CAMEO_ROW(ExportSettings, fallback),
    CAMEO_ROW(ExportSettings, types),         CAMEO_ROW(ExportSettings, custom_opsets),
    CAMEO_ROW(ExportSettings, rules),         CAMEO_ROW(ExportSettings, functions),
    CAMEO_ROW(ExportSettings, keep_outputs),  CAMEO_ROW(ExportSettings, lossy),
    CAMEO_ROW(ExportSettings, doc_strings),   CAMEO_ROW(ExportSettings, weights),
    CAMEO_ROW(ExportSettings, linger)};
constexpr Row<SimplifySettings> simplify_rows[] = {CAMEO_ROW(SimplifySettings, skip),
                                                   CAMEO_ROW(SimplifySettings, only),
                                                   CAMEO_ROW(SimplifySettings, without),
                                                   CAMEO_ROW(SimplifySettings, exact),
                                                   CAMEO_ROW(SimplifySettings, freeze_initializers),
                                                   CAMEO_ROW(SimplifySettings, fuse),
                                                   CAMEO_ROW(SimplifySettings, fold),
                                                   CAMEO_ROW(SimplifySettings, sizes_may_be_zero),
                                                   CAMEO_ROW(SimplifySettings, unroll),
                                                   CAMEO_ROW(SimplifySettings, functions),
                                                   CAMEO_ROW(SimplifySettings, shapes),
                                                   CAMEO_ROW(SimplifySettings, input_shapes),
                                                   CAMEO_ROW(SimplifySettings, check),
                                                   CAMEO_ROW(SimplifySettings, check_sizes),
                                                   CAMEO_ROW(SimplifySettings, check_shapes),
                                                   CAMEO_ROW(SimplifySettings, rtol),
                                                   CAMEO_ROW(SimplifySettings, atol)};
constexpr Row<ConvertSettings> convert_rows[] = {
    CAMEO_ROW(ConvertSettings, opset),      CAMEO_ROW(ConvertSettings, lossy),
    CAMEO_ROW(ConvertSettings, float_type), CAMEO_ROW(ConvertSettings, keep_io),
    CAMEO_ROW(ConvertSettings, keep),       CAMEO_ROW(ConvertSettings, inline_functions),
    CAMEO_ROW(ConvertSettings, calibrate),  CAMEO_ROW(ConvertSettings, image),
    CAMEO_ROW(ConvertSettings, max_error),  CAMEO_ROW(ConvertSettings, check),
    CAMEO_ROW(ConvertSettings, target),     CAMEO_ROW(ConvertSettings, threads),
    CAMEO_ROW(ConvertSettings, to_qdq),     CAMEO_ROW(ConvertSettings, exact_rounding),
    CAMEO_ROW(ConvertSettings, quantized)};
constexpr Row<QuantizeSettings> quantize_rows[] = {
    CAMEO_ROW(QuantizeSettings, target),        CAMEO_ROW(QuantizeSettings, method),
    CAMEO_ROW(QuantizeSettings, percentile),    CAMEO_ROW(QuantizeSettings, keep),
    CAMEO_ROW(QuantizeSettings, simplify),      CAMEO_ROW(QuantizeSettings, correct_bias),
    CAMEO_ROW(QuantizeSettings, equalize),      CAMEO_ROW(QuantizeSettings, compensate),
    CAMEO_ROW(QuantizeSettings, min_db),        CAMEO_ROW(QuantizeSettings, max_float_macs),
    CAMEO_ROW(QuantizeSettings, check_samples), CAMEO_ROW(QuantizeSettings, max_drop),
    CAMEO_ROW(QuantizeSettings, threads),       CAMEO_ROW(QuantizeSettings, opset),
    CAMEO_ROW(QuantizeSettings, form)};
constexpr Row<WeightSettings> weight_rows[] = {
    CAMEO_ROW(WeightSettings, bits),   CAMEO_ROW(WeightSettings, block), CAMEO_ROW(WeightSettings, symmetric),
    CAMEO_ROW(WeightSettings, method), CAMEO_ROW(WeightSettings, form),  CAMEO_ROW(WeightSettings, embeddings),
    CAMEO_ROW(WeightSettings, keep),   CAMEO_ROW(WeightSettings, opset), CAMEO_ROW(WeightSettings, threads)};
constexpr Row<DynamicSettings> dynamic_rows[] = {CAMEO_ROW(DynamicSettings, target),
                                                 CAMEO_ROW(DynamicSettings, per_channel),
                                                 CAMEO_ROW(DynamicSettings, keep), CAMEO_ROW(DynamicSettings, opset)};
constexpr Row<CheckSettings> check_rows[] = {CAMEO_ROW(CheckSettings, types), CAMEO_ROW(CheckSettings, strict)};
constexpr Row<InferSettings> infer_rows[] = {CAMEO_ROW(InferSettings, strict)};
constexpr Row<OperatorQuery> operator_rows[] = {CAMEO_ROW(OperatorQuery, pattern), CAMEO_ROW(OperatorQuery, opset),
                                                CAMEO_ROW(OperatorQuery, missing)};
constexpr Row<Limits> limit_rows[] = {CAMEO_ROW(Limits, seconds), CAMEO_ROW(Limits, memory_bytes),
                                      CAMEO_ROW(Limits, turns), CAMEO_ROW(Limits, steps)};
constexpr Row<LintSettings> lint_rows[] = {CAMEO_ROW(LintSettings, targets), CAMEO_ROW(LintSettings, ignore)};
constexpr Row<LintFixSettings> lint_fix_rows[] = {
    CAMEO_ROW(LintFixSettings, targets), CAMEO_ROW(LintFixSettings, ignore), CAMEO_ROW(LintFixSettings, input_shapes),
    CAMEO_ROW(LintFixSettings, sizes), CAMEO_ROW(LintFixSettings, verify)};
void take(const json::Value& v, std::string_view key, ExportSettings& out) {
  if (!v.is_object()) wrong(key, "an object");
  fill<ExportSettings>(v, export_rows, out);
}
void take(const json::Value& v, std::string_view key, QuantizeSettings& out) {
  if (!v.is_object()) wrong(key, "an object");
  fill<QuantizeSettings>(v, quantize_rows, out);
}
constexpr Row<PrepareSettings> prepare_rows[] = {
    CAMEO_ROW(PrepareSettings, target),     CAMEO_ROW(PrepareSettings, ignore),
    CAMEO_ROW(PrepareSettings, inputs),     CAMEO_ROW(PrepareSettings, sizes),
    CAMEO_ROW(PrepareSettings, archive),    CAMEO_ROW(PrepareSettings, opset),
    CAMEO_ROW(PrepareSettings, float_type), CAMEO_ROW(PrepareSettings, calibrate),
    CAMEO_ROW(PrepareSettings, quantize),   CAMEO_ROW(PrepareSettings, image),
    CAMEO_ROW(PrepareSettings, normalise),  CAMEO_ROW(PrepareSettings, detections),
    CAMEO_ROW(PrepareSettings, simplify),   CAMEO_ROW(PrepareSettings, fix),
    CAMEO_ROW(PrepareSettings, verify)};
constexpr Row<MergeSettings> merge_rows[] = {CAMEO_ROW(MergeSettings, connect),
                                             CAMEO_ROW(MergeSettings, keep_connected)};
constexpr Row<VerifySettings> verify_rows[] = {CAMEO_ROW(VerifySettings, inputs), CAMEO_ROW(VerifySettings, random),
                                               CAMEO_ROW(VerifySettings, sizes), CAMEO_ROW(VerifySettings, rtol),
                                               CAMEO_ROW(VerifySettings, atol)};
constexpr Row<SessionSettings> session_rows[] = {
    CAMEO_ROW(SessionSettings, threads), CAMEO_ROW(SessionSettings, reference), CAMEO_ROW(SessionSettings, seed),
    CAMEO_ROW(SessionSettings, keep_outputs)};
constexpr Row<DeskSettings> desk_rows[] = {CAMEO_ROW(DeskSettings, files), CAMEO_ROW(DeskSettings, threads),
                                           CAMEO_ROW(DeskSettings, out)};
constexpr Row<ViewSettings> view_rows[] = {CAMEO_ROW(ViewSettings, files), CAMEO_ROW(ViewSettings, port),
                                           CAMEO_ROW(ViewSettings, gone_seconds), CAMEO_ROW(ViewSettings, threads)};
#undef CAMEO_ROW

}  // namespace

SaveSettings save_settings(std::string_view json) { return read<SaveSettings>(json, save_rows); }
ExportSettings export_settings(std::string_view json) { return read<ExportSettings>(json, export_rows); }
SimplifySettings simplify_settings(std::string_view json) { return read<SimplifySettings>(json, simplify_rows); }
ConvertSettings convert_settings(std::string_view json) { return read<ConvertSettings>(json, convert_rows); }
QuantizeSettings quantize_settings(std::string_view json) { return read<QuantizeSettings>(json, quantize_rows); }
CheckSettings check_settings(std::string_view json) { return read<CheckSettings>(json, check_rows); }
InferSettings infer_settings(std::string_view json) { return read<InferSettings>(json, infer_rows); }
OperatorQuery operator_query(std::string_view json) { return read<OperatorQuery>(json, operator_rows); }
Limits limits(std::string_view json) { return read<Limits>(json, limit_rows); }
WeightSettings weight_settings(std::string_view json) { return read<WeightSettings>(json, weight_rows); }
DynamicSettings dynamic_settings(std::string_view json) { return read<DynamicSettings>(json, dynamic_rows); }
LintSettings lint_settings(std::string_view json) { return read<LintSettings>(json, lint_rows); }
LintFixSettings lint_fix_settings(std::string_view json) { return read<LintFixSettings>(json, lint_fix_rows); }
PrepareSettings prepare_settings(std::string_view json) { return read<PrepareSettings>(json, prepare_rows); }
MergeSettings merge_settings(std::string_view json) { return read<MergeSettings>(json, merge_rows); }
VerifySettings verify_settings(std::string_view json) { return read<VerifySettings>(json, verify_rows); }
DeskSettings desk_settings(std::string_view json) { return read<DeskSettings>(json, desk_rows); }
ViewSettings view_settings(std::string_view json) { return read<ViewSettings>(json, view_rows); }
SessionSettings session_settings(std::string_view json) { return read<SessionSettings>(json, session_rows); }

}  // namespace cameo::faces
