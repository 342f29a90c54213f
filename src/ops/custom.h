// Kernels of the program around us: for operators that Cameo does not know, or in place of its own. A model is bound to
// them for one session or run.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "kernels/datum.h"
#include "ops/op_def.h"
#include "support/error.h"

namespace cameo::ops {

struct CustomKernel {
  // The types of the node's outputs from those of its inputs, whose element types and ranks are known. Empty: they are
  // known once the kernel ran.
  std::function<std::vector<Type>(Graph& g, NodeId n)> types;
  // One value per output. What it gives is not trusted: see run_custom.
  std::function<std::vector<Datum>(const Graph& g, NodeId n, std::span<const Datum* const> inputs)> run;
};

// The operator that bound nodes have. No rule, pass or fast kernel knows it, so nothing rewrites or folds them.
struct CustomOp : OpInfo {
  CustomOp(std::string in_domain, std::string called, CustomKernel given);  // ONNX's own domain is ""
  CustomOp(const CustomOp&) = delete;
  CustomOp& operator=(const CustomOp&) = delete;

  std::string own_domain, own_name;
  CustomKernel kernel;
  const OpDef* replaces = nullptr;  // bound nodes keep its attributes, and its shape rule where the kernel has none
};
using CustomOps = std::vector<std::shared_ptr<const CustomOp>>;

// Of a bound node's operator; null for all others.
const CustomOp* custom(const OpInfo& op);

// Every node with a kernel's name, in bodies too. A kernel goes before a function of the model. The model must not
// outlive `ops`.
void bind_kernels(Model& m, const CustomOps& ops);

// The attributes that a bound node has, defaults of ONNX's own operators included.
NamedAttrs custom_attributes(const Node& n);

// That the operator has no kernel: ours, or one that was given.
Error no_kernel(const Node& node);

// Runs a bound node's kernel. Throws kernel.result where it gives less than the node has, or other types and sizes
// than its rule says.
std::vector<Datum> run_custom(const Graph& g, NodeId n, std::span<const Datum* const> inputs);

}  // namespace cameo::ops
