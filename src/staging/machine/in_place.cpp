// In-place and out= forms: the functional operator and a write.
#include <algorithm>

#include "staging/machine/machine.h"

namespace cameo::staging {

namespace {
// aten::add_.Tensor -> aten::add.Tensor; the few whose functional form is named otherwise.
std::string functional_name(const Schema& s) {
  static constexpr std::pair<std::string_view, std::string_view> special[] = {
      {"aten::pow_.Scalar", "aten::pow.Tensor_Scalar"},
      {"aten::pow_.Tensor", "aten::pow.Tensor_Tensor"},
      {"aten::float_power_.Scalar", "aten::float_power.Tensor_Scalar"},
      {"aten::float_power_.Tensor", "aten::float_power.Tensor_Tensor"},
      {"aten::__iand__.Tensor", "aten::__and__.Tensor"},
      {"aten::__iand__.Scalar", "aten::__and__.Scalar"},
      {"aten::__ior__.Tensor", "aten::__or__.Tensor"},
      {"aten::__ior__.Scalar", "aten::__or__.Scalar"},
      {"aten::__ixor__.Tensor", "aten::__xor__.Tensor"},
      {"aten::__ixor__.Scalar", "aten::__xor__.Scalar"},
      {"aten::__ilshift__.Tensor", "aten::__lshift__.Tensor"},
      {"aten::__ilshift__.Scalar", "aten::__lshift__.Scalar"},
      {"aten::__irshift__.Tensor", "aten::__rshift__.Tensor"},
      {"aten::__irshift__.Scalar", "aten::__rshift__.Scalar"},
      {"aten::index_put_.hacked_twin", "aten::index_put.hacked_twin"},
      {"aten::transpose_", "aten::transpose.int"},
      {"aten::floor_divide_.Tensor", "aten::floor_divide"},
      {"aten::bernoulli_.float", "aten::bernoulli.p"},
  };
  const std::string full = s.full_name();
  for (const auto& [from, to] : special)
    if (from == full) return std::string(to);
  std::string base = s.name;
  if (base.ends_with('_')) base.pop_back();
  return s.overload.empty() ? base : cat(base, ".", s.overload);
}

// The functional overload that an out= overload computes: the same parameters without the written ones.
const Schema* functional_of_out(const Schema& s) {
  for (const Schema& candidate : schemas_of(s.name)) {
    if (candidate.mutates()) continue;
    size_t i = 0;
    bool same_params = true;
    for (const auto& p : s.params) {
      if (p.written) continue;
      same_params = same_params && i < candidate.params.size() && candidate.params[i].name == p.name &&
                    candidate.params[i].type.text() == p.type.text();
      ++i;
    }
    if (same_params && i == candidate.params.size()) return &candidate;
  }
  return nullptr;
}
}  // namespace

namespace {
std::string_view name_of(DType t) { return ir::name(t); }

// PyTorch's rule for what an operator in place may store: never a higher kind of number.
bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_float(from) && !is_float(to) && !is_complex(to)) return false;
  return from == DType::boolean || to != DType::boolean;
}
}  // namespace

// t_, unsqueeze_ and their like: the tensor itself gets another shape.
std::vector<Value> Machine::reshape_in_place(const Schema& s, const TensorRef& self, const TensorRef& result) {
  const bool memory = s.name == "aten::resize_" || s.name == "aten::resize_as_";
  const Dims before = on.shape(read(self)), wanted = on.shape(read(result));
  if (memory && std::equal(before.begin(), before.end(), wanted.begin(), wanted.end(),
                           [&](Dim a, Dim b) { return on.provably(a, b); }))
    return {Value(self)};
  if (memory && (self.view || !layout_of(self).is(Layout::Kind::contiguous)))
    fail("stage.write-through",
         cat(s.full_name(),
             " of a view, or of a tensor that is not contiguous, shows memory that the graph does not have"),
         "make a new tensor of that size instead");
  const Name name(self.cell.index, self.view);
  const bool twice = named_twice_.find(name);          // which of the two gets the shape? The other one keeps its own
  const bool strided = s.name == "aten::as_strided_";  // of the memory behind the tensor: stays a view of it
  if ((self.view || twice || strided) && (result.view != self.view || result.cell != self.cell))
    turned_.set(name, on.region() == graph.main() && !twice ? std::optional(result) : std::nullopt);
  if (self.view || twice || strided) return {Value(result)};
  const V after = read(result);
  const Layout layout = memory ? Layout::contiguous() : layout_of(result);
  write(self, after, s);
  auto& cell = heap.write<TensorCell>(self.cell);
  cell.reshaped = cell.version;
  cell.layout = layout;
  return {Value(TensorRef{self.cell, nullptr, false})};
}

TensorRef Machine::now(const TensorRef& t) const {
  const auto* turned = turned_.empty() ? nullptr : turned_.find(Name(t.cell.index, t.view));
  if (!turned) return t;
  if (!*turned)
    fail("stage.write-through",
         "a tensor is read after it got another shape in place: in a branch or a loop, or while it had a second name",
         "use the form without underscore (x = x.t())");
  return now(**turned);
}
Value Machine::now(const Value& v) const {
  const auto* t = turned_.empty() ? nullptr : v.as<TensorRef>();
  return t ? Value(now(*t)) : v;
}

std::vector<Value> Machine::lower_inplace(const Schema& s, std::vector<Value> args) {
  const auto* target = args.empty() ? nullptr : args[0].as<TensorRef>();
  const std::string name = functional_name(s);
  const Schema* functional = find_schema(name);
  if (target && s.name == "aten::as_strided_") {
    const TensorRef self = *target;
    const auto results = lower_op(*functional, std::move(args));
    return results[0].is<TensorRef>() ? reshape_in_place(s, self, results[0].need<TensorRef>()) : results;
  }
  const Row* row = functional ? find_row(name) : find_row(s.full_name());
  if (!target || (!row && options.fallback == Fallback::none)) return missing_op(s.full_name(), s.returns.size());
  const Schema& used = functional ? *functional : s;
  const TensorRef self = *target;
  const V before = read(self);
  args.resize(used.params.size());
  auto results = row ? lower_functional(used, *row, args) : foreign_op(used.full_name(), &used, {args, {}});
  if (results.empty() || results[0].is<Poison>()) return {results.empty() ? Value() : results[0]};
  V after = read(results[0].need<TensorRef>());
  if (on.fact(after).type.is_tensor()) after = on.to(after, on.dtype(before));
  else graph.fact(after).type = on.fact(before).type;  // of a foreign node: an operator in place keeps the type
  // Those that give the tensor itself another shape; of a view they are a view.
  static constexpr std::string_view reshaping[] = {"resize_",    "resize_as_", "squeeze_",  "unsqueeze_",
                                                   "transpose_", "t_",         "swapaxes_", "swapdims_"};
  const bool keeps_shape = std::find(std::begin(reshaping), std::end(reshaping),
                                     std::string_view(s.name).substr(s.name.find("::") + 2)) == std::end(reshaping);
  if (!keeps_shape) return reshape_in_place(s, self, results[0].need<TensorRef>());
  if (row && row->promotion.mask && !can_cast(on.dtype(read(results[0].need<TensorRef>())), on.dtype(before)))
    raise(cat("the result type ", name_of(on.dtype(read(results[0].need<TensorRef>()))), " of ", s.full_name(),
              " does not fit into a tensor of ", name_of(on.dtype(before))));
  if (on.has_rank(after) && on.has_rank(before) && on.On::shape(after) != on.On::shape(before))
    after = on.expand(after, on.shape(before));
  write(self, after, s);
  return {Value(TensorRef{self.cell, self.view, false})};
}

std::vector<Value> Machine::lower_out(const Schema& s, std::vector<Value> args) {
  const Schema* functional = functional_of_out(s);
  const Row* row = functional ? find_row(functional->full_name()) : nullptr;
  if (!row) return missing_op(s.full_name(), s.returns.size());
  std::vector<Value> inputs, outs;
  for (size_t i = 0; i < args.size(); ++i) (s.params[i].written ? outs : inputs).push_back(std::move(args[i]));
  auto results = lower_functional(*functional, *row, inputs);
  for (size_t i = 0; i < results.size() && i < outs.size(); ++i) {
    const auto* out = outs[i].as<TensorRef>();
    const auto* result = results[i].as<TensorRef>();
    if (!out || !result) continue;
    write(*out, on.to(read(*result), on.dtype(read(*out))), s);
    results[i] = outs[i];
  }
  return results;
}

}  // namespace cameo::staging
