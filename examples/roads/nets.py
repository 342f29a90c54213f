"""The two networks that travel every road: a detector of convolutions, and a transformer over patches. Random weights, the same every time."""
import torch
import torch.nn.functional as F
from torch import nn


def block(inputs, outputs, stride):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.SiLU())


class Detector(nn.Module):
    """Two levels; per cell four distances and five classes, [batch, 9, cells]."""

    def __init__(self):
        super().__init__()
        self.stem, self.down, self.deep = block(3, 16, 2), block(16, 32, 2), block(32, 32, 2)
        self.lateral, self.merge = nn.Conv2d(32, 32, 1), block(64, 32, 1)
        self.boxes = nn.ModuleList(nn.Conv2d(32, 4, 1) for _ in range(2))
        self.classes = nn.ModuleList(nn.Conv2d(32, 5, 1) for _ in range(2))

    def forward(self, image):
        fine = self.down(self.stem(image))
        coarse = self.deep(fine)
        fine = self.merge(torch.cat([F.interpolate(self.lateral(coarse), scale_factor=2.0, mode="nearest"), fine], 1))
        levels = [torch.cat([F.relu(b(x)), c(x).sigmoid()], 1).flatten(2) for x, b, c in zip((fine, coarse), self.boxes, self.classes)]
        return torch.cat(levels, 2)


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.before, self.after = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(self.before(x)).view(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, c))
        return x + self.mlp(self.after(x))


class Transformer(nn.Module):
    """Patches of 8 x 8 of a picture of 32 x 32; ten classes."""

    def __init__(self, width=48):
        super().__init__()
        self.patches, self.places = nn.Conv2d(3, width, 8, 8), nn.Parameter(torch.randn(1, 16, width) * 0.02)
        self.layers = nn.Sequential(Layer(width, 4), Layer(width, 4))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2) + self.places
        return self.head(self.norm(self.layers(x)).mean(1))


def made(name):
    """The network in evaluation mode, with the statistics of pictures in its batch norms."""
    torch.manual_seed(0)
    net = {"detector": Detector, "transformer": Transformer}[name]()
    with torch.no_grad():
        for _ in range(20):
            net(pictures(8))
    return net.eval()


def pictures(count, size=32):
    """Smooth coloured noise: closer to a picture than white noise is."""
    return F.interpolate(torch.randn(count, 3, size // 4, size // 4), (size, size), mode="bilinear") + 0.1 * torch.randn(count, 3, size, size)
