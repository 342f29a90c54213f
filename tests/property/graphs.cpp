#include "property/graphs.h"

#include <cmath>
#include <numeric>

#include "kernels/carrier.h"
#include "ops/on.h"
#include "property/dice.h"
#include "support/error.h"

namespace cameo::tests {

namespace {

class Maker {
 public:
  Maker(uint32_t seed, bool smooth) : dice_(seed), smooth_(smooth), on_(model_.graph, model_.graph.main()) {}

  Model make() {
    model_.opsets[""] = newest_released_opset;
    Graph& g = model_.graph;
    const Dim n = g.dims().symbol("N");
    static const std::vector<std::vector<int64_t>> shapes{{-1, 4}, {-1, 3, 4}, {-1, 2, 6, 6}, {3, -1},
                                                          {2, 3},  {-1},       {1, 4, 8}};
    for (int64_t i = 0, count = dice_.between(1, 3); i < count; ++i) {
      Shape shape;
      for (const int64_t d : dice_.pick(shapes)) shape.push_back(d < 0 ? n : Dim(d));
      pool_.push_back(g.add_input(g.main(), cat("x", i), Type::tensor(DType::f32, shape)));
    }
    for (int64_t i = 0, count = dice_.between(4, 18); i < count; ++i) attempt();
    outputs();
    return std::move(model_);
  }

 private:
  const Fact& fact(ValueId v) const { return model_.graph[v].fact; }
  const Shape& shape(ValueId v) const { return fact(v).shape(); }
  int64_t rank(ValueId v) const { return fact(v).rank(); }
  bool is_f32(ValueId v) const { return fact(v).dtype() == DType::f32 && fact(v).has_rank(); }

  ValueId any() { return dice_.chance(60) ? pool_.back() : dice_.pick(pool_); }
  ValueId any_f32() {
    for (int i = 0; i < 8; ++i)
      if (const ValueId v = any(); is_f32(v)) return v;
    return pool_.front();
  }
  ValueId number(double v) { return on_.number(v, DType::f32); }
  ValueId vector(int64_t size, std::vector<int64_t> shape = {}) {
    std::vector<double> values(static_cast<size_t>(size));
    for (double& v : values) v = dice_.number();
    if (shape.empty()) shape = {size};
    return on_.constant(store(DType::f32, shape, values));
  }
  int64_t axis_of(ValueId v) { return dice_.between(0, std::max<int64_t>(0, rank(v) - 1)); }
  int64_t signed_axis(ValueId v, int64_t axis) { return dice_.chance(30) ? axis - rank(v) : axis; }

  void attempt() {
    const GraphMark mark = model_.graph.mark();
    const size_t known = pool_.size();
    try {
      step();
    } catch (const Error& e) {
      if (e.exit_code() == 4) throw;
      pool_.resize(known);
      model_.graph.rollback(mark);
      on_.forget_constants_from(mark.values);
    }
  }
  void push(ValueId v) { pool_.push_back(v); }

  void step() {
    // clang-format off
    static constexpr void (Maker::*steps[])() = {
        &Maker::unary, &Maker::unary, &Maker::binary, &Maker::binary, &Maker::transpose, &Maker::reshape,
        &Maker::computed_reshape, &Maker::squeeze, &Maker::slice, &Maker::concat, &Maker::reduce, &Maker::linear,
        &Maker::cast, &Maker::activation, &Maker::norm, &Maker::select, &Maker::branch, &Maker::split,
        &Maker::pad_and_pool, &Maker::sizes, &Maker::any_operator, &Maker::pieces, &Maker::in_a_row, &Maker::loop,
        &Maker::spelt, &Maker::around, &Maker::containers, &Maker::clip,
    };
    // clang-format on
    (this->*steps[dice_.between(0, std::ssize(steps) - 1)])();
  }

  void unary() {
    static const std::vector<std::string_view> ops{"Relu",     "Neg", "Abs",   "Sigmoid", "Tanh",  "Identity", "Erf",
                                                   "Softplus", "Cos", "Floor", "Ceil",    "Round", "Sign"};
    constexpr int64_t smooth_ops = 9;
    push(on_.emit(*find_op("", smooth_ ? ops[static_cast<size_t>(dice_.between(0, smooth_ops - 1))] : dice_.pick(ops)),
                  nullptr, {any_f32()}, 1)[0]);
  }
  void binary() {
    static const std::vector<std::string_view> ops{"Add", "Sub", "Mul", "Div", "Add", "Mul", "Max", "Min", "Pow"};
    const std::string_view op = dice_.pick(ops);
    const ValueId x = any_f32();
    ValueId y = dice_.chance(40) ? any_f32() : number(dice_.number());
    if (op == "Pow" || (op == "Div" && smooth_)) y = number(static_cast<double>(dice_.between(1, 3)));
    const bool small = op == "Pow" || op == "Div";
    if (rank(x) > 0 && !small && dice_.chance(25))
      if (const auto last = shape(x).back().known()) y = vector(*last);
    if (!small && dice_.chance(5)) y = vector(1, {1, 1, 1, 1});
    push(on_.emit(*find_op("", op), nullptr,
                  dice_.chance(30) && !small ? std::vector<ValueId>{y, x} : std::vector<ValueId>{x, y}, 1)[0]);
  }
  void transpose() {
    const ValueId x = any_f32();
    std::vector<int64_t> perm(static_cast<size_t>(rank(x)));
    std::iota(perm.begin(), perm.end(), 0);
    for (size_t i = perm.size(); i > 1; --i)
      std::swap(perm[i - 1], perm[static_cast<size_t>(dice_.between(0, static_cast<int64_t>(i) - 1))]);
    push(dice_.chance(20) ? on_.Transpose(x) : on_.Transpose(x, op::Transpose{.perm = perm}));
  }
  void reshape() {
    static const std::vector<std::vector<int64_t>> forms{{-1},       {0, -1}, {-1, 4},    {-1, 2},    {1, -1},
                                                         {0, 0, -1}, {2, -1}, {-1, 1, 4}, {0, 2, -1}, {0, -1, 1}};
    push(dice_.chance(15) ? on_.Flatten(any_f32(), op::Flatten{.axis = dice_.between(0, 2)})
                          : on_.Reshape(any_f32(), on_.ints(dice_.pick(forms))));
  }
  void computed_reshape() {
    const ValueId x = any_f32();
    if (rank(x) < 1) return;
    const ValueId s = on_.Shape(x);
    std::vector<ValueId> parts;
    for (int64_t i = 0; i < rank(x); ++i) {
      if (const auto known = shape(x)[static_cast<size_t>(i)].known(); known && dice_.chance(50))
        parts.push_back(on_.ints({*known}));
      else if (dice_.chance(50)) parts.push_back(on_.Unsqueeze(on_.Gather(s, on_.int_scalar(i)), on_.ints({0})));
      else parts.push_back(on_.Slice(s, on_.ints({i}), on_.ints({i + 1}), on_.ints({0})));
    }
    if (dice_.chance(40) && parts.size() > 1) {
      const ValueId last = parts.back();
      parts.pop_back();
      parts.back() = on_.Mul(parts.back(), last);
    } else if (dice_.chance(40)) parts.back() = on_.ints({-1});
    push(on_.Reshape(x, on_.Concat(parts, op::Concat{.axis = 0})));
  }
  void squeeze() {
    const ValueId x = any_f32();
    if (dice_.chance(60)) return push(on_.Unsqueeze(x, on_.ints({dice_.between(-rank(x) - 1, rank(x))})));
    for (int64_t i = 0; i < rank(x); ++i)
      if (shape(x)[static_cast<size_t>(i)].is(1)) return push(on_.Squeeze(x, on_.ints({signed_axis(x, i)})));
  }
  void slice() {
    const ValueId x = any_f32();
    if (rank(x) == 0) return;
    const int64_t axis = axis_of(x), start = dice_.between(-2, 2),
                  end = dice_.chance(40) ? INT64_MAX : dice_.between(-1, 5);
    push(dice_.chance(15)
             ? on_.Slice(x, on_.ints({start}), on_.ints({end}), on_.ints({signed_axis(x, axis)}), on_.ints({2}))
             : on_.Slice(x, on_.ints({start}), on_.ints({end}), on_.ints({signed_axis(x, axis)})));
  }
  void concat() {
    const ValueId x = any_f32();
    if (rank(x) == 0) return;
    const int64_t axis = axis_of(x);
    if (dice_.chance(40)) {
      const int64_t at = dice_.between(0, 3);
      const ValueId a = on_.Slice(x, on_.ints({0}), on_.ints({at}), on_.ints({axis})),
                    b = on_.Slice(x, on_.ints({at}), on_.ints({INT64_MAX}), on_.ints({axis}));
      return push(on_.Concat(std::vector<ValueId>{a, b}, op::Concat{.axis = axis}));
    }
    push(on_.Concat(std::vector<ValueId>(static_cast<size_t>(dice_.between(1, 3)), x),
                    op::Concat{.axis = signed_axis(x, axis)}));
  }
  void split() {
    const ValueId x = any_f32();
    if (rank(x) == 0) return;
    const int64_t axis = axis_of(x);
    const auto size = shape(x)[static_cast<size_t>(axis)].known();
    if (!size || *size < 2) return;
    const auto parts = on_.Split(x, 2, on_.ints({1, *size - 1}), op::Split{.axis = axis});
    if (dice_.chance(30)) return push(on_.Concat(parts, op::Concat{.axis = axis}));
    push(parts[0]), push(parts[1]);
  }
  void reduce() {
    static const std::vector<std::string_view> ops{"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2"};
    const ValueId x = any_f32();
    if (rank(x) == 0) return;
    const OpDef& op = *find_op("", dice_.pick(ops));
    const auto attrs = op.make();
    const int64_t keep = dice_.between(0, 1), axis = axis_of(x);
    for (const AttrField& f : op.fields)
      if (f.name == "keepdims") f.set(attrs.get(), keep);
    const ValueId y = on_.emit(op, attrs, {x, on_.ints({signed_axis(x, axis)})}, 1)[0];
    push(!keep && dice_.chance(50) ? on_.Unsqueeze(y, on_.ints({dice_.chance(70) ? axis : 0})) : y);
  }
  void linear() {
    const ValueId x = any_f32();
    if (rank(x) == 4 && shape(x)[1].known()) return convolution(x);
    if (rank(x) < 1) return;
    const auto k = shape(x).back().known();
    if (!k || *k > 64) return;
    ValueId y =
        rank(x) == 2 && dice_.chance(30)
            ? on_.Gemm(x, vector(3 * *k, {3, *k}), dice_.chance(50) ? vector(3) : ValueId(), op::Gemm{.transB = 1})
            : on_.MatMul(x, vector(*k * 3, {*k, 3}));
    if (dice_.chance(60)) y = on_.Add(y, vector(3));
    if (dice_.chance(30)) y = on_.Mul(y, dice_.chance(50) ? vector(3) : number(dice_.number()));
    push(y);
  }
  void convolution(ValueId x) {
    const int64_t c = shape(x)[1].literal();
    if (c == 0) return;  // engines give anything
    ValueId y;
    int64_t out = 2;
    if (dice_.chance(25)) {
      const int64_t group = c % 2 == 0 && dice_.chance(50) ? 2 : 1;
      y = on_.ConvTranspose(x, vector(c * 2 * 4, {c, 2, 2, 2}), dice_.chance(50) ? vector(2 * group) : ValueId(),
                            op::ConvTranspose{.group = group});
      out = 2 * group;
    } else {
      op::Conv attrs;
      if (dice_.chance(50)) attrs.pads = {1, 0, 1, 0};
      y = on_.Conv(x, vector(2 * c * 4, {2, c, 2, 2}), dice_.chance(50) ? vector(2) : ValueId(), attrs);
    }
    if (dice_.chance(50)) {
      std::vector<double> var(static_cast<size_t>(out));
      for (double& v : var) v = 0.5 + std::abs(dice_.number());
      y = on_.BatchNormalization(y, vector(out), vector(out), vector(out), on_.constant(store(DType::f32, {out}, var)),
                                 1)[0];
    }
    if (dice_.chance(40)) y = on_.Mul(y, dice_.chance(50) ? vector(out, {out, 1, 1}) : number(dice_.number()));
    if (dice_.chance(40)) y = on_.Add(y, dice_.chance(70) ? vector(out, {1, out, 1, 1}) : number(dice_.number()));
    push(y);
  }
  void cast() {
    static const std::vector<DType> types{DType::f64, DType::f32,  DType::f16,    DType::i64,
                                          DType::i32, DType::bf16, DType::boolean};
    const ValueId y = on_.Cast(
        any_f32(), op::Cast{.to = static_cast<int64_t>(types[static_cast<size_t>(dice_.between(0, smooth_ ? 1 : 6))])});
    push(on_.Cast(y, op::Cast{.to = static_cast<int64_t>(DType::f32)}));
  }
  void activation() {
    const ValueId x = any_f32();
    switch (dice_.between(0, 5)) {
      case 0:
        return push(on_.Mul(on_.Mul(x, on_.Add(on_.Erf(on_.Div(x, number(std::sqrt(2.0)))), number(1))), number(0.5)));
      case 1: return push(on_.Mul(x, on_.Sigmoid(x)));
      case 2: return push(on_.Mul(x, on_.Div(on_.Clip(on_.Add(x, number(3)), number(0), number(6)), number(6))));
      case 3: return push(on_.Mul(x, on_.Tanh(on_.Softplus(x))));
      case 4: return push(on_.Div(x, on_.Add(on_.Abs(x), number(1))));
      default: return push(on_.Log(on_.Softmax(on_.Tanh(x))));  // without underflow
    }
  }
  void norm() {
    const ValueId x = any_f32();
    if (rank(x) == 0) return;
    const ValueId axes = on_.ints({dice_.chance(80) ? int64_t{-1} : 0});
    if (dice_.chance(50)) {
      const ValueId centred = on_.Sub(x, on_.ReduceMean(x, axes));
      const ValueId spread = on_.Sqrt(on_.Add(on_.ReduceMean(on_.Pow(centred, number(2)), axes), number(1e-5)));
      push(on_.Div(centred, spread));
    } else push(on_.Div(x, on_.Sqrt(on_.Add(on_.ReduceMean(on_.Mul(x, x), axes), number(1e-5)))));
    if (const auto last = shape(x).back().known(); last && dice_.chance(60)) {
      push(on_.Mul(pool_.back(), vector(*last)));
      if (dice_.chance(60)) push(on_.Add(pool_.back(), vector(*last)));
    }
  }
  void select() {
    const ValueId x = any_f32();
    ValueId c = dice_.chance(25) ? on_.constant(Tensor::bool_scalar(dice_.chance(50)))
                                 : on_.Greater(smooth_ ? pool_.front() : x, number(dice_.number()));
    if (dice_.chance(40)) c = on_.Not(c);
    push(on_.Where(c, x, dice_.chance(50) ? number(dice_.number()) : on_.Neg(x)));
  }
  void clip() {
    const ValueId x = any_f32();
    const double lo = dice_.number(), hi = lo + std::abs(dice_.number());
    switch (dice_.between(0, 3)) {
      case 0: return push(on_.Clip(x, number(lo), dice_.chance(50) ? number(hi) : ValueId()));
      case 1: return push(on_.Clip(on_.Relu(x), number(lo), number(hi)));
      case 2: return push(on_.Min(std::vector<ValueId>{on_.Max(std::vector<ValueId>{x, number(lo)}), number(hi)}));
      default: return push(on_.Relu(on_.Clip(x, ValueId(), number(hi))));
    }
  }
  void pad_and_pool() {
    const ValueId x = any_f32();
    if (rank(x) == 0) return;
    std::vector<int64_t> pads(static_cast<size_t>(2 * rank(x)), 0);
    pads[static_cast<size_t>(rank(x)) - 1] = dice_.between(0, 2);
    pads.back() = dice_.between(0, 2);
    const ValueId y = on_.Pad(x, on_.ints(pads), dice_.chance(30) ? number(dice_.number()) : ValueId());
    if (rank(x) != 4 || dice_.chance(30)) return push(y);
    if (dice_.chance(30)) return push(on_.MaxPool(y, op::MaxPool{.kernel_shape = {2, 2}}, 1)[0]);
    if (dice_.chance(50))
      return push(
          on_.AveragePool(y, op::AveragePool{.count_include_pad = dice_.between(0, 1), .kernel_shape = {2, 2}}));
    pool_.push_back(y);
    if (shape(y)[1].known()) convolution(y);
  }
  void sizes() {
    const ValueId x = any_f32();
    if (rank(x) == 0) return;
    if (dice_.chance(50)) return push(on_.Expand(number(dice_.number()), on_.Shape(x)));
    const ValueId n = on_.Gather(on_.Shape(x), on_.int_scalar(axis_of(x)));
    if (dice_.chance(50))
      return push(on_.Cast(on_.Range(on_.int_scalar(0), n, on_.int_scalar(1)),
                           op::Cast{.to = static_cast<int64_t>(DType::f32)}));
    push(on_.Mul(x, on_.Cast(n, op::Cast{.to = static_cast<int64_t>(DType::f32)})));
  }
  // Both sides of an If, with a known or an unknown condition, reading values from outside.
  void branch() {
    Graph& g = model_.graph;
    const ValueId x = any_f32(), y = any_f32();
    const ValueId c =
        dice_.chance(40)
            ? on_.constant(Tensor::bool_scalar(dice_.chance(50)))
            : on_.Greater(on_.ReduceSum(smooth_ ? pool_.front() : x, ValueId(), op::ReduceSum{.keepdims = 0}),
                          number(0));
    const NodeId n = g.add_node(g.main(), op_of<op::If>(), nullptr, {c}, 1);
    ValueId given[2];
    for (size_t i = 0; i < 2; ++i) {
      const RegionId body = g.add_region(g.main(), n);
      g.set_region(n, i, body);
      On inner(g, body);
      given[i] = inner.Mul(inner.Identity(i ? y : x), number(static_cast<double>(i) + 1));
      if (dice_.chance(50)) given[i] = inner.Relu(inner.Relu(given[i]));
      g.set_region_outputs(body, {given[i]});
    }
    const ValueId out = g[n].outputs[0];
    g.fact(out).type = join(g[given[0]].fact.type, g[given[1]].fact.type, g.dims());
    push(out);
  }
  // A carried value and what each round gives, over known or unknown numbers of rounds.
  void loop() {
    Graph& g = model_.graph;
    const ValueId x = any_f32(), y = any_f32();
    const int64_t rounds = dice_.between(0, 3);
    const bool known = rank(x) == 0 || dice_.chance(60), gathers = known && rounds > 0;
    const ValueId count = known ? on_.int_scalar(rounds) : on_.Gather(on_.Shape(x), on_.int_scalar(0));
    const NodeId n = g.add_node(g.main(), op_of<op::Loop>(), nullptr,
                                {count, on_.constant(Tensor::bool_scalar(true)), x}, gathers ? 2 : 1);
    const RegionId body = g.add_region(g.main(), n);
    g.set_region(n, 0, body);
    const ValueId round = g.add_input(body, "i", Type::tensor(DType::i64, Shape())),
                  more = g.add_input(body, "c", Type::tensor(DType::boolean, Shape()));
    const ValueId carried = g.add_input(body, "v", fact(x).type);
    On inner(g, body);
    ValueId next = inner.Tanh(inner.Add(inner.Mul(carried, number(0.5)),
                                        inner.Cast(round, op::Cast{.to = static_cast<int64_t>(DType::f32)})));
    if (dice_.chance(50))
      next = inner.Add(next,
                       inner.ReduceMean(inner.Identity(inner.Identity(y)), ValueId(), op::ReduceMean{.keepdims = 0}));
    std::vector<ValueId> given{inner.Identity(more), next};
    if (gathers) given.push_back(inner.Neg(inner.Neg(inner.Mul(next, number(2)))));
    g.set_region_outputs(body, std::move(given));
    g.fact(g[n].outputs[0]).type = fact(x).type;
    push(g[n].outputs[0]);
    if (!gathers) return;
    Shape all = shape(x);
    all.insert(all.begin(), Dim(rounds));
    g.fact(g[n].outputs[1]).type = Type::tensor(DType::f32, all);
    push(g[n].outputs[1]);
  }
  // What one operator says, said by several.
  void spelt() {
    const ValueId x = any_f32(), small = on_.Tanh(x);
    const auto last = rank(x) > 0 ? on_.ints({-1}) : ValueId();
    switch (dice_.between(0, 7)) {
      case 0:
        return push(on_.Mul(on_.Mul(x, number(0.5)),
                            on_.Add(on_.Tanh(on_.Mul(on_.Add(x, on_.Mul(on_.Pow(x, number(3)), number(0.044715))),
                                                     number(std::sqrt(2 / 3.14159265358979)))),
                                    number(1))));
      case 1: return push(on_.Div(number(1), on_.Add(on_.Exp(on_.Neg(small)), number(1))));
      case 2: return push(on_.Log(on_.Add(on_.Exp(small), number(1))));
      case 3: return push(on_.Mul(x, on_.Sigmoid(on_.Mul(x, number(1.702)))));
      case 4: {
        if (!last) return;
        const ValueId e = on_.Exp(on_.Sub(x, on_.ReduceMax(x, last)));
        return push(on_.Div(e, on_.ReduceSum(e, last)));
      }
      case 5:
        return push(rank(x) == 2 ? on_.Add(on_.Gemm(x, x, ValueId(), op::Gemm{.transB = 1}), number(2))
                                 : on_.Softmax(on_.Unsqueeze(x, last)));
      case 6: return attention(small);
      default: return instance_norm(x);
    }
  }
  void attention(ValueId x) {
    if (rank(x) != 3) return;
    const ValueId heads = on_.Unsqueeze(x, on_.ints({1})),
                  keys = on_.Transpose(heads, op::Transpose{.perm = std::vector<int64_t>{0, 1, 3, 2}});
    if (dice_.chance(50)) return push(on_.MatMul(on_.Mul(heads, number(2)), on_.Mul(keys, number(0.25))));
    push(on_.MatMul(on_.Softmax(on_.Mul(on_.MatMul(heads, keys), number(0.5))), on_.Sin(heads)));
  }
  void instance_norm(ValueId x) {
    if (rank(x) != 4 || !shape(x)[1].known()) return;
    const ValueId axes = on_.ints({2, 3}), centred = on_.Sub(x, on_.ReduceMean(x, axes));
    const int64_t c = shape(x)[1].literal();
    const ValueId y =
        on_.Div(centred, on_.Sqrt(on_.Add(on_.ReduceMean(on_.Mul(centred, centred), axes), number(1e-5))));
    push(on_.Add(on_.Mul(y, vector(c, {c, 1, 1})), vector(c, {c, 1, 1})));
  }
  // Logic, copies and sizes that change nothing, or that are known after all.
  void around() {
    const ValueId x = any_f32();
    const ValueId c = on_.Greater(pool_.front(), number(dice_.number())), yes = on_.constant(Tensor::bool_scalar(true)),
                  no = on_.constant(Tensor::bool_scalar(false));
    switch (dice_.between(0, 10)) {
      case 0:
        return push(on_.Where(dice_.chance(50) ? on_.Not(on_.Not(c)) : on_.And(yes, c), pool_.front(), number(1)));
      case 1: return push(on_.Where(on_.Or(c, no), dice_.chance(50) ? pool_.front() : number(0), number(0)));
      case 2: return push(on_.Where(c, pool_.front(), pool_.front()));
      case 3: return push(on_.Dropout(x, 1)[0]);
      case 4: return push(on_.Tile(x, on_.ints(std::vector<int64_t>(static_cast<size_t>(rank(x)), 1))));
      case 5: return push(on_.Expand(x, on_.Shape(x)));
      case 6:
        return push(
            on_.Add(x, on_.Cast(on_.ConstantOfShape(
                                    on_.Shape(x), op::ConstantOfShape{.value = Tensor::ints(std::vector<int64_t>{3})}),
                                op::Cast{.to = static_cast<int64_t>(DType::f32)})));
      case 7: {
        if (rank(x) == 0) return;
        const ValueId sizes = on_.Abs(on_.Shape(x)),
                      end = on_.Slice(sizes, on_.ints({0}), on_.ints({1}), on_.ints({0}));
        return push(on_.Slice(x, on_.ints({dice_.between(0, 1)}), end, on_.ints({0})));
      }
      case 8: {
        if (rank(x) == 0) return;
        const int64_t axis = axis_of(x);
        return push(on_.Concat(
            std::vector<ValueId>{x, on_.Concat(std::vector<ValueId>{x, on_.Neg(x)}, op::Concat{.axis = axis})},
            op::Concat{.axis = axis}));
      }
      case 9: {
        if (rank(x) != 4) return;
        const ValueId sizes = on_.Mul(on_.Shape(x), on_.ints({1, 1, 2, 2}));
        return push(
            on_.Resize(x, ValueId(), ValueId(), sizes, op::Resize{.mode = dice_.chance(50) ? "nearest" : "linear"}));
      }
      default: return merged(x);
    }
  }
  void merged(ValueId x) {
    if (rank(x) != 4 || !known_shape(Shape(shape(x).begin() + 1, shape(x).end()))) return;
    const auto d = [&](size_t i) { return shape(x)[i].literal(); };
    const ValueId flat = on_.Reshape(x, on_.ints({-1, d(1), d(2) * d(3)}));
    const ValueId turned = on_.Transpose(flat, op::Transpose{.perm = std::vector<int64_t>{0, 2, 1}});
    push(on_.Reshape(turned, on_.ints({-1, d(2), d(3), d(1)})));
  }
  // Sequences and optionals that are looked into where they were made.
  void containers() {
    const ValueId x = any_f32();
    const ValueId list = on_.SequenceConstruct(std::vector<ValueId>{x, on_.Neg(x)});
    switch (dice_.between(0, 5)) {
      case 0: return push(on_.SequenceAt(on_.SequenceInsert(list, on_.Tanh(x)), on_.int_scalar(dice_.between(-3, 2))));
      case 1:
        return push(on_.ConcatFromSequence(
            list, op::ConcatFromSequence{.axis = 0, .new_axis = rank(x) == 0 || dice_.chance(50) ? 1 : 0}));
      case 2:
        return push(on_.Mul(x, on_.Cast(on_.SequenceLength(list), op::Cast{.to = static_cast<int64_t>(DType::f32)})));
      case 3: return push(on_.OptionalGetElement(on_.Optional(x)));
      case 4: return push(on_.Where(on_.OptionalHasElement(on_.Optional(x)), x, number(0)));
      default: {
        if (rank(x) == 0) return;
        const int64_t axis = axis_of(x);
        if (!shape(x)[static_cast<size_t>(axis)].known()) return;
        const bool even = dice_.chance(50);  // keepdims then means nothing, though onnxruntime heeds it
        const ValueId parts =
            on_.SplitToSequence(x, even ? on_.int_scalar(2) : ValueId(),
                                op::SplitToSequence{.axis = axis, .keepdims = even ? 1 : dice_.between(0, 1)});
        push(on_.SequenceAt(parts, on_.int_scalar(0)));
      }
    }
  }
  // Picked and joined, or put back whole.
  void pieces() {
    const ValueId x = any_f32();
    if (rank(x) == 0) return;
    const auto first = shape(x)[0].known();
    if (dice_.chance(40)) {
      const ValueId from = on_.Range(on_.int_scalar(0), on_.Gather(on_.Shape(x), on_.int_scalar(0)), on_.int_scalar(1));
      const ValueId where = on_.Unsqueeze(from, on_.ints({-1}));
      return push(on_.ScatterND(x, dice_.chance(70) ? where : on_.Neg(on_.Neg(where)), on_.Mul(x, number(2))));
    }
    if (rank(x) == 2 && dice_.chance(50))
      return push(
          on_.Einsum(std::vector<ValueId>{x, x}, op::Einsum{.equation = dice_.chance(50) ? "ab,cb->ac" : "ab,ab->ab"}));
    if (rank(x) == 2 && shape(x)[1].known())
      return push(on_.Einsum(std::vector<ValueId>{x, vector(shape(x)[1].literal() * 2, {shape(x)[1].literal(), 2})},
                             op::Einsum{.equation = "ab,bc->ac"}));
    if (!first || *first < 1)
      return push(
          on_.Einsum(std::vector<ValueId>{x}, op::Einsum{.equation = rank(x) == 3 ? "abc->bca" : "a...->...a"}));
    const auto index = [&] {
      return on_.Add(on_.Mul(on_.Cast(on_.Shape(pool_.front(), op::Shape{.end = 1}),
                                      op::Cast{.to = static_cast<int64_t>(DType::i64)}),
                             on_.int_scalar(0)),
                     on_.int_scalar(dice_.between(0, *first - 1)));
    };
    push(on_.Concat(std::vector<ValueId>{on_.Gather(x, index()), on_.Gather(x, index())},
                    op::Concat{.axis = dice_.chance(70) ? 0 : axis_of(x)}));
  }
  // Twice the same kind: reductions, extrema, products between reshapes; padding before a MaxPool; shifts before a
  // Conv.
  void in_a_row() {
    const ValueId x = any_f32();
    if (rank(x) == 4 && shape(x)[1].known() && dice_.chance(70)) {
      const int64_t c = shape(x)[1].literal();
      if (dice_.chance(50))
        return push(
            on_.Conv(on_.Add(x, vector(c, {c, 1, 1})), vector(2 * c, {2, c, 1, 1}),
                     dice_.chance(50) ? vector(2) : on_.constant(store(DType::f32, {2}, std::vector<double>(2, 0)))));
      const bool zeros = dice_.chance(60);
      const ValueId padded =
          on_.Pad(dice_.chance(60) ? on_.Relu(x) : x, on_.ints({0, 0, 1, 1, 0, 0, 1, dice_.between(0, 2)}),
                  zeros ? ValueId() : number(-INFINITY));
      return push(on_.MaxPool(padded, op::MaxPool{.kernel_shape = {2, 2}}, 1)[0]);
    }
    if (dice_.chance(30)) {
      const ValueId lowest = on_.Min(std::vector<ValueId>{x, number(dice_.number())});
      return push(on_.Min(std::vector<ValueId>{number(dice_.number()), lowest}));
    }
    if (rank(x) == 3 && shape(x)[2].known() && dice_.chance(50)) {
      const int64_t k = shape(x)[2].literal();
      const ValueId y = on_.MatMul(on_.Reshape(x, on_.ints({-1, k})), vector(k * 2, {k, 2}));
      return push(on_.Reshape(y, on_.Concat(std::vector<ValueId>{on_.Shape(x, op::Shape{.end = 2}), on_.ints({2})},
                                            op::Concat{.axis = 0})));
    }
    if (rank(x) < 2) return;
    const int64_t keep = dice_.between(0, 1);
    const auto twice = [&](auto attrs) {
      attrs.keepdims = keep;
      const ValueId once = on_.make(attrs, {x, on_.ints({axis_of(x)})}, 1)[0];
      push(on_.make(attrs, {once, on_.ints({axis_of(once)})}, 1)[0]);
    };
    switch (dice_.between(0, 3)) {
      case 0: return twice(op::ReduceMax());
      case 1: return twice(op::ReduceSum());
      case 2: return twice(op::ReduceL2());
      default: return twice(op::ReduceMean());
    }
  }
  // Any operator that takes one or two float tensors.
  void any_operator() {
    if (smooth_) return;
    const auto ops = all_ops();
    const OpDef& op = ops[static_cast<size_t>(dice_.between(0, static_cast<int64_t>(ops.size()) - 1))];
    if (!op.domain.empty() || !op.rules.eval || !op.rules.deterministic || !op.graph_attrs.empty() ||
        op.newest().min_in < 1 || op.newest().min_in > 2)
      return;
    const auto attrs = op.make();
    for (const AttrField& f : op.fields)
      if (f.kind == AttrKind::integer && f.name == "axis" && dice_.chance(50)) f.set(attrs.get(), dice_.between(-1, 1));
      else if (f.required) return;
    std::vector<ValueId> operands{any_f32()};
    if (op.newest().min_in == 2) operands.push_back(dice_.chance(50) ? any_f32() : number(dice_.number()));
    push(on_.emit(op, attrs, std::move(operands), std::max<size_t>(1, op.newest().min_out))[0]);
  }

  void outputs() {
    Graph& g = model_.graph;
    std::vector<ValueId> out;
    for (const ValueId v : pool_)
      if (g[v].kind == Value::Kind::node_output && g[v].fact.type.is_tensor() && (!g.used(v) || dice_.chance(15)) &&
          std::find(out.begin(), out.end(), v) == out.end())
        out.push_back(v);
    if (out.empty()) out.push_back(on_.Relu(pool_.front()));
    for (size_t i = 0; i < out.size(); ++i) g.label(out[i]).name = cat("y", i);
    g.set_region_outputs(g.main(), std::move(out));
  }

  Dice dice_;
  bool smooth_;
  Model model_;
  On on_;
  std::vector<ValueId> pool_;
};

}  // namespace

Model random_model(uint32_t seed, bool smooth) { return Maker(seed, smooth).make(); }

std::vector<Datum> random_values(const Model& m, uint32_t seed, int64_t n) {
  Dice dice(seed);
  std::vector<Datum> out;
  for (const ValueId v : m.graph[m.graph.main()].inputs) {
    std::vector<int64_t> shape;
    for (const Dim d : m.graph[v].fact.shape()) shape.push_back(d.is_literal() ? d.literal() : n);
    std::vector<double> values(static_cast<size_t>(element_count(shape)));
    for (double& x : values)
      x = dice.chance(10) ? 0 : static_cast<double>(dice.between(-400, 400)) / 100 * (dice.chance(5) ? 10 : 1);
    out.emplace_back(store(DType::f32, shape, values));
  }
  return out;
}

}  // namespace cameo::tests
