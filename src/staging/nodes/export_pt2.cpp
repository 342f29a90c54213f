// From a torch.export archive to a model: inputs and weights by the signature, nodes in order, results by their paths.
#include <algorithm>
#include <charconv>
#include <set>

#include "lowering/complex.h"
#include "passes/dce.h"
#include "staging/export/assumptions.h"
#include "staging/export/foreign_types.h"
#include "staging/export/input_sizes.h"
#include "staging/nodes/interpreter.h"
#include "staging/export/outputs.h"
#include "support/file_bytes.h"

namespace cameo::staging {

namespace {

using staging::Machine;
using staging::NodeInterpreter;
using staging::NodeScope;
using StagedValue = staging::Value;

class Pt2Inputs {
 public:
  Pt2Inputs(pt2::Program& program, NodeInterpreter& nodes, const ExportOptions& options, DiagSink& sink,
            ExportTrace* trace)
      : program_(program),
        nodes_(nodes),
        s_(nodes.s),
        g_(nodes.s.graph),
        options_(options),
        sink_(sink),
        trace_(trace) {}

  void make(NodeScope& scope) {
    check_names();
    name_symbols(scope.graph);
    assume_ranges();
    for (const pt2::GraphInput& in : program_.inputs()) {
      switch (in.kind) {
        case pt2::InputKind::user: scope.values[in.value] = user_input(in, scope.graph); break;
        case pt2::InputKind::parameter:
        case pt2::InputKind::buffer:
        case pt2::InputKind::tensor_constant: scope.values[in.value] = weight(in); break;
        case pt2::InputKind::custom_object:
          scope.values[in.value] = staging::poison(cat(in.target, " is an object of a C++ class"));
          break;
        case pt2::InputKind::token: scope.values[in.value] = StagedValue(); break;
        case pt2::InputKind::constant:
          if (!in.target.empty() && pt2::tagged(in.constant).tag != "as_none")
            sink_.note("export.fixed-input",
                       cat("input '", in.target, "' is not a tensor: fixed at the value it was exported with"));
          break;
      }
    }
  }

  // What the program wrote to weights and inputs in place, by the name of each.
  std::vector<std::pair<std::string, StagedValue>> writes(const NodeScope& scope) {
    std::vector<std::pair<std::string, StagedValue>> out;
    for (const pt2::GraphInput& in : program_.inputs()) {
      const auto it = scope.values.find(in.value);
      const auto* t = it == scope.values.end() ? nullptr : it->second.as<staging::TensorRef>();
      if (!t || t->view) continue;
      const auto first = initial_.find(in.value);
      if (first != initial_.end() && s_.heap.get<staging::TensorCell>(t->cell).value.id != first->second)
        out.emplace_back(in.target.empty() ? std::string(in.value) : in.target, it->second);
    }
    return out;
  }

 private:
  json::Value meta_of(json::Value graph, std::string_view name) const {
    const json::Value meta = graph["tensor_values"].find(name);
    if (!meta) return meta;
    const json::Value inner = meta.find("meta");
    return inner ? inner : meta;
  }

  const InputSpec* spec_of(const std::string& name) const {
    for (const InputSpec& s : options_.inputs)
      if (s.name == name) return &s;
    return nullptr;
  }

  void check_names() const {
    std::vector<std::string_view> inputs;
    std::string all;
    for (const pt2::GraphInput& in : program_.inputs())
      if (in.kind == pt2::InputKind::user) {
        inputs.push_back(in.value);
        all += cat(all.empty() ? "" : ", ", in.value);
      }
    for (const InputSpec& s : options_.inputs)
      if (std::find(inputs.begin(), inputs.end(), s.name) == inputs.end())
        throw error("use.input-name", cat("the program has no input '", s.name, "'"))
            .help(inputs.empty() ? "it has none" : cat("its inputs are: ", all));
    if (options_.input_names.size() > inputs.size())
      throw error("use.input-names", cat(options_.input_names.size(), " input names are given, and the program has ",
                                         inputs.size(), inputs.size() == 1 ? " input" : " inputs"));
  }

  // A symbol gets the user's name for the axis, else one from the first input axis that is only this symbol.
  void name_symbols(json::Value graph) {
    for (const bool bare : {true, false})
      for (const pt2::GraphInput& in : program_.inputs()) {
        const json::Value meta = in.kind == pt2::InputKind::user ? meta_of(graph, in.value) : json::Value();
        if (!meta) continue;
        size_t axis = 0;
        for (const json::Value v : meta["sizes"].elements())
          name_symbol(std::string(in.value), axis++, pt2::sym_int(v), bare);
      }
  }

  void name_symbol(const std::string& input, size_t axis, const pt2::SymInt& told, bool bare) {
    if (told.literal) return;
    const auto symbol = pt2::bare_symbol(told.expression);
    if (bare && !symbol.empty() && !nodes_.symbol(symbol))
      nodes_.bind_symbol(symbol, axis_dim(input, axis, std::string(symbol)));
    if (bare || !symbol.empty()) return;
    // "2*s77" and similar, where s77 is not the size of any axis: the axis is the name, and the symbol follows from it.
    const auto inside = pt2::symbols_in(told.expression);
    if (inside.size() != 1 || nodes_.symbol(inside[0])) return;
    const auto at = [&](int64_t v) {
      return pt2::dim_of(told.expression, [&](std::string_view) { return std::optional(Dim(v)); });
    };
    const auto zero = at(0), one = at(1), two = at(2);
    if (!zero || !one || !two || !zero->is_literal() || !one->is_literal()) return;
    const int64_t base = zero->literal(), step = one->literal() - base;
    if (step <= 0 || two->literal() != base + 2 * step) return;
    const Dim d = axis_dim(input, axis, inside[0]);
    g_.facts.assume_multiple(d, step, ((base % step) + step) % step,
                             {FactSource::archive, "the archive's dynamic shapes", {}});
    nodes_.bind_symbol(inside[0], floor_div(d - Dim(base), Dim(step)));
  }

  // The name that an input of the program has in the result.
  std::string shown_name(const std::string& input) const {
    size_t position = 0;
    for (const pt2::GraphInput& in : program_.inputs()) {
      if (in.kind != pt2::InputKind::user) continue;
      if (in.value == input) return position < options_.input_names.size() ? options_.input_names[position] : input;
      ++position;
    }
    return input;
  }

  Dim axis_dim(const std::string& input, size_t axis, const std::string& symbol) {
    for (const auto& [from, to] : options_.rename_dims)
      if (from == symbol) return input_size(g_, input, to);
    if (const InputSpec* spec = spec_of(input); spec && axis < spec->dims.size() && spec->dims[axis] != "_")
      return input_size(g_, input, spec->dims[axis]);
    for (const DynamicAxis& a : options_.dynamic_axes)
      if ((a.value == input || a.value == shown_name(input)) && a.axis == static_cast<int64_t>(axis))
        return input_size(g_, input, a.name);
    return input_size(g_, input, cat(input, "_dim", axis));
  }

  void assume_ranges() {
    for (const pt2::Range& r : program_.ranges())
      if (const auto d = nodes_.symbol(r.symbol); d && !d->is_literal()) assume_range(*d, r);
  }

  // torch.export writes "2 or more" where the example's size was 2 or more. PyTorch does not check that bound: files
  // run at 1 too.
  void assume_range(Dim d, const pt2::Range& r) {
    const auto lo = r.lo && *r.lo == 2 ? std::nullopt : r.lo;
    if (lo || r.hi) g_.facts.assume_range(d, lo, r.hi, {FactSource::archive, "the archive's dynamic shapes", {}});
  }

  StagedValue user_input(const pt2::GraphInput& in, json::Value graph) {
    const std::string name(in.value);
    const std::string shown = shown_name(name);
    const json::Value meta = meta_of(graph, name);
    if (!meta) return number_input(name, shown, graph);
    const auto torch = pt2::dtype_of(meta["dtype"].integer());
    const auto dtype = torch ? dtype_from_torch(static_cast<int64_t>(*torch)) : std::nullopt;
    if (!dtype) throw error("stage.input", cat("input '", name, "' has a dtype that ONNX does not have"));
    const InputSpec* spec = spec_of(name);
    if (spec && spec->fixed) {
      check_value_of_tensor(name, *spec->fixed);
      throw error("use.input",
                  cat("input '", name, "' is a tensor in the archive: it cannot be fixed at ", *spec->fixed));
    }
    if (spec && spec->dtype && *spec->dtype != *dtype)
      throw error("use.input",
                  cat("input '", name, "' is ", ir::name(*dtype), " in the archive, not ", ir::name(*spec->dtype)));
    Shape shape;
    for (const json::Value v : meta["sizes"].elements()) {
      const pt2::SymInt told = pt2::sym_int(v);
      auto d = nodes_.size(told);
      if (!d) d = axis_dim(name, shape.size(), "");
      check_request(name, shape.size(), told, *d);
      shape.push_back(*d);
    }
    if (spec && spec->dims.size() != shape.size() && spec->dtype)
      throw error("use.input", cat("input '", name, "' has ", shape.size(), " axes in the archive, ", spec->dims.size(),
                                   " were given"));
    const bool complex = is_complex(*dtype);
    if (complex) {
      shape.push_back(Dim(2));
      sink_.note("export.complex",
                 cat("input '", shown, "' is complex: real and imaginary parts along a new last axis"));
    }
    const ValueId v = g_.add_input(g_.main(), shown, Type::tensor(complex ? real_type(*dtype) : *dtype, shape));
    for (size_t i = 0; i < shape.size(); ++i) s_.on.bind_axis(shape[i], v, static_cast<int64_t>(i));
    if (trace_) trace_->input_names.push_back(example_for(name, shown));
    if (!complex) initial_[in.value] = v;
    return s_.tensor(complex ? complex_of_pair(s_.on, v) : V(v), shown, staging::Layout::contiguous());
  }

  // The user's array for the next input: by name, or x0, x1, ...; sizes and types are the archive's.
  std::string example_for(const std::string& name, const std::string& shown) const {
    for (const std::string& key : {name, shown, cat("x", trace_->input_names.size()), std::string()})
      for (const ExampleInput& e : options_.examples)
        if (e.name == key) return key;
    return cat("no example for ", name);
  }

  // A size that torch.export fixed cannot be made dynamic again.
  void check_request(const std::string& input, size_t axis, const pt2::SymInt& told, Dim d) const {
    const InputSpec* spec = spec_of(input);
    if (!spec || !told.literal || axis >= spec->dims.size() || spec->dims[axis] == "_") return;
    if (spec->dims[axis] != d.text())
      throw error("export.frozen-dim", cat("axis ", axis, " of input '", input, "' is ", d.text(),
                                           " in the archive, not '", spec->dims[axis], "'"))
          .why("torch.export fixes every size that is not named in dynamic_shapes")
          .help(cat("export again with dynamic_shapes={'", input, "': {", axis, ": torch.export.Dim.DYNAMIC}}"));
  }

  StagedValue number_input(const std::string& name, const std::string& shown, json::Value graph) {
    const json::Value told = graph["sym_int_values"].find(name);
    if (!told) {
      if (!graph["sym_float_values"].find(name))
        return staging::poison(cat("input '", name, "' is neither a tensor nor a number"));
      const ValueId v = g_.add_input(g_.main(), shown, Type::tensor(DType::f64, {}));
      return StagedValue(StagedFloat{v});
    }
    const pt2::SymInt value = pt2::sym_int(told);
    if (value.literal) return Dim(*value.literal);
    const ValueId v = g_.add_input(g_.main(), shown, Type::tensor(DType::i64, {}));
    const Dim d = s_.on.int_of(v);
    if (const auto symbol = pt2::bare_symbol(value.expression); !symbol.empty()) {
      if (!nodes_.symbol(symbol)) nodes_.bind_symbol(symbol, d);
      for (const pt2::Range& r : program_.ranges())
        if (r.symbol == symbol) assume_range(d, r);
    }
    return d;
  }

  StagedValue weight(const pt2::GraphInput& in) {
    pt2::Payload p = program_.payload(in);
    if (const auto* lent = options_.stage.lent ? options_.stage.lent->find(p.storage, item_size(p.dtype)) : nullptr)
      p.sizes = lent->sizes, p.strides = lent->strides, p.offset = lent->offset, p.storage = lent->storage;
    const auto dtype = dtype_from_torch(static_cast<int64_t>(p.dtype));
    if (!dtype)
      return staging::poison(cat("the tensor ", in.target, " is ", name(p.dtype), ", which ONNX cannot hold"));
    for (const auto& [other, value] : weights_)
      if (support::place_of(other.storage) == support::place_of(p.storage) && !p.storage.empty() &&
          other.offset == p.offset && other.dtype == p.dtype && other.sizes == p.sizes && other.strides == p.strides)
        return value;
    const StagedValue v = s_.weight({*dtype, p.sizes, p.strides, p.offset, p.storage}, in.target);
    initial_[in.value] = s_.read(*v.as<staging::TensorRef>());
    weights_.emplace_back(std::move(p), v);
    return v;
  }

  pt2::Program& program_;
  NodeInterpreter& nodes_;
  Machine& s_;
  Graph& g_;
  const ExportOptions& options_;
  DiagSink& sink_;
  ExportTrace* trace_;
  std::unordered_map<std::string_view, ValueId> initial_;
  std::vector<std::pair<pt2::Payload, StagedValue>> weights_;
};

// The results; what is written functionally goes to `written`.
std::vector<staging::Output> outputs_of(const pt2::Program& program, NodeInterpreter& nodes, const NodeScope& scope,
                                        std::vector<std::pair<std::string, StagedValue>>& written, DiagSink& sink) {
  std::vector<staging::Output> out;
  size_t user = 0;
  for (const pt2::GraphOutput& o : program.outputs()) {
    if (o.kind == pt2::OutputKind::training)
      throw error("stage.training-graph",
                  cat("the archive is a training graph (it has an output of the kind ", o.target, ")"))
          .help("export the model for inference");
    if (o.kind == pt2::OutputKind::token) continue;
    if (o.kind != pt2::OutputKind::user) {
      written.emplace_back(o.target, nodes.lookup(o.arg["name"].text(), scope, o.arg));
      continue;
    }
    const std::string& path = program.output_paths()[user++];
    const bool named = !path.empty() && (path[0] < '0' || path[0] > '9');
    const auto [tag, v] = pt2::tagged(o.arg);
    if (tag == "as_none") continue;
    staging::flatten_outputs(nodes.s, nodes.argument(o.arg, scope),
                             named          ? path
                             : path.empty() ? "output"
                                            : cat("output.", path),
                             out, sink);
  }
  return out;
}

// New values of buffers, weights and inputs: outputs by request, else dropped.
void keep_state(Machine& s, const std::vector<std::pair<std::string, StagedValue>>& written,
                std::vector<staging::Output>& outputs, const ExportOptions& options, DiagSink& sink) {
  std::string dropped;
  for (const auto& [name, value] : written) {
    if (options.state_outputs) staging::flatten_outputs(s, value, cat(name, "_out"), outputs, sink);
    else dropped += cat(dropped.empty() ? "" : ", ", name);
  }
  if (!dropped.empty())
    sink.warn("export.dropped-state",
              cat("the program writes ", dropped, ", and a model keeps nothing between runs: dropped"))
        .hint = "--state outputs gives them as outputs";
}

// In the archive's order.
std::vector<std::string> weight_names(const pt2::Program& program) {
  std::vector<std::string> out;
  for (const pt2::GraphInput& in : program.inputs())
    if (in.kind == pt2::InputKind::parameter || in.kind == pt2::InputKind::buffer ||
        in.kind == pt2::InputKind::tensor_constant)
      out.push_back(in.target);
  return out;
}

}  // namespace

Model export_pt2(pt2::Program& program, const ExportOptions& options, DiagSink& sink, ExportTrace* trace) {
  Model model = begun_model(program.path());
  Machine machine(model, options.stage, sink);
  NodeInterpreter nodes(program, machine);
  if (trace)
    machine.observe([&](NodeId n, std::string_view op) {
      if (trace->nodes.size() <= n.index) trace->nodes.resize(n.index + 1);
      trace->nodes[n.index].op = op;
    });
  NodeScope scope;
  scope.graph = program.graph();
  Pt2Inputs inputs(program, nodes, options, sink, trace);
  inputs.make(scope);
  staging::take_assumptions(machine);
  nodes.run(scope);
  std::vector<std::pair<std::string, StagedValue>> written;
  auto outputs = outputs_of(program, nodes, scope, written, sink);
  if (!machine.missing.empty()) staging::throw_missing(machine.missing.all());
  if (outputs.empty()) throw error("export.no-output", "nothing that the model returns depends on a tensor");
  for (auto& w : inputs.writes(scope)) written.push_back(std::move(w));
  keep_state(machine, written, outputs, options, sink);
  staging::set_outputs(machine, std::move(outputs), options, sink);
  remove_dead_code(model.graph);
  if (options.stage.weights_as_inputs) order_weights(model.graph, 0, weight_names(program));
  staging::report_frozen(machine, options, sink);
  staging::tell_assumptions(machine);
  report_unused_types(machine, sink);
  return model;
}

}  // namespace cameo::staging
