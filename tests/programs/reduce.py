"""A finding made small: statements leave, branches and loops give way to their bodies, expressions to simpler ones, inputs shrink.

Every edit is done on the tree and taken back where the fault does not stay the same (kind, judge and message).
"""
import hashlib
import re
import time

import numpy as np

import case as cases
from tree import Expr, Tensor

PLAIN = {"int": ["0", "1", "2"], "bool": ["True", "False"], "float": ["0.5", "1.0"], "str": ['"a"', '"b"']}


class Reducer:
    def __init__(self, bench, program, case, verdict, seconds):
        self.bench, self.program, self.verdict = bench, program, verdict
        self.call = case.calls[max(verdict.call, 0)]
        self.first = case.calls[0]
        self.name = case.name
        self.end = time.monotonic() + seconds
        self.tried = set()
        self.found = verdict

    def as_case(self, call=None):
        used = self.program.used_inputs()
        call = call or self.call
        first = [self.first] if self.program.capture == "export" else []  # the example that torch.export sees
        flags = [i.flag for i in used] if self.program.capture == "script" else []
        calls = [{i.name: c[i.name] for i in used if i.name in c} for c in [*first, call]]
        return cases.Case(self.name, self.program.capture, self.program.source(), flags, calls)

    def still(self, call=None):
        """Whether the program as it is now shows the same fault."""
        case = self.as_case(call)
        mark = (case.source, call is not None and repr(call))
        if mark in self.tried or time.monotonic() > self.end:
            return False
        self.tried.add(mark)
        judges = (self.verdict.judge,) if self.verdict.judge == "onnxruntime" else ("onnxruntime", "engine")
        found = self.bench.judge(case, only=len(case.calls) - 1 if self.verdict.kind == "wrong" else None, judges=judges)
        if found.signature != self.verdict.signature:
            return False
        self.found = found
        return True

    def run(self):
        while time.monotonic() < self.end:
            before = self.program.source()
            self.fewer_results()
            self.fewer_statements(self.program.body)
            self.simpler(self.program.body)
            if self.program.source() == before:
                break
        if self.verdict.kind == "wrong":
            self.smaller_inputs()
        return self.as_case(), self.found

    def fewer_results(self):
        """A part of the result leaves every return at once."""
        results = [e for top in self.program.body for s in top.walk() for e in s.exprs() if e.type == "result"]
        for k in reversed(range(min((len(e.parts) for e in results), default=0))):
            if len(results[0].parts) > 1:
                saved = [e.parts.pop(k) for e in results]
                if not self.still():
                    for e, part in zip(results, saved):
                        e.parts.insert(k, part)

    def fewer_statements(self, block):
        size = max(len(block) // 2, 1)
        while size:
            at = len(block) - size
            while at >= 0:
                saved = block[at:at + size]
                left = [s for s in saved if s.pinned]
                block[at:at + size] = left
                if len(left) == len(saved) or not self.still():
                    block[at:at + len(left)] = saved
                at -= size
            size //= 2
        for k in reversed(range(len(block))):
            self.inside(block, k)

    def inside(self, block, k):
        """A compound statement: its body in its place, its other ways gone, then what is in them."""
        statement = block[k]
        for piece in statement.pieces:
            if piece.block:
                inner = [s for s in piece.block if not s.pinned]
                block[k:k + 1] = inner
                if self.still():
                    return
                block[k:k + len(inner)] = [statement]
        for n in reversed(range(1, len(statement.pieces))):
            saved = statement.pieces.pop(n)
            if not self.still():
                statement.pieces.insert(n, saved)
        for piece in statement.pieces:
            if piece.block:
                self.fewer_statements(piece.block)

    def simpler(self, block):
        for statement in list(block):
            for piece in statement.pieces:
                for k in range(len(piece.parts)):
                    self.simpler_part(piece.parts, k)
                if piece.block:
                    self.simpler(piece.block)

    def simpler_part(self, parts, k):
        whole = parts[k]
        for candidate in self.candidates(whole):
            parts[k] = candidate
            if self.still():
                break
            parts[k] = whole
        for n in range(len(parts[k].parts)):
            self.simpler_part(parts[k].parts, n)

    def candidates(self, e):
        if e.type == "result":
            return
        if e.type in PLAIN and e.parts:
            yield from (Expr(e.type, text) for text in PLAIN[e.type])
        if isinstance(e.type, Tensor):
            yield from (Expr(i.type, i.name) for i in self.program.inputs if i.type == e.type and i.name != e.text)
        below = [d for p in e.parts for d in p.walk()]
        fits = [d for d in below if interchangeable(d.type, e.type)]
        yield from sorted(fits, key=lambda d: (d not in e.parts, len(d.render())))[:9]

    def smaller_inputs(self):
        names = {i.name: i for i in self.program.used_inputs()}
        sizes = sorted({d for i in names.values() if isinstance(i.type, Tensor) for d in i.type.shape if isinstance(d, str)})
        candidates = [dict.fromkeys(sizes, 1), dict.fromkeys(sizes, 2), {d: 1 + k for k, d in enumerate(sizes)},
                      {d: 1 + k for k, d in enumerate(reversed(sizes))}, {d: 2 + k for k, d in enumerate(sizes)}]
        for by_name in candidates:
            call = {n: resized(v, i.type, by_name) if n in names and isinstance(i.type, Tensor) else v for n,
                    v in self.call.items() for i in [names.get(n)]}
            if weight(call) < weight(self.call) and self.still(call):
                self.call = call
                return


def interchangeable(a, b):
    tensors = isinstance(a, Tensor) and isinstance(b, Tensor)
    return a == b or tensors and a.dtype == b.dtype and a.rank == b.rank


def resized(value, kind, sizes):
    """Whole numbers from 1 on, in the wanted sizes."""
    shape = [sizes[d] if isinstance(d, str) else d for d in kind.shape]
    count = int(np.prod(shape, dtype=np.int64))
    return (np.arange(1, count + 1) % 4).astype(value.dtype).reshape(shape)


def weight(call):
    return sum(v.size for v in call.values() if isinstance(v, np.ndarray))


def shape_of(source):
    """The program without its names and numbers: equal for equal faults."""
    body = source[source.index("def forward"):].split("\n", 1)[1]
    body = re.sub(r"\b(?!if\b|in\b|for\b)[a-z]{1,4}\d*\b(?=\s*[.,:)=\]+*%<>!-]|$| in| if| else|\[)", "v", body, flags=re.M)
    return re.sub(r"\b\d+(?:\.\d+)?\b", "N", re.sub(r"\s+return .*", "", body))


def name_of(verdict, source):
    kind = f"{verdict.kind} {verdict.key}"
    text = f"{kind} {shape_of(source)}" if verdict.kind == "wrong" else kind
    return f"{verdict.kind}-{hashlib.sha1(text.encode()).hexdigest()[:8]}"


