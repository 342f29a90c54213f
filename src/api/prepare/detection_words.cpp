// include/cameo/prepare.h: detections as words.
#include <algorithm>
#include <cstdlib>

#include "support/error.h"
#include "support/near_name.h"
#include "support/number_text.h"

#include "api/prepare/detections.h"

namespace cameo {

namespace {

using support::cat;
using support::error;

constexpr std::string_view keys[] = {"boxes",   "scores",     "format",     "normalised", "objectness",
                                     "classes", "activation", "background", "labels",     "suppress",
                                     "score",   "iou",        "max",        "per-class",  "agnostic",
                                     "form",    "auto",       "head",       "anchors"};

[[noreturn]] void wrong(const std::string& what) {
  throw error("use.value", cat("detections: ", what))
      .help(
          "boxes=NAME,scores=NAME,format=xyxy|cxcywh|xywh,normalised,classes=N,score=0.25,iou=0.45,max=300,agnostic; "
          "docs/prepare.md has all words");
}
double number(const std::string& key, const std::string& text) {
  const auto n = support::parse_double(text);
  if (!n || !(*n >= -1e9 && *n <= 1e9)) wrong(cat(key, " is '", text, "', which is no number"));
  return *n;
}
int64_t whole(const std::string& key, const std::string& text) {
  const double n = number(key, text);
  if (n != static_cast<double>(static_cast<int64_t>(n)) || n < 1)
    wrong(cat(key, " is '", text, "': a whole number of at least 1"));
  return static_cast<int64_t>(n);
}
std::optional<bool> yes_or_no(const std::string& text) {
  if (text.empty() || text == "yes" || text == "true" || text == "1") return true;
  if (text == "no" || text == "false" || text == "0") return false;
  return std::nullopt;
}
bool yes(const std::string& key, const std::string& text) {
  if (const auto said = yes_or_no(text)) return *said;
  wrong(cat(key, " is '", text, "': yes or no"));
}
void set_objectness(Detections& d, const std::string& value) {
  d.objectness = yes_or_no(value);
  d.objectness_name = d.objectness ? "" : value;
}

void set(Detections& d, const std::string& key, const std::string& value) {
  if (key == "boxes") d.boxes = value;
  else if (key == "scores") d.scores = value;
  else if (key == "format" && (value == "normalised" || value == "normalized")) d.normalised = true;
  else if (key == "format") d.format = value;
  else if (key == "normalised" || key == "normalized") d.normalised = yes(key, value);
  else if (key == "objectness") set_objectness(d, value);
  else if (key == "suppress") d.suppress = yes(key, value);
  else if (key == "classes") d.classes = whole(key, value);
  else if (key == "activation") d.activation = value;
  else if (key == "background") d.background = value;
  else if (key == "labels") d.labels = value;
  else if (key == "form") d.form = value;
  else if (key == "head") d.head = value;
  else if (key == "anchors") d.anchors = value;
  else if (key == "score") d.score = static_cast<float>(number(key, value));
  else if (key == "iou") d.iou = static_cast<float>(number(key, value));
  else if (key == "max") d.max = whole(key, value);
  else if (key == "agnostic") d.agnostic = yes(key, value);
  else if (key == "per-class") d.agnostic = !yes(key, value);
  else if (key != "auto") {
    const auto near = support::nearest(key, std::vector<std::string_view>(std::begin(keys), std::end(keys)));
    wrong(cat("unknown word '", key, "'", near.empty() ? "" : cat("; did you mean ", near, "?")));
  }
}

template <class E, size_t N>
void choose(const char* key, const std::string& given, const std::string_view (&words)[N], std::optional<E>& out) {
  if (given.empty()) return;
  for (size_t i = 0; i < N; ++i)
    if (words[i] == given) return void(out = static_cast<E>(i));
  std::string all;
  for (const auto w : words) all += cat(all.empty() ? "" : ", ", w);
  wrong(cat(key, " is '", given, "': ", all));
}

constexpr std::string_view format_words[] = {"xyxy", "cxcywh", "xywh"},
                           activation_words[] = {"none", "sigmoid", "softmax"},
                           background_words[] = {"none", "first", "last"}, label_words[] = {"best", "all"},
                           form_words[] = {"flat", "padded", "efficient", "topk", "boxes"};

}  // namespace

Detections detections_of(const std::string& words) {
  Detections d;
  for (size_t from = 0; from < words.size();) {
    const size_t to = std::min(words.find(',', from), words.size());
    const std::string word = words.substr(from, to - from);
    const size_t equals = word.find('=');
    if (!word.empty()) set(d, word.substr(0, equals), equals == word.npos ? "" : word.substr(equals + 1));
    from = to + 1;
  }
  preparing::words_of(d);
  preparing::head_words(d);
  preparing::options_of(d, "flat");
  return d;
}

bool is_detection_words(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(',')), key = word.substr(0, word.find('='));
  if (std::find(std::begin(keys), std::end(keys), key) == std::end(keys)) return false;
  constexpr std::string_view bare[] = {"auto", "normalised", "objectness", "suppress", "per-class", "agnostic"};
  return word != key || std::find(std::begin(bare), std::end(bare), key) != std::end(bare);
}

passes::DetectorWords preparing::words_of(const Detections& d) {
  passes::DetectorWords out;
  out.boxes = d.boxes, out.scores = d.scores;
  if (d.boxes.empty() && !d.scores.empty()) wrong("scores= is given without boxes=");
  choose("format", d.format, format_words, out.format);
  choose("activation", d.activation, activation_words, out.activation);
  choose("background", d.background, background_words, out.background);
  choose("labels", d.labels, label_words, out.labels);
  out.object = d.objectness_name;
  out.objectness = d.objectness, out.normalised = d.normalised, out.suppress = d.suppress;
  if (d.classes < 0) wrong(cat("classes is ", d.classes));
  out.classes = d.classes;
  return out;
}

// "10x13/16x30": widths and heights.
passes::HeadWords preparing::head_words(const Detections& d) {
  passes::HeadWords out{d.head, {}, d.classes};
  if (d.head.empty() && !d.anchors.empty()) wrong("anchors= is given without head=");
  for (size_t from = 0; from < d.anchors.size();) {
    const size_t to = std::min(d.anchors.find('/', from), d.anchors.size());
    const std::string pair = d.anchors.substr(from, to - from);
    const size_t by = pair.find('x');
    if (by == pair.npos) wrong(cat("anchors are 10x13/16x30/..., not '", pair, "'"));
    out.anchors.push_back({number("anchors", pair.substr(0, by)), number("anchors", pair.substr(by + 1))});
    if (!(out.anchors.back()[0] > 0 && out.anchors.back()[1] > 0)) wrong(cat("an anchor is ", pair));
    from = to + 1;
  }
  if (!d.head.empty() && !passes::head_family(d.head)) {
    std::string names;
    for (const auto& f : passes::head_families()) names += cat(names.empty() ? "" : ", ", f.name);
    wrong(cat("head is '", d.head, "': ", names));
  }
  return out;
}

passes::DetectorOptions preparing::options_of(const Detections& d, std::string form) {
  std::optional<passes::NmsForm> chosen;
  choose("form", d.form.empty() ? form : d.form, form_words, chosen);
  return {*chosen, d.score, d.iou, d.max, d.agnostic};
}

}  // namespace cameo
