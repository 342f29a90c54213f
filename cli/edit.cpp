// cameo edit: changes by name, in the order they are given.
#include "cameo/edit.h"

#include "cli/common.h"
#include "cli/edit_changes.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"add-output", 0, "VALUE", "an inner value becomes an output"},
    {"remove-output", 0, "VALUE", "an output becomes an inner value; nodes that only it needed are removed"},
    {"rename", 0, "a=b", "give a value or a node another name"},
    {"set-dim", 0, "x:0=batch", "a size of an input: a number, a name, or ? for unknown; other shapes follow"},
    {"fix-shape", 0, "x:1,3,224,224", "all sizes of an input"},
    {"set-attr", 0, "NODE:a=v", "an attribute, in the operator's newest form"},
    {"set-op", 0, "NODE=Type", "another operator; attributes of the same name stay"},
    {"insert", 0, "'y2 = Relu(y)'", "a new node; constants are written {1, 2} or {0.5}"},
    {"append-nms", 0, "boxes,scores[,iou,score,max]",
     "non-maximum suppression; outputs nms_boxes, nms_scores, nms_classes, and nms_batch. More words: center, "
     "classes-first, classes-last"},
    {"rewire", 0, "y=y2", "uses of y become uses of y2, except in the nodes that compute y2"},
    {"remove-node", 0, "NODE", "its users read its first input"},
    {"set-initializer", 0, "W=f.npy", "another weight, or a new one; an input of that name becomes one"},
    {"remove-input", 0, "VALUE", "remove an input that is not used, or has a default"},
    {"set-metadata", 0, "key=value", "an entry of the model's metadata"},
    {"strip", 0, "", "remove documentation and descriptions of inner values"},
    weights_flag,
    no_provenance,
    durable_flag,
};
constexpr Verb verb{"edit",
                    "IN OUT",
                    "change names, shapes, nodes, weights; the flags work in the order they are given",
                    "cameo edit net.onnx out.onnx --rename input.1=image --set-dim image:0=batch\ncameo edit net.onnx "
                    "out.onnx --insert 'p = Softmax<axis=-1>(scores)' --add-output p",
                    flags,
                    2,
                    2};

}  // namespace

int edit_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const SaveSettings settings = save_settings(verb, *args);
  Editor edit(opened(args->operands[0], out));
  for (const auto& given : args->given()) apply_change(edit, given.flag, given.value);
  save(edit.apply(), args->operands[1], settings, out);
  return 0;
}

}  // namespace cameo::cli
