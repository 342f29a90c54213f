#include "quant/evaluate/evaluation.h"

#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "quant/schemes/saturation.h"
#include "support/error.h"

namespace cameo::quant {

namespace {

constexpr double no_noise_db = 200;
constexpr size_t kept_numbers = 2048;  // of a value in one sample
constexpr double apart = 8;
constexpr size_t few_numbers = 4096, few_samples = 8;

bool is_real(const Datum& d) {
  return d.kind == Datum::Kind::tensor &&
         (carrier_of(d.tensor.dtype()) == Carrier::f32 || carrier_of(d.tensor.dtype()) == Carrier::f64);
}

void add(Power& p, double wanted, double got) {
  if (!std::isfinite(wanted)) return;
  p.signal += wanted * wanted;
  p.noise += std::isfinite(got) ? (got - wanted) * (got - wanted) : wanted * wanted + 1;
}

// An even selection in the order of the value's own axes, however they lie in memory.
std::vector<float> selection_of(const engine::Observation& o) {
  const size_t rank = o.dims.size();
  std::vector<int64_t> shape(rank), strides(rank);
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    shape[o.axes[i]] = o.dims[i], strides[o.axes[i]] = stride;
    stride *= o.dims[i];
  }
  const auto* data = reinterpret_cast<const float*>(o.bytes.data());
  const auto count = static_cast<int64_t>(o.bytes.size() / sizeof(float));
  const int64_t step =
      count <= static_cast<int64_t>(kept_numbers) ? 1 : (count / static_cast<int64_t>(kept_numbers)) | 1;
  if (count == 0) return {};
  // The step in the digits of an index: additions with a carry are quicker than divisions.
  std::vector<int64_t> digits(rank), index(rank);
  for (int64_t axis = static_cast<int64_t>(rank) - 1, rest = step; axis >= 0 && rest > 0; --axis) {
    const auto at = static_cast<size_t>(axis);
    digits[at] = rest % shape[at], rest /= shape[at];
  }
  std::vector<float> out;
  out.reserve(static_cast<size_t>((count + step - 1) / step));
  int64_t at = 0;
  for (int64_t i = 0; i < count; i += step) {
    out.push_back(data[at]);
    int64_t carry = 0;
    for (size_t axis = rank; axis-- > 0;) {
      int64_t digit = index[axis] + digits[axis] + carry;
      carry = digit >= shape[axis];
      if (carry) digit -= shape[axis];
      at += (digit - index[axis]) * strides[axis];
      index[axis] = digit;
    }
  }
  return out;
}

}  // namespace

double Power::db() const {
  if (noise <= 0 || signal <= 0) return noise <= 0 ? no_noise_db : 0;
  return std::min(no_noise_db, 10 * std::log10(signal / noise));
}

void Evaluation::add(const Evaluation& other) {
  const auto sum = [](Power& to, const Power& from) { to.signal += from.signal, to.noise += from.noise; };
  for (size_t i = 0; i < outputs.size() && i < other.outputs.size(); ++i) {
    sum(outputs[i].all, other.outputs[i].all);
    for (size_t k = 0; k < outputs[i].parts.size(); ++k)
      sum(outputs[i].parts[k].power, other.outputs[i].parts[k].power);
  }
  for (const auto& [v, power] : other.values) sum(values[v], power);
  features.insert(other.features.begin(), other.features.end());
}

double OutputNoise::worst_db() const {
  double out = all.db();
  for (const Part& p : parts)
    if (p.power.signal > 0) out = std::min(out, p.power.db());
  return out;
}

double Evaluation::worst_db() const {
  double out = no_noise_db;
  for (const OutputNoise& o : outputs) out = std::min(out, o.worst_db());
  return out;
}

double Evaluation::feature_db() const {
  double sum = 0;
  for (const ValueId v : features) sum += values.at(v).db();
  return features.empty() ? 0 : sum / static_cast<double>(features.size());
}

double Evaluation::merit_db() const { return features.empty() ? worst_db() : (worst_db() + 2 * feature_db()) / 3; }

std::vector<double> Evaluation::noises() const {
  std::vector<double> out;
  for (const OutputNoise& o : outputs) {
    out.push_back(o.all.ratio());
    for (const auto& p : o.parts) out.push_back(p.power.ratio());
  }
  return out;
}

Evaluator::Evaluator(const Model& model, std::vector<std::vector<Datum>> samples, const std::vector<ValueId>& watched,
                     engine::SessionOptions run)
    : samples_(std::move(samples)), run_(std::move(run)) {
  engine::SessionOptions options = run_;
  options.observe = watched;
  const engine::Session session(model, options);
  for (const auto& inputs : samples_) expected_.push_back(record(session, inputs, watched));
  const Graph& g = model.graph;
  for (const ValueId v : watched) useful_[v] = useful_range(g, v);
  for (const ValueId v : g[g.main()].outputs) output_names_.push_back(g[v].name);
  find_parts();
  find_features(g, watched);
}

// Where outputs are few numbers, as scores of classes, their noise on some samples is luck. The last inner values
// before them are many.
void Evaluator::find_features(const Graph& g, const std::vector<ValueId>& watched) {
  size_t numbers = 0;
  for (const Recorded& r : expected_)
    for (const Datum& d : r.outputs)
      if (is_real(d)) numbers += static_cast<size_t>(d.tensor.count());
  if (numbers >= few_numbers) return;
  const std::set<ValueId> all(watched.begin(), watched.end());
  std::vector<ValueId> open(g[g.main()].outputs);
  std::set<ValueId> seen(open.begin(), open.end());
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (all.contains(v) && expected_[0].values.contains(v) && expected_[0].values.at(v).size() >= few_numbers / 32) {
      features_.insert(v);
      continue;
    }
    if (!g[v].def) continue;
    for (const ValueId in : g[g[v].def].inputs)
      if (in && seen.insert(in).second) open.push_back(in);
  }
}

Evaluator::Recorded Evaluator::record(const engine::Session& session, const std::vector<Datum>& inputs,
                                      const std::vector<ValueId>& names) const {
  Recorded out;
  out.outputs = session.run(inputs, [&](const engine::Observation& o) {
    if (o.dtype == DType::f32) out.values[names[o.index]] = selection_of(o);
  });
  return out;
}

// Indices in the order of their magnitudes: where the next is more than 8 times smaller, another part begins. Numbers
// up to 1 stay together: probabilities that are all small matter little.
void Evaluator::split(const std::vector<double>& most, Parting& p) {
  std::vector<size_t> order;
  for (size_t i = 0; i < most.size(); ++i)
    if (most[i] > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return most[a] > most[b]; });
  p.part.assign(most.size(), 0);
  for (size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || (most[order[k]] * apart < most[order[k - 1]] && most[order[k - 1]] > 1))
      p.names.push_back(cat("numbers up to ", static_cast<float>(most[order[k]]), " along axis ", p.axis));
    p.part[order[k]] = p.names.size() - 1;
  }
  if (p.names.size() < 2) p = {};
}

// Along the axis with the fewest indices, the first excepted, by the largest magnitude that each index has.
void Evaluator::find_parts() {
  partings_.resize(output_names_.size());
  for (size_t i = 0; i < partings_.size() && !expected_.empty(); ++i) {
    const Datum& first = expected_[0].outputs[i];
    if (!is_real(first) || first.tensor.rank() < 3) continue;
    const auto& shape = first.tensor.shape();
    Parting& p = partings_[i];
    p.axis = 1;
    for (size_t axis = 2; axis < shape.size(); ++axis)
      if (shape[axis] < shape[p.axis]) p.axis = axis;
    const auto size = static_cast<size_t>(shape[p.axis]);
    std::vector<double> most(size);
    for (const Recorded& r : expected_) {
      const Tensor& t = r.outputs[i].tensor;
      if (t.rank() != first.tensor.rank() || static_cast<size_t>(t.shape()[p.axis]) != size) return void(p = {});
      int64_t inner = 1;
      for (size_t axis = p.axis + 1; axis < t.shape().size(); ++axis) inner *= t.shape()[axis];
      const std::vector<double> x = t.to_doubles();
      for (size_t k = 0; k < x.size(); ++k)
        if (auto& m = most[k / static_cast<size_t>(inner) % size]; std::isfinite(x[k]))
          m = std::max(m, std::fabs(x[k]));
    }
    split(most, p);
  }
}

void Evaluator::add_noise(const Datum& wanted, const Datum& got, const Parting& p, OutputNoise& noise) {
  if (!is_real(wanted) || !is_real(got)) return;
  const std::vector<double> a = wanted.tensor.to_doubles(), b = got.tensor.to_doubles();
  const auto& shape = wanted.tensor.shape();
  size_t inner = 1;
  for (size_t axis = p.axis + 1; axis < shape.size(); ++axis) inner *= static_cast<size_t>(shape[axis]);
  for (size_t k = 0; k < a.size(); ++k) {
    const double there = a.size() == b.size() ? b[k] : NAN;
    quant::add(noise.all, a[k], there);
    if (!p.part.empty()) quant::add(noise.parts[p.part[k / inner % p.part.size()]].power, a[k], there);
  }
}

Evaluation Evaluator::compare(const Model& quantized, const std::map<ValueId, ValueId>& forms, Half half,
                              bool few) const {
  std::map<ValueId, ValueId> seen;
  for (const ValueId v : features_)
    if (const auto it = forms.find(v); it != forms.end()) seen.insert(*it);
  return measure(quantized, seen, half, few ? few_samples : SIZE_MAX);
}

Evaluation Evaluator::measure(const Model& quantized, const std::map<ValueId, ValueId>& forms, Half half,
                              size_t most) const {
  std::vector<ValueId> watched, names;
  const auto watch = [&](ValueId name, ValueId form) { names.push_back(name), watched.push_back(form); };
  for (const auto& [name, form] : forms) watch(name, form);
  for (const ValueId v : features_)  // they count, quantized or not
    if (!forms.contains(v) && quantized.graph[v].kind != Value::Kind::dead) watch(v, v);
  engine::SessionOptions options = run_;
  options.observe = watched;
  const engine::Session session(quantized, options);
  Evaluation out;
  for (size_t i = 0; i < output_names_.size(); ++i) {
    OutputNoise& o = out.outputs.emplace_back();
    o.name = output_names_[i];
    for (const std::string& what : partings_[i].names) o.parts.push_back({what, {}});
  }
  const size_t step = samples_.size() <= most ? 1 : (samples_.size() + most - 1) / most,
               stride = half == Half::both ? step : 2 * step;
  for (size_t s = half == Half::odd ? 1 : 0; s < samples_.size(); s += stride) {
    const Recorded got = record(session, samples_[s], names);
    for (size_t i = 0; i < output_names_.size(); ++i)
      add_noise(expected_[s].outputs[i], got.outputs[i], partings_[i], out.outputs[i]);
    for (const auto& [v, numbers] : got.values) {
      const auto it = expected_[s].values.find(v);
      if (it == expected_[s].values.end() || it->second.size() != numbers.size()) continue;
      const Range& useful = useful_.at(v);
      const auto seen = [&](float x) {
        return std::isnan(x) ? static_cast<double>(x) : std::clamp(static_cast<double>(x), useful.low, useful.high);
      };
      Power& power = out.values[v];
      for (size_t k = 0; k < numbers.size(); ++k) quant::add(power, seen(it->second[k]), seen(numbers[k]));
    }
  }
  for (const ValueId v : features_)
    if (out.values.contains(v)) out.features.insert(v);
  return out;
}

}  // namespace cameo::quant
