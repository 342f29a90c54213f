// Every kernel on random operands and attributes: it computes or it throws our own error, and what it computes has the
// type and shape that inference said.
#include <gtest/gtest.h>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "property/sampler.h"

namespace cameo::tests {

namespace {

std::vector<DType> tensor_types(const TypeSet& set) {
  std::vector<DType> out;
  for (const auto& t : all_dtypes())
    if (t.dtype != DType::undefined && admits(set, Type::tensor(t.dtype)) && !set.empty()) out.push_back(t.dtype);
  return out;
}

constexpr std::string_view learners = "ai.onnx.ml", linger = "linger";

std::shared_ptr<void> random_attributes(const OpDef& op, Sampler& s) {
  auto attrs = op.make();
  for (const AttrField& f : op.fields) {
    if (f.kind == AttrKind::integer && (f.required || s.chance(40)))
      f.set(attrs.get(), s.chance(15) ? s.between(1, 28) : s.between(-2, 3));
    if (op.domain == linger && f.kind == AttrKind::floating && (f.required || s.chance(40)))
      f.set(attrs.get(), s.pick<float>({1, 2, 32, 0.5f, 32768, 0, -1}));
    if (op.domain == linger && f.kind == AttrKind::string && s.chance(40))
      f.set(attrs.get(), s.pick<std::string>({"floor_add", "floor", "ceil", "round", "other"}));
    if (f.kind == AttrKind::ints && (f.required || s.chance(40))) {
      std::vector<int64_t> list(static_cast<size_t>(s.between(0, 4)));
      for (auto& i : list) i = s.between(-2, 3);
      f.set(attrs.get(), list);
    }
    if (op.domain == learners && f.kind == AttrKind::floats && (f.required || s.chance(70))) {
      std::vector<float> list(static_cast<size_t>(s.between(0, 6)));
      for (auto& v : list) v = static_cast<float>(s.between(-3, 3));
      f.set(attrs.get(), list);
    }
    if (op.domain == learners && f.kind == AttrKind::strings && s.chance(50)) {
      std::vector<std::string> list(static_cast<size_t>(s.between(0, 4)));
      for (auto& v : list) v = s.pick<std::string>({"LEAF", "BRANCH_LEQ", "a", ""});
      f.set(attrs.get(), list);
    }
    if (f.kind == AttrKind::string && f.name == "direction")
      f.set(attrs.get(), std::string(s.chance(50) ? "LEFT" : "RIGHT"));
    if (f.kind == AttrKind::string && f.name == "equation")
      f.set(attrs.get(), s.pick<std::string>({"ij,jk->ik", "...i,...i", "ii", "ab", "i->", ",", "->"}));
  }
  return attrs;
}

// Operands that the schema admits, absent ones null; empty when it wants something other than tensors.
std::vector<Datum> random_operands(const SchemaVersion& schema, Sampler& s) {
  const auto base = s.shape();
  std::vector<DType> bound(schema.types.size(), DType::undefined);
  const int64_t most = std::min<int64_t>(schema.max_in, static_cast<int64_t>(schema.inputs.size()) + 1);
  std::vector<Datum> out(static_cast<size_t>(s.between(schema.min_in, std::max<int64_t>(most, schema.min_in))));
  for (size_t i = 0; i < out.size(); ++i) {
    const Formal* f = schema.input(i);
    if (!f) return {};
    if (f->option == Formal::optional && s.chance(30)) continue;
    const auto types = tensor_types(schema.types_of(*f));
    if (types.empty()) return {};
    DType type = s.pick(types);
    if (f->type_var >= 0 && (f->homogeneous || f->option != Formal::variadic)) {
      DType& slot = bound[static_cast<size_t>(f->type_var)];
      type = slot == DType::undefined ? slot = type : slot;
    }
    const bool sizes = i > 0 && type == DType::i64 && s.chance(70);  // axes, shapes, pads ...
    out[i] = s.tensor(type, sizes ? s.shape(1) : s.related(base));
  }
  return out;
}

// The inferred types of the outputs; nothing when the rule objects.
std::optional<std::vector<Type>> inferred(const OpDef& op, std::shared_ptr<void> attrs,
                                          const std::vector<Datum>& operands, size_t outputs, Sampler& s) {
  Graph g;
  std::vector<ValueId> inputs;
  for (const Datum& d : operands) {
    if (d.kind == Datum::Kind::none) inputs.emplace_back();
    else if (s.chance(50)) inputs.push_back(g.add_constant(d.tensor));
    else
      inputs.push_back(g.add_input(
          g.main(), "", Type::tensor(d.tensor.dtype(), Shape(d.tensor.shape().begin(), d.tensor.shape().end()))));
  }
  const NodeId n = g.add_node(g.main(), op, std::move(attrs), inputs, outputs);
  InferOptions options;
  options.fold = false;
  try {
    infer_node(g, n, options);
  } catch (const Error& e) {
    EXPECT_NE(e.exit_code(), 4) << e.diag().render();
    return std::nullopt;
  }
  std::vector<Type> out;
  for (const ValueId v : g[n].outputs) out.push_back(g[v].fact.type);
  return out;
}

// What is wrong with one random call; empty when nothing is.
std::string try_once(const OpDef& op, Sampler& s, size_t& computed) {
  const auto attrs = random_attributes(op, s);
  const auto operands = random_operands(op.newest(), s);
  if (operands.empty() && op.newest().min_in > 0) return "";
  const std::string call = cat(op.name, describe_operands(operands), ": ");
  const size_t outputs =
      std::max<size_t>(op.newest().min_out, std::min<size_t>(op.newest().max_out, op.newest().outputs.size()));
  const auto types = inferred(op, attrs, operands, outputs, s);
  std::vector<const Datum*> pointers;
  for (const Datum& d : operands) pointers.push_back(d.kind == Datum::Kind::none ? nullptr : &d);
  try {
    Eval k(pointers, outputs);
    op.rules.eval(attrs.get(), k);
    ++computed;
    for (size_t i = 0; types && i < outputs; ++i)
      if (k.results()[i].kind == Datum::Kind::tensor && !describes((*types)[i], k.results()[i].tensor))
        return cat(call, "output ", i, " is inferred as ", (*types)[i].text(), " and computed as",
                   describe_operands({k.results()[i]}));
  } catch (const Error& e) {
    if (e.exit_code() == 4) return call + e.what();
  } catch (const std::exception& e) {
    return call + e.what();
  }
  return "";
}

std::vector<std::string> names_of_kernels() {
  std::vector<std::string> out;
  for (const OpDef& op : all_ops())
    if (op.rules.eval && op.graph_attrs.empty() &&
        (op.domain.empty() || op.domain == learners || (op.domain == linger && !find_op("", op.name))))
      out.emplace_back(op.name);
  return out;
}

class Kernels : public testing::TestWithParam<std::string> {};

TEST_P(Kernels, ComputeWhatInferenceSays) {
  Sampler s(7);
  size_t computed = 0;
  const OpDef* op = find_op("", GetParam());
  if (!op) op = find_op(learners, GetParam());
  if (!op) op = find_op(linger, GetParam());
  for (int i = 0; i < 300; ++i) ASSERT_EQ(try_once(*op, s, computed), "");
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::ValuesIn(names_of_kernels()),
                         [](const auto& about) { return about.param; });

}  // namespace

}  // namespace cameo::tests
