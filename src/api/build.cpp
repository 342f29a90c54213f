// Builder of include/cameo/build.h: inputs, weights, control flow, outputs. Operators are in node_builder.cpp.
#include <algorithm>
#include <set>

#include "ir/dtype_words.h"
#include "ops/infer.h"
#include "backends/text/print.h"

#include "api/node_builder.h"
#include "cameo/opset.h"

namespace cameo {

using State = NodeBuilderState;

struct Builder::Content {
  ir::Model model;
  ops::On on;
  std::set<std::string> names;  // of inputs, weights and outputs
  Content() : on(model.graph, model.graph.main()) {}

  void take_name(const std::string& name, std::string_view what) {
    if (name.empty()) throw error("build.name", cat(what, " has an empty name"));
    if (!names.insert(name).second) throw error("build.name", cat("the name '", name, "' is taken"));
  }
  // A region's outputs are values of its own, each once: others pass through an Identity.
  std::vector<support::ValueId> own(support::RegionId region, const std::vector<support::ValueId>& values) {
    std::vector<support::ValueId> out;
    for (const auto v : values) {
      const ir::Value& value = model.graph[v];
      const bool mine = value.home == region && value.kind == ir::Value::Kind::node_output &&
                        std::find(out.begin(), out.end(), v) == out.end();
      out.push_back(mine ? v : on.Identity(v));
    }
    return out;
  }
};

// Where making a body fails, the graph is as it was before.
class Builder::Attempt {
 public:
  explicit Attempt(Content& c) : content_(c), mark_(c.model.graph.mark()), region_(c.on.region()), names_(c.names) {}
  ~Attempt() {
    if (kept_) return;
    content_.model.graph.rollback(mark_);
    content_.on.move_to(region_);
    content_.names = std::move(names_);
  }
  Attempt(const Attempt&) = delete;
  void keep() { kept_ = true; }

 private:
  Content& content_;
  ir::GraphMark mark_;
  support::RegionId region_;
  std::set<std::string> names_;
  bool kept_ = false;
};

Builder::Builder(std::string name) : NodeBuilder(nullptr), content_(std::make_unique<Content>()) {
  ir::Model& model = content_->model;
  model.graph.label(model.graph.main()).name = std::move(name);
  model.producer_name = "cameo";
  const auto uses_domain = [&model](std::string_view domain) { model.opsets.emplace(domain, 1); };
  state_ = std::make_unique<State>(State{model.graph, content_->on, uses_domain});
}
Builder::~Builder() = default;

Var Builder::input(std::string name, std::string_view type) {
  ir::Graph& g = content_->model.graph;
  if (content_->on.region() != g.main()) throw error("build.body", cat("the input '", name, "' is made in a body"));
  ir::Type parsed = parse_type(type, g.dims());
  content_->take_name(name, "an input");
  return State::var(*this, g.add_input(g.main(), std::move(name), std::move(parsed)));
}

Var Builder::weight(std::string name, std::string_view dtype, std::vector<int64_t> shape, const void* bytes,
                    size_t size) {
  const auto t = ir::dtype_from_name(dtype);
  const std::string_view ours = ir::dtype_in_our_words(dtype);
  if (!t || *t == ir::DType::string)
    throw error("build.weight", cat("weights cannot have the element type '", dtype, "'"))
        .help(ours.empty() ? "" : cat("write ", ours));
  if (ir::packed_bytes(*t, ir::element_count(shape)) != size)
    throw error("build.weight", cat("the weight '", name, "' takes ", ir::packed_bytes(*t, ir::element_count(shape)),
                                    " bytes, not ", size));
  if (size && !bytes) throw error("use.null", cat("the memory of the weight '", name, "' is a null pointer"));
  const auto* begin = static_cast<const std::byte*>(bytes);
  const ir::Tensor tensor(*t, std::move(shape), support::Bytes::own(std::vector<std::byte>(begin, begin + size)));
  return weight(std::move(name), shared_of(tensor));
}

Var Builder::weight(std::string name, const ArrayView& value) {
  return weight(std::move(name), value.dtype, value.shape, value.data, value.byte_size());
}

Var Builder::weight(std::string name, const SharedArray& value) {
  const ir::Tensor tensor = tensor_of(value, name);
  content_->take_name(name, "a weight");
  return State::var(*this, content_->model.graph.add_constant(tensor, std::move(name)));
}

Var Builder::weight(std::string name, std::vector<int64_t> shape, std::vector<float> values) {
  return weight(std::move(name), "f32", std::move(shape), values.data(), values.size() * sizeof(float));
}
Var Builder::weight(std::string name, std::vector<int64_t> shape, std::vector<int64_t> values) {
  return weight(std::move(name), "i64", std::move(shape), values.data(), values.size() * sizeof(int64_t));
}

std::vector<Var> Builder::if_else(Var condition, const Body& then, const Body& otherwise) {
  ir::Graph& g = content_->model.graph;
  if (!then || !otherwise) throw error("use.null", "a side of if_else has no function");
  const support::ValueId c = State::checked(*this, condition, "if_else");
  Attempt attempt(*content_);
  const support::RegionId outer = content_->on.region();
  const support::NodeId node = g.add_node(outer, ops::op_of<op::If>(), nullptr, {c}, 0);
  size_t count = 0;
  for (const size_t side : {1, 0}) {  // graph attributes are else_branch, then_branch
    const support::RegionId region = g.add_region(outer);
    g.set_region(node, side, region);
    content_->on.move_to(region);
    std::vector<support::ValueId> results;
    for (const Var v : (side == 1 ? then : otherwise)()) results.push_back(State::checked(*this, v, "if_else"));
    if (side == 0 && results.size() != count)
      throw error("build.arity", cat("one side gives ", count, " values, the other ", results.size()));
    count = results.size();
    g.set_region_outputs(region, content_->own(region, results));
    g.label(region).name = side == 1 ? "then" : "else";
    content_->on.move_to(outer);
  }
  for (size_t i = 0; i < count; ++i) g.add_output(node);
  ops::infer_node(g, node);
  need_operands(g, node);
  attempt.keep();
  return State::vars(*this, g[node].outputs);
}

std::vector<Var> Builder::loop(Var count, Var condition, const std::vector<Var>& carried, const LoopBody& body) {
  ir::Graph& g = content_->model.graph;
  if (!body) throw error("use.null", "the body of the loop has no function");
  const support::RegionId outer = content_->on.region();
  Attempt attempt(*content_);
  const auto optional = [&](Var v) { return v ? State::checked(*this, v, "loop") : support::ValueId(); };
  std::vector<support::ValueId> inputs{optional(count), optional(condition)};
  for (const Var v : carried) inputs.push_back(State::checked(*this, v, "loop"));
  const support::NodeId node = g.add_node(outer, ops::op_of<op::Loop>(), nullptr, inputs, 0);
  const support::RegionId region = g.add_region(outer);
  g.set_region(node, 0, region);
  g.label(region).name = "body";
  const support::ValueId counter = g.add_input(region, "", ir::Type::tensor(ir::DType::i64, {}));
  const support::ValueId going = g.add_input(region, "", ir::Type::tensor(ir::DType::boolean, {}));
  std::vector<Var> inside;
  for (size_t i = 2; i < inputs.size(); ++i)
    inside.push_back(State::var(*this, g.add_input(region, "", g[inputs[i]].fact.type)));
  content_->on.move_to(region);
  const Turn turn = body(State::var(*this, counter), inside);
  if (turn.carried.size() != carried.size())
    throw error("build.arity",
                cat("the loop carries ", carried.size(), " values, and its body gives ", turn.carried.size()));
  std::vector<support::ValueId> results{turn.go_on ? State::checked(*this, turn.go_on, "loop") : going};
  for (const auto* list : {&turn.carried, &turn.gathered})
    for (const Var v : *list) results.push_back(State::checked(*this, v, "loop"));
  g.set_region_outputs(region, content_->own(region, results));
  content_->on.move_to(outer);
  for (size_t i = 1; i < results.size(); ++i) g.add_output(node);
  ops::infer_node(g, node);
  need_operands(g, node);
  attempt.keep();
  return State::vars(*this, g[node].outputs);
}

void Builder::output(std::string name, Var value) {
  ir::Graph& g = content_->model.graph;
  if (content_->on.region() != g.main()) throw error("build.body", cat("the output '", name, "' is made in a body"));
  support::ValueId v = State::checked(*this, value, cat("the output '", name, "'"));
  content_->take_name(name, "an output");
  if (!g[v].name.empty() || g[v].kind != ir::Value::Kind::node_output) v = content_->on.Identity(v);
  g.rename(v, std::move(name));
  auto outputs = g[g.main()].outputs;
  outputs.push_back(v);
  g.set_region_outputs(g.main(), std::move(outputs));
}

std::string Builder::text() const { return backends::print_text(content_->model); }

Model Builder::model(int opset) const {
  ModelState s;
  s.model = content_->model;
  s.opset = known_opset(opset ? opset : opsets::standard);
  return ModelState::make(std::move(s));
}

std::string Builder::bytes(int opset) const { return model(opset).bytes(); }

void Builder::save(const std::string& path, int opset) const { model(opset).save(path); }

}  // namespace cameo
