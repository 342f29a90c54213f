#include "lowering/loop.h"

namespace cameo::lowering {

LoopWriter::LoopWriter(Lower& on, V trips, Vs state)
    : on_(on), trips_(trips), initial_(std::move(state)), outer_(on.region()) {
  Graph& g = on.graph();
  region_ = g.add_region(outer_);
  g.label(region_).name = "body";
  g.add_input(region_, "", Type::tensor(DType::i64, {}));
  g.add_input(region_, "", Type::tensor(DType::boolean, {}));
  for (const V v : initial_) g.add_input(region_, "", on.fact(v).type);
  on.move_to(region_);
}

V LoopWriter::turn() const { return on_.graph()[region_].inputs[0]; }

Vs LoopWriter::state() const {
  const auto& in = on_.graph()[region_].inputs;
  return Vs(in.begin() + 2, in.end());
}

Vs LoopWriter::finish(const Vs& next, V going) {
  Graph& g = on_.graph();
  const auto own = [&](V v) {
    return g[v.id].home == region_ && g[v.id].kind == Value::Kind::node_output ? v.id : on_.copied(v).id;
  };
  std::vector<ValueId> outs{own(going.valid() ? going : V(g[region_].inputs[1]))}, inputs{trips_, ValueId()};
  for (const V v : next) outs.push_back(own(v));
  on_.move_to(outer_);
  for (const V v : initial_) inputs.push_back(v);
  const NodeId n = g.add_node(outer_, op_of<op::Loop>(), nullptr, std::move(inputs), initial_.size());
  g.set_region(n, 0, region_);
  g.set_region_outputs(region_, std::move(outs));
  Vs out;
  for (size_t i = 0; i < initial_.size(); ++i) {
    out.push_back(g[n].outputs[i]);
    g.fact(out[i]).type = on_.fact(initial_[i]).type;
    if (const auto& t = g[out[i].id].fact.type; t.has_rank())
      for (int64_t k = 0; k < t.rank(); ++k) on_.bind_axis((*t.shape)[static_cast<size_t>(k)], out[i], k);
  }
  if (on_.on_node) on_.on_node(n);
  return out;
}

}  // namespace cameo::lowering
