"""How many nodes of each operator a model has, bodies and local functions included."""
import collections


def in_model(model):
    import onnx
    count = collections.Counter()

    def walk(list_of_nodes):
        for n in list_of_nodes:
            count[n.op_type] += 1
            for a in n.attribute:
                if a.type == onnx.AttributeProto.GRAPH:
                    walk(a.g.node)
                for g in a.graphs:
                    walk(g.node)
    walk(model.graph.node)
    for f in model.functions:
        walk(f.node)
    return count


def in_file(path):
    import onnx
    return in_model(onnx.load(path, load_external_data=False))
