"""Objects that are not what a call expects, that change while they are read, and results that somebody writes to."""
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import cameo

B = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def model(nodes, weights=(), outputs=("y",), domains=()):
    named = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("x", *outputs)]
    constants = [numpy_helper.from_array(w, n) for n, w in dict(weights).items()]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])], named[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), *(helper.make_opsetid(d, 1) for d in domains)], ir_version=10)


ADD = model([helper.make_node("Add", ["x", "w"], ["y"])], {"w": np.ones(4, np.float32)})
PRODUCT = model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": np.ones((4, 4), np.float32)})
LAYOUTS = {"from the end": B[0][::-1], "columns from the end": B[0][:, ::-1], "columns first": np.asfortranarray(B[0]),
           "every third row": B[:, 0], "one number": np.broadcast_to(np.float32(3), (2, 4)),
           "read-only": np.frombuffer(bytes(32), np.float32).reshape(2, 4), "the other byte order": B[0].astype(">f4"), "masked": np.ma.masked_array(B[0]), "a matrix": np.matrix(B[0]),
           "between two places": np.frombuffer(bytes(33), np.uint8)[1:].view(np.float32).reshape(2, 4), "of nothing": np.zeros((0, 4), np.float32),
           "a list": B[0].tolist(), "a memoryview": memoryview(B[0])}


@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_however_they_lie(name):
    given = LAYOUTS[name]
    assert np.array_equal(cameo.Session(ADD).run({"x": given})["y"], np.asarray(given, np.float32) + 1)


class Interface:
    def __init__(self, **answers):
        self.__array_interface__ = answers


class Array:
    def __init__(self, answer):
        self.answer = answer

    def __array__(self, *args, **kwargs):
        return self.answer()


class Dlpack:
    def __init__(self, answer, device=(1, 0)):
        self.__dlpack__, self.__dlpack_device__ = lambda *args, **kwargs: answer(), lambda: device


class Subclass(np.ndarray):
    shape, dtype = (1 << 40, 4), np.dtype("f8")


LIST_OF_ITSELF: list = []
LIST_OF_ITSELF.append(LIST_OF_ITSELF)
NO_ARRAYS = {"a negative size": Interface(shape=(-1, 4), typestr="<f4", data=bytes(16), version=3), "__array__ of text": Array(lambda: "text"), "__array__ raises": Array(lambda: 1 // 0),
             "objects": np.array([[object()] * 4]), "__dlpack__ raises": Dlpack(lambda: 1 // 0), "__dlpack__ of a number": Dlpack(lambda: 7), "structures": np.zeros((2, 4), [("a", "f4")]),
             "dates": np.zeros((2, 4), "M8[s]"), "raw bytes": np.zeros((2, 4), "V4"), "rows of two lengths": [[1, 2], [3]], "complex": np.ones((2, 4), np.complex64), "text": "abc", "bytes": b"abc",
             "a dict": {}, "a set": {1}, "a generator": (i for i in range(3)), "a long double": np.ones((2, 4), "g"), "a list of itself": LIST_OF_ITSELF, "None": None}


@pytest.mark.parametrize("name", NO_ARRAYS)
def test_what_is_no_array_is_refused(name):
    with pytest.raises((cameo.Error, TypeError, ValueError, ZeroDivisionError, AttributeError)):
        cameo.Session(ADD).run({"x": NO_ARRAYS[name]})


def test_a_subclass_is_what_it_holds_not_what_it_says():
    assert cameo.Session(ADD).run({"x": B[0].view(Subclass)})["y"].shape == (3, 4)


@pytest.mark.parametrize("call", [lambda: cameo.Session(ADD).run({"\ud800": B[0]}), lambda: cameo.load("\ud800.onnx"), lambda: cameo.load("a\0b.onnx"),
                                  lambda: cameo.verify(ADD, ADD, sizes={"n": 1 << 70}),
                                  lambda: cameo.quantize(PRODUCT, [{5: B[0]}]), lambda: cameo.quantize(PRODUCT, [{"other": B[0]}]), lambda: cameo.load(b"")])
def test_names_and_numbers_beyond_what_there_is(call):
    with pytest.raises(cameo.Error) as caught:
        call()
    assert caught.value.code.startswith(("use.", "run.", "file."))


def test_results_belong_to_their_reader(tmp_path):
    """A result that is a weight of the model, or what was given, is a copy: the file behind it may be mapped."""
    nodes = [helper.make_node("Identity", [a], [b]) for a, b in (("x", "y"), ("w", "z"), ("x", "again"))]
    onnx.save(model(nodes, {"w": np.ones(1 << 16, np.float32)}, ("y", "z", "again")), str(tmp_path / "m.onnx"))
    session, x = cameo.Session(str(tmp_path / "m.onnx")), B[0].copy()
    for _ in range(2):
        results = session.run({"x": x})
        for a in results.values():
            assert not np.shares_memory(a, x)
            a[...] = 7
        assert x[0, 1] == 1 and not np.shares_memory(results["y"], results["again"])
    assert session.run({"x": x})["z"].max() == 1
    plain = cameo.Session(ADD).run({"x": x})["y"]
    plain[...] = 0  # the engine's own memory, and nobody else's
    assert cameo.Session(ADD).run({"x": x})["y"].max() == 12


def test_weights_are_for_reading(tmp_path):
    onnx.save(model([helper.make_node("Add", ["x", "w"], ["y"])], {"w": np.ones((1 << 14, 4), np.float32)}), str(tmp_path / "m.onnx"))
    weight = cameo.load(str(tmp_path / "m.onnx")).weight("w")
    with pytest.raises(ValueError, match="read-only"):
        weight[0] = 5
    assert weight.copy().flags.writeable


def test_samples_that_change_while_they_are_read():
    sample: dict = {}

    class Clears:
        def __array__(self, *args, **kwargs):
            sample.clear()
            return np.ones((2, 4), np.float32)

        def __getattr__(self, name):
            sample.clear()
            raise AttributeError(name)

    class List(list):
        def __getitem__(self, i):
            sample.clear()
            return np.ones((2, 4), np.float32)

    for value in (Clears(), List([1])):
        sample.update({"x": value, "other": np.ones(1000)})
        with pytest.raises(cameo.Error, match="other"):
            cameo.quantize(PRODUCT, [sample])


def test_generators_that_end_in_other_ways():
    def raising(error):
        yield {"x": B[0]}
        raise error

    for error in (KeyError("mid"), SystemExit(3), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            cameo.quantize(PRODUCT, raising(error))
    with pytest.raises(TypeError):
        cameo.quantize(PRODUCT, 5)


def test_a_buffer_that_changes_afterwards():
    given = bytearray(ADD.SerializeToString())
    loaded = cameo.load(given)
    with pytest.raises(BufferError):
        given.extend(b"more")
    given[:] = b"\xff" * len(given)
    loaded.text(), loaded.node_count  # whatever they are now
    with pytest.raises(BufferError):
        cameo.load(memoryview(ADD.SerializeToString())[::2])


def test_objects_that_were_never_made():
    for name in ("Session", "Model", "PageServer", "Desk"):
        kind = getattr(cameo._cameo, name)
        with pytest.warns(RuntimeWarning, match="uninitialized"), pytest.raises(TypeError):
            {"Session": lambda o: o.names, "Model": lambda o: o.node_count, "PageServer": lambda o: o.address, "Desk": lambda o: o.allow("x")}[name](kind.__new__(kind))


TAILS = {"Add": [helper.make_node("Add", ["t", "x"], ["y"])], "MatMul": [helper.make_node("MatMul", ["t", "w"], ["y"])], "Concat": [helper.make_node("Concat", ["t", "x"], ["y"], axis=0)],
         "Gather": [helper.make_node("Gather", ["w", "t"], ["y"])], "Reshape": [helper.make_node("Reshape", ["w", "t"], ["y"])],
         "bytes": [helper.make_node("QuantizeLinear", ["t", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"])]}
GIVEN = [lambda a: a.astype("f8"), lambda a: a[:1, :1], lambda a: np.ones((64, 64), "f4"), lambda a: np.float32(3), lambda a: np.ones((1,) * 9, "f4"), lambda a: np.full((3, 4), 1 << 40),
         lambda a: np.array(["a", "b"]), lambda a: np.zeros((0, 4), "f4"), lambda a: [[a, a]], lambda a: a.astype("c8"), lambda a: None, lambda a: sys.exit(4), lambda a: a[::-1]]


@pytest.mark.parametrize("tail", TAILS)
def test_kernels_of_your_own_that_give_something_else(tail):
    """Computed by what it is, or refused; a kernel with a rule for its types has to keep it."""
    weights = {"w": np.ones((4, 4), np.float32), "s": np.array(0.1, np.float32), "z": np.array(3, np.uint8)}
    m = model([helper.make_node("Op", ["x"], ["t"], domain="my"), *TAILS[tail]], weights, domains=["my"])
    for give in GIVEN:
        for kernel in (give, cameo.Kernel(give, types=lambda *inputs: "f32[3,4]")):
            try:
                result = cameo.Session(m, kernels={"my::Op": kernel}).run({"x": B[0]})["y"]
            except (cameo.Error, AttributeError):
                continue
            assert kernel is give or np.shape(give(B[0])) == (3, 4)
            assert result.size < 1 << 14
