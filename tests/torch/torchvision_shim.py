"""torchvision's Python half beside a torch whose compiled half of torchvision is absent: declares its operators so that
it imports. They have no implementation."""
import re
import sys

import torch

KNOWN = {
    "nms": "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "roi_align": "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor",
    "roi_pool": "roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
    "deform_conv2d": "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor",
}


def install():
    library = torch.library.Library("torchvision", "FRAGMENT")
    install.library = library  # declarations live as long as it does
    for signature in KNOWN.values():
        try: library.define(signature)
        except RuntimeError: pass
    for _ in range(40):
        try:
            import torchvision
            return torchvision
        except RuntimeError as e:
            missing = re.search(r"operator torchvision::(\w+) does not exist", str(e))
            if not missing: raise
            library.define(f"{missing.group(1)}(Tensor x) -> Tensor")
            for name in [n for n in sys.modules if n.startswith("torchvision")]: del sys.modules[name]
    raise ImportError("torchvision does not import")
