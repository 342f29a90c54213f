#include "api/simplify_check.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/onnx/simplify_for_opset.h"
#include "engine/session.h"
#include "kernels/carrier.h"
#include "runtime/inputs.h"
#include "runtime/reference.h"
#include "support/budget.h"
#include "support/progress.h"
#include "support/random.h"

namespace cameo::api {

namespace {

int64_t size_of(Dim d, int64_t set, std::map<std::string, int64_t>& sizes) {
  if (d.is_literal()) return d.literal();
  std::vector<Substitution> known;
  for (const Dim s : symbols_of(d)) {
    const auto [it, is_new] = sizes.try_emplace(std::string(symbol_name(s)), 0);
    if (is_new) it->second = 1 + (set + static_cast<int64_t>(sizes.size()) - 1) % 4;
    known.push_back({s, Dim(it->second)});
  }
  return std::max<int64_t>(0, evaluate(d, known).value_or(1));
}

// Signed numbers near 1, then large ones, then mostly zeros.
Tensor sample(DType t, const std::vector<int64_t>& shape, int64_t set, Random& random) {
  constexpr int64_t most = int64_t{1} << 26;  // as for inputs that `run --random` makes up
  if (element_count(shape) > most)
    throw error("simplify.check", cat("an input of ", element_count(shape), " elements is too large to make up"))
        .help("simplify without --check, or give its size with --overwrite-input-shape");
  const auto count = narrow<size_t>(element_count(shape));
  if (is_float(t)) {
    std::vector<double> v(count);
    const double scale = set % 3 == 1 ? 50 : 2;
    for (double& x : v) x = set % 3 == 2 && random.next() % 2 ? 0 : scale * random.signed_unit();
    return store(t, shape, v);
  }
  std::vector<int64_t> v(count);
  for (int64_t& x : v) x = static_cast<int64_t>(random.next() % 2);
  return store(t, shape, v);
}

}  // namespace

std::vector<Datum> made_up_inputs(const Graph& g, int64_t set, const CheckOptions& check) {
  auto sizes = check.sizes;
  Random random{static_cast<uint64_t>(set) + 1};
  std::vector<Datum> out;
  for (const ValueId v : run_inputs(g)) {
    const Type& t = g[v].fact.type;
    if (g[v].weight || t.is_optional()) {
      out.emplace_back();
      continue;
    }
    if (!t.is_tensor() || !t.has_rank() || t.elem == DType::undefined || t.elem == DType::string || is_complex(t.elem))
      throw error("simplify.inputs", cat("the input '", g[v].name, "' (", t.text(), ") cannot be made up"));
    std::vector<int64_t> shape;
    for (const Dim d : *t.shape) shape.push_back(size_of(d, set, sizes));
    out.emplace_back(sample(t.elem, shape, set, random));
  }
  return out;
}

namespace {

double largest(const Datum& d) {
  if (d.kind != Datum::Kind::tensor || !is_float(d.tensor.dtype())) return 0;
  double out = 0;
  for (const double v : d.tensor.to_doubles())
    if (std::isfinite(v)) out = std::max(out, std::abs(v));
  return out;
}

// Why they differ; empty when they do not.
std::string difference(const std::vector<Datum>& found, const std::vector<Datum>& wanted, const CheckOptions& check,
                       double& worst) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    Tolerance t = check.tolerance;
    if (!t.rtol) t.rtol = 1e-3;
    if (!t.atol) t.atol = 1e-4 * std::max(1e-3, largest(wanted[i]));
    const Comparison c = compare(found[i], wanted[i], t);
    if (!c.same) return cat("output ", i, ": ", c.why);
    worst = std::max(worst, c.worst);
  }
  return "";
}

struct Sample {
  std::vector<Datum> inputs, outputs;
  std::vector<Datum> reference;  // outputs by the reference kernels, made on first use
};

// A model that is run several times: by the engine, and by the reference kernels where it cannot or must not.
class Runs {
 public:
  Runs(const Model& m, const ops::CustomOps& kernels, bool fast) : m_(m), kernels_(kernels) {
    SessionOptions options;
    options.kernels = kernels;
    if (fast) try {
        session_.emplace(m, options);
      } catch (const Error& e) {
        if (is_budget(e)) throw;
      }
  }
  std::vector<Datum> run(const std::vector<Datum>& inputs) const {
    return session_ ? session_->run(inputs) : by_reference(inputs);
  }
  std::vector<Datum> by_reference(const std::vector<Datum>& inputs) const {
    ReferenceOptions options;
    options.kernels = kernels_;
    return run_reference(m_, inputs, options);
  }

 private:
  const Model& m_;
  const ops::CustomOps& kernels_;
  std::optional<Session> session_;
};

class Checker {
 public:
  Checker(const Model& original, int64_t opset, const SimplifyOptions& options, const CheckOptions& check)
      : original_(original), opset_(opset), options_(options), check_(check) {
    const Runs runs(original, check_.kernels, fast());
    for (int64_t set = 0; set < check.inputs; ++set) try {
        Sample s{made_up_inputs(original.graph, set, check), {}, {}};
        s.outputs = runs.run(s.inputs);
        samples_.push_back(std::move(s));
      } catch (const Error& e) {
        if (ends_work(e)) throw;
        out.skipped.push_back(e.diag().what);
      }
    out.compared = samples_.size();
  }

  Model settle(DiagSink* diags) {
    constexpr size_t most_undone = 32;
    for (;;) {
      Model m = made(SIZE_MAX, diags);
      const std::string why = wrong(m);
      if (why.empty()) return m;
      if (out.undone.size() >= most_undone)
        throw error("simplify.differs", cat("the simplified model differs, ", why, ", and leaving out ",
                                            out.undone.size(), " rewrites does not help"));
      undo_one(why);
    }
  }

  CheckedResult out;

 private:
  Model made(size_t limit, DiagSink* diags = nullptr) {
    Model m = original_;
    SimplifyOptions how = options_;
    how.limit = limit;
    out.result = simplify_for_opset(m, opset_, how, false, diags);
    return m;
  }

  // The engine sums up in another order when operators are others: only the reference kernels agree to the last digit.
  bool fast() const { return check_.tolerance.rtol.value_or(1) != 0 || check_.tolerance.atol.value_or(1) != 0; }

  std::string wrong(const Model& m) {
    try {
      const Runs runs(m, check_.kernels, fast());
      for (Sample& s : samples_) {
        double worst = 0;
        std::string why = difference(runs.run(s.inputs), s.outputs, check_, worst);
        if (!why.empty() && fast()) why = wrong_by_reference(runs, s, worst);
        if (!why.empty()) return why;
        out.worst = std::max(out.worst, worst);
      }
    } catch (const Error& e) {
      if (is_budget(e)) throw;
      return e.diag().what;
    }
    return "";
  }

  // What the engine finds different counts only when the reference kernels do.
  std::string wrong_by_reference(const Runs& runs, Sample& s, double& worst) {
    if (s.reference.empty()) s.reference = Runs(original_, check_.kernels, false).by_reference(s.inputs);
    worst = 0;
    return difference(runs.by_reference(s.inputs), s.reference, check_, worst);
  }

  // The first application after which the outputs differ.
  void undo_one(const std::string& why) {
    const auto ledger = out.result.ledger;
    size_t fine = 0, bad = ledger.size();
    if (bad == 0) throw error("simplify.differs", cat("the model differs from itself: ", why));
    while (bad - fine > 1) {
      const size_t middle = fine + (bad - fine) / 2;
      (wrong(made(middle)).empty() ? fine : bad) = middle;
    }
    out.undone.push_back(ledger[bad - 1]);
    options_.veto.insert(ledger[bad - 1].key());
  }

  const Model& original_;
  int64_t opset_;
  SimplifyOptions options_;
  const CheckOptions& check_;
  std::vector<Sample> samples_;
};

}  // namespace

CheckedResult simplify_checked(Model& m, int64_t opset, const SimplifyOptions& options, const CheckOptions& check,
                               DiagSink* diags) {
  const Model original = m;
  Checker checker(original, opset, options, check);
  m = checker.settle(diags);
  return std::move(checker.out);
}

}  // namespace cameo::api
