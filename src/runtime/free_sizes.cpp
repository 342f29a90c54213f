#include "runtime/free_sizes.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>

#include "ir/dim_name.h"
#include "ops/gate.h"
#include "ops/infer.h"
#include "runtime/index_inputs.h"
#include "support/error.h"
#include "support/progress.h"

namespace cameo::runtime {

namespace {

using Sizes = std::map<std::string, int64_t>;

constexpr int64_t usual[] = {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 224, 256, 320, 512, 640, 1024, 16000};
constexpr int64_t most_elements = int64_t{1} << 24;  // of one made-up input

constexpr size_t most_work = 300'000;  // nodes inferred in search of something better

// What is open, by the part it most likely plays.
struct Open {
  std::set<std::string> batches, channels, others;
};

Open open_sizes(const Graph& g, const std::vector<ValueId>& params, const Sizes& given) {
  Open out;
  for (const ValueId v : params) {
    const Type& t = g[v].fact.type;
    if (!t.is_tensor() || !t.has_rank()) continue;
    for (size_t axis = 0; axis < t.shape->size(); ++axis) {
      const Dim d = (*t.shape)[axis];
      if (d.is_literal() || given.contains(name_or_text(d))) continue;
      if (axis == 0 && t.rank() > 1) out.batches.insert(name_or_text(d));
      else if (axis == 1 && t.rank() == 4) out.channels.insert(name_or_text(d));
      else out.others.insert(name_or_text(d));
    }
  }
  for (const std::string& b : out.batches) out.channels.erase(b), out.others.erase(b);
  for (const std::string& c : out.channels) out.others.erase(c);
  return out;
}

Shape shape_at(const Type& t, const Sizes& sizes) {
  Shape shape;
  for (const Dim d : *t.shape) {
    const auto it = sizes.find(name_or_text(d));
    shape.push_back(d.is_literal() ? d : Dim(it == sizes.end() ? 1 : it->second));
  }
  return shape;
}

enum class Fit : uint8_t { no, main_graph, everywhere };  // bodies may hold branches that are never taken

// False where an input would be too large.
bool fix_inputs(Graph& g, const std::vector<ValueId>& params, const Sizes& sizes) {
  forget_before_run(g);
  for (const ValueId v : params) {
    Type& t = g.fact(v).type;
    if (!t.is_tensor() || !t.has_rank()) continue;
    t.shape = shape_at(t, sizes);
    int64_t count = 1;
    for (const Dim d : *t.shape)
      if (__builtin_mul_overflow(count, d.literal(), &count) || count > most_elements) return false;
  }
  return true;
}

Fit fit(const Graph& model, const std::vector<ValueId>& params, const Sizes& sizes) {
  const std::lock_guard lock(inferring());
  Graph g = model;
  if (!fix_inputs(g, params, sizes)) return Fit::no;
  try {
    for (const NodeId n : g.nodes(g.main())) check_node(g, n);
    return infer(g, {}, {.keep_declared = false}).findings.empty() ? Fit::everywhere : Fit::main_graph;
  } catch (const Error& e) {
    if (ends_work(e)) throw;
    return Fit::no;
  }
}

}  // namespace

namespace {

// Assignments to try, the likeliest first: all sizes alike, then one of them 1 and the others alike, then the other
// way round (a recurrent state's batch beside a length).
std::vector<Sizes> candidates(const Open& open, const Sizes& given) {
  std::vector<Sizes> out;
  const auto add = [&](int64_t size, int64_t channels, auto size_of) {
    Sizes sizes = given;
    for (const std::string& b : open.batches) sizes[b] = 1;
    for (const std::string& c : open.channels) sizes[c] = channels;
    for (const std::string& o : open.others) sizes[o] = size_of(o, size);
    out.push_back(std::move(sizes));
  };
  for (const int64_t size : usual)
    for (const int64_t channels : {size, int64_t{3}, int64_t{1}}) {
      add(size, channels, [](const std::string&, int64_t n) { return n; });
      if (open.channels.empty()) break;
    }
  if (open.others.size() < 2 || open.others.size() > 8) return out;
  for (const int64_t size : usual)
    for (const std::string& chosen : open.others)
      for (const bool alone : {false, true})
        add(size, 3, [&](const std::string& o, int64_t n) { return (o == chosen) == alone ? n : int64_t{1}; });
  return out;
}

}  // namespace

Sizes free_sizes(const Graph& g, const std::vector<ValueId>& params, const Sizes& given) {
  const Open open = open_sizes(g, params, given);
  if (open.batches.empty() && open.channels.empty() && open.others.empty()) return given;
  const std::vector<Sizes> all = candidates(open, given);
  const Sizes* second_best = nullptr;
  size_t work = 0;
  for (const Sizes& sizes : all) {
    if ((work += g.node_capacity()) > most_work && second_best) break;
    const Fit found = fit(g, params, sizes);
    if (found == Fit::everywhere) return sizes;
    if (found == Fit::main_graph && !second_best) second_best = &sizes;
  }
  return second_best ? *second_best : all.front();
}

Sizes longer_sizes(const Graph& g, const std::vector<ValueId>& params, const Sizes& sizes, int64_t length) {
  Sizes longer = sizes;
  for (const std::string& name : open_sizes(g, params, {}).others)
    if (const auto it = longer.find(name); it != longer.end()) it->second = std::max(it->second, length);
  return longer != sizes && fit(g, params, longer) != Fit::no ? longer : sizes;
}

std::set<ValueId> zero_inputs(const Graph& model, const std::vector<ValueId>& params, const Sizes& sizes) {
  if (std::none_of(params.begin(), params.end(), [&](ValueId v) { return can_be_index(model[v].fact); })) return {};
  const std::lock_guard lock(inferring());
  Graph g = model;
  if (!fix_inputs(g, params, sizes)) return {};
  try {
    infer(g, {}, {.keep_declared = false});
  } catch (const Error& e) {
    if (ends_work(e)) throw;
    return {};
  }
  return inputs_that_index_one(g, params);
}

}  // namespace cameo::runtime
