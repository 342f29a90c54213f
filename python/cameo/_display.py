"""Models in notebooks: a table of what they are, and the graph as SVG."""
import html

from ._cameo import picture_svg, printable

MOST_NODES = 300  # in a drawing


def _shown(text):
    """A name from a file, for a page: no control characters, which SVG has no form for, and no markup."""
    return html.escape(printable(str(text)))


def told(model):
    """The text form, which has the newest encoding of every operator, under the opset that the file has."""
    head, _, graph = model.text().partition(">\n")
    producer = f", producer {printable(model.producer)}" if model.producer else ""
    return f"opset {model.opset}{producer}\n{graph}" if head.startswith("<ir_version") else model.text()


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


def svg(model, open_all=False):
    """The graph as a picture, as `cameo view -o FILE.svg` makes it: modules closed, or everything open."""
    return picture_svg(model, open_all)
