#include "quant/quantize.h"

#include <algorithm>
#include <cmath>

#include "backends/onnx/simplify_for_opset.h"
#include "ir/node_name.h"
#include "kernels/carrier.h"
#include "ops/infer.h"
#include "ops/inline.h"
#include "ops/soundness.h"
#include "passes/half/widen.h"
#include "quant/dynamic/rest.h"
#include "quant/channels.h"
#include "quant/evaluate/bias_means.h"
#include "quant/evaluate/search.h"
#include "quant/forms.h"
#include "quant/samples/kept.h"
#include "quant/schemes/product.h"
#include "runtime/inputs.h"
#include "runtime/watch.h"
#include "support/progress.h"

namespace cameo::quant {

namespace {

constexpr size_t plotted = 12;
constexpr double luck_db = 1;  // that few numbers of an output may be better than others by chance
constexpr double least_loss_db = 1;
constexpr double enough_db = 6;      // beyond what is asked for
constexpr double least_gain_db = 1;  // that floats between products are worth
constexpr size_t least_halved = 4;   // samples, so that one half may judge the other

const Target& target_of(const std::string& name) {
  if (const Target* t = find_target(name)) return *t;
  std::string all;
  for (const Target& t : targets()) all += cat(all.empty() ? "" : ", ", t.name);
  throw error("use.target", cat("there is no target '", name, "'")).help(cat("targets are: ", all));
}

class Quantizer {
 public:
  Quantizer(Model& m, const Samples& samples, const Options& o)
      : m_(m), o_(o), target_(target_of(o.asked.target)), samples_(samples) {}

  Result run() {
    samples_.read(std::max<size_t>(1, o_.asked.check_samples));
    freeze_defaults();
    prepare();
    const std::set<NodeId> asked = kept_nodes();
    std::set<NodeId> keep = asked;
    if (const Selection s(m_.graph, target_, keep); s.nodes().empty()) return without_ranges();
    else if (o_.asked.equalize) try_scaled(s, keep);
    else calibration_ = calibrated(m_, wishes(s));
    calibrate();
    const Selection widest(m_.graph, target_, keep);
    VariantMaker maker(m_, target_, *calibration_, o_.asked.percentile, scaled_);
    const Graph sized = sized_graph();
    const Evaluator evaluator(m_, samples_.all(), watched(widest, scaled_), o_.run);
    if (o_.asked.compensate) maker.compensate(widest.nodes(), samples_.all(), o_.run);
    BiasMeans means(m_, corrigible(widest), samples_.few(), o_.run);
    Search search(m_, sized, maker, means, o_, [&](const Choice& choice, Effort effort) {
      tell_progress("measuring quantized models", search_ ? search_->tried() : 0, 0);
      Variant v = judged(choice, maker, evaluator, effort);
      v.score = o_.metric && effort == Effort::everything ? o_.metric(v.model) : v.evaluation.merit_db();
      return v;
    });
    search_ = &search;
    if (evaluator.has_features()) search.set_goal(o_.asked.min_db + luck_db);
    if (o_.metric) {
      out_.report.float_metric = o_.metric(m_);
      search.set_goal(*out_.report.float_metric - o_.asked.max_drop);
    }
    const Variant best = search.run(keep);
    report(best, maker, search, asked);
    m_ = best.model;
    add_rest(evaluator);
    warn_of_nan();
    if (o_.asked.form == "qoperator") {
      infer(m_.graph);
      to_qoperator(m_.graph);
    }
    return std::move(out_);
  }

 private:
  Error nothing_to_do() const {
    const Graph& g = m_.graph;
    for (const NodeId n : g.nodes(g.main()))
      if (const std::string_view op = g[n].op->name;
          op.starts_with("QLinear") || op.ends_with("Integer") || op == "QGemm")
        return error("quantize.nothing", cat("the model is quantized already: it holds ", op))
            .help("quantize the float model; cameo convert changes the form of a quantized one");
    return error("quantize.nothing", cat("no node of the model can be quantized for ", target_.name))
        .help(target_.rounds_data
                  ? "only products with constant weights (Conv, Gemm, MatMul) and LSTM are quantized; in bodies of If, "
                    "Loop and Scan only Gemm and MatMul"
                  : "only products with constant weights in the main graph are quantized: Conv, Gemm, MatMul");
  }

  void prepare() {
    const auto own = m_.opsets.find("");
    const int64_t asked = o_.opset ? o_.opset : own == m_.opsets.end() ? 0 : own->second;
    out_.opset = std::max(asked, target_.opset);
    inline_functions(m_);
    passes::widen_halves(m_.graph);
    DiagSink diags;
    if (o_.asked.simplify) backends::simplify_for_opset(m_, out_.opset, {}, false, &diags);
    else
      for (Diag& d : admit(m_)) diags.add(std::move(d));
    for (const Diag& d : diags.all()) out_.findings.push_back(d);
  }

  std::set<NodeId> kept_nodes() const {
    const Graph& g = m_.graph;
    std::set<NodeId> out;
    for (const std::string& pattern : o_.asked.keep) {
      bool any = false;
      for (const NodeId n : g.nodes(g.main()))
        if (g[n].op->name == pattern || matches(node_name(g, n), pattern) ||
            std::any_of(g[n].outputs.begin(), g[n].outputs.end(),
                        [&](ValueId v) { return matches(g[v].name, pattern); }))
          out.insert(n), any = true;
      if (!any)
        throw error("use.node-name", cat("no node is called '", pattern, "', and none is of that operator"))
            .help("names as in the report, * and ? stand for any text and any letter");
    }
    return out;
  }

  Calibration::Wishes wishes(const Selection& s) const {
    Calibration::Wishes out;
    for (const ValueId v : s.values()) out[v] = -1;
    for (const NodeId n : s.nodes())
      if (const auto p = product_of(m_.graph, n); p && (out.contains(p->data) || is_dequantized(m_.graph, p->data)))
        out[p->data] = p->data_axis;
    return out;
  }

  void warn_of_nan() {
    const uint64_t n = samples_.without_number();
    if (n)
      tell_of(Severity::warning, "quantize.nan",
              cat(n, n == 1 ? " sample holds" : " samples hold", " NaN and was left out"));
  }
  void tell_of(Severity severity, const char* code, std::string what) {
    Diag d;
    d.severity = severity, d.code = code, d.what = std::move(what);
    out_.findings.push_back(std::move(d));
  }

  // Old files list every weight among the inputs. Those that samples give no value are constants.
  void freeze_defaults() {
    const std::vector<ValueId> params = run_inputs(m_.graph);
    size_t frozen = 0;
    for (size_t i = params.size(); i-- > 0;) {
      if (!m_.graph[params[i]].weight || !samples_.leaves_open(i)) continue;
      m_.graph.promote_to_initializer(params[i]);
      samples_.drop(i);
      ++frozen;
    }
    if (frozen)
      tell_of(Severity::note, "quantize.weight-inputs",
              cat(frozen, frozen == 1 ? " weight that is also an input becomes a constant"
                                      : " weights that are also inputs become constants"));
  }

  std::unique_ptr<Calibration> calibrated(const Model& m, const Calibration::Wishes& wanted) {
    auto out = std::make_unique<Calibration>(m, wanted, o_.run);
    for (const auto& inputs : samples_.all()) {
      tell_progress("calibrating", out->samples(), 0);
      out->sample(inputs);
    }
    return out;
  }

  // Each half of the samples with ranges that the other half gives, as other samples will meet them. If not everything
  // is asked for, the model is one of a half.
  static Variant judged(const Choice& choice, VariantMaker& maker, const Evaluator& evaluator, Effort effort) {
    const bool quick = effort != Effort::everything, few = effort == Effort::few_samples;
    const auto measured = [&](const Variant& it, Half half) {
      return quick ? evaluator.compare(it.model, it.inserted.dequantized, half, few)
                   : evaluator.measure(it.model, it.inserted.dequantized, half);
    };
    const bool halves = evaluator.samples() >= least_halved;
    Variant out = maker.make(choice, halves ? Half::odd : Half::both);
    out.evaluation = measured(out, halves ? Half::even : Half::both);
    if (!halves) return named(std::move(out), maker);
    out.evaluation.add(measured(maker.make(choice, Half::even), Half::odd));
    if (quick) return named(std::move(out), maker);
    Variant whole = maker.make(choice);
    whole.evaluation = measured(whole, Half::both);
    if (out.evaluation.merit_db() < whole.evaluation.merit_db()) whole.evaluation = std::move(out.evaluation);
    return named(std::move(whole), maker);
  }

  // The noise of a value that has factors is seen behind them.
  static Variant named(Variant v, const VariantMaker& maker) {
    for (const ScaledChannels& c : maker.scaled())
      if (const auto it = v.evaluation.values.find(c.result); c.maker && it != v.evaluation.values.end())
        v.evaluation.values[c.value] = it->second;
    return v;
  }

  static std::vector<ValueId> watched(const Selection& s, const std::vector<ScaledChannels>& scaled) {
    std::vector<ValueId> out(s.values().begin(), s.values().end());
    for (const ScaledChannels& c : scaled)
      if (c.multiplication && c.maker) out.push_back(c.result);
    return out;
  }

  // Also what channels of products' results are.
  Calibration::Wishes wishes_of_channels(const Selection& s) const {
    Calibration::Wishes out = wishes(s);
    const Graph& g = m_.graph;
    for (const NodeId n : s.nodes())
      if (const auto p = product_of(g, n); p && g[s.result(n)].fact.has_rank())
        if (const auto it = out.find(s.result(n)); it != out.end() && it->second < 0)
          it->second = g[n].is("MatMul") ? static_cast<int64_t>(g[it->first].fact.rank()) - 1 : 1;
    return out;
  }

  // A model with factors of channels.
  struct Scaled {
    Model model;
    std::vector<ScaledChannels> factors;
    std::set<NodeId> keep;
    std::unique_ptr<Calibration> calibration;
    double db = 0;
  };

  // `keep` without the multiplications that factors need.
  Scaled scaled(const std::set<NodeId>& keep) {
    const auto moments = [&](ValueId v) -> const ChannelMoments* {
      const ValueStatistics* found = calibration_->of(v);
      return found ? &found->channels : nullptr;
    };
    Scaled out{m_, {}, keep, nullptr};
    Graph& g = out.model.graph;
    out.factors = scale_channels(g, Selection(g, target_, keep), moments, target_.scales_channels);
    if (out.factors.empty()) return out;
    for (const ScaledChannels& c : out.factors)
      if (c.multiplication) out.keep.insert(c.multiplication);
    infer(g);
    const Selection changed(g, target_, out.keep);
    out.calibration = calibrated(out.model, wishes(changed));
    out.db = quick_db(out.model, *out.calibration, changed, out.keep, out.factors);
    return out;
  }

  double quick_db(const Model& m, const Calibration& c, const Selection& s, const std::set<NodeId>& keep,
                  const std::vector<ScaledChannels>& factors) {
    const Evaluator evaluator(m, samples_.all(), watched(s, factors), o_.run);
    VariantMaker maker(m, target_, c, o_.asked.percentile, factors);
    const Method method = o_.method == Method::automatic ? Method::mse : o_.method;
    return judged({.keep = keep, .method = method}, maker, evaluator, Effort::all_samples).evaluation.merit_db();
  }

  // Factors of channels are taken where the quantized model gets better by them; also with floats between products,
  // so that more values can have a scale per channel, where that is a lot better and needed.
  void try_scaled(const Selection& s, std::set<NodeId>& keep) {
    calibration_ = calibrated(m_, wishes_of_channels(s));
    double best = quick_db(m_, *calibration_, s, keep, {});
    Scaled found = scaled(keep);
    bool any = !found.factors.empty() && found.db > best;
    if (any) best = found.db;
    if (target_.scales_channels && best < o_.asked.min_db + enough_db) {
      std::set<NodeId> floats = keep;
      for (const NodeId n : s.nodes())
        if (const OperatorRow* row = find_operator(target_, m_.graph[n]);
            row && (row->role == Role::computes || row->role == Role::joins))
          floats.insert(n);
      if (Scaled other = scaled(floats); floats != keep && !other.factors.empty() && other.db > best + least_gain_db)
        found = std::move(other), any = true;
    }
    if (!any) return;
    m_ = std::move(found.model);
    calibration_ = std::move(found.calibration);
    scaled_ = std::move(found.factors);
    keep = std::move(found.keep);
    out_.report.equalized = true;
  }

  // Products whose bias can be changed.
  std::vector<NodeId> corrigible(const Selection& s) const {
    const Graph& g = m_.graph;
    std::vector<NodeId> out;
    for (const NodeId n : g.nodes(g.main())) {
      const auto p = s.has(n) && !g[n].is("MatMul") ? product_of(g, n) : std::nullopt;
      if (p && p->plain_bias && (!p->bias || g.is_constant(p->bias))) out.push_back(n);
    }
    return out;
  }

  void calibrate() {
    for (std::vector<Datum> inputs; samples_.next(inputs);) {
      tell_progress("calibrating", calibration_->samples(), 0);
      calibration_->sample(inputs);
    }
  }

  // With the sizes of the first sample.
  Graph sized_graph() const {
    Graph g = m_.graph;
    const auto params = run_inputs(g);
    const std::vector<Datum>& first = samples_.all()[0];
    for (size_t i = 0; i < params.size() && i < first.size(); ++i)
      if (first[i].kind == Datum::Kind::tensor) {
        Shape shape;
        for (const int64_t size : first[i].tensor.shape()) shape.push_back(Dim(size));
        g.fact(params[i]).type = Type::tensor(first[i].tensor.dtype(), shape);
      }
    infer(g);
    return g;
  }

  void report(const Variant& best, VariantMaker& maker, Search& search, const std::set<NodeId>& asked) {
    QuantizeReport& r = out_.report;
    r.target = target_.name;
    r.method = best.choice.methods.empty() ? method_names[static_cast<size_t>(best.choice.method)] : "several";
    r.samples = calibration_->samples();
    r.db = best.evaluation.worst_db();
    if (o_.metric) r.metric = best.score;
    r.reached = o_.metric ? search.reached(best) : r.db >= o_.asked.min_db;
    r.compensated = best.choice.compensate;
    r.corrected_bias = !best.choice.shifts.empty();
    for (const OutputNoise& o : best.evaluation.outputs) {
      QuantizedOutput& to = r.outputs.emplace_back(QuantizedOutput{o.name, o.all.db(), {}});
      for (const auto& p : o.parts) to.parts.emplace_back(p.what, p.power.db());
    }
    double quantized = 0;
    std::set<NodeId> factors;  // no part of the model that was given
    for (const ScaledChannels& c : scaled_) factors.insert(c.multiplication);
    for (const NodeId n : m_.graph.nodes(m_.graph.main())) {
      if (factors.contains(n)) continue;
      if (!best.nodes.contains(n) && search.macs(n) == 0 && !maker.refused().contains(n) &&
          !best.choice.keep.contains(n))
        continue;
      r.nodes.push_back(node_report(n, best, maker, search, asked));
      if (best.nodes.contains(n)) quantized += search.macs(n);
    }
    r.int8_macs = search.all_macs() > 0 ? quantized / search.all_macs() : 0;
    for (const auto& [v, scale] : best.scales) {
      r.values.push_back(value_report(v, scale, best));
      names_.emplace_back(v, r.values.back().name);
    }
    std::stable_sort(r.values.begin(), r.values.end(), [](const auto& a, const auto& b) { return a.db < b.db; });
    r.tried = search.tried();
    for (size_t i = 0; i < r.values.size() && i < plotted; ++i) plot(r.values[i]);
  }

  // Models of LSTM or of bodies only.
  Result without_ranges() {
    const Evaluator evaluator(m_, samples_.all(), {}, o_.run);
    QuantizeReport& r = out_.report;
    r.target = target_.name;
    r.method = "rounding at run time";
    r.samples = samples_.all().size();
    for (std::vector<Datum> inputs; samples_.next(inputs);) ++r.samples;
    add_rest(evaluator);
    if (r.nodes.empty()) throw nothing_to_do();
    r.reached = o_.metric || r.db >= o_.asked.min_db;
    warn_of_nan();
    return std::move(out_);
  }

  // LSTM and products in bodies, where outputs stay as good as asked for, or nearly as good as they are.
  void add_rest(const Evaluator& evaluator) {
    if (!target_.rounds_data) return;
    Model other = m_;
    const std::vector<DynamicRow> rows = quantize_rest(other, o_.asked.keep);
    if (rows.empty()) return;
    const Evaluation before = evaluator.measure(m_, {}), after = evaluator.measure(other, {});
    const bool good = o_.metric ? o_.metric(other) >= o_.metric(m_) - o_.asked.max_drop
                                : after.worst_db() >= std::min(o_.asked.min_db, before.worst_db() - least_loss_db);
    QuantizeReport& r = out_.report;
    for (const DynamicRow& row : rows) {
      const auto there = std::find_if(r.nodes.begin(), r.nodes.end(),
                                      [&](const QuantizedNode& n) { return n.name == row.name && n.op == row.op; });
      QuantizedNode& n = there == r.nodes.end() ? r.nodes.emplace_back() : *there;
      n.name = row.name, n.op = row.op, n.quantized = good;
      if (good) n.bits = target_.weight.bits, n.why = "its data is rounded at run time";
      else n.why = "kept float for the signal to noise of the outputs";
    }
    if (!good) return;
    m_ = std::move(other);
    r.db = std::min(r.db, after.worst_db());
    if (r.outputs.empty()) {
      r.db = after.worst_db();
      for (const OutputNoise& o : after.outputs) r.outputs.push_back({o.name, o.all.db(), {}});
    }
    double quantized = 0, all = 0;
    for (const QuantizedNode& n : r.nodes) all += n.macs, quantized += n.quantized ? n.macs : 0;
    r.int8_macs = all > 0 ? quantized / all : 1;
  }

  void plot(QuantizedValue& v) const {
    for (const auto& [id, name] : names_)
      if (name == v.name) {
        constexpr size_t steps = 64;
        v.plot.assign(steps, 0);
        const double width = (v.high - v.low) / steps;
        const ValueStatistics* seen = calibration_->of(id);
        if (!seen) return;
        for (const auto& b : seen->histogram.bins()) {
          const double at = width > 0 ? ((b.low + b.high) / 2 - v.low) / width : 0;
          v.plot[static_cast<size_t>(std::clamp(at, 0.0, steps - 1.0))] += b.count;
        }
        return;
      }
  }

  QuantizedNode node_report(NodeId n, const Variant& best, const VariantMaker& maker, const Search& search,
                            const std::set<NodeId>& asked) const {
    QuantizedNode out;
    out.name = node_name(m_.graph, n);
    out.op = m_.graph[n].op->name;
    out.quantized = best.nodes.contains(n);
    out.macs = search.macs(n);
    if (const auto gain = search.gains().find(n); gain != search.gains().end()) out.gain_db = gain->second;
    if (out.quantized) {
      out.bits = target_.weight.bits;
      if (const auto p = best.inserted.products.find(n); p != best.inserted.products.end())
        out.weight_db = p->second.weight_db;
      if (const auto v = best.evaluation.values.find(best.results.at(n)); v != best.evaluation.values.end())
        out.db = v->second.db();
    } else if (asked.contains(n)) {
      out.why = "kept float as asked";
    } else if (best.choice.keep.contains(n)) {
      out.why = o_.metric ? "kept float for the metric" : "kept float for the signal to noise of the outputs";
    } else if (const auto refused = maker.refused().find(n); refused != maker.refused().end()) {
      out.why = refused->second;
    } else {
      out.why = cat(target_.name, " has no quantized form that would gain anything here");
    }
    return out;
  }

  QuantizedValue value_report(ValueId v, const Scale& scale, const Variant& best) const {
    QuantizedValue out;
    out.name = m_.graph[v].name;
    out.method = method_names[static_cast<size_t>(best.choice.method_of(v))];
    const Range in = covered(scale, target_.activation);
    out.from = out.low = in.low, out.to = out.high = in.high;
    // The samples may never have come to it, as in a branch.
    if (const ValueStatistics* seen = calibration_->of(v))
      out.low = seen->histogram.min(), out.high = seen->histogram.max();
    out.scale = scale.scale, out.zero_point = scale.zero;
    if (const auto p = best.evaluation.values.find(v); p != best.evaluation.values.end()) out.db = p->second.db();
    return out;
  }

  Model& m_;
  const Options& o_;
  const Target& target_;
  Result out_;
  std::unique_ptr<Calibration> calibration_;
  KeptSamples samples_;
  std::vector<ScaledChannels> scaled_;
  Search* search_ = nullptr;
  std::vector<std::pair<ValueId, std::string>> names_;
};

}  // namespace

int64_t lowest_opset(const std::string& target) { return target_of(target).opset; }

Result quantize(Model& m, const Samples& samples, const Options& options) {
  return Quantizer(m, samples, options).run();
}

}  // namespace cameo::quant
