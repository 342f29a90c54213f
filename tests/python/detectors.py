"""Small detectors with random weights in the shapes that people export, and their pipelines in numpy."""
import numpy as np
import torch
from torch import nn


class Backbone(nn.Module):
    """Three levels with strides 8, 16, 32."""

    def __init__(self, width=8):
        super().__init__()
        layer = lambda a, b, s: nn.Sequential(nn.Conv2d(a, b, 3, s, 1), nn.BatchNorm2d(b), nn.SiLU())
        self.stem = nn.Sequential(layer(3, width, 2), layer(width, width, 2))
        self.levels = nn.ModuleList(layer(width, width, 2) for _ in range(3))

    def forward(self, x):
        x, out = self.stem(x), []
        for level in self.levels:
            x = level(x)
            out.append(x)
        return out


class YOLOv5(nn.Module):
    """[images, n, 5 + classes]: centre and size in pixels, objectness, classes."""
    strides, anchors = (8, 16, 32), torch.tensor([[[10., 13], [16, 30]], [[30, 61], [62, 45]], [[116, 90], [156, 198]]])

    def __init__(self, classes=3, spread=3.0):
        super().__init__()
        self.backbone, self.k = Backbone(), 5 + classes
        self.heads = nn.ModuleList(nn.Conv2d(8, 2 * self.k, 1) for _ in range(3))
        for h in self.heads:
            nn.init.normal_(h.weight, 0, spread)

    def forward(self, x):
        out = []
        for level, (head, f) in enumerate(zip(self.heads, self.backbone(x))):
            y = head(f)
            b, _, h, w = y.shape
            y = y.view(b, 2, self.k, h, w).permute(0, 1, 3, 4, 2).contiguous()
            gy, gx = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
            grid = torch.stack((gx, gy), 2).float() - 0.5
            xy, wh, rest = y.sigmoid().split((2, 2, self.k - 4), 4)
            xy = (xy * 2 + grid) * self.strides[level]
            wh = (wh * 2) ** 2 * self.anchors[level].view(1, 2, 1, 1, 2)
            out.append(torch.cat((xy, wh, rest), 4).view(b, -1, self.k))
        return torch.cat(out, 1)


class YOLOv5Heads(YOLOv5):
    """The same, with the raw heads beside it, as older exports have them."""

    def forward(self, x):
        return super().forward(x), *[h(f) for h, f in zip(self.heads, self.backbone(x))]


class YOLOv3(nn.Module):
    """Boxes, objectness and classes joined in three parts."""

    def __init__(self, classes=3):
        super().__init__()
        self.backbone, self.c = Backbone(), classes
        self.heads = nn.ModuleList(nn.Conv2d(8, 5 + classes, 1) for _ in range(3))
        for h in self.heads:
            nn.init.normal_(h.weight, 0, 3)

    def forward(self, x):
        out = []
        for s, (head, f) in zip((8, 16, 32), zip(self.heads, self.backbone(x))):
            y = head(f).permute(0, 2, 3, 1)
            b, h, w, _ = y.shape
            gy, gx = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
            xy = (torch.sigmoid(y[..., :2]) + torch.stack((gx, gy), 2)) * s
            wh = torch.exp(y[..., 2:4].clamp(-2, 2)) * 4 * s
            boxes = torch.cat((xy, wh), -1).view(b, -1, 4)
            out.append(torch.cat((boxes, torch.sigmoid(y[..., 4:5]).view(b, -1, 1), torch.sigmoid(y[..., 5:]).view(b, -1, self.c)), -1))
        return torch.cat(out, 1)


class YOLOv8(nn.Module):
    """[images, 4 + classes, n], from distributions over distances."""

    def __init__(self, classes=3, reg=8):
        super().__init__()
        self.backbone, self.c, self.reg = Backbone(), classes, reg
        self.boxes = nn.ModuleList(nn.Conv2d(8, 4 * reg, 1) for _ in range(3))
        self.classes = nn.ModuleList(nn.Conv2d(8, classes, 1) for _ in range(3))
        for h in [*self.boxes, *self.classes]:
            nn.init.normal_(h.weight, 0, 2)
        self.dfl = nn.Conv2d(reg, 1, 1, bias=False)
        self.dfl.weight.data = torch.arange(reg).float().view(1, reg, 1, 1)

    def forward(self, x):
        f = self.backbone(x)
        y = torch.cat([torch.cat((b(v), c(v)), 1).flatten(2) for b, c, v in zip(self.boxes, self.classes, f)], 2)
        box, cls = y.split((4 * self.reg, self.c), 1)
        b, _, n = box.shape
        dist = self.dfl(box.view(b, 4, self.reg, n).transpose(2, 1).softmax(1)).view(b, 4, n)
        points, strides = [], []
        for s, v in zip((8, 16, 32), f):
            gy, gx = torch.meshgrid(torch.arange(v.shape[2]) + 0.5, torch.arange(v.shape[3]) + 0.5, indexing="ij")
            points.append(torch.stack((gx, gy), -1).view(-1, 2))
            strides.append(torch.full((v.shape[2] * v.shape[3], 1), float(s)))
        points, strides = torch.cat(points).T[None], torch.cat(strides).T[None]
        lt, rb = dist.chunk(2, 1)
        a, c = points - lt, points + rb
        return torch.cat((torch.cat(((a + c) / 2, c - a), 1) * strides, cls.sigmoid()), 1)


class YOLOv8Last(YOLOv8):
    """The same, features last."""

    def forward(self, x):
        return super().forward(x).transpose(1, 2)


class YOLOv10(YOLOv8):
    """[images, k, 6]: corners, score, class; nothing overlaps any more."""

    def forward(self, x):
        y = super().forward(x).transpose(1, 2)
        xy, wh, cls = y.split((2, 2, self.c), -1)
        boxes = torch.cat((xy - wh / 2, xy + wh / 2), -1)
        _, index = cls.amax(-1).topk(20, dim=-1)
        boxes = boxes.gather(1, index[..., None].expand(-1, -1, 4))
        cls = cls.gather(1, index[..., None].expand(-1, -1, self.c))
        scores, index = cls.flatten(1).topk(20)
        boxes = boxes.gather(1, (index // self.c)[..., None].expand(-1, -1, 4))
        return torch.cat((boxes, scores[..., None], (index % self.c)[..., None].float()), -1)


class YOLOX(nn.Module):
    """[images, n, 5 + classes]; without `decode` the boxes are offsets to cells."""

    def __init__(self, classes=3, decode=True):
        super().__init__()
        self.backbone, self.decode = Backbone(), decode
        self.boxes = nn.ModuleList(nn.Conv2d(8, 4, 1) for _ in range(3))
        self.objects = nn.ModuleList(nn.Conv2d(8, 1, 1) for _ in range(3))
        self.classes = nn.ModuleList(nn.Conv2d(8, classes, 1) for _ in range(3))
        for h in [*self.objects, *self.classes]:
            nn.init.normal_(h.weight, 0, 3)

    def forward(self, x):
        f = self.backbone(x)
        levels = [torch.cat((b(v), o(v).sigmoid(), c(v).sigmoid()), 1) for b, o, c, v in zip(self.boxes, self.objects, self.classes, f)]
        y = torch.cat([v.flatten(2) for v in levels], 2).permute(0, 2, 1)
        if not self.decode:
            return y
        grids, strides = [], []
        for s, v in zip((8, 16, 32), f):
            gy, gx = torch.meshgrid(torch.arange(v.shape[2]), torch.arange(v.shape[3]), indexing="ij")
            grids.append(torch.stack((gx, gy), 2).view(1, -1, 2))
            strides.append(torch.full((1, v.shape[2] * v.shape[3], 1), float(s)))
        grids, strides = torch.cat(grids, 1), torch.cat(strides, 1)
        return torch.cat(((y[..., :2] + grids) * strides, torch.exp(y[..., 2:4]) * strides, y[..., 4:]), -1)


class YOLOv4(YOLOv3):
    """Boxes [images, n, 1, 4] as parts of the picture, and confidences [images, n, classes]."""

    def forward(self, x):
        y = super().forward(x)
        xy, wh = y[..., :2] / x.shape[-1], y[..., 2:4] / x.shape[-1]
        return torch.cat((xy - wh / 2, xy + wh / 2), -1).unsqueeze(2), y[..., 4:5] * y[..., 5:]


class SSD(nn.Module):
    """Boxes [images, n, 4] as corners, decoded from anchors, and scores [images, n, 1 + classes] from a softmax, background first."""

    def __init__(self, classes=3, decode=True, softmax=True):
        super().__init__()
        self.backbone, self.c, self.decode, self.softmax = Backbone(), classes, decode, softmax
        self.boxes = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1) for _ in range(3))
        self.scores = nn.ModuleList(nn.Conv2d(8, 2 * (classes + 1), 3, padding=1) for _ in range(3))
        for h in self.scores:
            nn.init.normal_(h.weight, 0, 1)

    def forward(self, x):
        boxes, scores, priors = [], [], []
        for s, (b, c, v) in zip((8, 16, 32), zip(self.boxes, self.scores, self.backbone(x))):
            boxes.append(b(v).permute(0, 2, 3, 1).reshape(x.shape[0], -1, 4))
            scores.append(c(v).permute(0, 2, 3, 1).reshape(x.shape[0], -1, self.c + 1))
            gy, gx = torch.meshgrid(torch.arange(v.shape[2]), torch.arange(v.shape[3]), indexing="ij")
            at = (torch.stack((gx, gy), -1).float() + 0.5) * s
            priors.append(torch.cat([torch.cat((at, torch.full_like(at, k * s)), -1).unsqueeze(2) for k in (2.0, 4.0)], 2).view(-1, 4))
        boxes, scores, priors = torch.cat(boxes, 1), torch.cat(scores, 1), torch.cat(priors)
        if self.decode:
            xy, wh = priors[:, :2] + boxes[..., :2] * 0.1 * priors[:, 2:], priors[:, 2:] * torch.exp(boxes[..., 2:] * 0.2)
            boxes = torch.cat((xy - wh / 2, xy + wh / 2), -1)
        return boxes, scores.softmax(-1) if self.softmax else scores


class RetinaNet(SSD):
    """The same with a sigmoid and no background."""

    def __init__(self, classes=3):
        super().__init__(classes - 1, softmax=False)

    def forward(self, x):
        boxes, scores = super().forward(x)
        return boxes, scores.sigmoid()


class DETR(nn.Module):
    """Logits [images, queries, classes + 1], the last of them "nothing", and boxes as parts of the picture."""

    def __init__(self, classes=3, queries=12):
        super().__init__()
        self.backbone = Backbone()
        self.query = nn.Parameter(torch.randn(queries, 8))
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.logits, self.boxes = nn.Linear(8, classes + 1), nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
        nn.init.normal_(self.logits.weight, 0, 3)
        nn.init.normal_(self.boxes[2].weight, 0, 1)

    def forward(self, x):
        f = self.backbone(x)[1].flatten(2).permute(0, 2, 1)
        q = self.query.unsqueeze(0).expand(x.shape[0], -1, -1)
        h = q + self.attention(q, f, f, need_weights=False)[0]
        return self.logits(h), self.boxes(h).sigmoid()


def iou(box, others):
    x1, y1 = np.maximum(box[0], others[:, 0]), np.maximum(box[1], others[:, 1])
    x2, y2 = np.minimum(box[2], others[:, 2]), np.minimum(box[3], others[:, 3])
    both = np.clip(x2 - x1, 0, None) * np.clip(y2 - y1, 0, None)
    area = lambda b: (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])
    return both / np.maximum(area(box) + area(others) - both, 1e-9)


def pipeline(boxes, scores, score=0.25, limit=0.45, most=300, best=True, suppress=True, agnostic=False):
    """What programs do behind a detector: (boxes as corners, scores, classes) of one image, in falling order of scores.

    boxes [n, 4] as corners, scores [n, classes]."""
    keep = []
    classes = scores.shape[1]
    candidates = [(s, c, i) for i in range(len(boxes)) for c, s in enumerate(scores[i]) if s > score and (not (best or agnostic) or c == scores[i].argmax())]
    for s, c, i in sorted(candidates, key=lambda k: -k[0]):
        if suppress and any((agnostic or c == kc) and iou(boxes[i], boxes[ki][None])[0] > limit for _, kc, ki in keep):
            continue
        keep.append((s, c, i))
        if len(keep) == most:
            break
    assert all(c < classes for _, c, _ in keep)
    index = [i for _, _, i in keep]
    return boxes[index].reshape(-1, 4), np.array([s for s, _, _ in keep], "f4"), np.array([c for _, c, _ in keep], "i8")


def corners(boxes):
    return np.concatenate([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], -1)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
