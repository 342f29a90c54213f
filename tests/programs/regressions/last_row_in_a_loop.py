"""the last row, as an axis of 1, stays one in a loop; greedy decoding with caches"""
from typing import Tuple

import torch
from torch import Tensor, nn


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12, 4); self.q = nn.Linear(4, 4); self.k = nn.Linear(4, 4); self.v = nn.Linear(4, 4); self.out = nn.Linear(4, 12)
    def forward(self, ids: Tensor, steps: int) -> Tuple[Tensor, Tensor]:
        e = self.emb(ids)
        k = self.k(e)
        v = self.v(e)
        q = self.q(e[:, -1:])
        tokens = ids
        done = torch.zeros(ids.size(0), dtype=torch.bool)
        for i in range(steps):
            a = torch.softmax(torch.matmul(q, k.transpose(1, 2)) / 2.0, -1)
            logits = self.out(torch.matmul(a, v)).squeeze(1)
            tok = torch.where(done, torch.zeros_like(ids[:, 0]), logits.argmax(-1))
            tokens = torch.cat([tokens, tok.unsqueeze(1)], 1)
            done |= tok == 3
            if bool(done.all()):
                break
            e = self.emb(tok).unsqueeze(1)
            q = self.q(e)
            k = torch.cat([k, self.k(e)], 1)
            v = torch.cat([v, self.v(e)], 1)
        return tokens, done


CAPTURE = 'script'
INPUTS = 'ids=i64[b,t] steps=i64[]'
EXPECT = 'right'
CALLS = [
    dict(ids=torch.tensor([[2, 2], [2, 7]], dtype=torch.int64), steps=4),
    dict(ids=torch.tensor([[5]], dtype=torch.int64), steps=1),
    dict(ids=torch.tensor([[10, 9]], dtype=torch.int64), steps=3),
    dict(ids=torch.tensor([[9, 9], [8, 9], [3, 7]], dtype=torch.int64), steps=2),
]
