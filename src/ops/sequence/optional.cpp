// Optional values. At run time a full optional is its element.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

struct Optional : Rules<op::Optional> {
  static constexpr bool partial = true;
  static void infer(const op::Optional& a, Infer& c) {
    if (c.has(0)) c.out(0, Type::optional(c.type(0)));
    else if (a.type) c.out(0, Type::optional(*a.type));
    else c.fail("infer.attribute", "neither an element nor a type is given");
  }
  static void eval(const op::Optional&, Eval& k) { k.out(0, k.has(0) ? k.datum(0) : Datum()); }
};

struct OptionalGetElement : Rules<op::OptionalGetElement> {
  static constexpr bool partial = true;
  static void infer(const op::OptionalGetElement&, Infer& c) {
    if (c.type(0).is_optional()) return c.out(0, *c.type(0).inner);
    c.out_like(0, 0);
    c.out_contents(0, c.in(0).contents);
  }
  static void eval(const op::OptionalGetElement&, Eval& k) {
    if (k.datum(0).kind == Datum::Kind::none) k.fail("eval.optional", "the element of an empty optional");
    k.out(0, k.datum(0));
  }
  // Before 18 the input had to be an optional.
  static constexpr Revision revisions[] = {
      {18, nullptr,
       [](Downgrade& d) {
         if (d.input(0) && !d.fact(d.input(0)).type.is_optional()) d.refuse("the input must be an optional there");
       }},
  };
  static constexpr Expansion expansions[] = {
      expansion<op::OptionalGetElement>(
          18, Exactness::exact, [](const op::OptionalGetElement&, Expand& e) { e.replace({e.in(0)}); },
          [](const op::OptionalGetElement&, const Graph& g, NodeId n, int64_t) {
            const Type& t = g[g.input(n, 0)].fact.type;
            return !t.is_unknown() && !t.is_optional();
          }),
  };
};

struct OptionalHasElement : Rules<op::OptionalHasElement> {
  static constexpr bool partial = true;
  static void infer(const op::OptionalHasElement&, Infer& c) {
    c.out(0, DType::boolean, Shape{});
    const bool known = !c.has(0) || c.type(0).is_tensor() || c.type(0).is_sequence();
    if (known) c.out_contents(0, std::make_shared<const Contents>(Tensor::bool_scalar(c.has(0))));
  }
  static void eval(const op::OptionalHasElement&, Eval& k) {
    k.out(0, Tensor::bool_scalar(k.has(0) && k.datum(0).kind != Datum::Kind::none));
  }

  static constexpr Revision revisions[] = {
      {18, nullptr,
       [](Downgrade& d) {
         if (!d.input(0) || !d.fact(d.input(0)).type.is_optional()) d.refuse("the input must be an optional there");
       }},
  };
  // Without an optional the answer is known.
  static constexpr Expansion expansions[] = {
      expansion<op::OptionalHasElement>(
          18, Exactness::exact,
          [](const op::OptionalHasElement&, Expand& e) { e.replace({e.on.constant(Tensor::bool_scalar(e.has(0)))}); },
          [](const op::OptionalHasElement&, const Graph& g, NodeId n, int64_t) {
            if (!g.input(n, 0)) return true;
            const Type& t = g[g.input(n, 0)].fact.type;
            return !t.is_unknown() && !t.is_optional();
          }),
  };
};

constexpr OpRules table[] = {rules<Optional>(), rules<OptionalGetElement>(), rules<OptionalHasElement>()};

}  // namespace

std::span<const OpRules> optional_rules() { return table; }

}  // namespace cameo::ops
