// Sequences of tensors.
#include <algorithm>

#include "ops/eval.h"
#include "ops/infer.h"

namespace cameo::ops {

namespace {

const std::vector<Datum>& items(Eval& k, size_t i) {
  if (k.datum(i).kind != Datum::Kind::sequence) k.fail("eval.input", cat("input ", i, " is not a sequence"));
  return *k.datum(i).items;
}

// Types with sizes are not known of a sequence that was computed: its elements are examined.
const Tensor& tensor_of(const Datum& d) {
  if (d.kind != Datum::Kind::tensor) Eval::fail("eval.input", "an element of a sequence is not a tensor");
  return d.tensor;
}

// Elements of one sequence may differ in a size that is a fresh symbol: each element taken out has its own.
Type renewed(Infer& c, Type element) {
  if (element.shape)
    for (Dim& d : *element.shape)
      if (mentions_fresh(d)) d = c.fresh();
  return element;
}

const Type& element(Infer& c, size_t i) {
  static const Type unknown;
  const Type& t = c.type(i);
  if (t.is_unknown()) return unknown;
  if (!t.is_sequence()) c.fail("infer.type", cat("input ", i, " is ", t.text(), ", a sequence is wanted"));
  return *t.inner;
}

// Place `at` of a sequence of `size`; an insertion may also go behind the last.
size_t place_in(size_t size, int64_t at, bool insertion) {
  const auto n = static_cast<int64_t>(size), last = insertion ? n : n - 1;
  if (at < -n || at > last) throw error("eval.index", cat("position ", at, " of a sequence of ", n));
  return static_cast<size_t>(at < 0 ? at + n : at);
}

struct SequenceEmpty : Rules<op::SequenceEmpty> {
  static void infer(const op::SequenceEmpty& a, Infer& c) {
    const auto dtype = dtype_from_number(a.dtype.value_or(1));
    if (!dtype) c.fail("infer.attribute", cat(*a.dtype, " is not an element type"));
    c.out(0, Type::sequence(Type::tensor(*dtype)));
  }
  static void eval(const op::SequenceEmpty&, Eval& k) { k.out(0, Datum::sequence({})); }
};

struct SequenceConstruct : Rules<op::SequenceConstruct> {
  static constexpr bool partial = true;
  static void infer(const op::SequenceConstruct&, Infer& c) {
    Type all = c.type(0);
    for (size_t i = 1; i < c.in_count(); ++i) {
      if (!all.is_unknown() && !c.type(i).is_unknown() && c.type(i).elem != all.elem)
        c.fail("infer.type", cat("elements of types ", all.text(), " and ", c.type(i).text()));
      all = join(all, c.type(i), c.graph().dims());
    }
    c.out(0, Type::sequence(all));
  }
  static void eval(const op::SequenceConstruct&, Eval& k) {
    std::vector<Datum> all;
    for (size_t i = 0; i < k.in_count(); ++i) all.push_back(k.datum(i));
    k.out(0, Datum::sequence(std::move(all)));
  }
};

struct SequenceInsert : Rules<op::SequenceInsert> {
  static constexpr bool partial = true;
  static void infer(const op::SequenceInsert&, Infer& c) {
    const Type& before = element(c, 0);
    if (before.is_unknown()) return c.out(0, Type::sequence(Type::tensor(c.type(1).elem)));
    if (c.type(1).is_tensor() && c.type(1).elem != DType::undefined && before.elem != c.type(1).elem)
      c.fail("infer.type", cat("a ", c.type(1).text(), " into a sequence of ", before.text()));
    c.out(0, Type::sequence(join(before, c.type(1), c.graph().dims())));
  }
  static void eval(const op::SequenceInsert&, Eval& k) {
    auto all = items(k, 0);
    const size_t at = k.has(2) ? place_in(all.size(), k.int_scalar(2), true) : all.size();
    all.insert(all.begin() + static_cast<int64_t>(at), k.datum(1));
    k.out(0, Datum::sequence(std::move(all)));
  }
};

struct SequenceErase : Rules<op::SequenceErase> {
  static constexpr bool partial = true;
  static void infer(const op::SequenceErase&, Infer& c) { c.out_like(0, 0); }
  static void eval(const op::SequenceErase&, Eval& k) {
    auto all = items(k, 0);
    all.erase(all.begin() + static_cast<int64_t>(place_in(all.size(), k.has(1) ? k.int_scalar(1) : -1, false)));
    k.out(0, Datum::sequence(std::move(all)));
  }
};

struct SequenceAt : Rules<op::SequenceAt> {
  static constexpr bool partial = true;
  static void infer(const op::SequenceAt&, Infer& c) { c.out(0, renewed(c, element(c, 0))); }
  static void eval(const op::SequenceAt&, Eval& k) {
    const auto& all = items(k, 0);
    k.out(0, all[place_in(all.size(), k.int_scalar(1), false)]);
  }
};

struct SequenceLength : Rules<op::SequenceLength> {
  static constexpr bool partial = true;
  static void infer(const op::SequenceLength&, Infer& c) { c.out(0, DType::i64, Shape{}); }
  static void eval(const op::SequenceLength&, Eval& k) {
    k.out(0, Tensor::int_scalar(static_cast<int64_t>(items(k, 0).size())));
  }
};

struct ConcatFromSequence : Rules<op::ConcatFromSequence> {
  static constexpr bool partial = true;
  static void infer(const op::ConcatFromSequence& a, Infer& c) {
    Type t = renewed(c, element(c, 0));
    if (t.shape && a.new_axis)
      t.shape->insert(t.shape->begin() + c.axis(a.axis, static_cast<int64_t>(t.shape->size()) + 1), c.fresh("length"));
    else if (t.shape)
      (*t.shape)[static_cast<size_t>(c.axis(a.axis, static_cast<int64_t>(t.shape->size())))] = c.fresh("length");
    c.out(0, std::move(t));
  }
  static void eval(const op::ConcatFromSequence& a, Eval& k) {
    std::vector<Tensor> parts;
    for (const Datum& d : items(k, 0)) {
      Tensor t = tensor_of(d);
      if (a.new_axis) {
        auto shape = t.shape();
        shape.insert(shape.begin() + k.axis(a.axis, t.rank() + 1), 1);
        t = t.reshaped(shape);
      }
      parts.push_back(std::move(t));
    }
    if (parts.empty()) k.fail("eval.shape", "ConcatFromSequence of an empty sequence");
    k.out(0, concat(parts, k.axis(a.axis, parts[0].rank())));
  }
};

struct SplitToSequence : Rules<op::SplitToSequence> {
  static void infer(const op::SplitToSequence& a, Infer& c) {
    const auto axis = static_cast<size_t>(c.axis(a.axis, c.rank(0)));
    if (c.has(1) && c.rank(1) > 1) c.fail("infer.rank", cat("'split' has rank ", c.rank(1), ", 0 or 1 is wanted"));
    if (c.has(1)) check_parts(c, c.dim(0, static_cast<int64_t>(axis)));
    Shape part = c.shape(0);
    if (!c.has(1) && !a.keepdims) part.erase(part.begin() + static_cast<int64_t>(axis));
    else part[axis] = part_size(c, part[axis]);
    c.out(0, Type::sequence(Type::tensor(c.dtype(0), part)));
  }

  static void check_parts(Infer& c, Dim whole) {
    const auto sizes = c.ints(1);
    if (!sizes) return;
    const bool one = c.rank(1) == 0;
    Dim sum;
    for (const Dim d : *sizes) {
      if (d.is_literal() && d.literal() < (one ? 1 : 0)) c.fail("infer.split", cat("a part of size ", d.literal()));
      sum = sum + d;
    }
    if (!one) c.same(sum, whole, "sum of the parts and size of the axis");
  }

  // Known where all parts have one size.
  static Dim part_size(Infer& c, Dim whole) {
    if (!c.has(1)) return 1;
    const auto sizes = c.ints(1);
    if (!sizes || sizes->empty()) return c.fresh();
    if (c.has_rank(1) && c.rank(1) == 0) {
      if (!(*sizes)[0].is_literal() || (*sizes)[0].literal() <= 0) return c.fresh();
      return c.graph().facts.divisible(whole, (*sizes)[0].literal()) == Answer::yes ? (*sizes)[0] : c.fresh();
    }
    return std::all_of(sizes->begin(), sizes->end(), [&](Dim d) { return d == (*sizes)[0]; }) ? (*sizes)[0] : c.fresh();
  }

  static void eval(const op::SplitToSequence& a, Eval& k) {
    const Tensor& x = k.in(0);
    const auto axis = static_cast<size_t>(k.axis(a.axis, x.rank()));
    const int64_t whole = x.shape()[axis];
    std::vector<int64_t> sizes;
    if (!k.has(1)) sizes.assign(static_cast<size_t>(whole), 1);
    else if (k.in(1).rank() == 0) {
      const int64_t each = k.int_scalar(1);
      if (each <= 0) k.fail("eval.split", cat("parts of size ", each));
      for (int64_t at = 0; at < whole; at += std::min(each, whole - at)) sizes.push_back(std::min(each, whole - at));
    } else sizes = k.ints(1);
    const auto strides = row_major_strides(x.shape());
    std::vector<Datum> parts;
    int64_t start = 0;
    for (const int64_t size : sizes) {
      if (size < 0 || size > whole - start) k.fail("eval.split", cat("a part of size ", size, " does not fit"));
      auto shape = x.shape();
      shape[axis] = size;
      Tensor part = strided(x, shape, strides, start * strides[axis]);
      if (!k.has(1) && !a.keepdims) {
        shape.erase(shape.begin() + static_cast<int64_t>(axis));
        part = part.reshaped(shape);
      }
      parts.emplace_back(std::move(part));
      start += size;
    }
    if (start != whole) k.fail("eval.split", cat("the parts sum to ", start, ", the axis has ", whole));
    k.out(0, Datum::sequence(std::move(parts)));
  }
};

constexpr OpRules table[] = {rules<SequenceEmpty>(),      rules<SequenceConstruct>(), rules<SequenceInsert>(),
                             rules<SequenceErase>(),      rules<SequenceAt>(),        rules<SequenceLength>(),
                             rules<ConcatFromSequence>(), rules<SplitToSequence>()};

}  // namespace

std::span<const OpRules> sequence_rules() { return table; }

}  // namespace cameo::ops
