"""The operators of linger (domain "linger"), as facts for tools/generate_ops.py. docs/linger.md says what they compute.

An attribute that linger always writes is required; none has a default, because its runtime wants to find them in the file.
"""
INTEGER = ["tensor(int8)", "tensor(int16)", "tensor(int32)"]
OPERAND = [*INTEGER, "tensor(float)"]  # a float operand is quantised with the node's own scale
FLOAT = ["tensor(float)"]
INDEX = ["tensor(int32)", "tensor(int64)"]
ANY = [*OPERAND, "tensor(int64)", "tensor(bool)"]
MOST_JOINED = 64  # operands of QCat, each with two attributes of its own


def attribute(text):
    """`scale_x:FLOAT` is required, `platform:STRING?` is not."""
    name, kind = text.split(":")
    return {"name": name, "type": kind.rstrip("?"), "required": not kind.endswith("?"), "default": None}


def formal(text, kind):
    option = {"?": "Optional", "*": "Variadic"}.get(text[-1], "Single")
    name = text.rstrip("?*")
    return {"name": name, "type": f"T_{name}", "option": option, "min_arity": 1, "homogeneous": option != "Variadic"}, {f"T_{name}": kind}


def operator(name, inputs, attributes, outputs=None, most=None):
    """Inputs and outputs as {name: types}, optional ones with a question mark, a variadic one with a star."""
    outputs = outputs or {"y": INTEGER}
    ins, outs, types = [], [], {}
    for given, made in ((inputs, ins), (outputs, outs)):
        for text, kind in given.items():
            f, t = formal(text, kind)
            made.append(f)
            types.update(t)
    needed = sum(f["option"] != "Optional" for f in ins)
    return {"domain": "linger", "name": name, "since": 1, "deprecated": False, "min_in": needed, "max_in": most or len(ins),
            "min_out": sum(f["option"] == "Single" for f in outs), "max_out": len(outs), "inputs": ins, "outputs": outs,
            "attributes": [attribute(a) for a in attributes.split()], "types": types, "function": False}


COMMON = "platform:STRING? quant_mode:STRING? x_bits:INT scale_x:FLOAT o_bits:INT scale_o:FLOAT"
WEIGHT = f"{COMMON} w_bits:INT scale_w:FLOAT"
WINDOW = "kernel_shape:INTS strides:INTS pads:INTS"
CONV = f"{WEIGHT} {WINDOW} dilations:INTS group:INT"
POOL = f"{COMMON} {WINDOW} ceil_mode:INT? count_include_pad:INT? divisor_override:INT?"
PAIR = f"{COMMON} y_bits:INT scale_y:FLOAT"
STATES = "input_size:INT? hidden_size:INT num_layers:INT? batch_first:INT? go_forward:INT? has_hidden:INT? has_cell:INT?"
RECURRENT = f"{COMMON} {STATES} scale_h:FLOAT scale_iw:FLOAT scale_hw:FLOAT w_bits:INT"
JOINED = " ".join(f"x_{i}_bits:INT? scale_x_{i}:FLOAT?" for i in range(MOST_JOINED))

ONE = {"x": OPERAND}
TWO = {"x": OPERAND, "y": OPERAND}
LINEAR = {"x": OPERAND, "w": OPERAND, "b?": OPERAND}
Z = {"z": INTEGER}


def schemas():
    return [
        operator("Quant", {"x": FLOAT}, "data_bits:INT scale_x:FLOAT platform:STRING? quant_mode:STRING? zero_point:INT?"),
        operator("Dequant", ONE, "scale_o:FLOAT platform:STRING?", {"y": FLOAT}),
        *[operator(name, LINEAR, CONV) for name in ("QConv1d", "QConv2d")],
        *[operator(name, LINEAR, f"{CONV} output_padding:INTS?") for name in ("QConvTranspose1d", "QConvTranspose2d")],
        operator("QLinear", LINEAR, WEIGHT),
        *[operator(name, {"x": OPERAND, "alpha": OPERAND, "beta": OPERAND}, WEIGHT) for name in ("QBatchNorm1d", "QBatchNorm2d")],
        operator("QLayerNorm", LINEAR, f"{WEIGHT} scale_y_normal:FLOAT?"),
        operator("Gather", {"w": OPERAND, "ids": INDEX}, "platform:STRING? quant_mode:STRING? w_bits:INT scale_w:FLOAT"),
        *[operator(name, ONE, POOL) for name in ("QAvgPool1d", "QAvgPool2d")],
        operator("QGlobalAveragePool2d", ONE, COMMON),
        *[operator(name, TWO, PAIR, Z) for name in ("QAdd", "QMul", "QMatmul", "QBmm")],
        operator("QCat", {"x*": OPERAND}, f"platform:STRING? quant_mode:STRING? axis:INT o_bits:INT scale_o:FLOAT {JOINED}", most=MOST_JOINED),
        operator("QSoftmax", ONE, f"{COMMON} axis:INT"),
        operator("QGLU", ONE, f"{COMMON} dim:INT"),
        *[operator(name, ONE, COMMON) for name in ("QSigmoid", "QTanh", "QGelu", "QSwish")],
        operator("QLSTM", {"x": OPERAND, "more*": OPERAND}, f"{RECURRENT} scale_c:FLOAT?", {"y": INTEGER, "h?": FLOAT, "c?": FLOAT}, most=7),
        operator("QGRU", {"x": OPERAND, "more*": OPERAND}, RECURRENT, {"y": INTEGER, "h?": FLOAT}, most=6),
        operator("Squeeze", {"x": ANY}, "axes:INTS? axis:INT?", {"y": ANY}),
    ]
