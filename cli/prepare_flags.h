// The flags of `cameo prepare`.
#pragma once

#include "cli/common.h"

namespace cameo::cli {

inline constexpr Flag prepare_flags[] = {
    {"target", 't', "NAME",
     "tensorrt, onnxruntime, onnxruntime-web, openvino, opencv, ncnn, rknn, qnn, coreml, tflite; NAME:VERSION for a "
     "version of it; default: onnxruntime"},
    {"input", 0, "NAME=DTYPE[DIMS]", "the sizes of an input, as for export; repeatable"},
    {"fix-size", 0, "NAME=N,…", "named sizes: batch=1,h=640,w=640; repeatable"},
    {"opset", 0, "N", "of ai.onnx; default: the model's own, or the nearest that the target takes"},
    {"float", 0, "f16|bf16|mixed", "half precision, as for convert"},
    {"quantize", 0, "DATA", "quantize for this target with these samples, as quantize --calibrate"},
    {"image", 0, "WORDS",
     "the input becomes a picture of bytes: size=640,fit=stretch|crop|pad,mean=..,std=..,divide=255,order=rgb|bgr|grey,"
     "resize=antialias|linear as in quantize; picture=rgb|bgr,picture-layout=nhwc|nchw,picture-size=any|HxW of what is "
     "given"},
    {"normalise", 0, "fold|keep|out",
     "what happens to a normalisation: fold it into the first layer's weights where that is exact, keep it as nodes, "
     "or take it out of the model; default: fold that of --image, keep that of the model"},
    {"append-nms", 0, "WORDS",
     "pick the boxes of a detector inside the model. Without words they are found; else any of "
     "boxes=NAME,scores=NAME,format=xyxy|cxcywh|xywh,normalised,classes=N,score=0.25,iou=0.45,max=300,per-class,"
     "agnostic,form=flat|padded|efficient|topk|boxes",
     true},
    {"ignore", 0, "RULE,…", "ignore these rules of lint; repeatable"},
    {"no-simplify", 0, "", "do not simplify"},
    {"no-fix", 0, "", "do not fix what lint finds"},
    {"no-verify", 0, "", "do not compare outputs after each step"},
    {"ledger", 0, "FILE", "write what was done, as one JSON object"},
    no_provenance,
    weights_flag,
    durable_flag,
};

}  // namespace cameo::cli
