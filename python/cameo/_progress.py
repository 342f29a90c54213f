"""A bar for long work: tqdm's where it is installed, and only on a terminal or in a notebook."""
import sys


class Steps:
    """`with Steps("export", ["capture", "export", "verify"]) as steps: steps.next()`"""

    def __init__(self, title, names, show=None):
        self._names, self._bar = iter(names), None
        if show is None:
            show = sys.stderr.isatty() or "ipykernel" in sys.modules
        if show:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=len(names), desc=title, leave=False, bar_format="{desc}: {n_fmt}/{total_fmt} {postfix} [{elapsed}]", file=sys.stderr)

    def next(self):
        name = next(self._names, "")
        if self._bar is not None:
            self._bar.set_postfix_str(name)
            self._bar.update(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.close()
