#include "quant/half/search.h"

#include <algorithm>

#include "engine/session.h"
#include "kernels/carrier.h"
#include "quant/half/half.h"
#include "runtime/inputs.h"

namespace cameo::quant {

namespace {

constexpr size_t finest_part = 8;  // an eighth of the stretch is the smallest part that is given back

constexpr double dearest_cast = 1 << 20;

size_t half_products(const std::vector<Unit>& units) {
  return static_cast<size_t>(
      std::count_if(units.begin(), units.end(), [](const Unit& u) { return u.heavy && u.form == Form::half; }));
}

// The inputs in the types that the converted model has.
std::vector<Datum> converted(const Graph& g, const std::vector<Datum>& inputs) {
  std::vector<Datum> out = inputs;
  const auto params = runtime::run_inputs(g);
  for (size_t i = 0; i < out.size() && i < params.size(); ++i)
    if (out[i].kind == Datum::Kind::tensor && out[i].tensor.dtype() == DType::f32 &&
        g[params[i]].fact.dtype() != DType::f32)
      out[i] = Datum(convert(out[i].tensor, g[params[i]].fact.dtype()));
  return out;
}

}  // namespace

HalfSearch::HalfSearch(const Model& m, std::vector<Unit> units, DType half,
                       const std::vector<std::vector<Datum>>& samples, const std::vector<std::vector<Datum>>& wanted,
                       double max_error, double most_error, size_t most_casts, engine::SessionOptions run,
                       std::function<void(uint64_t)> tell)
    : m_(m),
      units_(std::move(units)),
      half_(half),
      samples_(samples),
      wanted_(wanted),
      max_error_(max_error),
      most_error_(most_error),
      most_casts_(most_casts),
      run_(std::move(run)),
      tell_(std::move(tell)) {
  for (size_t i = 0; i < units_.size(); ++i)
    if (units_[i].form != Form::f32) order_.push_back(i);
}

// Casts get dearer until there are few enough.
double HalfSearch::place(std::vector<Unit>& units) const {
  const std::vector<Unit> open = units;
  const double cost = passes::place_casts(m_.graph, units);
  if (passes::cast_count(m_.graph, units) <= most_casts_) return cost;
  for (double price = 2; price <= dearest_cast; price *= 2) {
    std::vector<Unit> fewer = open;
    const double more = passes::place_casts(m_.graph, fewer, price);
    if (passes::cast_count(m_.graph, fewer) > most_casts_) continue;
    if (half_products(fewer) == 0 && half_products(units) > 1) break;  // rather more casts than nothing
    units = std::move(fewer);
    return more;
  }
  return cost;
}

HalfVariant HalfSearch::made(const Kept& keep) {
  HalfVariant out{m_, units_, {}, 0, 0};
  for (const size_t at : keep) keep_f32(out.units[order_[at]], "kept for the error of the outputs");
  out.cost = place(out.units);
  out.made = passes::apply_forms(out.model.graph, out.units, half_, weights_);
  return out;
}

HalfVariant HalfSearch::measured(const Kept& keep) {
  tell_(tried_++);
  HalfVariant out = made(keep);
  const engine::Session session(out.model, run_);
  for (size_t i = 0; i < samples_.size(); ++i)
    out.error = std::max(out.error, output_error(session.run(converted(out.model.graph, samples_[i])), wanted_[i]));
  return out;
}

HalfVariant HalfSearch::plain() { return made({}); }

HalfSearch::Kept HalfSearch::stretch(size_t first, size_t last) const {
  Kept out;
  for (size_t i = first; i < last; ++i) out.insert(out.end(), i);
  return out;
}

// Moves one end of [first, last) towards the other as far as the outputs stay right.
void HalfSearch::shrink(HalfVariant& best, Kept& keep, size_t first, size_t last) {
  size_t low = first, high = last;  // [first, high) is right; [first, low) is not known to be
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    HalfVariant v = measured(stretch(first, middle));
    if (v.error <= max_error_) best = std::move(v), high = middle;
    else low = middle + 1;
  }
  const size_t end = high;
  low = first, high = end;
  while (low < high) {
    const size_t middle = low + (high - low + 1) / 2;
    HalfVariant v = measured(stretch(middle, end));
    if (v.error <= max_error_) best = std::move(v), low = middle;
    else high = middle - 1;
  }
  keep = stretch(low, end);
}

void HalfSearch::give_back(HalfVariant& best, Kept& keep) {
  const std::vector<size_t> all(keep.begin(), keep.end());
  for (size_t part = 2; part <= finest_part && all.size() / part > 0; part *= 2)
    for (size_t i = 0; i < part; ++i) {
      Kept fewer = keep;
      for (size_t k = all.size() * i / part; k < all.size() * (i + 1) / part; ++k) fewer.erase(all[k]);
      if (fewer.size() == keep.size()) continue;
      HalfVariant v = measured(fewer);
      if (v.error <= max_error_ && v.cost < best.cost && v.made.casts <= best.made.casts)
        best = std::move(v), keep = std::move(fewer);
    }
}

HalfVariant HalfSearch::run() {
  HalfVariant best = measured({});
  if (best.error <= max_error_) return best;
  const double all_half = best.error;
  Kept keep;
  shrink(best, keep, 0, order_.size());
  if (best.error > max_error_) return measured(stretch(0, order_.size()));
  give_back(best, keep);
  // The reserve is for other engines; it is not worth the whole conversion.
  return best.made.values == 0 && all_half <= most_error_ ? measured({}) : best;
}

}  // namespace cameo::quant
