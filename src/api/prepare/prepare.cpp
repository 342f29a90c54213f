// include/cameo/prepare.h: the steps in order.
#include <algorithm>

#include "ir/dim_name.h"
#include "runtime/inputs.h"
#include "support/number_text.h"
#include "support/progress.h"

#include "api/prepare/picture.h"
#include "api/prepare/preparing.h"
#include "cameo/check.h"
#include "cameo/json.h"
#include "cameo/opset.h"
#include "cameo/simplify.h"

namespace cameo {

namespace preparing {

namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += cat(out.empty() ? "" : ", ", w);
  return out;
}

constexpr std::string_view float_names[] = {"f32", "f16", "bf16", "mixed"};

// "[1,3,h,w]" as the sizes between the brackets.
std::vector<std::string> sizes_in(const std::string& shape) {
  std::vector<std::string> out;
  for (size_t from = 1; from + 1 < shape.size();) {
    const size_t to = std::min(shape.find(',', from), shape.size() - 1);
    out.push_back(shape.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

}  // namespace

Preparing::Preparing(const cameo::Model& model, const PrepareSettings& settings)
    : settings_(settings), wants_(wants_of(settings.target)), model_(model) {
  if (settings.opset) known_opset(settings.opset);
  picture_words(settings.image);
  if (settings.detections) {
    words_of(*settings.detections);
    head_words(*settings.detections);
    options_of(*settings.detections, wants_.nms);
  }
  const std::string_view wanted = float_names[static_cast<size_t>(settings.float_type)];
  if (std::find(wants_.floats.begin(), wants_.floats.end(), wanted) == wants_.floats.end())
    throw error("use.conflict", cat(wants_.title, " does not take models in ", wanted))
        .help(cat("it takes ", listed(wants_.floats)));
  if ((!settings.calibrate.empty() || settings.samples) && wants_.quantize == "none")
    throw error("use.conflict", cat(wants_.title, " quantizes with tools of its own, from the float model"))
        .help("leave out the samples here");
}

void Preparing::say(const char* what) { support::tell_progress(what, ledger_.size(), ledger_.size() + 1); }

Prepared Preparing::run() {
  say("preparing");
  export_archive();
  normalise_entrance();
  fix_sizes();
  simplify_model();
  find_boxes();
  quantize_model();
  to_float();
  add_picture();
  to_opset();
  cure(settings_.verify);
  append_boxes();
  check_model();
  LintReport found = lint(model_, {{settings_.target}, settings_.ignore});
  return {model_, std::move(ledger_), std::move(found), std::move(quantized_), std::move(half_), std::move(findings_)};
}

std::string Preparing::agreement(const cameo::Model& changed, const cameo::Model& before,
                                 const std::string& step) const {
  if (!settings_.verify) return "";
  VerifySettings how;
  how.rtol = 1e-3;  // other forms of an operator round otherwise
  how.atol = 1e-4;
  std::optional<Verified> v;
  try {
    v = verify(changed, before, how);
  } catch (const Error& e) {
    if (e.exit_code() != 1 || support::ends_work(e)) throw;
    return cat("not compared: ", e.diag().what);
  }
  if (!v->agree)
    throw error("prepare.mismatch", cat("the step '", step, "' changes the results: ", v->findings().front().what))
        .help("please report it; --no-verify goes on without comparing");
  return cat("outputs agree, largest difference ", v->worst());
}

void Preparing::take(cameo::Model changed, const std::string& step, const std::string& what) {
  record(step, what, agreement(changed, model_, step));
  model_ = std::move(changed);
}

int64_t Preparing::wanted_opset(int64_t own) const {
  return settings_.opset ? settings_.opset : std::clamp(own, wants_.oldest_opset, wants_.newest_opset);
}

void Preparing::export_archive() {
  if (!model_.is_archive()) {
    record("read", cat(counted(model_.node_count(), "node"), ", opset ", model_.opset()));
    return;
  }
  say("exporting");
  ExportSettings how = settings_.archive;
  how.inputs = settings_.inputs;
  // A normalisation that is to be found has to stay as it is until then.
  const bool finds = settings_.normalise == Normalise::fold || settings_.normalise == Normalise::out;
  how.simplify = how.simplify && settings_.simplify && !finds;
  how.opset = static_cast<int>(wanted_opset(opsets::standard));
  Exported e = export_model(model_, how);
  findings_.insert(findings_.end(), e.findings.begin(), e.findings.end());
  model_ = e.model;
  record("export", cat(counted(model_.node_count(), "node"), ", opset ", model_.opset()));
}

// What `inputs` says of an ONNX model's.
std::map<std::string, std::vector<std::string>> Preparing::given_shapes() const {
  std::map<std::string, std::vector<std::string>> out;
  if (ledger_.front().step == "export") return out;
  const auto all = model_.inputs();
  for (const std::string& text : settings_.inputs) {
    const size_t equals = text.find('='), bracket = text.find('[', equals == text.npos ? 0 : equals);
    const std::string name = text.substr(0, equals);
    const auto it = std::find_if(all.begin(), all.end(), [&](const ValueInfo& v) { return v.name == name; });
    if (it == all.end()) {
      std::vector<std::string> names;
      for (const ValueInfo& v : all) names.push_back(v.name);
      throw error("use.input-name", cat("the model has no input '", name, "'")).help(cat("it has ", listed(names)));
    }
    if (equals == text.npos || bracket == text.npos || text.back() != ']')
      throw error("use.value", cat("'", text, "' is no type of an input")).help("x=f32[1,3,640,640]");
    const std::string dtype = text.substr(equals + 1, bracket - equals - 1),
                      own = it->type.substr(0, it->type.find('['));
    if (dtype != own)
      throw error("use.value", cat("the input '", name, "' is ", it->type, ", and ", dtype, " is asked for"))
          .help(cat("write ", name, "=", own, text.substr(bracket)));
    out[name] = sizes_in(text.substr(bracket));
  }
  return out;
}

void Preparing::fix_sizes() {
  say("fixing sizes");
  SimplifySettings how;
  how.input_shapes = given_shapes();
  cameo::Model shaped = how.input_shapes.empty() ? model_ : simplify(model_, how).model;
  const ir::Graph& g = ModelState::onnx(shaped).graph;
  // Those that are not given: all of them have to be numbers only where the target wants that.
  const auto free = wants_.fixed_sizes || !settings_.sizes.empty() ? free_sizes(shaped, settings_.sizes)
                                                                   : std::map<std::string, int64_t>();
  std::map<std::string, int64_t> chosen, asked;
  how.input_shapes.clear();
  for (const ir::ValueId v : runtime::run_inputs(g, false)) {
    const ir::Type& t = g[v].fact.type;
    if (!t.is_tensor() || !t.has_rank()) continue;
    std::vector<std::string> sizes;
    bool changed = false;
    for (const ir::Dim d : *t.shape) {
      const std::string name = d.is_literal() ? "" : ir::name_or_text(d);
      const auto given = settings_.sizes.find(name);
      const auto other = free.find(name);
      if (!d.is_literal() && given != settings_.sizes.end()) asked[name] = given->second;
      if (!d.is_literal() && given == settings_.sizes.end() && wants_.fixed_sizes && other != free.end())
        chosen[name] = other->second;
      const bool fixed = asked.contains(name) || chosen.contains(name);
      changed |= fixed;
      sizes.push_back(d.is_literal() ? cat(d.literal()) : !fixed ? name : cat(other->second));
    }
    if (changed) how.input_shapes[g[v].name] = std::move(sizes);
  }
  if (!how.input_shapes.empty()) shaped = simplify(shaped, how).model;
  else if (settings_.inputs.empty() || ledger_.front().step == "export") return;
  std::string what;
  for (const ValueInfo& v : shaped.inputs()) what += cat(what.empty() ? "" : ", ", v.name, " is ", v.type);
  for (const auto& [name, size] : chosen)
    what += cat("; ", name, " = ", size, " was chosen, since ", wants_.title, " wants fixed sizes");
  take(std::move(shaped), "sizes", what);
}

cameo::Model Preparing::simplified(const cameo::Model& m) {
  SimplifySettings how;
  if (settings_.normalise == Normalise::keep)
    how.skip = {"scale-before-conv", "shift-before-conv", "scale-through-views"};
  Simplified s = simplify(m, how);
  findings_.insert(findings_.end(), s.findings.begin(), s.findings.end());
  return s.model;
}

void Preparing::simplify_model() {
  if (!settings_.simplify || ledger_.back().step == "sizes") return;
  say("simplifying");
  cameo::Model smaller = simplified(model_);
  const size_t before = model_.node_count(), after = smaller.node_count();
  if (before == after) return;
  take(std::move(smaller), "simplify", cat(counted(before, "node"), " to ", after));
}

void Preparing::quantize_model() {
  if (settings_.calibrate.empty() && !settings_.samples) return;
  say("quantizing");
  QuantizeSettings how = settings_.quantize;
  how.target = wants_.quantize;
  how.opset = settings_.opset;
  const SampleSource source = settings_.samples
                                  ? settings_.samples
                                  : samples_from(model_, settings_.calibrate, picture_words(settings_.image).samples);
  Quantized q = quantize(model_, source, how);
  findings_.insert(findings_.end(), q.findings.begin(), q.findings.end());
  size_t nodes = 0;
  for (const QuantizedNode& n : q.report.nodes) nodes += n.quantized;
  record("quantize",
         cat(counted(nodes, "node"), ", ", static_cast<int>(100 * q.report.int8_macs),
             " % of the multiplications, from ", counted(q.report.samples, "sample")),
         cat("the worst output has ", static_cast<int>(q.report.db), " dB"));
  model_ = q.model;
  quantized_ = std::move(q.report);
}

void Preparing::to_float() {
  if (settings_.float_type == FloatType::keep) return;
  say("converting");
  ConvertSettings how;
  how.float_type = settings_.float_type;
  how.calibrate = settings_.calibrate;
  how.samples = settings_.samples;
  how.image = picture_words(settings_.image).samples;
  how.check = settings_.verify;
  // Pictures come as bytes, and boxes go out as f32.
  if (wants_.quantize == "tensorrt") how.target = "tensorrt";
  Converted c = convert(model_, how);
  findings_.insert(findings_.end(), c.findings.begin(), c.findings.end());
  record("float",
         cat(float_names[static_cast<size_t>(settings_.float_type)], ": ", counted(c.half.values, "value"), ", ",
             counted(c.half.casts, "cast")),
         c.half.error
             ? cat("the worst output is off by ", support::short_text(*c.half.error, 2), " of its largest number")
             : "");
  model_ = c.model;
  half_ = std::move(c.half);
}

void Preparing::to_opset() {
  const int64_t own = model_.opset(), wanted = wanted_opset(own);
  if (own == wanted) return;
  say("converting");
  Converted c = convert(model_, {.opset = static_cast<int>(wanted)});
  findings_.insert(findings_.end(), c.findings.begin(), c.findings.end());
  take(std::move(c.model), "opset", cat(own, " to ", wanted));
}

void Preparing::cure(bool verify) {
  if (!settings_.fix) return;
  say("curing");
  LintFixSettings how;
  how.targets = {settings_.target};
  how.ignore = settings_.ignore;
  how.sizes = {};
  how.verify = verify;
  LintFixed fixed = fix_lint(model_, how);
  for (const LintStep& s : fixed.steps)
    ledger_.push_back({"cure", s.cure, s.done && verify ? "outputs agree" : "", s.done ? "" : s.why});
  model_ = fixed.model;
  // A cure may have moved the opset that was asked for.
  if (settings_.opset && model_.opset() != settings_.opset) to_opset();
}

void Preparing::check_model() {
  std::vector<Diag> found = check(model_), errors;
  for (Diag& d : found)
    if (d.severity == Severity::error) errors.push_back(std::move(d));
  if (!errors.empty()) throw Error(std::move(errors));
  record("check", "the model keeps ONNX's rules");
}

}  // namespace preparing

Prepared prepare(const Model& model, const PrepareSettings& settings) {
  const support::ProgressScope told(settings.progress);
  return preparing::Preparing(model, settings).run();
}

std::string to_json(const Prepared& p, const std::string& file) {
  json::Writer w;
  w.object().key("ledger").array();
  for (const PrepareStep& s : p.ledger) {
    w.object().key("step").value(s.step).key("what").value(s.what);
    if (!s.checked.empty()) w.key("checked").value(s.checked);
    if (!s.why_not.empty()) w.key("why_not").value(s.why_not);
    w.end();
  }
  w.end().key("lint").raw(to_json(p.lint, file));
  if (p.quantized) w.key("quantized").raw(to_json(*p.quantized));
  if (p.half) w.key("half").raw(to_json(*p.half));
  return w.end().text();
}

}  // namespace cameo
