"""Runs jobs in a worker process that may crash or hang; what is done is kept in a file, so that a run goes on where the last one stopped."""
import json
import os
import pathlib
import select
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


class Worker:
    def __init__(self, command, limit):
        self.command, self.limit, self.process = command, limit, None

    def ask(self, job):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(["nice", "-n", "2", *self.command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                            env={**os.environ, "OMP_NUM_THREADS": "1"})
            self.buffer = b""
        try:
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return self._ended(job, "crash")
        while b"\n" not in self.buffer:
            if not select.select([self.process.stdout], [], [], self.limit)[0]:
                return self._ended(job, "hang")
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                return self._ended(job, "crash")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def _ended(self, job, outcome):
        self.process.kill()
        self.process.wait()
        self.process = None
        return {"id": job["id"], "outcome": outcome, "why": ""}

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def command_of(engine):
    if engine == "onnxruntime-web":
        return ["node", str(HERE / "web_worker.mjs")]
    return [python_of(engine), str(HERE / "worker.py"), engine]


def python_of(engine):
    """TensorFlow's converters want an environment of their own: CAMEO_TFLITE_PYTHON."""
    return os.environ.get("CAMEO_TFLITE_PYTHON", sys.executable) if engine == "tflite" else sys.executable


LIMITS = {"tflite": 120, "ncnn": 60}  # seconds; their models are converted for each run


def outcomes(engine, jobs, record, limit=None):
    """Of every job, by its id; those in the file `record` are not run again."""
    record = pathlib.Path(record)
    done = {}
    if record.exists():
        for line in record.read_text().splitlines():
            entry = json.loads(line)
            done[entry["id"]] = entry
    missing = [j for j in jobs if j["id"] not in done]
    worker = Worker(command_of(engine), limit or LIMITS.get(engine, 20))
    with open(record, "a") as log:
        for n, job in enumerate(missing):
            entry = worker.ask(job)
            done[entry["id"]] = entry
            log.write(json.dumps(entry) + "\n")
            log.flush()
            if sys.stderr.isatty():
                print(f"\r{engine}: {n + 1} of {len(missing)}", end="", file=sys.stderr)
    worker.close()
    return {j["id"]: done[j["id"]] for j in jobs}
