#include "quant/half/half.h"

#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "ops/inline.h"
#include "ops/schema.h"
#include "ops/soundness.h"
#include "quant/half/epsilons.h"
#include "quant/half/ranges.h"
#include "quant/half/search.h"
#include "runtime/free_sizes.h"
#include "runtime/inputs.h"
#include "support/budget.h"
#include "support/progress.h"

namespace cameo::quant {

namespace {

constexpr double safety_of_samples = 2, safety_of_made_up = 8;
constexpr size_t made_up_samples = 2;
constexpr int64_t made_up_length = 64;  // of sequences: recurrences show what they do after some steps only
constexpr double clamped_mask = 32768;  // masks of f32's least number are any large number in half precision
constexpr double smallest_scale = 0.1;  // of an output
constexpr double reserve = 0.5;         // other engines add up in another order, on other inputs

bool has_steps(const Graph& g) {
  constexpr std::string_view stepping[] = {"GRU", "Loop", "LSTM", "RNN", "Scan"};
  for (uint32_t i = 0; i < g.node_capacity(); ++i)
    if (const Node& n = g[NodeId(i)];
        !n.dead && n.op->domain.empty() &&
        std::find(std::begin(stepping), std::end(stepping), n.op->name) != std::end(stepping))
      return true;
  return false;
}

double tensor_error(const Tensor& got, const Tensor& wanted) {
  if (got.shape() != wanted.shape()) return INFINITY;
  if (wanted.count() == 0) return 0;
  if (wanted.dtype() == DType::string || carrier_of(wanted.dtype()) == Carrier::none)
    return got == wanted ? 0 : INFINITY;
  const std::vector<double> a = got.to_doubles(), b = wanted.to_doubles();
  double worst = 0, largest = 0, differing = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    if (!std::isfinite(b[i]) || (std::fabs(b[i]) >= mask_like && a[i] * std::copysign(1, b[i]) >= clamped_mask))
      continue;
    largest = std::max(largest, std::fabs(b[i]));
    differing += a[i] != b[i];
    worst = std::max(worst, std::isfinite(a[i]) ? std::fabs(a[i] - b[i]) : INFINITY);
  }
  if (!is_float(wanted.dtype())) return differing / static_cast<double>(b.size());
  return worst / std::max(largest, smallest_scale);
}

double datum_error(const Datum& got, const Datum& wanted) {
  if (got.kind != wanted.kind) return INFINITY;
  if (got.kind == Datum::Kind::tensor) return tensor_error(got.tensor, wanted.tensor);
  if (got.kind != Datum::Kind::sequence) return 0;
  return output_error(*got.items, *wanted.items);
}

class Converter {
 public:
  Converter(Model& m, const HalfSettings& s) : m_(m), s_(s) {}

  HalfReport run(const Samples& samples) {
    ops::inline_functions(m_);
    report_.findings = ops::admit(m_);
    units_ = passes::half_units(m_.graph, s_.form);
    keep_asked(m_.graph, units_, s_.keep);
    const size_t most_casts =
        s_.form.to == DType::f16 && !s_.form.products_only ? passes::usual_casts(m_.graph, units_) : SIZE_MAX;
    keep_index_arithmetic(m_.graph, units_);
    keep_refused(m_.graph, units_);
    keep_constants(m_.graph, units_, s_.form.to);
    if (s_.check) measure(samples);
    else report_.unchecked = "asked not to";
    if (!report_.unchecked.empty()) keep_by_operator(m_.graph, units_, magnitude_bounds(m_.graph), s_.form.to);
    HalfSearch search(m_, units_, s_.form.to, kept_, wanted_, reserve * s_.max_error, s_.max_error, most_casts, s_.run,
                      [](uint64_t tried) { tell_progress("measuring models in half precision", tried, 0); });
    HalfVariant best = report_.unchecked.empty() ? checked(search) : search.plain();
    finish(std::move(best), search);
    return std::move(report_);
  }

 private:
  // A model that our engine cannot run is converted by rules only.
  void measure(const Samples& samples) {
    try {
      MeasuredRanges ranges(m_, units_, s_.run);
      if (samples) from_samples(ranges, samples);
      else made_up(ranges);
      std::map<ValueId, double> inputs;
      for (const ValueId v : m_.graph[m_.graph.main()].inputs)
        if (const auto it = ranges.largest().find(v); samples && it != ranges.largest().end()) inputs.insert(*it);
      keep_by_range(m_.graph, units_, ranges.largest(), magnitude_bounds(m_.graph, inputs), s_.form.to,
                    samples ? safety_of_samples : safety_of_made_up, s_.f16_sums);
    } catch (const Error& e) {
      if (samples || support::is_budget(e)) throw;
      report_.unchecked = e.diag().what;
      kept_.clear();
    }
  }

  void add(MeasuredRanges& ranges, const std::vector<Datum>& inputs) {
    tell_progress("measuring ranges", report_.samples++, 0);
    std::vector<Datum> outputs = ranges.sample(inputs);
    if (kept_.size() >= (report_.made_up && has_steps(m_.graph) ? 1 : s_.check_samples)) return;
    kept_.push_back(inputs);
    wanted_.push_back(std::move(outputs));
  }

  void from_samples(MeasuredRanges& ranges, const Samples& samples) {
    for (std::vector<Datum> inputs; inputs.clear(), samples(inputs);) add(ranges, inputs);
    if (kept_.empty())
      throw error("quantize.samples", "there are no samples to measure with")
          .help("some dozens of inputs as the model will see them");
  }

  void made_up(MeasuredRanges& ranges) {
    report_.made_up = true;
    const auto params = runtime::run_inputs(m_.graph);
    std::map<std::string, int64_t> sizes;
    const auto first = runtime::random_inputs(m_.graph, params, 0, {}, &sizes);
    const auto longer = has_steps(m_.graph) ? runtime::longer_sizes(m_.graph, params, sizes, made_up_length) : sizes;
    if (longer != sizes && runs(ranges, runtime::random_inputs(m_.graph, params, 0, longer))) sizes = longer;
    else add(ranges, first);
    for (uint64_t seed = 1; seed < made_up_samples; ++seed)
      add(ranges, runtime::random_inputs(m_.graph, params, seed, sizes));
  }

  // Not every size that shape rules allow is one that the model takes.
  bool runs(MeasuredRanges& ranges, const std::vector<Datum>& inputs) {
    try {
      add(ranges, inputs);
      return true;
    } catch (const Error& e) {
      if (support::is_budget(e)) throw;
      report_.samples = 0;
      return false;
    }
  }

  HalfVariant checked(HalfSearch& search) {
    try {
      return search.run();
    } catch (const Error& e) {
      if (support::is_budget(e)) throw;
      report_.unchecked = cat("the converted model does not run: ", e.diag().what);
      return search.plain();
    }
  }

  // Products that could be half, were the operators those of this opset.
  int64_t possible_products(int64_t opset) const {
    passes::HalfOptions form = s_.form;
    form.opset = opset;
    const std::vector<Unit> units = passes::half_units(m_.graph, form);
    return std::count_if(units.begin(), units.end(), [](const Unit& u) { return u.heavy && u.form != Form::f32; });
  }

  void tell_of_newer_forms() {
    const int64_t now_opset = s_.form.opset, newest = ops::newest_opset - 1;
    if (now_opset <= 0 || now_opset >= newest || std::none_of(units_.begin(), units_.end(), [](const Unit& u) {
          return u.node && u.fixed && u.form == Form::f32;
        }))
      return;
    const int64_t now = possible_products(now_opset);
    if (possible_products(newest) <= now) return;
    for (int64_t opset = now_opset + 1; opset <= newest; ++opset) {
      const int64_t then = possible_products(opset);
      if (then <= now) continue;
      Diag d;
      d.severity = Severity::warning;
      d.code = "convert.half-form";
      d.what = cat(then - now, " of the model's products stay f32: opset ", s_.form.opset, " has no ",
                   ir::name(s_.form.to), " form of them");
      d.hint = cat("--opset ", opset, ", or --float f16");
      report_.findings.push_back(std::move(d));
      return;
    }
  }

  void finish(HalfVariant best, const HalfSearch& search) {
    tell_of_newer_forms();
    report_.tried = search.tried();
    if (report_.unchecked.empty()) report_.error = best.error;
    report_.values = best.made.values, report_.weights = best.made.weights, report_.casts = best.made.casts;
    report_.findings.insert(report_.findings.end(), best.made.notes.begin(), best.made.notes.end());
    const Graph& g = m_.graph;
    for (const Unit& u : best.units) {
      if (u.form != Form::f32 || (u.fixed && u.gives.empty() && reads_constants(u))) continue;
      const ValueId v = u.value ? u.value : u.gives.empty() ? ValueId() : u.gives[0];
      const std::string name = u.node && !g[u.node].name.empty() ? g[u.node].name : v ? g[v].name : "";
      report_.kept.push_back({name, u.node ? std::string(g[u.node].op->name) : "", u.why});
    }
    m_ = std::move(best.model);
    if (!s_.f16_sums) spell_epsilons(m_.graph, best.units);
  }

  // As the scales of a Resize are: nobody would want them in half precision.
  bool reads_constants(const Unit& u) const {
    return u.node && std::all_of(u.reads.begin(), u.reads.end(),
                                 [this](const Unit::Read& r) { return m_.graph.is_constant(r.value); });
  }

  Model& m_;
  const HalfSettings& s_;
  HalfReport report_;
  std::vector<Unit> units_;
  std::vector<std::vector<Datum>> kept_, wanted_;
};

}  // namespace

double output_error(std::span<const Datum> got, std::span<const Datum> wanted) {
  if (got.size() != wanted.size()) return INFINITY;
  double out = 0;
  for (size_t i = 0; i < got.size(); ++i) out = std::max(out, datum_error(got[i], wanted[i]));
  return out;
}

HalfReport to_half(Model& m, const Samples& samples, const HalfSettings& settings) {
  return Converter(m, settings).run(samples);
}

}  // namespace cameo::quant
