"""Pictures of bytes are resized in two passes, each rounded; rows and columns of other types that ONNX Runtime has no kernel for."""
import torch
from torch import Tensor, nn


class Program(nn.Module):
    def forward(self, x: Tensor, p: Tensor):
        y = nn.functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
        z = nn.functional.interpolate(x, size=(x.size(2) + 1, 3), mode="bilinear", align_corners=True)
        here = torch.eye(x.size(3), dtype=torch.bool)
        sound = nn.functional.pad(torch.where(p > 0, p, -p), [1, 2])
        return y, z, here, sound, torch.outer(here[0], here[0]), torch.combinations(p[0], 2), nn.functional.linear(p.long(), p.long())


CAPTURE = 'script'
INPUTS = 'x=u8[b,3,h,w] p=i16[b,w]'
EXPECT = 'right'
CALLS = [
    dict(x=(torch.arange(36) * 37 % 256).to(torch.uint8).reshape(1, 3, 3, 4), p=torch.tensor([[1, -2, 3, 4]], dtype=torch.int16)),
    dict(x=(torch.arange(24) * 91 % 256).to(torch.uint8).reshape(2, 3, 2, 2), p=torch.tensor([[1, -2], [3, 4]], dtype=torch.int16)),
]
