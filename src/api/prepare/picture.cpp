// Pictures of bytes as a model's input, compared with the same in plain code; normalisations at the entrance.
#include "api/prepare/picture.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "engine/session.h"
#include "ops/soundness.h"
#include "passes/detector/detector.h"
#include "passes/detector/heads.h"
#include "passes/dce.h"
#include "passes/edit.h"
#include "passes/picture/input.h"
#include "runtime/compare.h"
#include "runtime/free_sizes.h"
#include "runtime/inputs.h"
#include "support/progress.h"
#include "support/number_text.h"

#include "api/needed_opset.h"
#include "api/prepare/preparing.h"
#include "api/type_text.h"
#include "cameo/simplify.h"

namespace cameo::preparing {

namespace {

using passes::Affine;
using passes::PictureInput;

[[noreturn]] void wrong(const std::string& what) {
  throw error("use.value", cat("--image: ", what))
      .help("as for quantize, and picture=rgb|bgr, picture-layout=nhwc|nchw, picture-size=any|HEIGHTxWIDTH");
}

std::pair<int64_t, int64_t> size_of(const std::string& text) {
  char* end = nullptr;
  const int64_t h = std::strtoll(text.c_str(), &end, 10);
  const int64_t w = *end == 'x' ? std::strtoll(end + 1, &end, 10) : h;
  constexpr int64_t most = 16384;
  if (text.empty() || *end || h < 1 || w < 1 || h > most || w > most) wrong(cat("picture-size is '", text, "'"));
  return {h, w};
}

Affine affine_of(const quant::PictureOptions& o) {
  Affine out;
  const size_t n = std::max(o.mean.size(), o.deviation.size());
  const auto at = [](const std::vector<double>& v, size_t c) { return v[v.size() == 1 ? 0 : c]; };
  out.factor.clear(), out.offset.clear();
  for (size_t c = 0; c < n; ++c) {
    out.factor.push_back(1 / (o.divide * at(o.deviation, c)));
    out.offset.push_back(0 - at(o.mean, c) / at(o.deviation, c));
  }
  return out;
}

// "127.5", or "123.675/116.28/103.53" where channels differ, as few digits as tell them apart from rounding.
std::string numbers(const std::vector<double>& v) {
  std::vector<std::string> each;
  for (const double x : v) each.push_back(support::short_text(x, 6));
  std::string out = each[0];
  if (std::all_of(each.begin(), each.end(), [&](const std::string& e) { return e == each[0]; })) return out;
  for (size_t i = 1; i < each.size(); ++i) out += cat("/", each[i]);
  return out;
}

// As people write it: "(x - 127.5) / 127.5", "x / 255", "x - 0.5".
std::string formula(const Affine& a) {
  const size_t n = std::max(a.factor.size(), a.offset.size());
  const auto at = [](const std::vector<double>& v, size_t c, double none) {
    return v.empty() ? none : v[v.size() == 1 ? 0 : c];
  };
  std::vector<double> mean, deviation;
  for (size_t c = 0; c < n; ++c) {
    deviation.push_back(1 / at(a.factor, c, 1));
    mean.push_back(0 - at(a.offset, c, 0) * deviation.back());
  }
  const bool added = std::all_of(mean.begin(), mean.end(), [](double m) { return m <= 0; });
  if (added)
    for (double& m : mean) m = 0 - m;
  const bool scales = numbers(deviation) != "1";
  std::string out = "x";
  if (numbers(mean) != "0") out += cat(added ? " + " : " - ", numbers(mean));
  if (scales && out != "x") out = cat("(", out, ")");
  return scales ? cat(out, " / ", numbers(deviation)) : out;
}

// A picture with hills and edges, the same everywhere.
ops::Image made_up(int64_t height, int64_t width, uint32_t seed) {
  ops::Image out{height, width, {}};
  uint32_t state = seed * 2654435761U + 1;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < 3; ++c) {
        state = state * 1664525U + 1013904223U;
        const int64_t hill = (x * (3 + c) + y * (5 - c)) % 256, step = (x / 7 + y / 5 + c) % 2 ? 60 : 0;
        out.rgb.push_back(static_cast<uint8_t>(std::min<int64_t>(hill / 2 + step + (state >> 27), 255)));
      }
  return out;
}

// The pictures as the new input takes them.
Tensor bytes_of(const std::vector<ops::Image>& all, const PictureInput& p) {
  const int64_t h = all[0].height, w = all[0].width;
  std::vector<uint8_t> out;
  for (const ops::Image& image : all)
    for (int64_t i = 0; i < h * w * 3; ++i) {
      const int64_t c = p.given_last ? i % 3 : i / (h * w), at = p.given_last ? i / 3 : i % (h * w);
      out.push_back(image.rgb[static_cast<size_t>(at * 3 + (p.given_bgr ? 2 - c : c))]);
    }
  const auto n = static_cast<int64_t>(all.size());
  return Tensor::of(ir::DType::u8, p.given_last ? std::vector<int64_t>{n, h, w, 3} : std::vector<int64_t>{n, 3, h, w},
                    std::span<const uint8_t>(out));
}

Tensor stacked(const std::vector<Tensor>& all) {
  std::vector<std::byte> bytes;
  for (const Tensor& t : all) bytes.insert(bytes.end(), t.bytes().span().begin(), t.bytes().span().end());
  std::vector<int64_t> shape = all[0].shape();
  shape[0] = static_cast<int64_t>(all.size());
  return {all[0].dtype(), std::move(shape), support::Bytes::own(std::move(bytes))};
}

}  // namespace

PictureWords picture_words(const std::string& text) {
  PictureWords out;
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, to - from);
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals), value = equals == part.npos ? "" : part.substr(equals + 1);
    from = to + 1;
    if (key == "picture") {
      if (value != "rgb" && value != "bgr") wrong(cat("picture is '", value, "'"));
      out.given_bgr = value == "bgr";
    } else if (key == "picture-layout") {
      if (value != "nhwc" && value != "nchw") wrong(cat("picture-layout is '", value, "'"));
      out.given_last = value == "nhwc";
    } else if (key == "picture-size") {
      out.any_size = value == "any";
      if (value != "any") std::tie(out.given_height, out.given_width) = size_of(value);
    } else {
      out.says_resize |= key == "resize";
      out.samples += cat(out.samples.empty() ? "" : ",", part);
    }
  }
  out.options = quant::picture_options(out.samples);
  return out;
}

namespace {

// What the pass is asked for.
PictureInput input_of(const PictureWords& words, const ir::Value& v, const Wants& wants, bool fold) {
  quant::PictureOptions options = words.options;
  const quant::PictureLayout layout = quant::picture_layout(v.fact.type, options, v.name);
  PictureInput p;
  p.input = v.name;
  p.channels_last = layout.last, p.channels = layout.channels, p.height = layout.height, p.width = layout.width;
  p.given_last = words.given_last, p.given_bgr = words.given_bgr;
  p.reversed = options.order == quant::PictureOptions::Order::bgr;
  p.any_size = words.any_size.value_or(!wants.fixed_sizes);
  p.given_height = words.given_height, p.given_width = words.given_width;
  p.fit = static_cast<PictureInput::Fit>(options.fit);
  p.antialias = options.antialias && (words.says_resize || wants.resize == "antialias");
  p.affine = affine_of(options);
  p.fold = fold;
  return p;
}

std::string text_of(const PictureInput& p, const passes::PictureMade& made, const ir::Type& type, bool lost_antialias) {
  static constexpr const char* fits[] = {"stretched", "cut", "padded"};
  std::string out = cat("'", p.input, "' is ", api::type_text(type), ", ", p.given_bgr ? "BGR" : "RGB");
  if (made.resized)
    out += cat("; ", fits[static_cast<size_t>(p.fit)], " to ", p.height, "x", p.width,
               p.antialias ? "" : ", without antialiasing", lost_antialias ? ", which the target lacks" : "");
  if (p.channels == 3 && p.reversed != p.given_bgr)
    out += made.reversed_weights ? "; colours reversed in the weights" : "; colours reversed";
  if (p.affine.scales() || p.affine.moves()) {
    out += cat("; ", formula(p.affine));
    if (made.folded.factor || made.folded.offset)
      out += made.folded.rest.moves() ? ", the factors in the weights" : ", in the weights";
  }
  return out;
}

}  // namespace

void Preparing::add_picture() {
  if (settings_.image.empty()) return;
  say("adding the picture input");
  const PictureWords words = picture_words(settings_.image);
  if (!wants_.bytes)
    throw error("use.conflict", cat(wants_.title, " does not take pictures of bytes inside the model"))
        .help("its own tools take sizes, means and orders of colours; leave out --image");
  ModelState s = ModelState::changed(model_);
  ops::admit(s.model);
  infer_types(s);
  ir::Graph& g = s.model.graph;
  ir::ValueId input;
  for (const ir::ValueId v : runtime::run_inputs(g, false)) {
    if (!g[v].fact.has_rank() || g[v].fact.rank() != 4) continue;
    if (input)
      throw error("prepare.picture", "several inputs could be the picture")
          .help("--image goes with models of one picture");
    input = v;
  }
  if (!input) throw error("prepare.picture", "no input has the four axes of a picture");
  if (g[input].fact.dtype() == ir::DType::u8)
    throw error("prepare.picture", cat("the input '", g[input].name, "' takes bytes already"))
        .help("leave out --image");
  const PictureInput p = input_of(words, g[input], wants_, settings_.normalise != Normalise::keep);
  const ir::Type before = g[input].fact.type;
  const passes::PictureMade made = passes::add_picture_input(s.model, p);
  if (made.factor && detector_) {
    auto outputs = g[g.main()].outputs;
    for (const auto& [v, name] : {std::pair(made.factor, picture_factor), std::pair(made.offset, picture_offset)}) {
      g.rename(v, name);
      outputs.push_back(v);
    }
    g.set_region_outputs(g.main(), outputs);
  }
  passes::remove_dead_code(g);
  s.inferred.reset();
  s.opset = needed_opset(s);
  constexpr int64_t with_antialias = 18;  // an operator of its own; before, products of matrices
  if (p.antialias && made.resized && !settings_.opset && wants_.newest_opset >= with_antialias)
    s.opset = std::max(s.opset, with_antialias);
  cameo::Model changed = ModelState::make(std::move(s));
  const auto inputs = runtime::run_inputs(ModelState::onnx(changed).graph, false);
  const ir::Graph& after = ModelState::onnx(changed).graph;
  const auto it = std::find_if(inputs.begin(), inputs.end(), [&](ir::ValueId v) { return after[v].name == p.input; });
  const bool lost = words.options.antialias && !p.antialias && made.resized;
  const std::string what = text_of(p, made, after[*it].fact.type, lost);
  record("picture", what, settings_.verify ? compare_pictures(changed, p, words.options, before) : "");
  model_ = simplified(changed);
}

std::string Preparing::compare_pictures(const cameo::Model& changed, const PictureInput& p,
                                        quant::PictureOptions options, const ir::Type& before) const {
  constexpr int64_t most_pixels = int64_t{1} << 22, most_given = most_pixels * 8;  // of all pictures
  options.antialias = p.antialias;
  const ir::Model &with = ModelState::onnx(changed), &without = ModelState::onnx(model_);
  const auto sizes = runtime::free_sizes(without.graph, runtime::run_inputs(without.graph, false), {});
  const ir::Dim first = (*before.shape)[0];
  const auto named = sizes.find(first.is_literal() ? "" : first.text());
  const int64_t images = first.is_literal() ? first.literal() : named == sizes.end() ? 1 : named->second;
  if (images < 1) return "not compared: the input has no pictures";
  const std::string too_large = "not compared: the pictures are too large to make some up";
  if (images > most_pixels / (p.height * p.width)) return too_large;
  // Wide, tall, smaller: each goes another way.
  const std::pair<int64_t, int64_t> shapes[] = {
      {p.height + 37, p.width * 2 + 5}, {p.height * 2 + 3, p.width / 2 + 1}, {p.height / 3 + 2, p.width / 3 + 1}};
  double worst = 0;
  for (size_t k = 0; k < (p.any_size ? 3U : 1U); ++k) {
    const int64_t h = p.any_size ? shapes[k].first : p.given_height ? p.given_height : p.height;
    const int64_t w = p.any_size ? shapes[k].second : p.given_width ? p.given_width : p.width;
    if (images > most_given / (h * w)) return too_large;
    std::vector<ops::Image> pictures;
    std::vector<Tensor> plain;
    for (int64_t i = 0; i < images; ++i) {
      pictures.push_back(made_up(h, w, static_cast<uint32_t>(i + 1)));
      plain.push_back(quant::picture_tensor(pictures.back(), before, p.input, options));
    }
    const auto run = [&](const ir::Model& m, const Tensor& picture) {
      const auto params = runtime::run_inputs(m.graph, false);
      auto inputs = runtime::random_inputs(
          m.graph, params, 0,
          m.graph[params[0]].fact.dtype() == ir::DType::u8 ? std::map<std::string, int64_t>() : sizes);
      for (size_t i = 0; i < params.size(); ++i)
        if (m.graph[params[i]].name == p.input) inputs[i] = picture;
      return engine::Session(m).run(inputs);
    };
    try {
      const auto wanted = run(without, stacked(plain)), got = run(with, bytes_of(pictures, p));
      for (size_t i = 0; i < wanted.size(); ++i) {
        const auto c = runtime::compare(got.at(i), wanted[i], {1e-2, 1e-3, true});
        if (!c.same)
          throw error("prepare.mismatch", cat("with the picture inside, an output differs: ", c.why))
              .help("please report it; --no-verify goes on without comparing");
        worst = std::max(worst, c.worst);
      }
    } catch (const Error& e) {
      if (e.exit_code() != 1 || e.diag().code == "prepare.mismatch" || support::ends_work(e)) throw;
      return cat("not compared: ", e.diag().what);
    }
  }
  return cat("outputs agree with pictures prepared outside, largest difference ", worst);
}

void Preparing::normalise_entrance() {
  if (settings_.normalise != Normalise::fold && settings_.normalise != Normalise::out) return;
  if (settings_.normalise == Normalise::out && !settings_.image.empty())
    throw error("use.conflict", "a normalisation cannot be left outside of a model that takes pictures of bytes")
        .help("--normalise keep or fold, or no --image");
  SimplifySettings constants;  // what is computed from constants only
  constants.only = {"fold", "fold-chain", "constant-to-weight", "fold-weight-reshape", "fold-weight-transpose"};
  ModelState s = ModelState::changed(simplify(model_, constants).model);
  ops::admit(s.model);
  infer_types(s);
  ir::Graph& g = s.model.graph;
  const auto e = passes::normalisation_of(g);
  if (!e) {
    if (settings_.image.empty()) ledger_.push_back({"normalise", "", "", "no normalisation stands behind the input"});
    return;
  }
  const std::string numbers_text = formula(e->affine);
  const std::string name = g[e->input].name;
  passes::remove_normalisation(g, *e);
  passes::Folded folded{e->affine};
  if (settings_.normalise == Normalise::fold && e->channels_axis == 1)
    folded = passes::fold_affine(g, e->input, e->affine);
  if (settings_.normalise == Normalise::fold && !folded.factor && !folded.offset) {
    ledger_.push_back({"normalise", numbers_text, "", "the first layer has no weights that could take it"});
    return;
  }
  if (settings_.normalise == Normalise::fold) passes::apply_affine(g, e->input, folded.rest, e->channels_axis);
  passes::remove_dead_code(g);
  s.inferred.reset();
  cameo::Model changed = ModelState::make(std::move(s));
  if (settings_.normalise == Normalise::fold)
    return take(
        std::move(changed), "normalise",
        cat(numbers_text, folded.rest.moves() ? ": the factors are in the weights now" : ": in the weights now"));
  record("normalise", cat("taken out: give '", name, "' as ", numbers_text),
         settings_.verify ? compare_outside(changed, name, e->affine, e->channels_axis) : "");
  model_ = std::move(changed);
}

std::string Preparing::compare_outside(const cameo::Model& changed, const std::string& name,
                                       const passes::Affine& affine, int64_t axis) const {
  // The normalisation again in front of what is left: the model before.
  ModelState s = ModelState::changed(changed);
  ops::admit(s.model);
  infer_types(s);
  passes::apply_affine(s.model.graph, passes::find_value(s.model.graph, name), affine, axis);
  s.inferred.reset();
  return agreement(ModelState::make(std::move(s)), model_, "normalise");
}

}  // namespace cameo::preparing
