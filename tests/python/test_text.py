"""Texts against ONNX's own parser and printer: each reads what the other wrote."""
import onnx
import onnx.checker
import onnx.parser
import onnx.printer
import pytest

STRIDE = 5  # every fifth of the node cases


def plain(value):
    """Something that compares: messages as bytes, without names that texts do not keep."""
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value).tobytes(), tuple(value.dims), value.data_type
    if isinstance(value, onnx.GraphProto):
        return nodes(value)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.SerializeToString() if hasattr(value, "SerializeToString") else value


def nodes(graph):
    return [
        (n.op_type, n.domain, list(n.input), list(n.output),
         sorted((a.name, repr(plain(onnx.helper.get_attribute_value(a)))) for a in n.attribute if not a.ref_attr_name))
        for n in graph.node
    ]


@pytest.fixture(scope="module")
def cases(node_cases):
    return sorted(p / "model.onnx" for p in node_cases.iterdir() if (p / "model.onnx").exists())[::STRIDE]


def test_onnx_reads_our_texts(cameo, cases, tmp_path):
    text = tmp_path / "out.onnxtxt"
    for case in cases:
        done = cameo("infer", "--no-provenance", case, text)
        if done.returncode == 1 and "convert.refused" in done.stderr:
            continue  # inference touched a node that its old opset cannot express any more
        assert done.returncode == 0, f"{case}: {done.stderr}"
        read = onnx.parser.parse_model(text.read_text())
        assert nodes(read.graph) == nodes(onnx.load(case).graph), case
        onnx.checker.check_model(read)


def test_we_read_onnx_texts(cameo, cases, tmp_path):
    text, back = tmp_path / "in.onnxtxt", tmp_path / "out.onnx"
    for case in cases:
        model = onnx.load(case)
        text.write_text(onnx.printer.to_text(model))
        done = cameo("infer", text, back)
        if "convert.refused" in done.stderr:
            continue
        assert done.returncode == 0, f"{case}: {done.stderr}"
        assert nodes(onnx.load(back).graph) == nodes(onnx.parser.parse_model(text.read_text()).graph), case


def test_syntax_errors_are_damaged_files(cameo, tmp_path):
    text = tmp_path / "broken.onnxtxt"
    text.write_text("g (float[N] x) => (y) {\n  y = Relu(x\n}\n")
    done = cameo("infer", text, tmp_path / "out.onnx")
    assert done.returncode == 3
    assert "broken.onnxtxt:3:1" in done.stderr
    assert not (tmp_path / "out.onnx").exists()


def test_show_prints_the_file_in_its_own_opset(cameo, tmp_path):
    text = tmp_path / "old.onnxtxt"
    text.write_text('<ir_version: 7, opset_import: ["" : 9]> g (float[1,3] x) => (y) { y = Unsqueeze<axes=[0]>(x) }')
    shown = cameo("show", "--text", text)
    assert shown.returncode == 0, shown.stderr
    assert '"" : 9' in shown.stdout and "Unsqueeze<axes=[0]>(x)" in shown.stdout
