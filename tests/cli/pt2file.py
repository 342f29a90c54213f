"""Archives in the layout of torch.export.save (PyTorch 2.13), made without PyTorch: a deep transformer's blocks, with
the metadata that PyTorch keeps for every node, which is most of such a file."""
import json
import struct
import zipfile

WIDTH = 64
TENSOR = {"requires_grad": False, "device": {"type": "cpu", "index": None}, "storage_offset": {"as_int": 0}, "layout": 7}
ROWS = {"as_expr": {"expr_str": "Symbol('s77', positive=True, integer=True)", "hint": {"as_int": 8}}}
LIBRARY = "/usr/lib/python3/dist-packages/torch/nn/modules"


def meta(sizes):
    strides = [1]
    for size in reversed(sizes[1:]): strides.insert(0, strides[0] * size["as_int"])
    return {"dtype": 7, "sizes": sizes, "strides": [{"as_int": s} for s in strides], **TENSOR}


def trace(block, depth, call):
    """As PyTorch tells where a node comes from: one frame per module around it."""
    frames = [f'File "/home/user/project/networks/encoder_{level}.py", line {40 + level}, in forward\n    hidden_states = self.stage_{level}(hidden_states, attention_mask, position_bias)\n'
              f'  File "{LIBRARY}/module.py", line {1790 + level}, in _call_impl\n    return forward_call(*args, **kwargs)\n' for level in range(depth)]
    return "  ".join(frames) + f'  File "/home/user/project/networks/block.py", line {10 + block % 80}, in forward\n    {call}'


def stack(block, depth, last):
    path, entries = "", []
    for level in range(depth):
        path += (f".stage_{level}" if path else f"stage_{level}")
        entries.append(f"L__self___{path.replace('.', '_')},{path},networks.encoder_{level}.Stage{level}")
    return ";".join(["L__self__,,networks.model.Net"] + entries + [f"L__self___blocks_{block}_{last},blocks.{block}.{last},torch.nn.modules.{last}.{last.capitalize()}"])


def exported(blocks, depth=8, weights=4):
    """The text of models/model.json and the names of its weights: `blocks` blocks that take turns with `weights` weights."""
    tensor = lambda name: {"as_tensor": {"name": name}}
    nodes, values, inputs, specs, last = [], {}, [], [], "x"

    def call(block, module, target, given, name, line):
        nodes.append({"target": f"torch.ops.aten.{target}", "inputs": [{"name": key, "arg": arg, "kind": 1} for key, arg in given], "outputs": [tensor(name)],
                      "metadata": {"stack_trace": trace(block, depth, line), "nn_module_stack": stack(block, depth, module), "source_fn_stack": f"{name};torch.nn.modules.{module}",
                                   "torch_fn": f"{name};builtin_function_or_method.{target.split('.')[0]}"}, "is_hop_single_tensor_return": None, "name": name})
        values[name] = meta([ROWS, {"as_int": WIDTH}])
        return name

    for i in range(weights):
        inputs.append(tensor(f"p_w{i}"))
        specs.append({"parameter": {"arg": {"name": f"p_w{i}"}, "parameter_name": f"blocks.{i}.linear.weight"}})
        values[f"p_w{i}"] = meta([{"as_int": WIDTH}, {"as_int": WIDTH}])
    inputs.append(tensor("x"))
    specs.append({"user_input": {"arg": tensor("x")}})
    values["x"] = meta([ROWS, {"as_int": WIDTH}])
    for b in range(blocks):
        h = call(b, "linear", "linear.default", [("input", tensor(last)), ("weight", tensor(f"p_w{b % weights}"))], f"linear_{b}", "h = self.linear(x)")
        h = call(b, "activation", "relu.default", [("self", tensor(h))], f"relu_{b}", "h = self.activation(h)")
        h = call(b, "norm", "layer_norm.default", [("input", tensor(h)), ("normalized_shape", {"as_ints": [WIDTH]})], f"layer_norm_{b}", "h = self.norm(h)")
        last = call(b, "block", "add.Tensor", [("self", tensor(h)), ("other", tensor(last))], f"add_{b}", "return h + x")
    graph = {"inputs": inputs, "outputs": [tensor(last)], "nodes": nodes, "tensor_values": values, "sym_int_values": {}, "sym_bool_values": {},
             "is_single_tensor_return": False, "custom_obj_values": {}, "sym_float_values": {}}
    leaf = '{"type": null, "context": null, "children_spec": []}'
    calls = [{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": "", "out_spec": f"[1, {leaf}]", "forward_arg_names": ["x"]}}]
    module = {"graph": graph, "signature": {"input_specs": specs, "output_specs": [{"user_output": {"arg": tensor(last)}}]},
              "module_call_graph": calls, "metadata": {}, "treespec_namedtuple_fields": {}}
    program = {"graph_module": module, "opset_version": {"aten": 10}, "range_constraints": {"s77": {"min_val": 1, "max_val": 512}}, "schema_version": {"major": 8, "minor": 20},
               "verifiers": ["TRAINING"], "torch_version": "2.13.0", "guards_code": []}
    return json.dumps(program), [f"blocks.{i}.linear.weight" for i in range(weights)]


def write(path, blocks, depth=8, weights=4):
    """Writes the archive; gives the length of its JSON."""
    text, names = exported(blocks, depth, weights)
    config = {name: {"path_name": f"weight_{i}", "is_param": True, "use_pickle": False, "tensor_meta": meta([{"as_int": WIDTH}] * 2)} for i, name in enumerate(names)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as z:
        for i in range(weights): z.writestr(f"net/data/weights/weight_{i}", struct.pack("<f", 1 / WIDTH) * (WIDTH * WIDTH))
        z.writestr("net/data/weights/model_weights_config.json", json.dumps({"config": config}))
        z.writestr("net/data/constants/model_constants_config.json", json.dumps({"config": {}}))
        z.writestr("net/models/model.json", text)
        z.writestr("net/archive_format", "pt2")
        z.writestr("net/archive_version", "0")
        z.writestr("net/byteorder", "little")
        z.writestr("net/.data/serialization_id", "0")
    return len(text)
