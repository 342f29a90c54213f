"""How many nodes of each operator a model has, bodies and local functions included; which domains they come from."""
import collections


def nodes_of(model):
    import onnx

    def walk(list_of_nodes):
        for n in list_of_nodes:
            yield n
            for a in n.attribute:
                if a.type == onnx.AttributeProto.GRAPH:
                    yield from walk(a.g.node)
                for g in a.graphs:
                    yield from walk(g.node)
    yield from walk(model.graph.node)
    for f in model.functions:
        yield from walk(f.node)


def in_model(model):
    return collections.Counter(n.op_type for n in nodes_of(model))


def in_file(path):
    import onnx
    return in_model(onnx.load(path, load_external_data=False))


def foreign_domains(model):
    """Domains besides ONNX's own and those of the model's own functions."""
    return {n.domain for n in nodes_of(model)} - {"", "ai.onnx"} - {f.domain for f in model.functions}
