"""From a PyTorch module to the output of ONNX Runtime Web, in Chromium (browser.mjs has the page)."""
import atexit
import base64
import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import road

HERE = pathlib.Path(__file__).resolve().parent


class Browser:
    def __init__(self):
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        self.process = subprocess.Popen(["node", HERE / "browser.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={"PACKAGES": str(road.PLACE / "npm" / "node_modules"), "CHROMIUM": chromium, **os.environ})
        atexit.register(self.process.stdin.close)

    def ask(self, job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "the browser ended"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


def engine(path):
    browser.ask({"model": str(path)})

    def run(feeds):
        answer = browser.ask({"feeds": {n: {"dims": a.shape, "data": base64.b64encode(a.tobytes()).decode()} for n, a in feeds.items()}})
        run.ms = answer["ms"]
        return [np.frombuffer(base64.b64decode(o["data"]), np.float32).reshape(o["dims"]) for o in answer["outputs"]]
    return run


if __name__ == "__main__":
    browser = Browser()
    road.travel("onnxruntime-web", engine)
