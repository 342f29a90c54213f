// The state of a preparation, and its steps, one function each.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "passes/detector/detector.h"
#include "passes/detector/heads.h"
#include "passes/picture/input.h"
#include "quant/samples/samples.h"

#include "api/state.h"

#include "api/prepare/detections.h"
#include "api/prepare/target_wants.h"

#include "cameo/prepare.h"
#include "cameo/verify.h"

namespace cameo::preparing {
using namespace api;

// Outputs that last until the boxes are appended: how boxes become those of the picture that was given.
inline constexpr const char *picture_factor = "picture_factor", *picture_offset = "picture_offset";

inline std::string counted(uint64_t n, const char* one) { return cat(n, " ", one, n == 1 ? "" : "s"); }

class Preparing {
 public:
  Preparing(const cameo::Model& model, const PrepareSettings& settings);
  Prepared run();

 private:
  void say(const char* what);
  void record(std::string step, std::string what, std::string checked = "") {
    ledger_.push_back({std::move(step), std::move(what), std::move(checked), ""});
  }
  // The changed model takes the place of the one before, once their outputs agree. Throws prepare.mismatch.
  void take(cameo::Model changed, const std::string& step, const std::string& what);
  std::string agreement(const cameo::Model& changed, const cameo::Model& before, const std::string& step) const;

  void export_archive();
  void fix_sizes();
  void simplify_model();
  void find_boxes();
  void normalise_entrance();
  void add_picture();
  void quantize_model();
  // As `simplify`, but for what stays as nodes.
  cameo::Model simplified(const cameo::Model& m);
  void to_float();
  void to_opset();
  void cure(bool verify);
  void append_boxes();
  void decode_heads();
  void check_model();

  std::string compare_pictures(const cameo::Model& changed, const passes::PictureInput& p,
                               quant::PictureOptions options, const ir::Type& before) const;
  std::string compare_outside(const cameo::Model& changed, const std::string& name, const passes::Affine& affine,
                              int64_t axis) const;
  int64_t wanted_opset(int64_t own) const;
  std::map<std::string, std::vector<std::string>> given_shapes() const;
  // How the comparison of "the detections" with plain code went; empty without it. Throws prepare.mismatch.
  std::string compared_with_code(std::string_view what, const std::function<std::string()>& difference) const;
  bool gives_parts_of_a_picture(const ir::Model& model) const;
  std::vector<ir::ValueId> detector_values(const ir::Graph& g) const;
  std::string compare_detections(const cameo::Model& before, const passes::DetectorOptions& asked) const;
  passes::BoxMap box_map(ir::Model& m) const;
  cameo::Model with_detections(const cameo::Model& before, const passes::DetectorOptions& options) const;

  const PrepareSettings& settings_;
  Wants wants_;
  cameo::Model model_;
  std::vector<PrepareStep> ledger_;
  std::vector<Diag> findings_;
  std::optional<passes::Detector> detector_;
  std::optional<passes::Heads> heads_;  // that are decoded before the boxes are appended
  std::vector<float> sides_;            // of the model's input, where coordinates are parts of it
  std::optional<QuantizeReport> quantized_;
  std::optional<HalfReport> half_;
};

}  // namespace cameo::preparing
