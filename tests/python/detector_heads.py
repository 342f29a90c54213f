"""Detectors that end in their heads, as tools for phones and boards export them, written from the descriptions of their papers; each can decode itself, too.

`forward` gives the heads; `decoded` boxes as corners in pixels [images, n, 4] and scores [images, n, classes].
"""
import math

import torch
from torch import nn

from detectors import Backbone

COCO = [[(10, 13), (16, 30), (33, 23)], [(30, 61), (62, 45), (59, 119)], [(116, 90), (156, 198), (373, 326)]]
LATER = [[(12, 16), (19, 36), (40, 28)], [(36, 75), (76, 55), (72, 146)], [(142, 110), (192, 243), (459, 401)]]


def cells(h, w, offset=0.0):
    y, x = torch.meshgrid(torch.arange(h) + offset, torch.arange(w) + offset, indexing="ij")
    return torch.stack((x, y), -1).float()


def corners(at, side):
    return torch.cat((at - side / 2, at + side / 2), -1)


class Heads(nn.Module):
    """Convolutions on the levels of a backbone; `outputs` has how many channels each has, by name."""
    strides = (8, 16, 32)

    def __init__(self, spread=2.0, **outputs):
        super().__init__()
        self.backbone = Backbone()
        self.more = nn.ModuleList(nn.Conv2d(8, 8, 3, 2, 1) for _ in self.strides[3:])
        self.heads = nn.ModuleDict({k: nn.ModuleList(nn.Conv2d(8, c, 1) for _ in self.strides) for k, c in outputs.items()})
        for convs in self.heads.values():
            for c in convs:
                nn.init.normal_(c.weight, 0, spread)

    def levels(self, x):
        out = list(self.backbone(x))
        for m in self.more:
            out.append(m(out[-1]))
        return out

    def maps(self, x):
        """By level, then by name."""
        return [{k: convs[i](f) for k, convs in self.heads.items()} for i, f in enumerate(self.levels(x))]


class Anchored(Heads):
    """YOLOv3, v4, v5, v7: three anchors, objectness, classes."""

    def __init__(self, anchors=COCO, squared=True, classes=3, layout="maps"):
        super().__init__(1.5, y=3 * (5 + classes))
        self.anchors, self.squared, self.k, self.layout = anchors, squared, 5 + classes, layout

    def forward(self, x):
        y = [m["y"] for m in self.maps(x)]
        if self.layout == "five axes":
            return [v.view(v.shape[0], 3, self.k, *v.shape[2:]).permute(0, 1, 3, 4, 2) for v in y]
        return [v.permute(0, 2, 3, 1) for v in y] if self.layout == "last" else y

    def decoded(self, x):
        boxes, scores = [], []
        for m, s, a in zip(self.maps(x), self.strides, self.anchors):
            v = m["y"]
            b, _, h, w = v.shape
            v = v.view(b, 3, self.k, h, w).permute(0, 1, 3, 4, 2)
            a = torch.tensor(a).float().view(1, 3, 1, 1, 2)
            at = (2 * v[..., :2].sigmoid() - 0.5 if self.squared else v[..., :2].sigmoid()) + cells(h, w)
            side = (2 * v[..., 2:4].sigmoid()) ** 2 * a if self.squared else v[..., 2:4].exp() * a
            order = (0, 2, 3, 1, 4) if self.layout == "last" else (0, 1, 2, 3, 4)
            boxes.append(corners(at * s, side).permute(order).reshape(b, -1, 4))
            scores.append((v[..., 4:5].sigmoid() * v[..., 5:].sigmoid()).permute(order).reshape(b, -1, self.k - 5))
        return torch.cat(boxes, 1), torch.cat(scores, 1)


class YOLOv8(Heads):
    """Distributions over 16 distances, and classes; joined, or as two outputs for each level."""

    def __init__(self, classes=3, apart=False, sigmoid=False):
        super().__init__(1.5, box=64, cls=classes)
        self.apart, self.sigmoid = apart, sigmoid

    def forward(self, x):
        out = [(m["box"], m["cls"].sigmoid() if self.sigmoid else m["cls"]) for m in self.maps(x)]
        return [v for pair in out for v in pair] if self.apart else [torch.cat(pair, 1) for pair in out]

    def decoded(self, x):
        boxes, scores = [], []
        for m, s in zip(self.maps(x), self.strides):
            b, _, h, w = m["box"].shape
            d = (m["box"].view(b, 4, 16, h * w).softmax(2) * torch.arange(16.0).view(1, 1, 16, 1)).sum(2).transpose(1, 2)
            at = cells(h, w, 0.5).view(1, -1, 2)
            boxes.append(torch.cat((at - d[..., :2], at + d[..., 2:]), -1) * s)
            scores.append(m["cls"].sigmoid().flatten(2).transpose(1, 2))
        return torch.cat(boxes, 1), torch.cat(scores, 1)


class NanoDet(Heads):
    """[images, n, classes + 4 * 8]: probabilities first."""
    strides = (8, 16, 32, 64)

    def __init__(self, classes=3):
        super().__init__(1.5, cls=classes, box=32)

    def forward(self, x):
        return [torch.cat([torch.cat((m["cls"].sigmoid(), m["box"]), 1).flatten(2) for m in self.maps(x)], 2).permute(0, 2, 1)]

    def decoded(self, x):
        boxes, scores = [], []
        for m, s in zip(self.maps(x), self.strides):
            b, _, h, w = m["box"].shape
            d = (m["box"].flatten(2).transpose(1, 2).reshape(b, h * w, 4, 8).softmax(3) * torch.arange(8.0)).sum(3)
            at = cells(h, w).view(1, -1, 2)
            boxes.append(torch.cat((at - d[..., :2], at + d[..., 2:]), -1) * s)
            scores.append(m["cls"].sigmoid().flatten(2).transpose(1, 2))
        return torch.cat(boxes, 1), torch.cat(scores, 1)


class Scrfd(Heads):
    """Faces: scores [n, 1], distances [n, 4] and landmarks [n, 10] of each level, two for each cell, without the axis of images."""

    def __init__(self):
        super().__init__(1.0, score=2, bbox=8, kps=20)

    def rows(self, v, n):
        return v.permute(2, 3, 0, 1).reshape(-1, n)

    def forward(self, x):
        maps = self.maps(x)
        return [*[self.rows(m["score"], 1).sigmoid() for m in maps], *[self.rows(m["bbox"], 4) for m in maps], *[self.rows(m["kps"], 10) for m in maps]]

    def decoded(self, x):
        boxes, scores = [], []
        for m, s in zip(self.maps(x), self.strides):
            h, w = m["bbox"].shape[2:]
            d, at = self.rows(m["bbox"], 4) * s, (cells(h, w).view(-1, 1, 2) * s).expand(-1, 2, 2).reshape(-1, 2)
            boxes.append(torch.cat((at - d[:, :2], at + d[:, 2:]), -1))
            scores.append(self.rows(m["score"], 1).sigmoid())
        return torch.cat(boxes)[None], torch.cat(scores)[None]


class Fcos(Heads):
    """Classes, distances in pixels, and how central a cell is."""
    strides = (8, 16, 32, 64)

    def __init__(self, classes=3, central=True):
        super().__init__(1.5, cls=classes, bbox=4, **({"centerness": 1} if central else {}))
        self.central = central

    def distances(self, m, s):
        return m["bbox"].clamp(-2, 2).exp() * s

    def forward(self, x):
        maps = self.maps(x)
        out = [*[m["cls"] for m in maps], *[self.distances(m, s) for m, s in zip(maps, self.strides)]]
        return [*out, *[m["centerness"] for m in maps]] if self.central else out

    def decoded(self, x):
        boxes, scores = [], []
        for m, s in zip(self.maps(x), self.strides):
            b, _, h, w = m["cls"].shape
            d, at = self.distances(m, s).flatten(2).transpose(1, 2), cells(h, w, 0.5 if self.central else 0.0).view(1, -1, 2) * s
            boxes.append(torch.cat((at - d[..., :2], at + d[..., 2:]), -1))
            p = m["cls"].sigmoid().flatten(2).transpose(1, 2)
            scores.append((p * m["centerness"].sigmoid().flatten(2).transpose(1, 2)).sqrt() if self.central else p)
        return torch.cat(boxes, 1), torch.cat(scores, 1)


class RTMDet(Fcos):
    strides = (8, 16, 32)

    def __init__(self):
        super().__init__(central=False)


class RetinaNet(Heads):
    """Nine anchors, all levels joined: offsets and logits, as torchvision's head gives them."""
    strides = (8, 16, 32, 64, 128)

    def __init__(self, classes=3):
        super().__init__(0.7, bbox=36, cls=9 * classes)
        self.c = classes

    def joined(self, x):
        maps = self.maps(x)
        rows = lambda v, k: v.view(v.shape[0], 9, k, *v.shape[2:]).permute(0, 3, 4, 1, 2).reshape(v.shape[0], -1, k)
        return torch.cat([rows(m["cls"], self.c) for m in maps], 1), torch.cat([rows(m["bbox"], 4) for m in maps], 1)

    def forward(self, x):
        return list(self.joined(x))

    def decoded(self, x):
        cls, d = self.joined(x)
        all_ = []
        for f, s in zip(self.levels(x), self.strides):
            size, base = 4 * s, []
            for ratio in (0.5, 1.0, 2.0):
                for scale in (size, int(size * 2 ** (1 / 3)), int(size * 2 ** (2 / 3))):
                    h, w = math.sqrt(ratio) * scale, scale / math.sqrt(ratio)
                    base.append([2 * round(w / 2), 2 * round(h / 2)])
            at = (cells(*f.shape[2:]).view(-1, 1, 2) * s).expand(-1, 9, 2).reshape(-1, 2)
            all_.append(torch.cat((at, torch.tensor(base).float().repeat(len(at) // 9, 1)), -1))
        a = torch.cat(all_)
        return corners(a[:, :2] + d[..., :2] * a[:, 2:], a[:, 2:] * d[..., 2:].exp()), cls.sigmoid()


class RetinaFace(Heads):
    """Offsets, face or not, and landmarks; two squares for each cell."""

    def __init__(self, softmax=True):
        super().__init__(1.0, loc=8, conf=4, landms=20)
        self.softmax = softmax

    def joined(self, x):
        maps = self.maps(x)
        rows = lambda k, n: torch.cat([m[k].permute(0, 2, 3, 1).reshape(m[k].shape[0], -1, n) for m in maps], 1)
        return rows("loc", 4), rows("conf", 2), rows("landms", 10)

    def forward(self, x):
        loc, conf, landms = self.joined(x)
        return [loc, conf.softmax(-1) if self.softmax else conf, landms]

    def decoded(self, x):
        loc, conf, _ = self.joined(x)
        priors = []
        for f, s, sides in zip(self.levels(x), self.strides, ((16, 32), (64, 128), (256, 512))):
            at = (cells(*f.shape[2:], 0.5).view(-1, 1, 2) * s).expand(-1, 2, 2).reshape(-1, 2)
            priors.append(torch.cat((at, torch.tensor(sides).float().repeat(len(at) // 2)[:, None].expand(-1, 2)), -1))
        p = torch.cat(priors)
        return corners(p[:, :2] + loc[..., :2] * 0.1 * p[:, 2:], p[:, 2:] * (loc[..., 2:] * 0.2).exp()), conf.softmax(-1)[..., 1:]


class CenterNet(nn.Module):
    """A heat map of classes, sides and offsets, at a quarter of the size."""

    def __init__(self, classes=3, sigmoid=True):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.SiLU(), nn.Conv2d(8, 8, 3, 2, 1), nn.SiLU())
        self.hm, self.wh, self.reg, self.sigmoid = nn.Conv2d(8, classes, 3, padding=1), nn.Conv2d(8, 2, 1), nn.Conv2d(8, 2, 1), sigmoid
        nn.init.normal_(self.hm.weight, 0, 2)

    def forward(self, x):
        f = self.stem(x)
        return [self.hm(f).sigmoid() if self.sigmoid else self.hm(f), self.wh(f).abs() * 6, self.reg(f).sigmoid()]

    def decoded(self, x):
        f = self.stem(x)
        heat, wh, reg = self.hm(f).sigmoid(), self.wh(f).abs() * 6, self.reg(f).sigmoid()
        heat = heat * (heat == nn.functional.max_pool2d(heat, 3, 1, 1))
        rows = lambda v: v.flatten(2).transpose(1, 2)
        return corners((rows(reg) + cells(*heat.shape[2:]).view(1, -1, 2)) * 4, rows(wh) * 4), rows(heat)


class YOLOv6(nn.Module):
    """Decoded, with an objectness of 1 between boxes and classes."""

    def __init__(self):
        super().__init__()
        self.inner = Fcos(central=False)

    def forward(self, x):
        boxes, scores = self.inner.decoded(x)
        at, side = (boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]
        return [torch.cat((at, side, torch.ones_like(scores[..., :1]), scores), -1)]

    def decoded(self, x):
        return self.inner.decoded(x)


class PPYOLOE(nn.Module):
    """Boxes as corners, and scores with the classes before the boxes."""

    def __init__(self):
        super().__init__()
        self.inner = Fcos(central=False)

    def forward(self, x):
        boxes, scores = self.inner.decoded(x)
        return [boxes, scores.transpose(1, 2)]

    def decoded(self, x):
        return self.inner.decoded(x)


class RTDETR(nn.Module):
    """Queries chosen by TopK, boxes as parts of the picture, class logits beside them."""

    def __init__(self, classes=3, queries=14):
        super().__init__()
        self.backbone, self.k = Backbone(), queries
        self.pick, self.cls, self.box = nn.Linear(8, 1), nn.Linear(8, classes), nn.Linear(8, 4)
        nn.init.normal_(self.cls.weight, 0, 3)
        nn.init.normal_(self.box.weight, 0, 2)

    def parts(self, x):
        f = self.backbone(x)[0].flatten(2).transpose(1, 2)
        index = self.pick(f)[..., 0].topk(self.k, 1)[1]
        q = f.gather(1, index[..., None].expand(-1, -1, 8))
        return self.box(q).sigmoid(), self.cls(q)

    def forward(self, x):
        return list(self.parts(x))

    def decoded(self, x):
        box, cls = self.parts(x)
        return corners(box[..., :2], box[..., 2:]) * x.shape[-1], cls.sigmoid()
