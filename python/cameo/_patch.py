"""torch.onnx.export, replaced: `import cameo; cameo.torch_onnx_export()` at the top of a script that exists."""
import contextlib
import functools

from ._export import export

_original = []


@functools.wraps(export)
def _as_torch(*args, **kwargs):
    """linger.onnx.export calls torch.onnx.export and finishes the nodes of its modules itself."""
    return export(*args, **{"linger": False} | kwargs)


def torch_onnx_export(active=True):
    """From now on torch.onnx.export is cameo.export; torch_onnx_export(False) puts PyTorch's own back. Also a context:
    `with cameo.torch_onnx_export(): ...`"""
    import torch.onnx
    if active and not _original:
        _original.append((torch.onnx.export, getattr(torch.onnx.utils, "export", None) if hasattr(torch.onnx, "utils") else None))
        torch.onnx.export = _as_torch
        if _original[0][1] is not None:
            torch.onnx.utils.export = _as_torch
    elif not active and _original:
        plain, utils = _original.pop()
        torch.onnx.export = plain
        if utils is not None:
            torch.onnx.utils.export = utils
    return _back()


@contextlib.contextmanager
def _back():
    try:
        yield
    finally:
        torch_onnx_export(False)
