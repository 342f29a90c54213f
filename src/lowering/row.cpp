#include "lowering/row.h"

#include <algorithm>
#include <unordered_map>

#include "lowering/complex.h"
#include "lowering/tables.h"

namespace cameo::lowering {

void ArgRef::wrong(std::string_view wanted) const {
  const auto& p = call.schema->params[index];
  throw error("lower.argument", cat(call.schema->full_name(), ": argument '", p.name, "' is ", get().kind(), " where ",
                                    wanted, " is needed"));
}

namespace {
const std::vector<Arg>& items(const ArgRef& r, std::string_view wanted) {
  const auto* list = r.get().as<ArgList>();
  if (!list) r.wrong(wanted);
  return **list;
}

// int[2] takes two numbers, or one for both; none where that is the default (a pool's stride). int[] takes any number
// of them, and so does int[1], but for windows. Rows may rely on it.
bool is_of_windows(std::string_view name) {
  static constexpr std::string_view names[] = {"kernel_size", "stride",      "padding",
                                               "dilation",    "output_size", "output_padding"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

template <class T>
void fit_length(const ArgRef& r, std::vector<T>& out) {
  const SchemaParam& p = r.call.schema->params[r.index];
  const SchemaType* t = &p.type;
  while (t->kind == SchemaType::Kind::optional) t = &t->args[0];
  const auto wanted = static_cast<size_t>(std::max(0, t->fixed_size));
  if (wanted == 0 || (wanted == 1 && !is_of_windows(p.name)) || out.size() == wanted ||
      (out.empty() && p.default_text == "[]"))
    return;
  if (out.size() != 1)
    throw error("lower.argument",
                cat(r.call.schema->full_name(), ": argument '", p.name, "' has ", out.size(), " values, not ", wanted));
  out.assign(wanted, out[0]);
}

Opt<Dim> dim_of(const Arg& a) {
  if (const auto* d = a.as<Dim>()) return *d;
  if (const auto* b = a.as<bool>()) return Dim(*b);
  return std::nullopt;
}
}  // namespace

void ArgRef::to(V& out) const {
  if (const auto* v = get().as<V>()) out = *v;
  else if (const auto* f = get().as<StagedFloat>()) out = f->value;
  else if (const auto* b = get().as<StagedBool>()) out = b->value;
  else if (get().as<double>()) out = on.scalar(Num(get()), default_float);
  else if (get().as<Dim>()) out = on.scalar(Num(get()), DType::i64);
  else if (get().as<bool>()) out = on.scalar(Num(get()), DType::boolean);
  else wrong("a tensor");
}

void ArgRef::to(Vs& out) const {
  for (const Arg& a : items(*this, "a list of tensors")) {
    if (!a.as<V>()) wrong("a list of tensors");
    out.push_back(*a.as<V>());
  }
  if (out.empty()) wrong("at least one tensor");  // as torch itself says of cat, stack and their like
}

void ArgRef::to(std::vector<Opt<V>>& out) const {
  for (const Arg& a : items(*this, "a list of tensors")) {
    if (!a.as<V>() && !a.is_none()) wrong("a list of tensors and None");
    out.push_back(a.is_none() ? Opt<V>() : Opt<V>(*a.as<V>()));
  }
}

void ArgRef::to(Num& out) const {
  if (const auto* v = get().as<V>()) {
    const DType t = on.dtype(*v);
    if (const Tensor* known = on.fact(*v).tensor(); known && known->count() == 1) {
      if (is_float(t)) out = Num(known->double_at(0));
      else if (is_complex(t)) out = Num(Arg(complex_at(*known, 0)));
      else if (t == DType::boolean) out = Num(Arg(known->int_at(0) != 0));
      else out = Num(known->int_at(0));
    } else if (is_complex(t)) unsupported("a complex number that depends on the inputs");
    else if (is_int(t)) out = Num(Arg(on.int_of(*v)));
    else if (t == DType::boolean) out = Num(Arg(StagedBool{*v}));
    else out = Num(Arg(StagedFloat{*v}));
    return;
  }
  if (get().is_none() || get().as<std::string>() || get().as<ArgList>()) wrong("a number");
  out = Num(get());
}

void ArgRef::to(Dim& out) const {
  const auto d = dim_of(get());
  if (d) out = *d;
  else if (const auto* v = get().as<V>()) out = on.int_of(*v);
  else wrong("an int");
}

void ArgRef::to(Dims& out) const {
  if (const auto d = dim_of(get())) {
    out.push_back(*d);
    return fit_length(*this, out);
  }
  for (const Arg& a : items(*this, "a list of ints")) {
    if (const auto d = dim_of(a)) out.push_back(*d);
    else if (const auto* v = a.as<V>()) out.push_back(on.int_of(*v));
    else wrong("a list of ints");
  }
  fit_length(*this, out);
}

void ArgRef::to(int64_t& out) const {
  Dim d;
  to(d);
  if (!d.is_literal()) wrong("a known int");
  out = d.literal();
}

void ArgRef::to(Ints& out) const {
  Dims dims;
  to(dims);
  for (const Dim d : dims) {
    if (!d.is_literal()) wrong("a list of known ints");
    out.push_back(d.literal());
  }
}

namespace {
double known_number(const ArgRef& r, const Arg& a) {
  if (a.is_none() || a.as<std::string>() || a.as<ArgList>() || a.as<V>() || !Num(a).is_known() ||
      a.as<std::complex<double>>())
    r.wrong("a list of known floats");
  return Num(a).to_double();
}
}  // namespace

void ArgRef::to(Floats& out) const {
  for (const Arg& a : items(*this, "a list of floats")) out.push_back(known_number(*this, a));
  fit_length(*this, out);
}

void ArgRef::to(double& out) const {
  Num n;
  to(n);
  if (!n.is_known()) wrong("a known number");
  out = n.to_double();
}

void ArgRef::to(bool& out) const {
  if (const auto* b = get().as<bool>()) out = *b;
  else if (const auto* d = get().as<Dim>(); d && d->is_literal()) out = d->literal() != 0;
  else wrong("a known bool");
}

void ArgRef::to(Str& out) const {
  const auto* s = get().as<std::string>();
  if (!s) wrong("a string");
  out = *s;
}

void ArgRef::to(DType& out) const {
  int64_t number = 0;
  to(number);
  const auto t = dtype_from_torch(number);
  if (!t) unsupported(cat(call.schema->full_name(), ": torch dtype number ", number, " has no counterpart in ONNX"));
  out = *t;
}

namespace {
const std::unordered_map<std::string_view, const Row*>& row_index() {
  static const auto index = [] {
    std::unordered_map<std::string_view, const Row*> m;
    for (const auto table : row_tables())
      for (const Row& r : table()) invariant(m.emplace(r.name, &r).second, cat("one row for ", r.name));
    return m;
  }();
  return index;
}
}  // namespace

namespace {
// Second names that torch gives to operators; overloads and parameters are the same.
constexpr std::pair<std::string_view, std::string_view> second_names[] = {
    {"aten::absolute", "aten::abs"},        {"aten::arccos", "aten::acos"},
    {"aten::arccosh", "aten::acosh"},       {"aten::arcsin", "aten::asin"},
    {"aten::arcsinh", "aten::asinh"},       {"aten::arctan", "aten::atan"},
    {"aten::arctan2", "aten::atan2"},       {"aten::arctanh", "aten::atanh"},
    {"aten::clip", "aten::clamp"},          {"aten::concatenate", "aten::cat"},
    {"aten::det", "aten::linalg_det"},      {"aten::divide", "aten::div"},
    {"aten::greater", "aten::gt"},          {"aten::greater_equal", "aten::ge"},
    {"aten::inverse", "aten::linalg_inv"},  {"aten::less", "aten::lt"},
    {"aten::less_equal", "aten::le"},       {"aten::moveaxis", "aten::movedim"},
    {"aten::multiply", "aten::mul"},        {"aten::negative", "aten::neg"},
    {"aten::not_equal", "aten::ne"},        {"aten::row_stack", "aten::vstack"},
    {"aten::special_erf", "aten::erf"},     {"aten::special_erfc", "aten::erfc"},
    {"aten::special_exp2", "aten::exp2"},   {"aten::special_expit", "aten::sigmoid"},
    {"aten::special_expm1", "aten::expm1"}, {"aten::special_log1p", "aten::log1p"},
    {"aten::special_logit", "aten::logit"}, {"aten::special_sinc", "aten::sinc"},
    {"aten::subtract", "aten::sub"},        {"aten::true_divide", "aten::div"},
};
}  // namespace

const Row* find_row(std::string_view overload) {
  const auto it = row_index().find(overload);
  if (it != row_index().end()) return it->second;
  const auto dot = std::min(overload.find('.'), overload.size());
  for (const auto& [second, first] : second_names)
    if (second == overload.substr(0, dot))
      if (const auto found = row_index().find(cat(first, overload.substr(dot))); found != row_index().end())
        return found->second;
  return nullptr;
}

std::vector<std::string_view> all_row_names() {
  std::vector<std::string_view> out;
  for (const auto& [name, row] : row_index()) out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

namespace {
void apply_promotion(Lower& on, const Promotion& p, std::vector<Arg>& args) {
  std::vector<Arg> chosen;
  for (size_t i = 0; i < args.size(); ++i)
    if (p.mask >> i & 1) chosen.push_back(args[i]);
  DType t = result_type(on, chosen);
  if (p.to_float && (is_int(t) || t == DType::boolean)) t = default_float;
  const auto convert = [&](const Arg& a) -> Arg {
    if (a.is_none()) return a;
    if (const auto* v = a.as<V>()) return on.to(*v, t);
    return on.scalar(Num(a), t);
  };
  for (size_t i = 0; i < args.size(); ++i) {
    if (!(p.mask >> i & 1)) continue;
    if (const auto* list = args[i].as<ArgList>()) {
      std::vector<Arg> converted;
      for (const Arg& a : **list) converted.push_back(convert(a));
      args[i] = Arg::list(std::move(converted));
    } else args[i] = convert(args[i]);
  }
}
}  // namespace

std::vector<Arg> lower_call(Lower& on, const Row& row, LoweredCall call) {
  invariant(call.args.size() == call.schema->params.size() && row.arity <= call.args.size() + 1,
            "a call has all its arguments");
  if (row.promotion.mask) apply_promotion(on, row.promotion, call.args);
  return row.call(on, call);
}

void unsupported(std::string what, std::string hint) {
  throw error("lower.unsupported-value", std::move(what)).help(std::move(hint));
}

}  // namespace cameo::lowering
