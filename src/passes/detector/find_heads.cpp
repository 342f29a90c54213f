// From the shapes of outputs to levels and parts of heads.
#include <algorithm>
#include <cmath>
#include <map>

#include "passes/detector/heads.h"
#include "passes/edit.h"
#include "support/ascii.h"
#include "support/error.h"
#include "support/progress.h"

namespace cameo::passes {

namespace {

using Role = HeadPart::Role;
using Layout = HeadPart::Layout;
constexpr int64_t coordinates = 4, usual_bins = 16, longest_side = 16'384, most_rows = 4'000'000;
constexpr const char* other_way =
    "export the model in evaluation mode with its decoding, which most exporters do; or decode outside";

struct Output {
  ValueId value;
  Layout layout = Layout::rows;
  int64_t rows = 0, features = 0;  // rows of one anchor, or all of `rows`
  int64_t height = 0, width = 0;   // of maps
};

class Finding {
 public:
  Finding(const Model& m, const HeadWords& words) : g_(m.graph), words_(words) {
    const HeadFamily* known = head_family(words.family);
    if (!known) {
      std::string names;
      for (const HeadFamily& f : head_families()) names += cat(names.empty() ? "" : ", ", f.name);
      refuse(cat("no family of heads is called '", words.family, "'"), cat("there are ", names));
    }
    heads_.family = *known;
  }

  Heads run() {
    read_input();
    read_outputs();
    if (all_.empty())
      refuse(cat("no output has the shape of heads: ", listed()), "leave out head=, or --fix-size settles open sizes");
    if (all_[0].layout == Layout::rows) levels_of_rows();
    else levels_of_maps();
    give_anchors();
    if (heads_.rows() > most_rows)
      refuse(cat("the heads have ", heads_.rows(), " boxes, and at most ", most_rows, " are decoded"), other_way);
    if (heads_.family.joint && !pairs()) joint_parts();
    else if (heads_.family.boxes == HeadBoxes::centers) center_parts();
    else split_parts();
    if (heads_.classes < 1)
      refuse(cat("the outputs have no room for scores beside the boxes of ", heads_.family.name), other_way);
    if (heads_.family.softmax && heads_.classes > 1) heads_.classes -= 1;
    return heads_;
  }

  // What the shapes could be, for people.
  std::string guess() {
    read_input();
    read_outputs();
    if (all_.empty() || all_[0].layout == Layout::rows) return "";
    std::map<int64_t, int> channels;
    for (const Output& o : all_) ++channels[o.features];
    const bool same = channels.size() == 1;
    const int64_t c = all_[0].features;
    if (!same) return "one value for boxes and one for scores of each level: head=yolov8, yolov6, fcos, rtmdet, ...";
    std::string out;
    if (c % 3 == 0 && c / 3 > 5)
      out = cat(all_.size(), " levels of ", c, " = 3 anchors x (5 + ", c / 3 - 5,
                " classes): head=yolov5, yolov7, yolov4 or yolov3");
    if (c > coordinates * usual_bins)
      out += cat(out.empty() ? "" : "; or ", "4 x 16 + ", c - coordinates * usual_bins, " classes: head=yolov8");
    return out;
  }

 private:
  [[noreturn]] static void refuse(const std::string& what, const std::string& help) {
    throw error("prepare.detector", what).help(help);
  }
  int64_t size(ValueId v, size_t axis) const {
    const Dim d = g_[v].fact.shape()[axis];
    return d.is_literal() ? d.literal() : -1;
  }
  size_t rank(ValueId v) const { return g_[v].fact.has_rank() ? static_cast<size_t>(g_[v].fact.rank()) : size_t{0}; }
  std::string listed() const {
    std::string out;
    for (const ValueId v : g_[g_.main()].outputs)
      out += cat(out.empty() ? "'" : ", '", g_[v].name, "' (", g_[v].fact.type.text(), ")");
    return out;
  }

  void read_input() {
    for (const ValueId v : g_[g_.main()].inputs)
      if (!g_[v].weight && rank(v) == 4) height_ = size(v, 2), width_ = size(v, 3);
    if (height_ < 1 || width_ < 1 || height_ > longest_side || width_ > longest_side)
      refuse("the size of the picture is not known, from which the cells of the heads follow",
             "--fix-size settles it: --fix-size height=640,width=640");
  }
  // Whether a picture of features could be a level: smaller, and by as much in both directions.
  bool is_level(int64_t h, int64_t w) const {
    if (h < 1 || w < 1 || h > height_ || w > width_ || h * w > most_rows) return false;
    const double y = double(height_) / double(h), x = double(width_) / double(w);
    return std::fabs(y - x) <= 0.26 * std::max(x, y) && (h < height_ || w < width_);
  }
  void read_outputs() {
    for (const ValueId v : g_[g_.main()].outputs) {
      const DType t = g_[v].fact.dtype();
      if (t != DType::f32 && t != DType::f16 && t != DType::bf16) continue;
      const size_t r = rank(v);
      Output o{v, Layout::rows, 0, 0, 0, 0};
      if (r == 4 && size(v, 1) > 0 && is_level(size(v, 2), size(v, 3)))
        o = {v, Layout::maps, 0, size(v, 1), size(v, 2), size(v, 3)};
      else if (r == 4 && size(v, 3) > 0 && is_level(size(v, 1), size(v, 2)))
        o = {v, Layout::channels_last, 0, size(v, 3), size(v, 1), size(v, 2)};
      else if (r == 5 && size(v, 1) > 0 && size(v, 4) > 0 && is_level(size(v, 2), size(v, 3)))
        o = {v, Layout::anchored, 0, size(v, 1) * size(v, 4), size(v, 2), size(v, 3)};
      else if ((r == 2 || r == 3) && size(v, r - 2) > 0 && size(v, r - 1) > 0)
        o = {v, Layout::rows, size(v, r - 2), size(v, r - 1), 0, 0};
      else continue;
      if (o.layout != Layout::rows) o.rows = o.height * o.width;
      all_.push_back(o);
    }
    const bool maps = std::any_of(all_.begin(), all_.end(), [](const Output& o) { return o.layout != Layout::rows; });
    if (maps) std::erase_if(all_, [](const Output& o) { return o.layout == Layout::rows; });
    std::stable_sort(all_.begin(), all_.end(), [](const Output& a, const Output& b) { return a.rows > b.rows; });
  }

  HeadLevel level(int64_t h, int64_t w) const {
    return {h, w, double(height_) / double(h), double(width_) / double(w), {}, false};
  }
  void levels_of_maps() {
    for (const Output& o : all_) {
      if (!heads_.levels.empty() && heads_.levels.back().height == o.height && heads_.levels.back().width == o.width)
        continue;
      heads_.levels.push_back(level(o.height, o.width));
      heads_.levels.back().anchors_outside = o.layout != Layout::channels_last;
    }
  }
  void levels_of_rows() {
    if (heads_.family.strides.empty())
      refuse(cat("the outputs have no pictures of features, and those of ", heads_.family.name, " do: ", listed()),
             "leave out head= if they are decoded already");
    for (const double s : heads_.family.strides)
      heads_.levels.push_back(level(int64_t(std::ceil(double(height_) / s)), int64_t(std::ceil(double(width_) / s))));
    for (size_t i = 0; i < heads_.levels.size(); ++i)
      heads_.levels[i].stride_y = heads_.levels[i].stride_x = heads_.family.strides[i];
  }

  // Scrfd has as many anchors on every level, which are points only.
  bool points_only() const { return heads_.family.boxes == HeadBoxes::distances; }
  void give_anchors() {
    const auto& all = words_.anchors.empty() ? heads_.family.anchors : words_.anchors;
    if (all.empty()) return;
    if (points_only()) {
      for (HeadLevel& l : heads_.levels) l.anchors = all;
      return;
    }
    const size_t n = heads_.levels.size();
    const bool other_levels = words_.anchors.empty() && n != usual_levels();
    if (all.size() % n || other_levels)
      refuse(cat(heads_.family.name, " has ", all.size(), " anchors for ", other_levels ? usual_levels() : n,
                 " levels, and there are ", n, other_levels ? "" : ", which have as many each"),
             "anchors=10x13/16x30/... tells those of the training configuration, for the finest level first");
    const size_t each = all.size() / n;
    for (size_t i = 0; i < n; ++i)
      heads_.levels[i].anchors.assign(all.begin() + std::ptrdiff_t(i * each),
                                      all.begin() + std::ptrdiff_t((i + 1) * each));
  }
  size_t usual_levels() const { return heads_.family.strides.empty() ? 3 : heads_.family.strides.size(); }

  // YOLOv8 as some tools cut it: boxes and scores of a level apart.
  bool pairs() const { return heads_.family.boxes == HeadBoxes::bins && all_.size() == 2 * heads_.levels.size(); }

  void joint_parts() {
    if (all_[0].layout == Layout::rows) {
      int64_t n = 0;
      for (const HeadLevel& l : heads_.levels) n += l.height * l.width * l.per_cell();
      std::erase_if(all_, [&](const Output& o) { return o.rows != n; });
      if (all_.size() != 1)
        refuse(cat(heads_.family.name, " has ", n, " boxes for a picture of ", height_, "x", width_, ", and there is ",
                   listed()),
               other_way);
    } else if (all_.size() != heads_.levels.size())
      refuse(cat("several outputs belong to one level: ", listed()), "leave the others out first: cameo extract");
    const int64_t a = heads_.levels[0].per_cell(), features = all_[0].features;
    if (std::any_of(all_.begin(), all_.end(), [&](const Output& o) { return o.features != features; }) || features % a)
      refuse(cat("a level has ", features, " features, which is no multiple of ", a, " anchors"),
             "anchors=10x13/16x30/... tells how many there are and their sizes");
    const int64_t each = features / a, object = heads_.family.objectness;
    heads_.bins = heads_.family.boxes != HeadBoxes::bins ? 1
                  : words_.classes                       ? (each - words_.classes) / coordinates
                  : heads_.family.classes_first          ? usual_bins / 2
                                                         : usual_bins;
    if (heads_.bins < 1)
      refuse(cat(each, " features have no room for boxes beside ", words_.classes, " classes"), other_way);
    heads_.classes = each - coordinates * heads_.bins - object;
    for (size_t i = 0; i < all_.size(); ++i) {
      HeadPart p{Role::joint, g_[all_[i].value].name, all_[i].layout, each, i, 1};
      if (p.layout == Layout::rows) p.levels = heads_.levels.size();
      heads_.parts.push_back(std::move(p));
    }
    const size_t axis = all_[0].layout == Layout::maps ? 1 : rank(all_[0].value) - 1;
    const int64_t column = heads_.family.classes_first ? 0 : each - 1;
    heads_.activated = is_probability(all_[0].value, static_cast<int64_t>(axis), column);
  }
  bool is_probability(ValueId v, int64_t axis, int64_t column) const {
    int64_t at = 0;
    for (const Columns& c : columns_of(g_, v, axis))
      if ((at += c.count) > column) return c.nature == Nature::probability || c.nature == Nature::softmax;
    const Nature n = nature_of(g_, v);
    return n == Nature::probability || n == Nature::softmax;
  }

  // Outputs by level; of rows, one value may have all levels.
  std::vector<std::vector<Output>> by_level() const {
    std::vector<std::vector<Output>> out(heads_.levels.size());
    int64_t n = 0;
    for (const HeadLevel& l : heads_.levels) n += l.height * l.width * l.per_cell();
    for (const Output& o : all_) {
      if (o.layout == Layout::rows && o.rows == n) out[0].push_back(o);
      for (size_t i = 0; i < out.size(); ++i) {
        const HeadLevel& l = heads_.levels[i];
        const int64_t wanted = o.layout == Layout::rows ? l.height * l.width * l.per_cell() : l.height * l.width;
        if (o.rows == wanted && !(o.layout == Layout::rows && o.rows == n)) out[i].push_back(o);
      }
    }
    return out;
  }
  bool named(const Output& o, std::initializer_list<const char*> words) const {
    std::string lower = g_[o.value].name;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return ascii::to_lower(c); });
    return std::any_of(words.begin(), words.end(), [&](const char* w) { return lower.find(w) != lower.npos; });
  }
  // Takes the output with that many features out of those of a level.
  Output taken(std::vector<Output>& from, int64_t features, std::initializer_list<const char*> names,
               const char* what) {
    auto best = from.end();
    for (auto it = from.begin(); it != from.end(); ++it)
      if (it->features == features && (best == from.end() || (named(*it, names) && !named(*best, names)))) best = it;
    if (best == from.end())
      refuse(cat("a level lacks ", what, " with ", features, " features: ", listed()),
             cat("head=", heads_.family.name, " does not fit; ", other_way));
    const Output out = *best;
    from.erase(best);
    return out;
  }
  void add(Role role, const Output& o, size_t level) {
    const HeadLevel& l = heads_.levels[level];
    const bool rows = o.layout == Layout::rows;
    const bool whole = rows && o.rows != l.height * l.width * l.per_cell();
    const int64_t each = rows ? o.features : o.features / l.per_cell();
    heads_.parts.push_back({role, g_[o.value].name, o.layout, each, level, whole ? heads_.levels.size() : size_t{1}});
  }
  void split_parts() {
    heads_.bins = heads_.family.boxes == HeadBoxes::bins ? usual_bins : 1;
    auto levels = by_level();
    for (size_t i = 0; i < levels.size(); ++i) {
      std::vector<Output>& of = levels[i];
      if (of.empty()) {
        if (i && levels[0].size() >= 1 && heads_.parts[0].levels > 1) break;
        refuse(cat("level ", i + 1, " has no outputs: ", listed()), other_way);
      }
      const int64_t a = of[0].layout == Layout::rows ? 1 : heads_.levels[i].per_cell();
      add(Role::boxes, taken(of, coordinates * heads_.bins * a, {"box", "reg", "loc", "delta", "dist"}, "boxes"), i);
      if (heads_.family.centerness) add(Role::centerness, taken(of, a, {"cent", "ctr"}, "a centerness"), i);
      constexpr int64_t landmarks = 10;
      std::erase_if(of, [&](const Output& o) { return o.features == landmarks * a && of.size() > 1; });
      if (of.size() != 1)
        refuse(cat("level ", i + 1, " has ", of.size(), " outputs that could be its scores: ", listed()), other_way);
      const int64_t classes = of[0].features / a;
      if (of[0].features % a || (i && classes != heads_.classes))
        refuse(cat("the scores of level ", i + 1, " have ", of[0].features, " features"), other_way);
      heads_.classes = classes;
      heads_.activated = is_probability(of[0].value, of[0].layout == Layout::maps ? 1 : -1, 0);
      add(Role::scores, of[0], i);
    }
  }
  void center_parts() {
    heads_.levels.resize(1);
    const HeadLevel& cells = heads_.levels[0];
    if (!cells.anchors.empty()) refuse(cat(heads_.family.name, " has no anchors"), "leave out anchors=");
    std::erase_if(all_, [&](const Output& o) { return o.height != cells.height || o.width != cells.width; });
    const Output heat = *std::min_element(all_.begin(), all_.end(), [&](const Output& x, const Output& y) {
      const auto likely = [&](const Output& o) {
        return (named(o, {"hm", "heat", "score", "cls"}) ? 0 : 2) + (o.features == 2);
      };
      return likely(x) < likely(y);
    });
    std::erase_if(all_, [&](const Output& o) { return o.value == heat.value; });
    heads_.classes = heat.features;
    heads_.bins = 1;
    heads_.activated = is_probability(heat.value, 1, 0);
    add(Role::scores, heat, 0);
    add(Role::sides, taken(all_, 2, {"wh", "size", "dim"}, "sides"), 0);
    add(Role::boxes, taken(all_, 2, {"off", "reg"}, "offsets"), 0);
  }

  const Graph& g_;
  const HeadWords& words_;
  Heads heads_;
  std::vector<Output> all_;
  int64_t height_ = 0, width_ = 0;
};

}  // namespace

Heads find_heads(const Model& m, const HeadWords& words) { return Finding(m, words).run(); }

std::string guessed_heads(const Model& m) {
  try {
    return Finding(m, {"yolov5", {}, 0}).guess();
  } catch (const Error& e) {
    if (ends_work(e)) throw;
    return "";
  }
}

int64_t Heads::rows() const {
  int64_t n = 0;
  for (const HeadLevel& l : levels) n += l.height * l.width * l.per_cell();
  return n;
}

std::string Heads::text() const {
  std::string out = cat(family.name, ": ");
  for (size_t i = 0; i < levels.size(); ++i) out += cat(i ? ", " : "", levels[i].height, "x", levels[i].width);
  out +=
      cat(levels.size() == 1 ? " cells" : " cells of the levels", ", ", classes, classes == 1 ? " class" : " classes");
  if (family.boxes == HeadBoxes::bins) out += cat(", ", bins, " bins");
  if (levels[0].anchors.empty() || family.boxes == HeadBoxes::distances) return out;
  out += ", anchors ";
  for (const HeadLevel& l : levels)
    for (const auto& a : l.anchors) out += cat(out.back() == ' ' ? "" : "/", a[0], "x", a[1]);
  return out;
}

}  // namespace cameo::passes
