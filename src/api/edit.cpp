// include/cameo/edit.h.
#include <algorithm>
#include <optional>

#include "api/type_text.h"
#include "ops/schema_check.h"
#include "passes/append_nms.h"
#include "passes/dce.h"
#include "passes/diff.h"
#include "passes/edit.h"
#include "passes/extract.h"
#include "passes/merge.h"
#include "runtime/arrays.h"
#include "support/near_name.h"

#include "api/state.h"
#include "cameo/edit.h"
#include "cameo/json.h"

namespace cameo {

Model extract(Model model, const std::vector<std::string>& from, const std::vector<std::string>& to) {
  ModelState s = ModelState::changed(std::move(model));
  s.inferred.reset();
  passes::extract(s.model, from, to);
  return ModelState::make(std::move(s));
}

struct Editor::State {
  ModelState model;
  bool dead_code = false;          // there may be unused nodes
  std::vector<std::string> added;  // weights that the model did not have
  bool other_sizes = false;        // a weight got another type or shape
  std::optional<bool> was_sound;   // before the first change that nodes may not accept: no operand broke a schema

  ModelState& changing_nodes() {
    if (!was_sound) was_sound = ops::schema_findings(model.model).empty();
    return model;
  }
  // A broken model may stay broken, so that it can be repaired in steps; a sound one stays sound.
  void check_nodes() const {
    if (!was_sound.value_or(false)) return;
    std::vector<Diag> found = ops::schema_findings(model.model);
    if (found.empty()) return;
    found.back().hint = "nothing was written: ONNX does not allow these operands; change all nodes in one go";
    throw Error(std::move(found));
  }
  void put_weight(const std::string& name, const ir::Tensor& value) {
    ir::Graph& g = changing_nodes().model.graph;
    if (!passes::has_value(g, name)) added.push_back(name);
    else {
      const ir::Type& was = g[passes::find_value(g, name)].fact.type;
      const ir::Shape now(value.shape().begin(), value.shape().end());
      other_sizes |= was.elem != value.dtype() || !was.has_rank() || *was.shape != now;
    }
    passes::set_initializer(model.model, name, value);
  }
  // A new weight that nothing reads is most likely an old one's name misspelt.
  void check_added() const {
    const ir::Graph& g = model.model.graph;
    for (const std::string& name : added) {
      if (!passes::has_value(g, name) || g.used(passes::find_value(g, name))) continue;
      std::vector<std::string_view> weights;
      for (uint32_t i = 0; i < g.value_capacity(); ++i)
        if (const ir::Value& v = g[support::ValueId(i)];
            v.kind != ir::Value::Kind::dead && v.weight && !v.name.empty() && v.name != name)
          weights.push_back(v.name);
      const auto close = support::nearest(name, weights);
      throw error("edit.initializer", cat("nothing reads '", name, "', which the model did not have before"))
          .help(close.empty() ? "insert a node that reads it" : cat("did you mean ", close, "?"));
    }
  }
};

Editor::Editor(Model model) : state_(std::make_unique<State>(State{ModelState::changed(std::move(model))})) {
  state_->model.inferred.reset();
}
Editor::~Editor() = default;
Editor::Editor(Editor&&) noexcept = default;
Editor& Editor::operator=(Editor&&) noexcept = default;

Editor::State& Editor::state() const {
  if (!state_) throw error("use.moved-from", "the editor was moved from");
  return *state_;
}

Editor& Editor::rename(const std::string& from, const std::string& to) {
  passes::rename(state().model.model, from, to);
  return *this;
}
Editor& Editor::add_output(const std::string& value) {
  passes::add_output(state().model.model, value);
  return *this;
}
Editor& Editor::remove_output(const std::string& value) {
  passes::remove_output(state().model.model, value);
  state().dead_code = true;
  return *this;
}
Editor& Editor::remove_input(const std::string& value) {
  passes::remove_input(state().model.model, value);
  return *this;
}
Editor& Editor::fix_shape(const std::string& value, const std::vector<std::string>& sizes) {
  passes::fix_shape(state().model.model, value, sizes);
  return *this;
}
Editor& Editor::set_dim(const std::string& value, int axis, const std::string& size) {
  passes::set_dim(state().model.model, value, axis, size);
  return *this;
}
Editor& Editor::set_attribute(const std::string& node, const std::string& attribute, const std::string& text) {
  passes::set_attribute(state().changing_nodes().model, node, attribute, text);
  return *this;
}
Editor& Editor::set_operator(const std::string& node, const std::string& op) {
  passes::set_operator(state().changing_nodes().model, node, op);
  return *this;
}
Editor& Editor::insert_node(const std::string& text) {
  passes::insert_node(state().changing_nodes().model, text);
  return *this;
}
Editor& Editor::remove_node(const std::string& node) {
  passes::remove_node(state().changing_nodes().model, node);
  state().dead_code = true;
  return *this;
}
Editor& Editor::rewire(const std::string& from, const std::string& to) {
  passes::rewire(state().changing_nodes().model, from, to);
  return *this;
}
Editor& Editor::append_nms(const std::string& boxes, const std::string& scores, const NmsSettings& settings) {
  passes::append_nms(state().changing_nodes().model,
                     {.boxes = boxes,
                      .scores = scores,
                      .iou = settings.iou,
                      .score = settings.score,
                      .max_per_class = settings.max_per_class,
                      .center = settings.center,
                      .classes_first = settings.layout == NmsSettings::Layout::classes_first,
                      .classes_last = settings.layout == NmsSettings::Layout::classes_last});
  return *this;
}
Editor& Editor::set_weight(const std::string& name, const ArrayView& value) {
  const ir::Tensor given = tensor_of(value, name);
  const auto bytes = given.bytes().span();  // the view's memory may go before the model does
  state().put_weight(name, ir::Tensor(given.dtype(), given.shape(),
                                      support::Bytes::own(std::vector<std::byte>(bytes.begin(), bytes.end()))));
  return *this;
}
Editor& Editor::set_weight(const std::string& name, const SharedArray& value) {
  state().put_weight(name, tensor_of(value, name));
  return *this;
}
std::string Editor::dtype(const std::string& value) const {
  const ir::Graph& g = state().model.model.graph;
  return passes::has_value(g, value) ? api::dtype_text(g[passes::find_value(g, value)].fact.type) : "";
}
Editor& Editor::load_weight(const std::string& name, const std::string& path) {
  const ir::Model& m = state().model.model;
  const bool is_new = !passes::has_value(m.graph, name);
  const ir::DType wanted = is_new ? ir::DType::undefined : m.graph[passes::find_value(m.graph, name)].fact.type.elem;
  state().put_weight(name, runtime::load_npy(path, wanted));
  return *this;
}
Editor& Editor::set_metadata(const std::string& key, const std::string& value) {
  passes::set_metadata(state().model.model, key, value);
  return *this;
}
Editor& Editor::strip() {
  passes::strip(state().model.model);
  state().model.write.value_info = backends::WriteOptions::ValueInfo::none;
  return *this;
}

Model Editor::apply() {
  state().check_added();
  state().check_nodes();
  if (state().other_sizes && state().was_sound.value_or(false)) passes::infer_anew(state().model.model);
  if (state().dead_code) passes::remove_dead_code(state().model.model.graph);
  return ModelState::make(state().model);
}

Model merge(Model first, const Model& second, const MergeSettings& settings) {
  ModelState s = ModelState::changed(std::move(first));
  s.inferred.reset();
  const ModelState& other = ModelState::of(second);
  passes::merge(s.model, ModelState::onnx(second), {settings.connect, settings.keep_connected});
  if (s.opset || other.opset) s.opset = std::max(opset_of(s), opset_of(other));
  return ModelState::make(std::move(s));
}

std::vector<Difference> diff(const Model& first, const Model& second, size_t limit) {
  // With the opset that a model in memory will be written in.
  const auto as_written = [](const Model& m, std::optional<ir::Model>& copy) -> const ir::Model& {
    const ir::Model& in = ModelState::onnx(m);
    const int64_t opset = ModelState::of(m).opset;
    const auto known = in.opsets.find("");
    if (!opset || (known != in.opsets.end() && known->second == opset)) return in;
    copy = in;
    copy->opsets[""] = opset;
    return *copy;
  };
  std::optional<ir::Model> copies[2];
  std::vector<Difference> out;
  for (auto& d : passes::diff(as_written(first, copies[0]), as_written(second, copies[1]), {limit}))
    out.push_back({d.what, d.first, d.second});
  return out;
}

std::string to_json(const std::vector<Difference>& differences) {
  json::Writer w;
  w.object().key("same").value(differences.empty()).key("differences").array();
  for (const Difference& d : differences)
    w.object().key("what").value(d.what).key("first").value(d.first).key("second").value(d.second).end();
  return w.end().end().text();
}

}  // namespace cameo
