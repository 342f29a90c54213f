"""Models as pages and pictures: what `cameo view` does; and the desk that the page talks to."""
import json
import os
import threading
import webbrowser

from . import _cameo
from ._findings import failure
from ._model import as_model


class View:
    """A page that is served in the background. `address` opens it; close() ends it, as does closing the page."""

    def __init__(self, server):
        self._server = server
        self.address = server.address
        self._thread = threading.Thread(target=server.run, name="cameo.view", daemon=True)
        self._thread.start()

    @property
    def running(self):
        return self._thread.is_alive()

    def close(self):
        self._server.stop()
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<cameo.View at {self.address}{'' if self.running else ', closed'}>"


def view(model, output=None, *, open_all=False, name="model.onnx", port=0, browser=True, block=True, gone_seconds=20.0, threads=0):
    """A model in the browser, served from this machine only; or, with `output`, in a file.

    model    a path, a Model, or what load takes; a list of paths: the page may read all of them, and shows the first
    output   "net.html": one file that needs no server; "net.svg": a picture, of every module with open_all=True
    name     what a model without a path is called
    browser  False: only the address is given
    block    True: returns when the page is closed, or at Ctrl-C; False: gives a View at once, which is served in the background"""
    paths, made = _opened(model)
    if output is not None:
        return _write(os.fspath(output), paths, made, open_all, name)
    server = _cameo.PageServer(name, made, paths, {"port": port, "gone_seconds": float(gone_seconds), "threads": threads})
    if browser and not webbrowser.open(server.address):
        print(f"no browser was found: open {server.address}")
    elif not browser and block:
        print(server.address, flush=True)
    if not block:
        return View(server)
    server.run()
    return None


def _opened(model):
    """(paths, Model | None)"""
    if isinstance(model, (str, os.PathLike)):
        return [os.fspath(model)], None
    if isinstance(model, (list, tuple)) and model and all(isinstance(m, (str, os.PathLike)) for m in model):
        return [os.fspath(m) for m in model], None
    return [], as_model(model)


def _write(output, paths, made, open_all, name):
    if output.endswith(".svg"):
        text = _cameo.picture_svg(made if made is not None else as_model(paths[0]), open_all)
    elif output.endswith(".html"):
        text = _cameo.page_html(made, name) if made is not None else _cameo.page_html(paths[0])
    else:
        raise failure("use.extension", f"a view is not written as '{output}'", hint="net.html or net.svg")
    _cameo.write_whole(output, text)


class Desk:
    """Open models and what is done to them, behind one call: what the page uses (docs/page.md has the methods).

        desk = cameo.Desk(["net.onnx"])
        model = desk.call("open", file="net.onnx")["model"]
        desk.call("simplify", model=model)

    `blobs` holds what the last reply refers to by number."""

    def __init__(self, files=(), *, threads=0, out=""):
        """`out`: the folder that `save` may write to."""
        self._desk = _cameo.Desk([os.fspath(f) for f in files], threads, os.fspath(out))
        self.blobs: list = []

    def allow(self, path):
        """One more file that `open` may read."""
        self._desk.allow(os.fspath(path))

    def offer(self, name, model):
        """A model that is there already; `open` finds it by this name."""
        self._desk.offer(str(name), as_model(model))

    def call(self, method, *, blobs=(), progress=None, **params):
        reply, self.blobs = self._desk.ask(json.dumps({"method": method, "params": params}), list(blobs), progress)
        answer = json.loads(reply)
        if answer["ok"]:
            return answer["result"]
        findings = [_cameo.Diagnostic(d.get("severity", "error"), d["code"], d.get("what", ""), d.get("because", ""), d.get("hint", "")) for d in answer["errors"]]
        first = findings[0] if findings else _cameo.Diagnostic("error", "budget.memory", "out of memory")
        raise failure(first.code, first.what, first.because, first.hint, findings[1:])
