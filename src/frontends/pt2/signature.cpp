// The signature: which graph input is a parameter, a buffer or the caller's, and how results are called.
#include "frontends/pt2/program_state.h"

namespace cameo::pt2 {

namespace {
std::string_view name_of(json::Value arg) { return arg["name"].text(); }

GraphInput input_spec(json::Value spec) {
  const auto [tag, v] = tagged(spec);
  GraphInput out;
  if (tag == "user_input") {
    const auto [kind, arg] = tagged(v["arg"]);
    if (kind == "as_tensor" || kind == "as_custom_obj") out.value = name_of(arg);
    else if (kind.starts_with("as_sym_")) out.value = arg["as_name"].text();
    else {
      out.kind = InputKind::constant;
      out.constant = v["arg"];
    }
  } else if (tag == "parameter") {
    out = {InputKind::parameter, name_of(v["arg"]), std::string(v["parameter_name"].text()), true, {}};
  } else if (tag == "buffer") {
    const json::Value persistent = v.present("persistent");
    out = {InputKind::buffer,
           name_of(v["arg"]),
           std::string(v["buffer_name"].text()),
           !persistent || persistent.boolean(),
           {}};
  } else if (tag == "tensor_constant") {
    out = {InputKind::tensor_constant, name_of(v["arg"]), std::string(v["tensor_constant_name"].text()), true, {}};
  } else if (tag == "custom_obj") {
    out = {InputKind::custom_object, name_of(v["arg"]), std::string(v["custom_obj_name"].text()), true, {}};
  } else if (tag == "token") {
    out = {InputKind::token, name_of(v["arg"]), {}, true, {}};
  } else if (tag == "constant_input") {
    out.kind = InputKind::constant;
    out.target = v["name"].text();
    out.constant = v["value"];
  } else spec.fail(cat("an input of the kind ", tag, ", which Cameo does not know"));
  return out;
}

GraphOutput output_spec(json::Value spec) {
  const auto [tag, v] = tagged(spec);
  if (tag == "user_output") return {OutputKind::user, v["arg"], {}};
  if (tag == "buffer_mutation") return {OutputKind::buffer, v["arg"], std::string(v["buffer_name"].text())};
  if (tag == "parameter_mutation") return {OutputKind::parameter, v["arg"], std::string(v["parameter_name"].text())};
  if (tag == "user_input_mutation") return {OutputKind::user_input, v["arg"], std::string(v["user_input_name"].text())};
  if (tag == "token") return {OutputKind::token, v["arg"], {}};
  return {OutputKind::training, v, std::string(tag)};
}

// PyTorch 2.1: maps from placeholders instead of specifications; the order is the graph's.
void read_signature_maps(ProgramState& state, json::Value signature) {
  const json::Value graph = state.graph_module["graph"];
  const json::Value parameters = signature["inputs_to_parameters"], buffers = signature["inputs_to_buffers"];
  for (const json::Value arg : graph["inputs"].elements()) {
    const auto [tag, v] = tagged(arg);
    GraphInput in;
    in.value = v["name"].text();
    if (const json::Value p = parameters.find(in.value)) in.kind = InputKind::parameter, in.target = p.text();
    else if (const json::Value b = buffers.find(in.value)) in.kind = InputKind::buffer, in.target = b.text();
    state.inputs.push_back(std::move(in));
  }
  const json::Value mutated = signature.present("buffers_to_mutate");
  for (const json::Value arg : graph["outputs"].elements()) {
    const auto [tag, v] = tagged(arg);
    const json::Value buffer = mutated && tag == "as_tensor" ? mutated.find(v["name"].text()) : json::Value();
    state.outputs.push_back(buffer ? GraphOutput{OutputKind::buffer, v, std::string(buffer.text())}
                                   : GraphOutput{OutputKind::user, arg, {}});
  }
}

std::string_view out_spec(const ProgramState& state) {
  if (const json::Value calls = state.graph_module.present("module_call_graph"))
    for (const json::Value entry : calls.elements())
      if (entry["fqn"].text().empty())
        if (const json::Value signature = entry.present("signature"))
          if (const json::Value spec = signature.present("out_spec")) return spec.text();
  if (const json::Value call = state.graph_module.present("call_spec"))
    if (const json::Value spec = call.present("out_spec")) return spec.text();
  return {};
}
}  // namespace

void read_signature(ProgramState& state) {
  const json::Value signature = state.graph_module["signature"], graph = state.graph_module["graph"];
  if (const json::Value specs = signature.present("input_specs")) {
    for (const json::Value spec : specs.elements()) state.inputs.push_back(input_spec(spec));
    for (const json::Value spec : signature["output_specs"].elements()) state.outputs.push_back(output_spec(spec));
  } else read_signature_maps(state, signature);
  if (state.inputs.size() != graph["inputs"].size())
    signature.fail("the signature and the graph have unequal numbers of inputs");
  if (state.outputs.size() != graph["outputs"].size())
    signature.fail("the signature and the graph have unequal numbers of outputs");
  // PyTorch 2.1 keeps constants in the graph; later releases hand them in.
  if (const json::Value constants = graph.present("constants"))
    for (const auto& [name, data] : constants.members())
      state.inputs.push_back({InputKind::tensor_constant, name, std::string(name), true, data});
  size_t users = 0;
  for (const GraphOutput& o : state.outputs) users += o.kind == OutputKind::user;
  if (const auto spec = out_spec(state); !spec.empty()) {
    const json::Value fields = state.graph_module.present("treespec_namedtuple_fields");
    state.output_paths = leaf_paths(spec, fields);
  }
  if (state.output_paths.size() != users) state.output_paths.assign(users, "");
}

}  // namespace cameo::pt2
