"""Models in notebooks: a table of what they are, and the graph as SVG."""
import html

from ._cameo import printable

MOST_NODES = 300  # in a drawing


def _shown(text):
    """A name from a file, for a page: no control characters, which SVG has no form for, and no markup."""
    return html.escape(printable(str(text)))


def short(model):
    return f"<cameo.Model: {model.node_count} nodes, opset {model.opset}>"


def _typed(info):
    return f"{info.dtype}[{', '.join('?' if n is None else str(n) for n in info.shape)}]" if info.shape is not None else info.type


def page(model):
    stats = model.statistics
    rows = [("inputs", "<br>".join(f"{_shown(i.name)}: {_shown(_typed(i))}" for i in model.inputs if not i.has_default)),
            ("outputs", "<br>".join(f"{_shown(o.name)}: {_shown(_typed(o))}" for o in model.outputs)),
            ("opset", str(model.opset)),
            ("operators", ", ".join(f"{_shown(n)} {c}" for n, c in stats["operators"].items())),
            ("parameters", f"{stats['parameters']:,} in {stats['weights']} weights, {_bytes(stats['weight_bytes'])}"),
            ("MACs", _shown(stats["macs"]))]
    table = "".join(f"<tr><th style='text-align:left'>{k}</th><td style='text-align:left'>{v}</td></tr>" for k, v in rows)
    drawing = svg(model) if model.node_count <= MOST_NODES else f"<p>{model.node_count} nodes: too many to draw here</p>"
    return f"<table>{table}</table><div style='overflow:auto;max-height:600px'>{drawing}</div>"


def svg_or_none(model):
    return None  # the table has it


def _bytes(n):
    for unit in ("B", "KiB", "MiB"):
        if n < 1024:
            return f"{n:.0f} {unit}"
        n /= 1024
    return f"{n:.1f} GiB"


def svg(model):
    """The main graph, layer by layer from inputs to outputs."""
    nodes = model.nodes
    made_by = {v: i for i, n in enumerate(nodes) for v in n.outputs if v}
    inputs = [i.name for i in model.inputs if not i.has_default]
    depth = []
    for n in nodes:
        depth.append(1 + max([depth[made_by[v]] for v in n.inputs if v in made_by], default=0))
    boxes = [(name, name, 0, "#dfe8f5") for name in inputs]
    boxes += [(i, n.op, d, "#f3f0e6" if not n.domain else "#f5dfdf") for i, (n, d) in enumerate(zip(nodes, depth))]
    last = max(depth, default=0) + 1
    boxes += [(("out", o.name), o.name, last, "#e3f3e0") for o in model.outputs]
    columns, place = {}, {}
    for key, _, level, _ in boxes:
        place[key] = (columns.setdefault(level, 0), level)
        columns[level] += 1
    wide, high = 150, 56
    width = max(columns.values(), default=1) * wide + 20
    edges, drawn = [], []

    def centre(key):
        column, level = place[key]
        return (width - columns[level] * wide) / 2 + column * wide + wide / 2, level * high + 24

    def line(source, target):
        (x1, y1), (x2, y2) = centre(source), centre(target)
        edges.append(f"<path d='M{x1:.0f},{y1 + 14:.0f} C{x1:.0f},{y1 + 34:.0f} {x2:.0f},{y2 - 34:.0f} {x2:.0f},{y2 - 14:.0f}' fill='none' stroke='#999'/>")
    for i, n in enumerate(nodes):
        for v in n.inputs:
            if v in made_by:
                line(made_by[v], i)
            elif v in place:
                line(v, i)
    for o in model.outputs:
        if o.name in made_by:
            line(made_by[o.name], ("out", o.name))
    for key, label, _, colour in boxes:
        x, y = centre(key)
        title = nodes[key].name if isinstance(key, int) else label
        text = label if len(label) <= 20 else label[:19] + "…"
        drawn.append(f"<g><title>{_shown(title)}</title><rect x='{x - 66:.0f}' y='{y - 14:.0f}' width='132' height='28' rx='5' fill='{colour}' stroke='#777'/>"
                     f"<text x='{x:.0f}' y='{y + 4:.0f}' text-anchor='middle' font-family='sans-serif' font-size='12'>{_shown(text)}</text></g>")
    return f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{(last + 1) * high}'>{''.join(edges)}{''.join(drawn)}</svg>"
