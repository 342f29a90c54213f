// Detections as a step: found on the float model, appended behind the finished one, compared with plain code.
#include <algorithm>
#include <charconv>

#include "engine/session.h"
#include "ops/on.h"
#include "ops/soundness.h"
#include "passes/detector/detector.h"
#include "passes/detector/heads.h"
#include "passes/edit.h"
#include "passes/picture/input.h"
#include "quant/samples/samples.h"
#include "runtime/inputs.h"
#include "support/progress.h"

#include "api/needed_opset.h"
#include "api/prepare/preparing.h"

namespace cameo::preparing {

namespace {

// The model's input is `width` by `height`; 0 where that is not known.
std::pair<int64_t, int64_t> input_size(const ir::Graph& g) {
  for (const ir::ValueId v : runtime::run_inputs(g, false)) {
    if (!g[v].fact.has_rank() || g[v].fact.rank() != 4) continue;
    const ir::Shape& s = g[v].fact.shape();
    const bool last = (s[3].is(3) || s[3].is(1)) && !s[1].is(3) && !s[1].is(1);
    const ir::Dim h = s[last ? 1 : 2], w = s[last ? 2 : 3];
    if (h.is_literal() && w.is_literal()) return {w.literal(), h.literal()};
  }
  return {0, 0};
}

std::string shown(float x) {
  char digits[40];  // as few as read back the same
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

void drop_outputs(ir::Graph& g, std::initializer_list<std::string_view> names) {
  std::vector<ir::ValueId> kept;
  for (const ir::ValueId v : g[g.main()].outputs)
    if (std::find(names.begin(), names.end(), g[v].name) == names.end()) kept.push_back(v);
  g.set_region_outputs(g.main(), kept);
}

}  // namespace

void Preparing::find_boxes() {
  if (!settings_.detections) return;
  say("looking for boxes");
  ModelState s = ModelState::changed(model_);
  infer_types(s);
  if (!settings_.detections->head.empty()) {
    heads_ = passes::find_heads(s.model, head_words(*settings_.detections));
    return;
  }
  detector_ = passes::find_detector(s.model, words_of(*settings_.detections));
  if (settings_.verify && !settings_.detections->normalised && !detector_->normalised)
    detector_->normalised = gives_parts_of_a_picture(s.model);
  if (detector_->normalised) {
    const auto [width, height] = input_size(s.model.graph);
    if (!width)
      throw error("prepare.detector", "the boxes are parts of the picture, whose size is not known")
          .help("--fix-size settles it; or say normalised=no");
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    sides_ = {w, h, w, h};
  }
  // What is no output yet has to last until the boxes are appended.
  ModelState kept = s;
  for (const std::string& name : detector_->values()) {
    const auto outputs = infos_of(kept.model.graph, kept.model.graph[kept.model.graph.main()].outputs);
    if (std::any_of(outputs.begin(), outputs.end(), [&](const ValueInfo& v) { return v.name == name; })) continue;
    passes::add_output(kept.model, name);
  }
  model_ = ModelState::make(std::move(kept));
}

// What a run on made-up inputs says where nobody did. A model that does not run is told of later.
bool Preparing::gives_parts_of_a_picture(const ir::Model& model) const {
  constexpr float least_side = 16;
  if (const auto [width, height] = input_size(model.graph); std::min(width, height) < least_side) return false;
  try {
    ir::Model parts = model;
    const auto params = runtime::run_inputs(parts.graph, false);
    const auto inputs = runtime::random_inputs(parts.graph, params, 0);
    parts.graph.set_region_outputs(parts.graph.main(), detector_values(parts.graph));
    return are_parts_of_a_picture(*detector_, engine::Session(parts).run(inputs));
  } catch (const Error& e) {
    if (e.exit_code() != 1 || support::ends_work(e)) throw;
    return false;
  }
}

std::vector<ir::ValueId> Preparing::detector_values(const ir::Graph& g) const {
  std::vector<ir::ValueId> out;
  for (const std::string& name : detector_->values()) out.push_back(passes::find_value(g, name));
  return out;
}

passes::BoxMap Preparing::box_map(ir::Model& m) const {
  ops::On on(m.graph, m.graph.main());
  passes::BoxMap out;
  if (passes::has_value(m.graph, picture_factor))
    out = {passes::find_value(m.graph, picture_factor), passes::find_value(m.graph, picture_offset)};
  if (!detector_->normalised) return out;
  const auto sides = on.constant(ir::Tensor::of(ir::DType::f32, {4}, std::span<const float>(sides_)));
  out.factor = out.factor ? on.Mul(out.factor, sides) : sides;
  return out;
}

cameo::Model Preparing::with_detections(const cameo::Model& before, const passes::DetectorOptions& options) const {
  ModelState s = ModelState::changed(before);
  ops::admit(s.model);
  infer_types(s);
  drop_outputs(s.model.graph, {picture_factor, picture_offset});
  passes::append_detections(s.model, *detector_, options, box_map(s.model));
  s.inferred.reset();
  s.opset = opset_of(ModelState::of(before));
  return ModelState::make(std::move(s));
}

std::string Preparing::compare_detections(const cameo::Model& before, const passes::DetectorOptions& asked) const {
  const ir::Model& plain = ModelState::onnx(before);
  const auto params = runtime::run_inputs(plain.graph, false);
  const auto inputs = runtime::random_inputs(plain.graph, params, 0);
  ir::Model parts = plain;
  std::vector<ir::ValueId> outputs = detector_values(parts.graph);
  const bool mapped = passes::has_value(parts.graph, picture_factor);
  if (mapped)
    for (const char* name : {picture_factor, picture_offset}) outputs.push_back(passes::find_value(parts.graph, name));
  parts.graph.set_region_outputs(parts.graph.main(), outputs);
  auto found = engine::Session(parts).run(inputs);
  Mapping map;
  for (size_t i = 0; i < 4; ++i) {
    const auto k = static_cast<int64_t>(i);
    if (mapped) map.factor[i] = static_cast<float>(found[found.size() - 2].tensor.double_at(k));
    if (mapped) map.offset[i] = static_cast<float>(found.back().tensor.double_at(k));
    if (!sides_.empty()) map.factor[i] *= sides_[i];
  }
  found.resize(detector_->values().size());
  const Candidates candidates = candidates_of(*detector_, found, map);
  passes::DetectorOptions how = asked;
  // What our engine does not know is compared in its standard form.
  if (how.form == passes::NmsForm::efficient) how.form = passes::NmsForm::padded;
  how.score = telling_score(candidates, asked.score);
  const cameo::Model trial = with_detections(before, how);
  const auto got = engine::Session(ModelState::onnx(trial)).run(inputs);
  if (how.form == passes::NmsForm::boxes) return difference(candidates, got);
  const auto wanted = pipeline(*detector_, how, candidates);
  const bool several = trial.outputs().size() > 3 && trial.outputs()[3].name.starts_with("nms_batch");
  return difference(wanted, got, how.form, several);
}

std::string Preparing::compared_with_code(std::string_view what, const std::function<std::string()>& difference) const {
  if (!settings_.verify) return "";
  try {
    const std::string wrong = difference();
    if (!wrong.empty())
      throw error("prepare.mismatch", cat(what, " differ from those of plain code: ", wrong))
          .help("please report it; --no-verify goes on without comparing");
    return "equal to plain code on made-up inputs";
  } catch (const Error& e) {
    if (e.exit_code() != 1 || e.diag().code == "prepare.mismatch" || support::ends_work(e)) throw;
    return cat("not compared: ", e.diag().what);
  }
}

void Preparing::append_boxes() {
  if (heads_) decode_heads();
  if (!detector_) return;
  say("appending detections");
  const passes::DetectorOptions options = options_of(*settings_.detections, wants_.nms);
  cameo::Model made = with_detections(model_, options);
  const std::string checked = compared_with_code("the detections", [&] { return compare_detections(model_, options); });
  ModelState s = ModelState::changed(simplified(made));
  s.opset = needed_opset(s);
  if (settings_.opset && s.opset > settings_.opset)
    throw error("prepare.opset", cat("opset ", settings_.opset, " has no form of what picks the boxes"))
        .help(cat("--opset ", s.opset));
  model_ = ModelState::make(std::move(s));
  record(
      "detections",
      cat(detector_->text(), "; score ", shown(options.score), ", iou ", shown(options.iou), ", at most ", options.max),
      checked);
  cure(settings_.verify && options.form != passes::NmsForm::efficient);
}

}  // namespace cameo::preparing
