"""Operators that stay foreign nodes: what capture knows of their results, judged by onnx.checker."""
import onnx
import pytest
import torch

import cameo


@torch.library.custom_op("fallback_test::pair", mutates_args=())
def pair(x: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    return x[:, :k].clone(), x.sum(1).to(torch.int64)


@pair.register_fake
def _(x, k):
    return x.new_empty(x.shape[0], k), x.new_empty(x.shape[0], dtype=torch.int64)


class Net(torch.nn.Module):
    def forward(self, x):
        first, counts = torch.ops.fallback_test.pair(torch.relu(x), 2)
        wider, _ = torch.ops.fallback_test.pair(torch.cat([first, first], 1), 3)
        return wider * 2, counts, torch.softmax(first, -1)


def shapes(result):
    onnx.checker.check_model(result.model.to_proto())
    return [(o.dtype, o.shape) for o in result.model.outputs]


X = torch.arange(8.0).reshape(2, 4)


@pytest.mark.parametrize("capture", ["trace", "export"])
@pytest.mark.parametrize("fallback", ["custom", "aten"])
def test_shapes_that_capture_knows(capture, fallback):
    result = cameo.export(Net(), (X,), fallback=fallback, capture=capture)
    assert shapes(result) == [("f32", [2, 3]), ("i64", [2]), ("f32", [2, 2])]


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_ranks_with_dynamic_axes(capture):
    result = cameo.export(Net(), (X,), fallback="custom", capture=capture, dynamic_axes={"x": {0: "batch"}})
    assert [(d, len(s)) for d, s in shapes(result)] == [("f32", 2), ("i64", 1), ("f32", 2)]
    assert result.model.inputs[0].shape == ["batch", 4]


def test_what_the_caller_declares():
    result = cameo.export(Net(), (X,), fallback="custom", capture="trace", dynamic_axes={"x": {0: "batch"}},
                          types={"fallback_test::pair": ["f32[batch,2];i64[batch]", "f32[batch,3];i64[batch]"]})
    assert shapes(result) == [("f32", ["batch", 3]), ("i64", ["batch"]), ("f32", ["batch", 2])]
    with pytest.raises(cameo.Error) as caught:
        cameo.export(Net(), (X,), fallback="custom", types={"fallback_test::pair": "f3[2"})
    assert caught.value.code == "use.type"


def test_from_an_archive(tmp_path):
    path = tmp_path / "net.pt"
    torch.jit.trace(Net(), (X,)).save(path)
    result = cameo.export(path, ("x=f32[batch,4]",), fallback="custom", verify=False,
                          types={"fallback_test::pair": ["f32[batch,2];i64[batch]", "f32[batch,3];i64[batch]"]})
    assert shapes(result) == [("f32", ["batch", 3]), ("i64", ["batch"]), ("f32", ["batch", 2])]
    untyped = cameo.export(path, ("x=f32[batch,4]",), fallback="custom", verify=False)
    assert any(d.code == "export.fallback" and "types={" in d.hint for d in untyped.findings)
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(untyped.model.to_proto())


def test_kernels_and_types_together():
    def kernel(x, arg1):
        return x[:, :arg1], x.sum(1).astype("int64")

    result = cameo.export(Net(), (X,), fallback="custom", capture="trace", dynamic_axes={"x": {0: "batch"}}, kernels={"fallback_test::pair": kernel})
    assert result.verification.ok and result.verification.sizes


@torch.library.custom_op("fallback_test::pieces", mutates_args=())
def pieces(x: torch.Tensor, n: int) -> list[torch.Tensor]:
    return [c.clone() for c in x.chunk(n, -1)]


@pieces.register_fake
def _(x, n):
    return [torch.empty_like(c) for c in x.chunk(n, -1)]


@torch.library.custom_op("fallback_test::bump", mutates_args=("x",))
def bump(x: torch.Tensor, by: float) -> None:
    x.add_(by)


class Pieces(torch.nn.Module):
    def forward(self, x):
        first, second = torch.ops.fallback_test.pieces(x, 2)
        return first + second


@pytest.mark.parametrize("capture", ["trace", "export"])
def test_a_list_of_results(capture):
    @cameo.lowering("fallback_test::pieces")
    def lower(g, x, n):
        return g.op("my.domain::Pieces", x, n_i=n, outputs=n)
    try:
        result = cameo.export(Pieces(), (X,), capture=capture)
    finally:
        cameo._lowering._registered.pop("fallback_test::pieces")
    assert shapes(result) == [("f32", [2, 2])] and len(result.model.nodes[0].outputs) == 2


@torch.library.custom_op("fallback_test::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    return x + 0


@same.register_fake
def _(x):
    return torch.empty_like(x)


class Kept(torch.nn.Module):
    """Lists taken apart, by index, joined; and a call inside of the call of another that gives more."""

    def forward(self, x):
        first, second = torch.ops.fallback_test.pieces(torch.ops.fallback_test.same(x), 2)
        some = torch.ops.fallback_test.pieces(x, 2)
        pair, _ = torch.ops.fallback_test.pair(torch.ops.fallback_test.same(first * second), 2)
        return torch.cat(torch.ops.fallback_test.pieces(x, 2), 0).softmax(-1), some[0].transpose(0, 1) * some[1].t(), pair.flatten(1)


def _kernels():
    return {"fallback_test::pieces": lambda x, **n: tuple(c.numpy() for c in torch.from_numpy(x).chunk(2, -1)), "fallback_test::same": lambda x: x,
            "fallback_test::pair": lambda x, **n: (x[:, :2], x.sum(1).astype("int64"))}


@pytest.mark.parametrize("capture", ["trace", "export", "script"])
@pytest.mark.parametrize("axes", [None, {"x": {0: "batch"}}])
def test_lists_and_calls_inside_of_calls(capture, axes):
    result = cameo.export(Kept(), (X,), capture=capture, fallback="custom", dynamic_axes=axes, kernels=_kernels())
    assert result.verification.ok and all(d == "f32" and len(s) == 2 for d, s in shapes(result))
    counts = {n.op: len(n.outputs) for n in result.model.nodes}
    assert counts["same"] == 1 and counts["pair"] == 2 and counts["pieces"] == 2 and "SequenceConstruct" not in counts


def test_a_list_of_a_scripted_archive_is_declared(tmp_path):
    torch.jit.script(Kept()).save(tmp_path / "net.pt")
    types = {"fallback_test::pieces": "f32[batch,2];f32[batch,2]", "fallback_test::same": "arg0", "fallback_test::pair": "f32[batch,2];i64[batch]"}
    result = cameo.export(tmp_path / "net.pt", ("x=f32[batch,4]",), fallback="custom", verify=False, types=types)
    assert shapes(result) == [("f32", ["2*batch", 2]), ("f32", [2, "batch"]), ("f32", ["batch", 2])]


@pytest.mark.parametrize("fallback", ["custom", "aten"])
def test_what_writes_to_its_arguments_is_refused(fallback):
    class Bumped(torch.nn.Module):
        def forward(self, x):
            y = x * 2
            torch.ops.fallback_test.bump(y, 1.0)
            return y
    with pytest.raises(cameo.Error, match="writes to its arguments"):
        cameo.export(Bumped(), (X,), capture="trace", fallback=fallback)
    cameo.lowering("fallback_test::bump")(lambda g, x, by: g.Add(x, by))
    try:
        with pytest.raises(cameo.Error, match="writes to its arguments"):
            cameo.export(Bumped(), (X,), capture="trace")
    finally:
        cameo._lowering._registered.pop("fallback_test::bump")


@pytest.mark.parametrize("suffix", ["pt", "pt2"])
def test_an_archive_with_an_operator_that_is_kept(suffix, tmp_path):
    path = tmp_path / f"net.{suffix}"
    if suffix == "pt":
        torch.jit.trace(Net(), (X,)).save(path)
    else:
        torch.export.save(torch.export.export(Net(), (X,)), path)
    result = cameo.export(path, (X,), fallback="custom")
    assert "verify.skipped" in [d.code for d in result.findings] and result.verification is None


def test_several_translations_of_one_operator():
    from onnxscript import opset18 as op

    def doubled(x):
        return op.Add(x, x)

    class Twice(torch.nn.Module):
        def forward(self, x):
            return torch.sigmoid(x)
    table = {torch.ops.aten.sigmoid.default: [doubled]}
    assert [n.op for n in cameo.export(Twice(), (X,), dynamo=True, custom_translation_table=table, verify=False).model.nodes] == ["Add"]
