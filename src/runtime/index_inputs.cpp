#include "runtime/index_inputs.h"

#include <algorithm>
#include <map>

namespace cameo::runtime {

namespace {

using Sources = std::set<ValueId>;

struct IndexRow {
  std::string_view op;
  bool one_axis;  // attribute axis; else the last axis of the indices counts the axes of the data
};
constexpr IndexRow rows[] = {
    {"Gather", true}, {"GatherElements", true}, {"ScatterElements", true}, {"GatherND", false}, {"ScatterND", false},
};

int64_t attribute(const Graph& g, NodeId n, std::string_view name) {
  for (const AttrField& f : g[n].op->fields)
    if (f.name == name)
      if (const AttrValue v = f.get(g[n].attrs.get()); std::holds_alternative<int64_t>(v)) return std::get<int64_t>(v);
  return 0;
}

bool indexes_one(const Graph& g, NodeId n, const IndexRow& row) {
  const Fact& data = g[g.input(n, 0)].fact;
  if (!data.has_rank() || data.rank() == 0) return false;
  const Shape& shape = data.shape();
  const auto is_one = [](Dim d) { return d == Dim(1); };
  if (!row.one_axis) return std::any_of(shape.begin(), shape.end(), is_one);
  const int64_t axis = attribute(g, n, "axis"), rank = data.rank();
  return axis >= -rank && axis < rank && is_one(shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
}

}  // namespace

bool can_be_index(const Fact& f) { return f.type.is_tensor() && (f.dtype() == DType::i64 || f.dtype() == DType::i32); }

std::set<ValueId> inputs_that_index_one(const Graph& g, const std::vector<ValueId>& params) {
  std::map<ValueId, Sources> from;
  for (const ValueId v : params)
    if (can_be_index(g[v].fact)) from[v] = {v};
  Sources found;
  for (const NodeId n : g.nodes(g.main())) {
    if (from.empty()) break;
    for (const IndexRow& row : rows)
      if (g[n].is(row.op) && g[n].inputs.size() > 1 && g.input(n, 0) && from.contains(g.input(n, 1)) &&
          indexes_one(g, n, row))
        found.insert(from[g.input(n, 1)].begin(), from[g.input(n, 1)].end());
    if (g[n].is("Shape") || g[n].is("Size")) continue;
    Sources all;
    for (const ValueId v : g[n].inputs)
      if (v && from.contains(v)) all.insert(from[v].begin(), from[v].end());
    if (all.empty()) continue;
    for (const ValueId v : g[n].outputs)
      if (can_be_index(g[v].fact)) from[v] = all;
  }
  return found;
}

}  // namespace cameo::runtime
