#include "quant/weights/weights.h"
#include "support/file_bytes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "formats/mapping.h"
#include "kernels/carrier.h"
#include "ops/infer.h"
#include "ops/inline.h"
#include "ops/on.h"
#include "ops/soundness.h"
#include "quant/weights/plain_products.h"
#include "quant/weights/rewrite.h"
#include "quant/weights/solve.h"
#include "runtime/watch.h"
#include "support/progress.h"

namespace cameo::quant {

namespace {

constexpr int64_t qdq_opset = 21, two_bit_opset = 25;

class WeightQuantizer {
 public:
  WeightQuantizer(Model& m, const WeightOptions& o) : m_(m), o_(o) {}

  WeightResult run(const Samples& samples) {
    check_format();
    if (!samples && (o_.method == WeightMethod::gptq || o_.method == WeightMethod::awq))
      throw error("quantize.samples", cat(weight_method_names[static_cast<size_t>(o_.method)], " needs samples"))
          .help("--calibrate DATA: samples of the model's inputs");
    ops::inline_functions(m_);
    ops::admit(m_);
    out_.opset = o_.form == WeightForm::nbits ? 0 : o_.format.bits == 2 ? two_bit_opset : qdq_opset;
    plain_products(m_.graph, [this](NodeId n, ValueId weight) { return !is_asked_to_stay(n, weight); });
    std::vector<WeightTarget> targets = weight_targets(m_.graph, o_.form == WeightForm::qdq);
    check_names(targets);
    if (samples) inputs_ = input_rows(m_, targets, samples, o_.run);
    bool any = false;
    for (size_t i = 0; i < targets.size(); ++i) {
      tell_progress("weights", i, targets.size());
      any |= quantize(targets[i]);
    }
    if (!any) refuse();
    if (o_.form == WeightForm::nbits) m_.opsets.emplace("com.microsoft", 1);
    infer(m_.graph);
    return std::move(out_);
  }

 private:
  void check_format() const {
    const BlockFormat& f = o_.format;
    if (f.bits != 2 && f.bits != 4 && f.bits != 8)
      throw error("use.value", cat("weights have ", f.bits, " bits")).help("8, 4 or 2");
    if (f.block < 16 || f.block > 256 || (f.block & (f.block - 1)) != 0)
      throw error("use.value", cat("a block has ", f.block, " numbers")).help("16, 32, 64, 128 or 256");
  }

  [[noreturn]] void refuse() const {
    constexpr size_t most_told = 3;
    std::string why;
    for (size_t i = 0; i < std::min(out_.weights.size(), most_told); ++i)
      why += cat(i ? "; '" : "'", out_.weights[i].name, "': ", out_.weights[i].why);
    if (out_.weights.size() > most_told) why += cat("; and ", out_.weights.size() - most_told, " more");
    throw error("quantize.nothing", "no weight of the model can be stored in few bits")
        .why(std::move(why))
        .help(
            "stored so are constants with two axes that MatMul or Gemm multiply with, and tables whose rows Gather "
            "takes");
  }

  bool is_asked_to_stay(NodeId n, ValueId weight) {
    const Graph& g = m_.graph;
    bool any = false;
    for (const std::string& pattern : o_.keep)
      if (runtime::matches(g[weight].name, pattern) || runtime::matches(g, n, pattern)) {
        found_.insert(pattern);
        any = true;
      }
    return any;
  }

  bool is_kept(const WeightTarget& t, const std::string& pattern) const {
    const Graph& g = m_.graph;
    return runtime::matches(g[t.value].name, pattern) ||
           std::any_of(t.uses.begin(), t.uses.end(),
                       [&](const WeightUse& use) { return runtime::matches(g, use.node, pattern); });
  }
  void check_names(const std::vector<WeightTarget>& targets) const {
    for (const std::string& pattern : o_.keep)
      if (!found_.contains(pattern) &&
          std::none_of(targets.begin(), targets.end(), [&](const WeightTarget& t) { return is_kept(t, pattern); }))
        throw error("use.node-name",
                    cat("no weight that could be quantized is called '", pattern, "', and no node that reads one"));
  }

  std::string why_not(const WeightTarget& t) const {
    if (!t.why_not.empty()) return t.why_not;
    for (const std::string& pattern : o_.keep)
      if (is_kept(t, pattern)) return "kept as asked";
    if (o_.form == WeightForm::qdq && o_.format.bits == 2 && t.weight->shape[1] % o_.format.levels_per_byte() != 0)
      return rows_end_inside;
    const bool gathered = std::any_of(t.uses.begin(), t.uses.end(),
                                      [](const WeightUse& use) { return use.kind == WeightUse::Kind::gather; });
    if (gathered && !o_.embeddings) return "embeddings are to stay";
    if (gathered && o_.form == WeightForm::nbits && t.rows()->shape[1] % o_.format.block != 0)
      return "GatherBlockQuantized takes whole blocks only";
    return "";
  }

  bool quantize(const WeightTarget& t) {
    WeightRow& row = out_.weights.emplace_back();
    row.name = m_.graph[t.value].name;
    row.shape = t.weight->shape;
    row.why = why_not(t);
    out_.bytes_before += t.weight->byte_size();
    if (!row.why.empty()) {
      out_.bytes_after += t.weight->byte_size();
      return false;
    }
    const Matrix m = matrix_for(t, row);
    if (m.factors) divide_inputs(t, *m.factors);
    row.quantized = true;
    const int64_t blocks = m.blocks() * m.outputs();
    out_.bytes_after +=
        static_cast<uint64_t>(blocks * m.format.block * m.format.bits / 8 + blocks * ir::bits(t.weight->dtype) / 8 +
                              (m.format.symmetric ? 0 : blocks * m.format.bits / 8));
    if (o_.form == WeightForm::nbits) put_nbits(m_.graph, t, m);
    else put_dequantize(m_.graph, t, m);
    if (in_memory(t.weight->source))
      formats::release_pages(t.weight->source.span());  // of a file: they are not read again
    return true;
  }

  Matrix matrix_for(const WeightTarget& t, WeightRow& row) const {
    Matrix m;
    m.weight = t.rows();
    m.format = o_.format;
    const InputRows x = inputs_of(t, m.depth());
    if (x.rows() == 0) {
      m.method = o_.method == WeightMethod::rtn ? BlockMethod::rtn : BlockMethod::search;
      row.method = weight_method_names[static_cast<size_t>(m.method)];
      return m;
    }
    const double power = product_power(m, x), rtn = product_noise(m, x);
    const auto db = [power](double noise) { return noise > 0 && power > 0 ? 10 * std::log10(power / noise) : 200; };
    row.method = "rtn";
    row.rtn_db = row.db = db(rtn);
    const auto method = best_method(t, m, x);
    auto chosen = method ? solved_by(*method, m, x) : std::nullopt;
    const double noise = chosen ? product_noise(*chosen, x) : rtn;
    if (!chosen || !(noise < rtn)) return m;  // also where samples that are no numbers leave no noise to compare
    row.method = weight_method_names[static_cast<size_t>(*method)];
    row.db = db(noise);
    return *std::move(chosen);
  }

  // Each is tried on one half of the rows and judged on the other: what only suits the rows that it was made for is
  // worse on others than rounding. Nothing: rounding is best.
  std::optional<WeightMethod> best_method(const WeightTarget& t, const Matrix& m, const InputRows& x) const {
    if (o_.method == WeightMethod::rtn) return std::nullopt;
    const auto [known, others] = halves(x);
    std::vector<WeightMethod> tried{WeightMethod::search};
    const bool only_products = std::none_of(t.uses.begin(), t.uses.end(),
                                            [](const WeightUse& use) { return use.kind == WeightUse::Kind::gather; });
    if (o_.method == WeightMethod::gptq || (o_.method == WeightMethod::awq && only_products))
      tried.push_back(o_.method);
    std::optional<WeightMethod> best;
    double least = product_noise(m, others);
    for (const WeightMethod method : tried)
      if (const auto made = solved_by(method, m, known))
        if (const double noise = product_noise(*made, others); noise < least) least = noise, best = method;
    return best;
  }

  std::optional<Matrix> solved_by(WeightMethod method, const Matrix& m, const InputRows& x) const {
    Matrix out = m;
    if (method == WeightMethod::gptq) {
      out.solved = gptq(m, x, o_.run.threads);
      return out.solved ? std::optional(std::move(out)) : std::nullopt;
    }
    out.method = BlockMethod::search;
    out.importance = std::make_shared<const std::vector<float>>(importance_of(x));
    if (method != WeightMethod::awq) return out;
    std::vector<float> factors = awq_factors(out, x);
    if (factors.empty()) return std::nullopt;
    out.factors = std::make_shared<const std::vector<float>>(std::move(factors));
    return out;
  }

  // What all products of the weight are multiplied with.
  InputRows inputs_of(const WeightTarget& t, int64_t depth) const {
    InputRows out;
    out.depth = depth;
    std::set<ValueId> seen;
    for (const WeightUse& use : t.uses) {
      const auto it = use.kind == WeightUse::Kind::product ? inputs_.find(m_.graph[use.node].inputs[0]) : inputs_.end();
      if (it == inputs_.end() || it->second.depth != depth || !seen.insert(it->first).second) continue;
      out.numbers.insert(out.numbers.end(), it->second.numbers.begin(), it->second.numbers.end());
    }
    return out;
  }

  // The products' data divided by what their weights are multiplied with.
  void divide_inputs(const WeightTarget& t, const std::vector<float>& factors) {
    Graph& g = m_.graph;
    std::vector<float> inverse;
    for (const float f : factors) inverse.push_back(1 / f);
    const ValueId by = g.add_constant(store(t.weight->dtype, {static_cast<int64_t>(inverse.size())}, inverse),
                                      g[t.value].name.empty() ? "" : cat(g[t.value].name, "_awq"), g[t.value].home);
    for (const WeightUse& use : t.uses) {
      const ValueId x = g[use.node].inputs[0];
      const NodeId n = g.add_node(g[use.node].home, op_of<op::Mul>(), nullptr, {x, by}, 1, use.node);
      g.fact(g[n].outputs[0]) = g[x].fact;
      g.set_input(use.node, 0, g[n].outputs[0]);
    }
  }

  Model& m_;
  const WeightOptions& o_;
  WeightResult out_;
  std::map<ValueId, InputRows> inputs_;
  std::set<std::string> found_;  // patterns of products that stay as they are
};

}  // namespace

WeightResult quantize_each_weight(Model& m, const Samples& samples, const WeightOptions& options) {
  return WeightQuantizer(m, options).run(samples);
}

}  // namespace cameo::quant
