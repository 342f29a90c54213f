// Turns a region whose sizes are known into a plan. Emitters (emit.h) put one or more nodes into a step each; what no
// emitter takes runs on its reference kernel.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "engine/checked_nodes.h"
#include "engine/plan.h"
#include "engine/store.h"

namespace cameo::engine {

struct CompileOptions {
  bool fast = true;        // false: only reference kernels, but planned
  bool onednn = true;      // false: neither oneDNN nor kernels for one kind of processor
  bool interpret = false;  // never wait for sizes: what is unknown runs on reference kernels
  BaseValues base;
};

// The values from around that a body reads, bodies inside it included.
std::vector<ValueId> captured_values(const Graph& g, RegionId region);

class Compiler {
 public:
  Compiler(std::shared_ptr<const Graph> graph, Store& store, const CompileOptions& options);

  // What is given from outside, in order; then the nodes; then what is wanted.
  void add_input(ValueId v);
  void compile(const CheckedNodes& nodes, const Wanted& wanted);
  std::unique_ptr<Plan> finish() { return std::move(plan_); }

  // ---- for emitters ----
  const Graph& graph() const { return g_; }
  const CompileOptions& options() const { return options_; }
  Store& store() { return store_; }
  const Desc* desc(ValueId v) const;  // null: no tensor, or sizes that depend on data
  bool is_f32(ValueId v) const;
  bool ready(ValueId v) const;  // computed by an earlier step, given, or constant
  std::optional<Tensor> constant(ValueId v);
  bool is_constant(ValueId v) const;                        // deferred ones (deferred_constants.h) too
  std::optional<float> scalar(ValueId v);                   // a constant with one f32 element
  std::string key(ValueId v, std::string_view what) const;  // for Store; unique to this plan where it has to be

  SlotId slot(ValueId v);      // as it lies; precondition: ready(v) and desc(v)
  SlotId plain(ValueId v);     // row-major
  SlotId bytes_of(ValueId v);  // row-major, for kernels that only copy bytes: a constant stays where it lies
  SlotId in_form(ValueId v, const Desc& wanted);  // in that layout: as it is, or reordered
  const Desc& slot_desc(SlotId s) const { return plan_->slots[s].desc; }
  SlotId add_constant(Tensor t, Desc d);
  SlotId make(Desc d);
  SlotId view(SlotId of, Desc d, uint64_t offset = 0);
  void bind(ValueId v, SlotId s);  // the value is there from now on
  // The value in a further form that later steps may ask for.
  SlotId form(ValueId v, const Desc& wanted);  // no_slot: not made yet
  void add_form(ValueId v, SlotId s);
  void step(NodeId n, std::string label, std::unique_ptr<Kernel> kernel, std::vector<SlotId> in,
            std::vector<SlotId> out);

  // The only node that reads `v`; none when there are more, or when v is an output.
  NodeId only_user(ValueId v) const;
  bool wanted(ValueId v) const { return wanted_.contains(v); }
  bool done(NodeId n) const { return done_[n.index]; }
  void absorb(NodeId n) { done_[n.index] = true; }  // part of the step at hand
  // Nobody but `user` (and nodes that are done) reads the value's buffer: it may be written over.
  bool free_after(ValueId v, NodeId user) const;

 private:
  struct Known {
    std::optional<Desc> desc;
    bool looked = false;
    SlotId slot = no_slot;
    std::vector<SlotId> forms;
    std::vector<uint32_t> observed;  // the numbers under which it has yet to be shown
    size_t uses_over = 0;            // its first users that are done
  };
  Tensor shared_deferred(ValueId v);  // a deferred constant, computed once for all plans
  void node(NodeId n);
  bool emit(NodeId n);
  void reference(NodeId n);
  SlotId any_slot(ValueId v);  // for reference kernels: row-major, or a datum
  bool depends_on_data(NodeId n);
  std::vector<ValueId> captured(NodeId n) const;
  void settle_outputs();
  void show(ValueId v);  // to who observes it
  void show_arrived();   // the observed values that got their slots since
  void collect_rest(std::span<const NodeId> nodes, const Wanted& wanted);

  std::shared_ptr<const Graph> graph_;
  const Graph& g_;
  Store& store_;
  CompileOptions options_;
  std::unique_ptr<Plan> plan_;
  mutable std::vector<Known> values_;
  std::vector<bool> done_, later_;
  std::set<ValueId> wanted_;
  std::vector<ValueId> arrived_;                 // observed, with a slot since the last were shown
  std::vector<std::vector<ValueId>> residents_;  // by root slot: the values whose bytes lie there
};

}  // namespace cameo::engine
