// include/cameo/kernel.h.
#include <algorithm>
#include <cstring>
#include <new>

#include "api/type_text.h"
#include "ops/custom.h"
#include "ops/on.h"
#include "ops/operator_name.h"

#include "api/kernels.h"
#include "api/node_builder.h"
#include "api/state.h"

namespace cameo {

namespace {

using support::Bytes;
using Inputs = std::span<const kernels::Datum* const>;

// What a function of the caller's throws, as a finding.
template <class F>
auto guarded(const Kernel& k, std::string_view what, F call) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const support::Bug&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw error("kernel.failed", cat(what, " of ", k.op, " failed: ", e.what()));
  } catch (...) {
    throw error("kernel.failed", cat(what, " of ", k.op, " threw something that is not a std::exception"));
  }
}

void describe(KernelNode& out, const ir::Node& n, const std::string& op) {
  out.op = op;
  out.name = n.name;
  out.outputs = n.outputs.size();
  for (const ir::NamedAttr& a : ops::custom_attributes(n))
    if (auto known = attribute_of(a.name, a.value)) out.attributes.push_back(std::move(*known));
}

SharedArray copied(const SharedArray& a) {
  SharedArray out{a.dtype, a.shape, {}, {}};
  const auto* from = static_cast<const std::byte*>(a.memory.data);
  const Bytes bytes = Bytes::own(std::vector<std::byte>(from, from + a.memory.size));
  out.memory = {bytes.owner(), bytes.data(), bytes.size()};
  return out;
}

// Inputs as typed views read them: weights may lie at any byte of a file.
RunValue aligned(const kernels::Datum& d) {
  RunValue v = run_value_of(d);
  if (v.kind == RunValue::Kind::array && reinterpret_cast<uintptr_t>(v.array.memory.data) % 8 != 0)
    v.array = copied(v.array);
  return v;
}

// Results that outlive the call.
RunValue owned(RunValue v) {
  if (v.kind == RunValue::Kind::array && !v.array.memory.owner && v.array.memory.size) v.array = copied(v.array);
  for (RunValue& item : v.items) item = owned(std::move(item));
  return v;
}

template <class T>
T content(const KernelNode& node, std::string_view called, T otherwise, std::string_view kind) {
  const Attribute* a = node.attribute(called);
  if (!a) return otherwise;
  if (const T* found = std::get_if<T>(&a->value)) return *found;
  throw error("use.kernel", cat("the attribute '", called, "' of ", node.op, " is not ", kind));
}

}  // namespace

struct KernelState {
  static std::vector<kernels::Datum> run(const Kernel& k, const ir::Graph& g, support::NodeId n, Inputs inputs) {
    KernelCall call;
    describe(call, g[n], k.op);
    for (const kernels::Datum* d : inputs) call.inputs_.push_back(d ? aligned(*d) : RunValue());
    call.results_.resize(call.outputs);
    guarded(k, "the kernel", [&] { k.run(call); });
    std::vector<kernels::Datum> out;
    for (size_t i = 0; i < call.results_.size(); ++i) {
      const std::string& name = g[g[n].outputs[i]].name;
      if (i == 0 && call.results_[i].kind == RunValue::Kind::nothing)
        throw error("kernel.result", cat("the kernel of ", k.op, " gave no output 0"));
      out.push_back(datum_of(call.results_[i], name.empty() ? cat("output ", i) : name));
    }
    return out;
  }
};

namespace {

std::vector<ir::Type> types(const Kernel& k, ir::Graph& g, support::NodeId n) {
  KernelTypes given;
  describe(given, g[n], k.op);
  for (const auto v : g[n].inputs) {
    KernelTypes::Input& in = given.inputs.emplace_back();
    if (!v) continue;
    const ir::Type& t = g[v].fact.type;
    in.type = api::type_text(t);
    in.dtype = api::dtype_text(t);
    if (t.has_rank()) in.sizes = api::size_texts(*t.shape);
  }
  const auto texts = guarded(k, "the shape rule of the kernel", [&] { return k.types(given); });
  std::vector<ir::Type> out;
  for (const std::string& text : texts) try {
      out.push_back(text == "?" ? ir::Type() : parse_type(text, g.dims()));
    } catch (const Error& e) {
      throw error("build.type", cat("the shape rule of the kernel of ", k.op, ": ", e.diag().what));
    }
  return out;
}

std::shared_ptr<const ops::CustomOp> custom_op(const Kernel& k) {
  const auto [domain, name] = ops::domain_and_name(k.op);
  if (name.empty()) throw error("use.kernel", cat("'", k.op, "' is not the name of an operator")).help("my.domain::Op");
  if (!k.run) throw error("use.kernel", cat("the kernel of ", k.op, " has no function"));
  ops::CustomKernel kernel;
  kernel.run = [k](const ir::Graph& g, support::NodeId n, Inputs inputs) { return KernelState::run(k, g, n, inputs); };
  if (k.types) kernel.types = [k](ir::Graph& g, support::NodeId n) { return types(k, g, n); };
  auto op = std::make_shared<const ops::CustomOp>(std::string(domain), std::string(name), std::move(kernel));
  if (op->replaces && !op->replaces->graph_attrs.empty())
    throw error("use.kernel", cat(k.op, " has bodies, which kernels cannot run"));
  if (op->domain.empty() && !op->replaces)
    throw error("use.kernel", cat("ONNX has no operator ", name)).help("operators of other domains are my.domain::Op");
  return op;
}

}  // namespace

namespace api {

ops::CustomOps custom_ops(const std::vector<Kernel>& kernels) {
  ops::CustomOps out;
  for (const Kernel& k : kernels) {
    auto op = custom_op(k);
    const bool twice = std::any_of(out.begin(), out.end(),
                                   [&](const auto& o) { return o->domain == op->domain && o->name == op->name; });
    if (twice) throw error("use.kernel", cat("two kernels are given for ", k.op));
    out.push_back(std::move(op));
  }
  return out;
}

}  // namespace api

const Attribute* KernelNode::attribute(std::string_view called) const {
  for (const Attribute& a : attributes)
    if (a.name == called) return &a;
  return nullptr;
}
int64_t KernelNode::integer(std::string_view called, int64_t otherwise) const {
  return content(*this, called, otherwise, "a whole number");
}
double KernelNode::number(std::string_view called, double otherwise) const {
  const Attribute* a = attribute(called);
  if (const auto* whole = a ? std::get_if<int64_t>(&a->value) : nullptr) return static_cast<double>(*whole);
  return content(*this, called, otherwise, "a number");
}
std::string KernelNode::text(std::string_view called, std::string otherwise) const {
  return content(*this, called, std::move(otherwise), "text");
}
std::vector<int64_t> KernelNode::integers(std::string_view called) const {
  return content(*this, called, std::vector<int64_t>(), "a list of whole numbers");
}

const KernelTypes::Input& KernelTypes::input(size_t i) const {
  if (i < inputs.size()) return inputs[i];
  throw error("kernel.input", cat(op, " has no input ", i, ": the node has ", inputs.size()));
}
std::string KernelTypes::tensor(std::string_view dtype, const std::vector<std::string>& sizes) {
  std::string out = cat(dtype, "[");
  for (size_t i = 0; i < sizes.size(); ++i) out += cat(i ? "," : "", sizes[i]);
  return out + "]";
}

bool KernelCall::has(size_t i) const { return i < inputs_.size() && inputs_[i].kind != RunValue::Kind::nothing; }

const RunValue& KernelCall::value(size_t i) const {
  if (has(i)) return inputs_[i];
  throw error("kernel.input", cat("input ", i, " of ", op, " is left out"));
}

ArrayView KernelCall::array(size_t i) const {
  const RunValue& v = value(i);
  if (v.kind != RunValue::Kind::array || v.array.dtype == "str")
    throw error("kernel.input", cat("input ", i, " of ", op, " is not an array of numbers"));
  return {v.array.dtype, v.array.shape, v.array.memory.data};
}

ArrayView KernelCall::typed(size_t i, const std::string& dtype) const {
  ArrayView a = array(i);
  if (a.dtype != dtype) throw error("kernel.input", cat("input ", i, " of ", op, " is ", a.dtype, ", not ", dtype));
  return a;
}

std::string KernelCall::dtype(size_t i) const {
  const RunValue& v = value(i);
  return v.kind == RunValue::Kind::array ? v.array.dtype : "";
}
std::vector<int64_t> KernelCall::shape(size_t i) const { return value(i).array.shape; }

void KernelCall::need_output(size_t i) const {
  if (i >= results_.size()) throw error("kernel.result", cat(op, " has no output ", i, ": the node has ", outputs));
}

std::span<std::byte> KernelCall::output_bytes(size_t i, const std::string& dtype, std::vector<int64_t> shape) {
  need_output(i);
  const uint64_t size = ArrayView(dtype, shape, nullptr).byte_size();
  auto memory = std::make_shared<std::vector<std::byte>>(support::narrow<size_t>(size));
  const std::span<std::byte> out(*memory);
  results_[i] = SharedArray{dtype, std::move(shape), {memory, out.data(), out.size()}, {}};
  return out;
}

void KernelCall::give(size_t i, RunValue value) {
  need_output(i);
  results_[i] = owned(std::move(value));
}

}  // namespace cameo
