// Symbolic ints as graph values: read from an axis that has the size, else computed.
#include <algorithm>

#include "ir/dim_view.h"
#include "lowering/lower.h"

namespace cameo::lowering {

void Lower::bind_axis(Dim d, V x, int64_t axis) {
  if (d.is_literal()) return;
  auto& known = sources_[d.expr()];
  // The first few places are enough: inputs come first, and inner regions may need one of their own.
  if (known.size() < 8) known.push_back({x, axis});
}

void Lower::bind_scalar(Dim symbol, V value) { sources_[symbol.expr()].push_back({value, -1}); }

void Lower::forget_from(uint32_t first_value) {
  forget_constants_from(first_value);
  std::erase_if(packed_, [&](const auto& e) { return e.first >= first_value; });
  std::erase_if(derived_weights_, [&](V v) { return v.id.index >= first_value; });
  for (auto& [expr, known] : sources_)
    std::erase_if(known, [&](const Source& s) { return s.value.id.index >= first_value; });
  for (auto& [expr, known] : pieces_) std::erase_if(known, [&](V v) { return v.id.index >= first_value; });
}

const Lower::Source* Lower::source_of(Dim d) const {
  const auto it = sources_.find(d.expr());
  if (it == sources_.end()) return nullptr;
  for (const Source& s : it->second)
    if (s.value.id.index < graph().value_capacity() && graph()[s.value.id].kind != Value::Kind::dead &&
        graph().is_inside(region(), graph()[s.value.id].home))
      return &s;
  return nullptr;
}

bool Lower::available(Dim d) const {
  if (d.is_literal() || source_of(d)) return true;
  const DimView parts = whole_view_of(d);
  return parts.form != DimForm::symbol && parts.form != DimForm::opaque &&
         std::all_of(parts.args.begin(), parts.args.end(), [&](Dim a) { return available(a); });
}

V Lower::int_piece(Dim d) {
  if (d.is_literal()) return ints({d.literal()});
  for (const V v : pieces_[d.expr()])
    if (v.id.index < graph().value_capacity() && graph()[v.id].kind != Value::Kind::dead &&
        graph().is_inside(region(), graph()[v.id].home) && fact(v).ints() == Dims{d})
      return v;
  const Source* s = source_of(d);
  V out;
  if (s && s->axis >= 0) out = Shape(s->value, op::Shape{.end = s->axis + 1, .start = s->axis});
  else if (s) out = Reshape(s->value, ints({1}));
  else out = build(d);
  graph().fact(out).contents = std::make_shared<const Contents>(Dims{d});
  pieces_[d.expr()].push_back(out);
  return out;
}

// Engines end the process on a division by 0, and what a branch divides may be computed before the branch is chosen.
V Lower::divisor(Dim d) {
  const V b = int_piece(d);
  const auto& facts = graph().facts;
  if (facts.surely_equal(d, Dim(0)) == Answer::no) return b;
  if (facts.less_equal(Dim(0), d) == Answer::yes) return Max(std::vector<ValueId>{b, ints({1})});
  return Where(Equal(b, ints({0})), ints({1}), b);
}

namespace {
// c of n + c, where n is a number of the program's own and not a size.
int64_t added_to_number(Dim d) {
  const DimView parts = view_of(d);
  if (parts.form != DimForm::sum) return 0;
  int64_t added = 0;
  bool number = false;
  for (const Dim a : parts.args)
    if (a.is_literal()) added = a.literal();
    else number = number || (view_of(a).form == DimForm::symbol && symbol_kind(a) == SymbolKind::number);
  return number ? added : 0;
}
}  // namespace

// min(n, t - 1) has the normal form min(n + 1, t) - 1. A number may be the largest int64, for "none yet", and n + 1 is
// then the least one: nothing is added to numbers before they are compared.
std::optional<V> Lower::extremum_of_numbers(Dim d) {
  DimView parts = view_of(d);
  int64_t after = 0;
  if (parts.form == DimForm::sum && parts.args.size() == 2 &&
      parts.args[0].is_literal() != parts.args[1].is_literal()) {
    const size_t literal = parts.args[0].is_literal() ? 0 : 1;
    after = parts.args[literal].literal();
    parts = view_of(parts.args[1 - literal]);
  }
  if (parts.form != DimForm::min && parts.form != DimForm::max) return std::nullopt;
  int64_t added = 0;
  for (size_t i = 0; i < parts.args.size() && added == 0; ++i) added = added_to_number(parts.args[i]);
  if (added == 0) return std::nullopt;
  V out;
  for (const Dim arg : parts.args) {
    const V one = int_piece(arg - Dim(added));
    if (!out.valid()) out = one;
    else
      out =
          parts.form == DimForm::min ? V(Min(std::vector<ValueId>{out, one})) : V(Max(std::vector<ValueId>{out, one}));
  }
  return added + after == 0 ? out : V(Add(out, ints({added + after})));
}

V Lower::build(Dim d) {
  if (const auto out = extremum_of_numbers(d)) return *out;
  const DimView parts = whole_view_of(d);
  const auto binary = [&](auto emit) {
    V acc = int_piece(parts.args[0]);
    for (size_t i = 1; i < parts.args.size(); ++i) acc = emit(acc, int_piece(parts.args[i]));
    return acc;
  };
  switch (parts.form) {
    case DimForm::sum: return binary([&](V a, V b) { return V(Add(a, b)); });
    case DimForm::product: return binary([&](V a, V b) { return V(Mul(a, b)); });
    case DimForm::floor_div: {
      const V a = int_piece(parts.args[0]), b = divisor(parts.args[1]);
      // Div truncates: right for what is never negative; else floor(a/b) = (a - mod(a, b)) / b with Python's mod.
      const auto never_negative = [&](Dim x) { return graph().facts.less_equal(Dim(0), x) == Answer::yes; };
      if (never_negative(parts.args[0]) && never_negative(parts.args[1])) return Div(a, b);
      return Div(Sub(a, Mod(a, b)), b);
    }
    case DimForm::trunc_div: return Div(int_piece(parts.args[0]), divisor(parts.args[1]));
    case DimForm::mod: return Mod(int_piece(parts.args[0]), divisor(parts.args[1]));
    case DimForm::min: return binary([&](V a, V b) { return V(Min(std::vector<ValueId>{a, b})); });
    case DimForm::max: return binary([&](V a, V b) { return V(Max(std::vector<ValueId>{a, b})); });
    // Sizes that broadcast are equal or one of them is 1: the larger one, but for empty tensors, where 0 wins over 1.
    case DimForm::broadcast: return binary([&](V a, V b) { return V(Where(Equal(a, ints({1})), b, a)); });
    default: break;
  }
  throw error("stage.unbound-size",
              cat("the size ", d.text(), " is needed as data, and nothing in the model gives it here"))
      .at(where)
      .help("give the sizes of all inputs with --input, or make this one a number");
}

V Lower::int_scalar(Dim d) {
  if (d.is_literal()) return On::int_scalar(d.literal());
  if (const Source* s = source_of(d); s && s->axis < 0) return s->value;
  const V out = Squeeze(int_piece(d), ints({0}));
  graph().fact(out).contents = std::make_shared<const Contents>(Dims{d});
  return out;
}

V Lower::int_vector(std::span<const Dim> dims) {
  bool known = true;
  std::vector<int64_t> literals;
  for (const Dim d : dims) {
    known &= d.is_literal();
    if (known) literals.push_back(d.literal());
  }
  if (known) return ints(literals);
  // Runs of literals are one constant.
  std::vector<ValueId> parts;
  for (size_t i = 0; i < dims.size();) {
    literals.clear();
    while (i < dims.size() && dims[i].is_literal()) literals.push_back(dims[i++].literal());
    if (!literals.empty()) parts.push_back(ints(literals));
    else parts.push_back(int_piece(dims[i++]));
  }
  if (parts.size() == 1) return parts[0];
  const V out = Concat(parts, op::Concat{.axis = 0});
  graph().fact(out).contents = std::make_shared<const Contents>(Dims(dims.begin(), dims.end()));
  return out;
}

Dim Lower::int_of(V scalar) {
  if (const auto known = fact(scalar).ints(); known && known->size() == 1) return (*known)[0];
  V value = to(scalar, DType::i64);
  if (!fact(value).has_rank() || On::rank(value) != 0) value = Reshape(value, ints(std::initializer_list<int64_t>{}));
  const Dim symbol = graph().dims().fresh("n", SymbolKind::number);
  bind_scalar(symbol, value);
  graph().fact(value).contents = std::make_shared<const Contents>(Dims{symbol});
  return symbol;
}

}  // namespace cameo::lowering
