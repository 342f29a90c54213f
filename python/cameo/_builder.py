"""cameo.Builder: models from nothing, with the words that lowerings have."""
import os

import numpy as np

from . import _cameo
from ._graph import Graph, Value


class Builder(Graph):
    """A graph to add nodes to; types and shapes are inferred with every call, and what does not fit raises cameo.Error.

        g = cameo.Builder("line")
        x = g.input("x", "f32[batch,8]")
        g.output("y", g.Relu(2.0 * x + g.weight("b", np.zeros(8, "float32"))))
        g.save("line.onnx")

    g.Conv(x, w, pads=[1, 1, 1, 1]) and g.op("Conv", x, w, pads=[1, 1, 1, 1]) make nodes of any ONNX operator, g.op("my.domain::Op", x)
    those of others. Values have dtype, shape, constant and the operators + - * / ** @."""

    def __init__(self, name="graph"):
        super().__init__(_cameo.Builder(name), 0)

    def input(self, name, type):
        """"f32[batch,3,224,224]": an element type, and sizes that are numbers, names or expressions such as 4*h + 2."""
        return Value(self, self._host.input(name, type))

    def weight(self, name, array):
        """A constant with a name. The array is copied."""
        return Value(self, self._host.weight(name, np.array(array)))

    def set_type(self, value, type):
        """Says the type of a foreign operator's result: "f32[batch,?]"."""
        self._host.set_value_type(value._host, type)

    def if_else(self, condition, then, otherwise):
        """then() and otherwise() give lists of values; what they compute belongs to the branch. Gives a list."""
        return self._values(self._host.if_else(condition._host, lambda: self._hosts(then()), lambda: self._hosts(otherwise())))

    def loop(self, count, condition, carried, body):
        """body(counter, carried) gives (whether to go on or None, carried values, gathered values); count or condition may be None.
        Gives the carried values, then what was gathered, stacked along a new first axis."""
        def turn(counter, inside):
            go_on, values, gathered = body(Value(self, counter), self._values(inside))
            return self._host_of(go_on), self._hosts(values), self._hosts(gathered)
        return self._values(self._host.loop(self._host_of(count), self._host_of(condition), self._hosts(carried), turn))

    def output(self, name, value):
        self._host.output(name, value._host)

    def text(self):
        return self._host.text()

    def model(self, opset=0):
        """The model as it is now, at an opset; 0: the default, 18."""
        return self._host.model(opset)

    def save(self, f, opset=0):
        return self.model(opset).save(os.fspath(f) if isinstance(f, (str, os.PathLike)) else f)

    def _host_of(self, v):
        return self._operand(v, None)

    def _hosts(self, values):
        return [self._host_of(v) for v in (values if isinstance(values, (list, tuple)) else [values])]

    def _values(self, hosts):
        return [Value(self, h) for h in hosts]
