#include <algorithm>

#include "passes/detector/columns.h"
#include "passes/detector/detector.h"
#include "passes/detector/heads.h"
#include "passes/edit.h"
#include "support/ascii.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

constexpr int64_t coordinates = 4, most_classes = 100'000;
constexpr int64_t longest_side = 16'384, most_cells = 4'000'000;  // of levels that are decoded

// "{0: 'person', 1: 'car'}": how many names there are; 0 without such an entry.
int64_t named_classes(const Model& m) {
  for (const auto& [key, value] : m.metadata) {
    if (key != "names") continue;
    int64_t n = 0;
    for (size_t i = 1; i + 1 < value.size(); ++i) {
      if (value[i] != ':' || !ascii::is_digit(value[i - 1])) continue;
      const size_t next = value.find_first_not_of(' ', i + 1);
      n += next != value.npos && (value[next] == '\'' || value[next] == '"');
    }
    return n;
  }
  return 0;
}

class Finding {
 public:
  Finding(const Model& m, const DetectorWords& words) : m_(m), g_(m.graph), words_(words) {}

  Detector run() {
    const auto outputs = g_[g_.main()].outputs;
    for (const ValueId v : outputs)
      if (depends_on(g_, v, {"NonMaxSuppression"}) && words_.boxes.empty())
        throw error("prepare.detector", "the model has a non-maximum suppression already")
            .help("leave out --append-nms, or say boxes=NAME,scores=NAME of what comes before it");
    Detector d;
    if (!words_.boxes.empty()) d = told();
    else if (auto pair = boxes_and_scores(outputs)) d = *pair;
    else d = joined(only_joint(outputs));
    apply_words(d);
    if (!words_.object.empty()) set_object(d, known(words_.object));
    else if (words_.boxes.empty() && !d.joint && !words_.objectness) check_no_object(d, outputs);
    return d;
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& help) const {
    throw error("prepare.detector", what).help(help);
  }
  static constexpr const char* tell =
      "say where they are: --append-nms boxes=NAME,scores=NAME,format=xyxy; docs/prepare.md has the words";

  std::string name(ValueId v) const { return cat("'", g_[v].name, "' (", g_[v].fact.type.text(), ")"); }
  std::string listed(const std::vector<ValueId>& all) const {
    std::string out;
    for (size_t i = 0; i < all.size() && i < 8; ++i) out += cat(i ? ", " : "", name(all[i]));
    return all.size() > 8 ? cat(out, ", ...") : out;
  }
  int64_t rank(ValueId v) const { return g_[v].fact.has_rank() ? g_[v].fact.rank() : -1; }
  Dim dim(ValueId v, int64_t axis) const {
    const Shape& s = g_[v].fact.shape();
    return s[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(s.size()) : axis)];
  }
  bool is_float(ValueId v) const {
    const DType t = g_[v].fact.dtype();
    return t == DType::f32 || t == DType::f16 || t == DType::f64 || t == DType::bf16;
  }
  Nature nature_at(ValueId v, int64_t axis, int64_t column) const {
    int64_t at = 0;
    for (const Columns& c : columns_of(g_, v, axis))
      if ((at += c.count) > column) return c.nature;
    return nature_of(g_, v);
  }

  // Which axis of boxes has the four coordinates: the last, or the one before it.
  std::optional<bool> boxes_last(ValueId v) const {
    const int64_t r = rank(v);
    if (r == 4 && dim(v, 2).is(1) && dim(v, 3).is(coordinates)) return true;
    if (r != 2 && r != 3) return std::nullopt;
    if (dim(v, -1).is(coordinates)) return true;
    if (dim(v, -2).is(coordinates)) return false;
    return std::nullopt;
  }
  Dim count_of(ValueId boxes, bool last) const { return rank(boxes) == 4 ? dim(boxes, 1) : dim(boxes, last ? -2 : -1); }

  // Which axis of scores counts the classes, if they belong to that many boxes.
  std::optional<bool> scores_last(ValueId v, Dim n, int64_t boxes_rank) const {
    const int64_t r = rank(v), with_images = boxes_rank == 2 ? 2 : 3;
    if (r == with_images - 1) return dim(v, -1) == n ? std::optional(true) : std::nullopt;  // one class
    if (r != with_images) return std::nullopt;
    if (dim(v, -2) == n && dim(v, -1).is_literal()) return true;
    if (dim(v, -1) == n && dim(v, -2).is_literal()) return false;
    return std::nullopt;
  }

  Detector told() {
    const ValueId boxes = known(words_.boxes);
    if (words_.scores.empty() || words_.scores == words_.boxes) return joined(boxes);
    const ValueId scores = known(words_.scores);
    const auto last = boxes_last(boxes);
    if (!last) refuse(cat(name(boxes), " are no boxes"), "boxes are [images, n, 4], [images, 4, n] or [n, 4]");
    const auto by_class = scores_last(scores, count_of(boxes, *last), rank(boxes));
    if (!by_class)
      refuse(cat(name(scores), " are no scores of the boxes ", name(boxes)),
             "scores are [images, n, classes], [images, classes, n] or [images, n]; --fix-size settles sizes that are "
             "not known");
    return pair_of(boxes, *last, scores, *by_class);
  }
  ValueId known(const std::string& value) const {
    const ValueId v = find_value(g_, value);
    if (!g_[v].fact.has_rank() || !is_float(v))
      refuse(cat(name(v), " is neither boxes nor scores"), "they are tensors of floating point with a known rank");
    return v;
  }

  // One number for each of n boxes: whether it is [.., n] or [.., n, 1], not [.., 1, n].
  std::optional<bool> one_each(ValueId v, Dim n) const {
    if (!is_float(v)) return std::nullopt;
    const int64_t r = rank(v);
    if ((r == 1 || r == 2) && dim(v, -1) == n) return true;
    if ((r == 2 || r == 3) && dim(v, -2) == n && dim(v, -1).is(1)) return true;
    if (r == 3 && dim(v, -1) == n && dim(v, -2).is(1)) return false;
    return std::nullopt;
  }
  Dim boxes_of(const Detector& d) const {
    const ValueId v = find_value(g_, d.boxes);
    return d.joint ? dim(v, d.features_last ? -2 : -1) : count_of(v, d.features_last);
  }
  void set_object(Detector& d, ValueId v) const {
    const auto last = one_each(v, boxes_of(d));
    if (!last || (rank(v) == 1 && rank(find_value(g_, d.boxes)) > 2))
      refuse(cat(name(v), " is no objectness of the boxes ", name(find_value(g_, d.boxes))),
             "objectness is one number for each box: [images, n], [images, n, 1] or [images, 1, n]");
    d.object = g_[v].name, d.object_last = *last;
  }
  // Scores that need another output as a factor would be wrong without a word.
  void check_no_object(const Detector& d, const std::vector<ValueId>& outputs) const {
    for (const ValueId v : outputs)
      if (g_[v].name != d.boxes && g_[v].name != d.scores && one_each(v, boxes_of(d)) &&
          nature_of(g_, v) == Nature::probability)
        refuse(cat(name(v), " has one probability for each box: it may be an objectness that scores are multiplied by"),
               cat("say objectness=", g_[v].name, ", or objectness=no"));
  }

  std::optional<Detector> boxes_and_scores(const std::vector<ValueId>& outputs) {
    // Scores of four classes look like boxes: what looks least like scores comes first.
    std::vector<ValueId> candidates;
    for (const ValueId v : outputs)
      if (is_float(v) && boxes_last(v)) candidates.push_back(v);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](ValueId x, ValueId y) { return likeness(x) < likeness(y); });
    std::vector<ValueId> taken;
    std::optional<Detector> out;
    for (const ValueId b : candidates) {
      if (std::find(taken.begin(), taken.end(), b) != taken.end()) continue;
      const auto scores = scores_of(b, outputs);
      if (!scores) continue;
      if (out)
        refuse(
            cat("the boxes are in several outputs, one per level: ", listed(outputs)),
            "say head=scrfd or the family that it is; or export the model with its decoding, which joins the levels");
      taken.push_back(scores->first);
      out = pair_of(b, *boxes_last(b), scores->first, scores->second);
    }
    return out;
  }
  // The output with the scores of these boxes, and whether its classes are last.
  std::optional<std::pair<ValueId, bool>> scores_of(ValueId b, const std::vector<ValueId>& outputs) const {
    std::vector<std::pair<ValueId, bool>> scores;
    for (const ValueId s : outputs)
      if (s != b && is_float(s) && g_[s].name != words_.object)
        if (const auto by_class = scores_last(s, count_of(b, *boxes_last(b)), rank(b)))
          scores.emplace_back(s, *by_class);
    if (scores.empty()) return std::nullopt;
    // Beside classes, one number for each box is its objectness.
    const auto is_one = [&](const auto& s) { return one_each(s.first, count_of(b, *boxes_last(b))).has_value(); };
    if (!std::all_of(scores.begin(), scores.end(), is_one))
      scores.erase(std::remove_if(scores.begin(), scores.end(), is_one), scores.end());
    std::stable_sort(scores.begin(), scores.end(),
                     [&](const auto& x, const auto& y) { return likeness(x.first) > likeness(y.first); });
    if (scores.size() > 1 && likeness(scores[0].first) == likeness(scores[1].first))
      refuse(cat("which output has the scores of the boxes ", name(b), " is not clear: ", listed(outputs)), tell);
    return scores[0];
  }
  // How much an output looks like scores: by its name, else by what computes it.
  int likeness(ValueId v) const {
    std::string lower = g_[v].name;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return ascii::to_lower(c); });
    int out = 0;
    for (const char* word : {"score", "conf", "cls", "class", "logit", "prob", "label"})
      out += 2 * (lower.find(word) != lower.npos);
    for (const char* word : {"box", "loc", "reg", "coord"}) out -= 2 * (lower.find(word) != lower.npos);
    const Nature n = nature_of(g_, v);
    if (n == Nature::softmax) return out + 1;
    // Transformers have boxes from a sigmoid beside logits.
    const bool transformer = depends_on(g_, v, {"Softmax", "Attention", "GridSample"});
    if (n == Nature::probability) return transformer ? out - 1 : out + 1;
    return n == Nature::linear && transformer ? out + 1 : out;
  }

  Detector pair_of(ValueId boxes, bool boxes_are_last, ValueId scores, bool classes_are_last) {
    Detector d;
    d.boxes = g_[boxes].name, d.scores = g_[scores].name;
    d.features_last = boxes_are_last, d.scores_last = classes_are_last;
    const bool one = rank(scores) == (rank(boxes) == 2 ? 1 : 2);
    d.classes = one ? 1 : dim(scores, classes_are_last ? -1 : -2).literal();
    d.labels = Labels::all;
    const Nature score = nature_of(g_, scores), box = nature_of(g_, boxes);
    const bool transformer = depends_on(g_, boxes, {"GridSample", "TopK"});
    if (box == Nature::probability) {
      d.family = transformer ? "a detection transformer with class probabilities" : "DETR";
      d.format = BoxFormat::center, d.normalised = true, d.suppress = false;
      const bool by_class = score == Nature::probability || (score != Nature::softmax && transformer);
      d.activation = score == Nature::linear || score == Nature::computed
                         ? (by_class ? Activation::sigmoid : Activation::softmax)
                         : Activation::none;
      d.background = by_class ? Background::none : Background::last;
      d.labels = by_class ? Labels::all : Labels::best;
      return d;
    }
    d.family = rank(boxes) == 4 ? "YOLOv4" : score == Nature::softmax ? "SSD" : "boxes and scores";
    if (rank(boxes) == 4) d.labels = Labels::best;
    d.background = score == Nature::softmax && d.classes > 1 ? Background::first : Background::none;
    if (box == Nature::linear && !words_.format)
      refuse(cat("the boxes ", name(boxes),
                 " come from a convolution as they are: they are offsets to anchors, which the model does not have"),
             "say head=retinaface, head=retinanet or head=scrfd where they are one of these; else export the model "
             "with its decoding; "
             "or, if they are coordinates, say format=xyxy");
    if (score == Nature::linear && !words_.activation)
      refuse(cat("the scores ", name(scores), " are logits"),
             "say activation=sigmoid, activation=softmax, or activation=none if they are probabilities");
    return d;
  }

  // The output that has boxes and scores side by side.
  ValueId only_joint(const std::vector<ValueId>& outputs) const {
    std::vector<ValueId> found, heads;
    for (const ValueId v : outputs) {
      if (!is_float(v) || (boxes_last(v) && words_.classes == 0)) continue;  // boxes alone
      if (rank(v) >= 4) heads.push_back(v);
      if (const auto axis = (rank(v) == 2 || rank(v) == 3) ? feature_axis(v) : std::nullopt)
        if (dim(v, *axis).literal() > coordinates) found.push_back(v);
    }
    if (found.size() == 1) return found[0];
    if (found.empty() && heads.size() > 1)
      refuse(cat("the outputs are the raw heads of a detector: ", listed(outputs)),
             cat(guess(), "export the model in evaluation mode, with its decoding"));
    if (found.empty())
      refuse(cat("no output looks like boxes and scores: ", listed(outputs)),
             cat("--fix-size settles sizes that are not known; or ", tell));
    refuse(cat("several outputs could have the boxes: ", listed(found)), "say which: --append-nms boxes=NAME");
  }

  // What raw heads could be, as the start of a hint.
  std::string guess() const {
    const std::string seen = guessed_heads(m_);
    return seen.empty() ? "say which family they are, head=yolov5 for instance; or "
                        : cat("say which family they are: ", seen, "; or ");
  }

  // Of [.., n, features] or [.., features, n]: from the back, -1 or -2.
  std::optional<int64_t> feature_axis(ValueId v) const {
    const Dim a = dim(v, -2), b = dim(v, -1);
    if (words_.classes > 0) {
      const auto fits = [&](Dim x) { return x.is(words_.classes + 4) || x.is(words_.classes + 5); };
      if (fits(a) != fits(b)) return fits(b) ? -1 : -2;
    }
    if (a.is_literal() != b.is_literal()) return b.is_literal() ? -1 : -2;
    if (const bool first = is_joined_behind_boxes(v, -2); a.is_literal() && first != is_joined_behind_boxes(v, -1))
      return first ? -2 : -1;
    if (!a.is_literal() || a == b) return std::nullopt;
    const auto holds = [](Dim x) { return x.literal() > coordinates; };
    if (holds(a) != holds(b)) return holds(b) ? -1 : -2;
    return b.literal() < a.literal() ? -1 : -2;
  }

  // Whether something else stands behind the four coordinates.
  bool is_joined_behind_boxes(ValueId v, int64_t from_back) const {
    int64_t at = 0;
    for (const Columns& c : columns_of(g_, v, rank(v) + from_back))
      if (at += c.count; at >= coordinates) return at == coordinates && !dim(v, from_back).is(coordinates);
    return false;
  }

  Detector joined(ValueId v) {
    if (rank(v) != 2 && rank(v) != 3)
      refuse(cat(name(v), " does not look like boxes and scores"),
             "it is [images, n, 4 + classes], [images, 4 + classes, n] or [images, n, 5 + classes]");
    const auto from_back = feature_axis(v);
    if (!from_back)
      refuse(cat("which axis of ", name(v), " has the features is not clear"), "say classes=N, or --fix-size");
    Detector d;
    d.boxes = g_[v].name;
    d.joint = true;
    d.features_last = *from_back == -1;
    d.format = BoxFormat::center;
    const int64_t axis = rank(v) + *from_back, count = dim(v, axis).literal();
    if (count <= coordinates) refuse(cat(name(v), " has no room for scores beside boxes"), tell);
    const std::vector<Columns> columns = columns_of(g_, v, axis);
    if (count == 6 && d.features_last && depends_on(g_, v, {"TopK"}) && !words_.objectness) {
      d.family = "a detector without suppression";
      d.labelled = true, d.suppress = false, d.format = BoxFormat::corners;
      return d;
    }
    const Nature box = columns.empty() ? nature_of(g_, v) : columns[0].nature, score = nature_at(v, axis, count - 1);
    if (box == Nature::probability && depends_on(g_, v, {"GridSample", "TopK"})) {
      d.family = "RT-DETR";
      d.classes = count - coordinates;
      d.normalised = true, d.suppress = false, d.labels = Labels::all;
      return d;
    }
    classes_of(d, columns, count);
    if (box == Nature::linear && !words_.format) decode_grid(d, v, axis, columns);
    if (score == Nature::linear && !words_.activation && columns.size() > 1)
      refuse(cat("the scores of ", name(v), " are logits"),
             "say activation=sigmoid, or activation=none if they are probabilities");
    return d;
  }

  // With objectness or without: what the file says of its classes, a column of its own, the way of the family.
  void classes_of(Detector& d, const std::vector<Columns>& columns, int64_t count) {
    const int64_t named = words_.classes > 0 ? words_.classes : named_classes(m_);
    const bool own_column = columns.size() >= 3 && columns[0].count == coordinates && columns[1].count == 1;
    d.objectness = words_.objectness                                     ? *words_.objectness
                   : named && (count == named + 4 || count == named + 5) ? count == named + 5
                                                                         : own_column || d.features_last;
    if (count == coordinates + 1) d.objectness = words_.objectness.value_or(false);
    d.classes = words_.classes > 0                            ? words_.classes
                : named && count > named + 5 && !d.objectness ? named
                                                              : count - coordinates - d.objectness;
    if (d.classes < 1 || coordinates + d.objectness + d.classes > count)
      refuse(cat(count, " features have no room for 4 coordinates", d.objectness ? ", objectness" : "", " and ",
                 d.classes, " classes"),
             "say classes=N, objectness=yes or objectness=no");
    d.family = d.objectness ? "YOLO with objectness (v3 to v7)" : "YOLO without objectness (v8 and later)";
  }

  // YOLOX without its decoding: every level is a picture whose cells have a box each.
  void decode_grid(Detector& d, ValueId v, int64_t axis, const std::vector<Columns>& columns) {
    const bool own_scores = columns.size() >= 2 && columns[0].count == coordinates &&
                            std::all_of(columns.begin() + 1, columns.end(),
                                        [](const Columns& c) { return c.nature == Nature::probability; });
    const auto not_decoded = [&](const std::string& help) {
      refuse(cat(name(v), " comes from a convolution or product as it is: if it holds boxes, they are not decoded"),
             help);
    };
    if (!own_scores || !d.objectness)
      not_decoded("export a detector with its decoding; or, if these are coordinates, say format=cxcywh");
    const auto [height, width] = input_size();
    if (!height || !width) not_decoded("--fix-size settles the size of the input, from which the cells follow");
    int64_t boxes = 0;
    for (const ValueId level : levels_of(g_, v, axis)) {
      const ValueId cells = before_flattening(level);
      if (!cells || !dim(cells, 2).is_literal() || !dim(cells, 3).is_literal())
        not_decoded("export the model with its decoding");
      const int64_t h = dim(cells, 2).literal(), w = dim(cells, 3).literal();
      if (h < 1 || w < 1 || h > height || w > width || h > longest_side || w > longest_side ||
          h * w > most_cells - boxes)
        not_decoded("export the model with its decoding");
      d.grid.push_back({h, w, static_cast<double>(height) / static_cast<double>(h),
                        static_cast<double>(width) / static_cast<double>(w)});
      boxes += h * w;
    }
    if (!dim(v, d.features_last ? -2 : -1).is(boxes)) not_decoded("export the model with its decoding");
    d.family = "YOLOX without decoding";
  }
  // The height and width of the only picture among the inputs.
  std::pair<int64_t, int64_t> input_size() const {
    std::pair<int64_t, int64_t> out{0, 0};
    for (const ValueId v : g_[g_.main()].inputs)
      if (!g_[v].weight && rank(v) == 4 && dim(v, 2).is_literal() && dim(v, 3).is_literal())
        out = {dim(v, 2).literal(), dim(v, 3).literal()};
    return out;
  }
  ValueId before_flattening(ValueId v) const {
    for (int i = 0; i < 8 && g_[v].def; ++i) {
      const NodeId n = g_[v].def;
      if (rank(v) == 4) return v;
      if (!g_[n].is("Reshape") && !g_[n].is("Transpose") && !g_[n].is("Flatten")) return {};
      v = g_.input(n, 0);
    }
    return {};
  }

  void apply_words(Detector& d) const {
    if (words_.format) d.format = *words_.format;
    if (words_.activation) d.activation = *words_.activation;
    if (words_.background) d.background = *words_.background;
    if (words_.labels) d.labels = *words_.labels;
    if (words_.normalised) d.normalised = *words_.normalised;
    if (words_.suppress) d.suppress = *words_.suppress;
    if (d.labelled) return;
    if (!d.joint && words_.classes > 0 && words_.classes < d.classes && !words_.background)
      d.background = Background::first;
    if (d.background != Background::none) d.classes -= 1;
    if (d.classes > most_classes) refuse(cat(d.classes, " classes are too many"), tell);
    if (d.classes < 1) refuse("there is no class beside the background", "say background=none");
  }

  const Model& m_;
  const Graph& g_;
  const DetectorWords& words_;
};

}  // namespace

Detector find_detector(const Model& m, const DetectorWords& words) { return Finding(m, words).run(); }

std::vector<std::string> Detector::values() const {
  std::vector<std::string> out{boxes};
  for (const std::string& name : {scores, object})
    if (!name.empty()) out.push_back(name);
  return out;
}

std::string Detector::text() const {
  static constexpr const char* formats[] = {"corners", "centre and size", "corner and size"};
  std::string out = cat(family, ": ", joint ? cat("'", boxes, "'") : cat("boxes '", boxes, "', scores '", scores, "'"),
                        ", ", formats[static_cast<size_t>(format)], normalised ? " as parts of the picture" : "");
  if (!labelled) out += cat(", ", classes, classes == 1 ? " class" : " classes");
  if (objectness) out += ", objectness";
  if (!object.empty()) out += cat(", objectness '", object, "'");
  if (activation != Activation::none) out += activation == Activation::sigmoid ? ", sigmoid" : ", softmax";
  if (background != Background::none)
    out += background == Background::first ? ", background first" : ", background last";
  if (!grid.empty()) out += cat(", decoded for ", grid.size(), grid.size() == 1 ? " level" : " levels");
  return out;
}

}  // namespace cameo::passes
