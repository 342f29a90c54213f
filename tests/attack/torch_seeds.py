"""Writes the scripted models of tests/torch as archives: seeds with control flow. Run once, where there is torch.

  torch_seeds.py FOLDER        NAME.pt, and NAME.flags with the --input flags that fit, one a line
"""
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "torch"))
import scripted_cases  # noqa: E402
import scripted_flow  # noqa: E402, F401
import scripted_language  # noqa: E402, F401


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for cls, flags, _, options in scripted_cases.CASES:
        torch.manual_seed(0)
        torch.jit.script(cls().eval()).save(folder / f"{cls.__name__}.pt")
        words = [w for f in flags for w in ("--input", f)] + list(options.get("export", []))
        (folder / f"{cls.__name__}.flags").write_text("\n".join(words))
    (folder / "done").touch()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
