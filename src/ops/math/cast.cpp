// Cast, CastLike, BitCast.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/on.h"
#include "support/number_text.h"

namespace cameo::ops {

namespace {

// "1.5", "100000.0", "1e-05": the shortest digits that read back, plain where that is short.
template <class C>
std::string float_text(C v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v < 0 ? "-INF" : "INF";
  std::string text;
  int decimals = 0;
  do text = scientific_text(static_cast<double>(v), decimals);
  while (static_cast<C>(parse_double(text).value()) != v && ++decimals < 17);
  const int exponent = v == 0 ? 0 : std::atoi(text.c_str() + text.find('e') + 1);
  if (exponent < -4 || exponent >= 16) return text;
  return fixed_text(static_cast<double>(v), std::max(1, decimals - exponent));
}

template <class C>
std::string number_text(C v) {
  if constexpr (std::is_floating_point_v<C>) return float_text(v);
  else return cat(v);
}

Tensor to_strings(const Tensor& t) {
  std::vector<std::string> out;
  if (t.dtype() == DType::boolean) {
    const Loaded<uint8_t> values(t);
    for (const uint8_t v : values.span()) out.push_back(v ? "True" : "False");
    return {t.shape(), std::move(out)};
  }
  with_carrier(t.dtype(), [&](auto c) {
    const Loaded<decltype(c)> values(t);
    for (const auto v : values.span()) out.push_back(number_text(v));
  });
  return {t.shape(), std::move(out)};
}

[[noreturn]] void no_number(const std::string& text) { throw error("eval.cast", cat("'", text, "' is not a number")); }

double parse_double(const std::string& text) {
  size_t used = 0;
  const double v = leading_double(text, used);
  if (used == 0) no_number(text);
  return v;
}

int64_t parse_int(const std::string& text) {
  int64_t v = 0;
  const char* begin = text.c_str() + (text.starts_with('+') ? 1 : 0);
  const auto [end, code] = std::from_chars(begin, text.c_str() + text.size(), v);
  if (code == std::errc{} && end == text.c_str() + text.size()) return v;
  const double wide = parse_double(text);
  if (!(std::fabs(wide) < 0x1p63)) no_number(text);
  return static_cast<int64_t>(wide);
}

Tensor from_strings(const Tensor& t, DType to, Overflow overflow) {
  if (is_float(to)) {
    std::vector<double> out;
    for (const auto& s : t.strings()) out.push_back(parse_double(s));
    return store(to, t.shape(), out, overflow);
  }
  std::vector<int64_t> out;
  for (const auto& s : t.strings()) out.push_back(s == "True" ? 1 : s == "False" ? 0 : parse_int(s));
  return store(to, t.shape(), out);
}

Tensor to_e8m0(const Tensor& t, const std::string& round_mode, bool saturate) {
  const E8M0Rounding rounding = round_mode == "up"     ? E8M0Rounding::up
                                : round_mode == "down" ? E8M0Rounding::down
                                : round_mode == "nearest"
                                    ? E8M0Rounding::nearest
                                    : throw error("eval.attribute", cat("round_mode is '", round_mode, "'"));
  std::vector<uint8_t> codes;
  const Loaded<double> values(t);
  for (const double v : values.span()) codes.push_back(static_cast<uint8_t>(encode_e8m0(v, rounding, saturate)));
  return pack_codes(DType::f8e8m0, t.shape(), codes);
}

template <class Attrs>
Tensor cast(const Tensor& t, DType to, const Attrs& a) {
  if (t.dtype() == to) return t;
  const Overflow overflow = a.saturate ? Overflow::saturate : Overflow::to_inf_or_nan;
  if (to == DType::string) return to_strings(t);
  if (t.dtype() == DType::string) return from_strings(t, to, overflow);
  if (to == DType::f8e8m0) return to_e8m0(t, a.round_mode, a.saturate != 0);
  return convert(t, to, overflow);
}

// Shape arithmetic often changes between the two widths of integers.
void keep_contents(Infer& c, DType to) {
  const auto counts = [](DType t) { return t == DType::i64 || t == DType::i32; };
  if (c.constant(0) || !counts(c.dtype(0)) || !counts(to)) return;
  if (auto elements = c.ints(0)) c.out_contents(0, std::move(*elements));
}

DType dtype_attribute(const Infer& c, int64_t number) {
  const auto t = dtype_from_number(number);
  if (!t) c.fail("infer.attribute", cat(number, " is not an element type"));
  return *t;
}

// `saturate` and `round_mode` speak only of types that came with them: other casts lose nothing.
void drop_f8_attributes(Downgrade& d) {
  const AttrValue* to = find_attr(d.attrs, "to");
  const auto type =
      to && std::holds_alternative<int64_t>(*to) ? dtype_from_number(std::get<int64_t>(*to)) : std::nullopt;
  if (type && is_float(*type) && bits(*type) == 8) d.drop_default("saturate", int64_t{1});
  d.drop("saturate");
}
void drop_e8m0_attributes(Downgrade& d) { d.drop("round_mode"); }

struct Cast : Rules<op::Cast> {
  static constexpr bool partial = true;
  static void infer(const op::Cast& a, Infer& c) {
    const DType to = dtype_attribute(c, a.to);
    if (!c.has_rank(0)) return c.out(0, Type::tensor(to));
    c.out(0, to, c.shape(0));
    keep_contents(c, to);
  }
  static void eval(const op::Cast& a, Eval& k) {
    const auto to = dtype_from_number(a.to);
    if (!to) k.fail("eval.attribute", cat(a.to, " is not an element type"));
    k.out(0, cast(k.in(0), *to, a));
  }

  // Before 6 the type was a word: FLOAT, INT64, BOOL ...
  static std::string old_word(DType t) {
    std::string word(info(t).onnx_name);
    for (char& ch : word) ch = static_cast<char>(ch >= 'a' && ch <= 'z' ? ch - 32 : ch);
    return word;
  }
  static constexpr Revision revisions[] = {
      {6,
       [](Upgrade& u) {
         const auto word = u.take_string("to").value_or("");
         for (const auto& t : all_dtypes())
           if (old_word(t.dtype) == word) return u.set("to", static_cast<int64_t>(t.dtype));
         throw error("model.attribute", cat("Cast to '", word, "', which is not an element type"));
       },
       [](Downgrade& d) {
         if (const auto to = dtype_from_number(d.take_int("to").value_or(0))) d.set("to", old_word(*to));
       }},
      {19, nullptr, drop_f8_attributes},
      {24, nullptr, drop_e8m0_attributes},
  };
};

struct CastLike : Rules<op::CastLike> {
  static void infer(const op::CastLike&, Infer& c) {
    infer_like_first(c);
    keep_contents(c, c.dtype(1));
  }
  static void eval(const op::CastLike& a, Eval& k) { k.out(0, cast(k.in(0), k.in(1).dtype(), a)); }

  static constexpr Revision revisions[] = {{19, nullptr, drop_f8_attributes}, {24, nullptr, drop_e8m0_attributes}};
  static constexpr Expansion expansions[] = {
      expansion<op::CastLike>(15, Exactness::exact, [](const op::CastLike& a, Expand& e) {
        const DType to = e.dtype(1);
        if (to == DType::undefined) return e.refuse("the type to cast to is not known");
        e.replace({e.on.Cast(
            e.in(0), op::Cast{.round_mode = a.round_mode, .saturate = a.saturate, .to = static_cast<int64_t>(to)})});
      })};
};

struct BitCast : Rules<op::BitCast> {
  static void infer(const op::BitCast& a, Infer& c) {
    const DType to = dtype_attribute(c, a.to), from = c.dtype(0);
    if (from != DType::undefined && bits(from) != bits(to))
      c.fail("infer.type", cat("elements of ", name(from), " cannot be read as ", name(to), ": their widths differ"));
    c.out(0, to, c.shape(0));
  }
  static void eval(const op::BitCast& a, Eval& k) {
    const auto to = dtype_from_number(a.to);
    const Tensor& x = k.in(0);
    if (!to || *to == DType::string || x.dtype() == DType::string || bits(*to) != bits(x.dtype()))
      k.fail("eval.type", "the widths of the types differ");
    k.out(0, Tensor(*to, x.shape(), x.bytes()));
  }
  static constexpr Expansion expansions[] = {
      expansion<op::BitCast>(26, Exactness::exact, [](const op::BitCast& a, Expand& e) {
        const DType from = e.dtype(0), to = dtype_from_number(a.to).value_or(DType::undefined);
        if (from == to) return e.replace({e.in(0)});
        // Integers of one width differ in the meaning of the top bit, which a cast keeps.
        if ((is_int(from) || from == DType::boolean) && is_int(to)) return e.replace({e.on.cast(e.in(0), to)});
        e.refuse("no older operator reads the bits of a number as another type");
      })};
};

constexpr OpRules table[] = {rules<Cast>(), rules<CastLike>(), rules<BitCast>()};

}  // namespace

std::span<const OpRules> cast_rules() { return table; }

}  // namespace cameo::ops
