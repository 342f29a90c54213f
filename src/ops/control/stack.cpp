#include "ops/control/stack.h"

#include <algorithm>
#include <charconv>

namespace cameo::ops {

namespace {

constexpr std::string_view declared_note = "cameo.declared";

// Where results of turns are stacked: none of the outputs that are carried.
std::optional<size_t> stacking_axis(const Graph& g, NodeId n, size_t i, size_t rank) {
  int64_t axis = 0;
  if (g[n].is("Scan")) {
    const auto* a = g[n].as<op::Scan>();
    const size_t states = a ? g[n].inputs.size() - static_cast<size_t>(a->num_scan_inputs) : g[n].inputs.size();
    if (i < states) return std::nullopt;
    if (a->scan_output_axes && i - states < a->scan_output_axes->size()) axis = (*a->scan_output_axes)[i - states];
  } else if (!g[n].is("Loop") || i + 2 < g[n].inputs.size()) {
    return std::nullopt;
  }
  return static_cast<size_t>(Eval::axis(axis, static_cast<int64_t>(rank)));
}

ValueId body_output(const Graph& g, NodeId n, size_t i) {
  const size_t result = i + (g[n].is("Loop") ? 1 : 0);  // a Loop's condition comes first
  if (g[n].regions.empty() || !g[n].regions[0] || result >= g[g[n].regions[0]].outputs.size()) return {};
  return g[g[n].regions[0]].outputs[result];
}

// The sizes of one turn's result that are declared, 0 where they are open; nullopt where nothing is.
std::optional<std::vector<int64_t>> declared_sizes(const Graph& g, ValueId v) {
  std::vector<int64_t> out;
  for (const auto& [key, text] : g[v].metadata ? *g[v].metadata : std::vector<std::pair<std::string, std::string>>()) {
    if (key != declared_note) continue;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (int64_t size = 0; at < end; size = 0) {
      at = std::from_chars(at, end, size).ptr + 1;
      out.push_back(std::max<int64_t>(size, 0));  // a file may have such a note of its own
    }
    return out;
  }
  const Type& t = g[v].fact.type;
  if (!t.is_tensor() || !t.has_rank()) return std::nullopt;
  for (const Dim d : *t.shape) out.push_back(d.known().value_or(0));
  return out;
}

}  // namespace

void Stack::add(const Datum& step) {
  if (step.kind != Datum::Kind::tensor)
    Eval::fail("eval.shape", "an iteration gives no tensor where results are stacked");
  steps_.push_back(step.tensor);
}

Tensor Stack::joined(int64_t axis, bool backwards, const Type& type) const {
  if (steps_.empty()) {
    std::vector<int64_t> shape;
    if (type.is_tensor() && type.has_rank())
      for (const Dim d : *type.shape) shape.push_back(d.known().value_or(0));
    else shape = {0};
    if (axis < 0) axis += static_cast<int64_t>(shape.size());
    if (axis >= 0 && axis < static_cast<int64_t>(shape.size())) shape[static_cast<size_t>(axis)] = 0;
    return zeros(type.elem == DType::undefined ? DType::f32 : type.elem, shape);
  }
  const int64_t at = Eval::axis(axis, steps_[0].rank() + 1);
  std::vector<Tensor> parts;
  for (const Tensor& t : steps_) {
    auto shape = t.shape();
    if (t.rank() != steps_[0].rank()) Eval::fail("eval.shape", "iterations give tensors of different rank");
    shape.insert(shape.begin() + at, 1);
    parts.push_back(t.reshaped(shape));
  }
  if (backwards) std::reverse(parts.begin(), parts.end());
  return concat(parts, at);
}

void note_declared_stacks(Graph& g) {
  for (uint32_t k = 0; k < g.node_capacity(); ++k) {
    const NodeId n(k);
    if (g[n].dead || !(g[n].is("Loop") || g[n].is("Scan"))) continue;
    for (size_t i = 0; i < g[n].outputs.size(); ++i) {
      const ValueId v = body_output(g, n, i);
      const auto sizes = v ? declared_sizes(g, v) : std::nullopt;
      if (!sizes) continue;
      std::string text;
      for (const int64_t d : *sizes) text += cat(d, ",");
      auto notes = g[v].metadata ? *g[v].metadata : std::vector<std::pair<std::string, std::string>>();
      notes.emplace_back(declared_note, std::move(text));
      g.label(v).metadata = std::make_shared<const std::vector<std::pair<std::string, std::string>>>(std::move(notes));
    }
  }
}

Type stacked_type(const Graph& g, NodeId n, size_t i) {
  const Type inferred = g[g[n].outputs[i]].fact.type;
  const ValueId v = body_output(g, n, i);
  const auto sizes = v ? declared_sizes(g, v) : std::nullopt;
  const auto at = sizes ? stacking_axis(g, n, i, sizes->size() + 1) : std::nullopt;
  if (!at) return inferred;
  Shape shape(sizes->begin(), sizes->end());
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*at), Dim(0));
  if (inferred.has_rank() && inferred.shape->size() == shape.size())
    for (size_t k = 0; k < shape.size(); ++k)
      if (shape[k].is(0) && k != *at) shape[k] = (*inferred.shape)[k];
  return Type::tensor(inferred.elem == DType::undefined ? g[v].fact.dtype() : inferred.elem, std::move(shape));
}

void set_stacked(Infer& c, size_t i, Dim turns) {
  if (!c.real || (turns.is_literal() && turns.literal() > 0)) return;
  const ValueId result = c.node().outputs[i];
  const Type inferred = c.graph()[result].fact.type;
  Type empty = stacked_type(c.graph(), c.graph()[result].def, i);
  if (!empty.has_rank() || empty.shape->empty()) return;
  const bool agree = inferred.has_rank() && inferred.shape->size() == empty.shape->size();
  const size_t at = *stacking_axis(c.graph(), c.graph()[result].def, i, empty.shape->size());
  for (size_t k = 0; k < empty.shape->size(); ++k) {
    Dim& d = (*empty.shape)[k];
    if (turns.is(0)) d = d.known().value_or(0);
    else if (k == at) d = turns;
    else if (!d.is_literal() || !agree || d != (*inferred.shape)[k]) d = c.fresh();
  }
  c.out(i, std::move(empty));
}

}  // namespace cameo::ops
