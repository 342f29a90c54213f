// Constant, ConstantOfShape: values that come only from attributes or a shape.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

constexpr int64_t max_known_sparse = 1 << 20;  // elements of a sparse constant that inference makes dense

Tensor value_of(const op::Constant& a) {
  if (a.value) return *a.value;
  if (a.value_int) return Tensor::int_scalar(*a.value_int);
  if (a.value_ints) return Tensor::ints(*a.value_ints);
  if (a.value_float) return Tensor::float_scalar(*a.value_float);
  if (a.value_floats)
    return Tensor::of<float>(DType::f32, {static_cast<int64_t>(a.value_floats->size())}, *a.value_floats);
  if (a.value_string) return Tensor({}, {*a.value_string});
  if (a.value_strings) return Tensor({static_cast<int64_t>(a.value_strings->size())}, *a.value_strings);
  if (a.sparse_value) return a.sparse_value->dense();
  throw error("model.attribute", "Constant without a value")
      .help("exactly one of value, value_int, value_float, ... must be given");
}

struct Constant : Rules<op::Constant> {
  static void infer(const op::Constant& a, Infer& c) {
    const int given = a.value.has_value() + a.value_int.has_value() + a.value_ints.has_value() +
                      a.value_float.has_value() + a.value_floats.has_value() + a.value_string.has_value() +
                      a.value_strings.has_value() + a.sparse_value.has_value();
    if (given > 1) c.fail("model.attribute", cat("it has ", given, " values, and one is wanted"));
    if (a.sparse_value && element_count(a.sparse_value->shape) > max_known_sparse)
      return c.out(0, a.sparse_value->values.dtype(),
                   Shape(a.sparse_value->shape.begin(), a.sparse_value->shape.end()));
    const Tensor t = value_of(a);
    c.out(0, t.dtype(), Shape(t.shape().begin(), t.shape().end()));
    c.out_contents(0, std::make_shared<const Contents>(t));
  }

  static void eval(const op::Constant& a, Eval& k) { k.out(0, value_of(a)); }

  static void down_to_value(Downgrade& d, std::initializer_list<std::string_view> forms) {
    op::Constant a;
    for (const AttrField& f : op_of<op::Constant>().fields)
      if (const AttrValue* v = find_attr(d.attrs, f.name); v && v->index()) f.set(&a, *v);
    for (const auto form : forms) {
      if (!d.has(form)) continue;
      d.attrs.clear();
      d.set("value", value_of(a));
      return;
    }
  }

  static constexpr Revision revisions[] = {
      {11, nullptr, [](Downgrade& d) { down_to_value(d, {"sparse_value"}); }},
      {12, nullptr,
       [](Downgrade& d) {
         down_to_value(d, {"value_float", "value_floats", "value_int", "value_ints", "value_string", "value_strings"});
       }},
  };
};

Tensor fill_of(const op::ConstantOfShape& a) {
  if (!a.value) return Tensor::float_scalar(0);
  if (a.value->count() != 1)
    throw error("model.attribute",
                cat("ConstantOfShape: 'value' has ", a.value->count(), " elements where one is wanted"));
  return a.value->reshaped({});
}

struct ConstantOfShape : Rules<op::ConstantOfShape> {
  static constexpr bool partial = true;
  static void infer(const op::ConstantOfShape& a, Infer& c) {
    const DType dtype = fill_of(a).dtype();
    if (const auto sizes = c.ints(0)) {
      for (const Dim d : *sizes)
        if (d.is_literal() && d.literal() < 0) c.fail("infer.shape", cat("a size of ", d.literal()));
      c.out(0, dtype, *sizes);
    } else if (const auto rank = c.length(0)) {
      c.out(0, dtype, c.fresh_shape(*rank));
    } else {
      c.out(0, Type::tensor(dtype));
    }
  }

  static void eval(const op::ConstantOfShape& a, Eval& k) {
    const auto shape = k.ints(0);
    k.out(0, take(fill_of(a), shape, std::vector<int64_t>(static_cast<size_t>(element_count(shape)), 0)));
  }

  static constexpr Expansion expansions[] = {
      expansion<op::ConstantOfShape>(9, Exactness::exact,
                                     [](const op::ConstantOfShape& a, Expand& e) {
                                       e.replace({e.on.Expand(e.on.constant(fill_of(a)), e.in(0))});
                                     }),
  };
};

constexpr OpRules table[] = {rules<Constant>(), rules<ConstantOfShape>()};

}  // namespace

std::span<const OpRules> constant_rules() { return table; }

}  // namespace cameo::ops
