// Where.
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/int_contents.h"

namespace cameo::ops {

namespace {

struct Where : Rules<op::Where> {
  static void infer(const op::Where&, Infer& c) {
    infer_broadcast_all(c);
    const auto x = contents_like_output(c, 1), y = contents_like_output(c, 2);
    if (!x || !y) return;
    const auto asked = contents_like_output(c, 0);
    std::vector<Dim> out;
    for (size_t i = 0; i < x->size(); ++i) {
      if ((*x)[i] == (*y)[i]) out.push_back((*x)[i]);
      else if (asked && (*asked)[i].is_literal()) out.push_back((*asked)[i].literal() ? (*x)[i] : (*y)[i]);
      else return;
    }
    if (c.dtype(1) != DType::boolean) c.out_contents(0, std::move(out));
  }

  static void eval(const op::Where&, Eval& k) {
    const Tensor &asked = k.in(0), &x = k.in(1), &y = k.in(2);
    if (x.dtype() != y.dtype()) k.fail("eval.type", "the two sides have different types");
    BroadcastRows rows({&asked, &x, &y});
    const Loaded<uint8_t> truth(asked);
    switch (x.dtype()) {
      case DType::f32: return k.out(0, choose<float>(rows, truth, x, y));
      case DType::i64: return k.out(0, choose<int64_t>(rows, truth, x, y));
      default: return k.out(0, move(rows, truth, x, y));
    }
  }

  // The types of most models without a detour.
  template <class C>
  static Tensor choose(BroadcastRows& rows, const Loaded<uint8_t>& truth, const Tensor& x, const Tensor& y) {
    const Loaded<C> a(x), b(y);
    std::vector<C> out(static_cast<size_t>(rows.count()));
    for (; !rows.done(); rows.next())
      for (int64_t i = 0; i < rows.row_length(); ++i) {
        const auto at = [&](size_t operand) { return rows.start(operand) + i * rows.step(operand); };
        out[static_cast<size_t>(rows.out() + i)] = truth[at(0)] ? a[at(1)] : b[at(2)];
      }
    return store(x.dtype(), rows.shape(), out);
  }

  // Any type: an index into the elements of both sides.
  static Tensor move(BroadcastRows& rows, const Loaded<uint8_t>& truth, const Tensor& x, const Tensor& y) {
    std::vector<int64_t> index(static_cast<size_t>(rows.count()));
    for (; !rows.done(); rows.next())
      for (int64_t i = 0; i < rows.row_length(); ++i) {
        const auto at = [&](size_t operand) { return rows.start(operand) + i * rows.step(operand); };
        index[static_cast<size_t>(rows.out() + i)] = truth[at(0)] ? at(1) : x.count() + at(2);
      }
    const Tensor both[] = {x.reshaped({x.count()}), y.reshaped({y.count()})};
    return take(concat(both, 0), rows.shape(), index);
  }
};

constexpr OpRules table[] = {rules<Where>()};

}  // namespace

std::span<const OpRules> where_rules() { return table; }

}  // namespace cameo::ops
