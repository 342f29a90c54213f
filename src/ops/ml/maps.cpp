// Maps: made of scores, and made into tensors.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "ops/ml/scores.h"
#include "support/number_text.h"

namespace cameo::ops {

namespace {

const std::vector<std::pair<Datum, Datum>>& entries(Eval& k) {
  if (k.datum(0).kind != Datum::Kind::map) k.fail("eval.input", "input 0 is not a map");
  return *k.datum(0).entries;
}

DType target(const op::CastMap& a) {
  if (a.cast_to == "TO_FLOAT") return DType::f32;
  if (a.cast_to == "TO_INT64") return DType::i64;
  if (a.cast_to == "TO_STRING") return DType::string;
  throw error("model.attribute", cat("there is no cast_to '", a.cast_to, "'"));
}

struct CastMap : Rules<op::CastMap> {
  static constexpr bool partial = true;
  static bool sparse(const op::CastMap& a) {
    if (a.map_form == "SPARSE") {
      if (a.max_map < 1 || a.max_map > 1 << 24) throw error("model.attribute", cat("a max_map of ", a.max_map));
      return true;
    }
    if (a.map_form != "DENSE") throw error("model.attribute", cat("there is no map_form '", a.map_form, "'"));
    return false;
  }
  static void infer(const op::CastMap& a, Infer& c) {
    c.out(0, target(a), {Dim(int64_t{1}), sparse(a) ? Dim(a.max_map) : c.fresh("entries")});
  }

  static void eval(const op::CastMap& a, Eval& k) {
    const auto& map = entries(k);
    std::vector<Tensor> values;
    std::vector<int64_t> places;
    for (const auto& [key, value] : map) {
      if (key.tensor.dtype() != DType::i64) k.fail("eval.type", "a map whose keys are not integers");
      places.push_back(key.tensor.int_at(0));
      values.push_back(cast(value.tensor, target(a)).reshaped({1}));
    }
    const Tensor all = values.empty() ? zeros(target(a), {0}) : concat(values, 0);
    if (!sparse(a)) return k.out(0, all.reshaped({1, all.count()}));
    std::vector<int64_t> from(static_cast<size_t>(a.max_map), -1);
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0 || places[i] >= a.max_map)
        k.fail("eval.index", cat("key ", places[i], " is outside a map of ", a.max_map));
      from[static_cast<size_t>(places[i])] = static_cast<int64_t>(i);
    }
    k.out(0, take(all, {1, a.max_map}, from));
  }

  static Tensor cast(const Tensor& t, DType to) {
    if (t.dtype() == to) return t;
    if (to == DType::string) return Tensor({}, {is_float(t.dtype()) ? cat(t.double_at(0)) : cat(t.int_at(0))});
    if (t.dtype() != DType::string) return convert(t, to);
    const std::string& text = t.strings()[0];
    if (to == DType::f32) {
      size_t used = 0;
      return Tensor::float_scalar(static_cast<float>(leading_double(text, used)));
    }
    int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size())
      Eval::fail("eval.value", cat("'", text, "' is not an integer"));
    return Tensor::int_scalar(number);
  }
};

struct DictVectorizer : Rules<op::DictVectorizer> {
  static constexpr bool partial = true;
  static int64_t size(const op::DictVectorizer& a) {
    return static_cast<int64_t>(a.int64_vocabulary    ? a.int64_vocabulary->size()
                                : a.string_vocabulary ? a.string_vocabulary->size()
                                                      : 0);
  }
  static void infer(const op::DictVectorizer& a, Infer& c) {
    const Type& map = c.type(0);
    c.out(0, map.inner ? map.inner->elem : DType::undefined, {size(a)});
  }
  static void eval(const op::DictVectorizer& a, Eval& k) {
    const auto& map = entries(k);
    std::vector<Tensor> values;
    for (const auto& e : map) values.push_back(e.second.tensor.reshaped({1}));
    std::vector<int64_t> places;
    for (int64_t i = 0; i < size(a); ++i) {
      const auto it = std::find_if(map.begin(), map.end(), [&](const auto& e) {
        const Tensor& key = e.first.tensor;
        if (key.dtype() == DType::string)
          return !a.int64_vocabulary && key.strings()[0] == (*a.string_vocabulary)[static_cast<size_t>(i)];
        return a.int64_vocabulary && key.int_at(0) == (*a.int64_vocabulary)[static_cast<size_t>(i)];
      });
      places.push_back(it == map.end() ? -1 : it - map.begin());
    }
    k.out(0, take(values.empty() ? zeros(DType::f32, {0}) : concat(values, 0), {size(a)}, places));
  }
};

struct ZipMap : Rules<op::ZipMap> {
  static bool by_string(const op::ZipMap& a) { return a.classlabels_strings && !a.classlabels_strings->empty(); }
  static void infer(const op::ZipMap& a, Infer& c) {
    sample_count(c);
    c.same(feature_count(c), static_cast<int64_t>(class_count(a.classlabels_strings, a.classlabels_int64s)),
           "numbers of scores and labels");
    c.out(0, Type::sequence(Type::map(by_string(a) ? DType::string : DType::i64, Type::tensor(DType::f32))));
  }

  static void eval(const op::ZipMap& a, Eval& k) {
    const Samples x(k.in(0));
    const size_t labels = class_count(a.classlabels_strings, a.classlabels_int64s);
    if (labels != static_cast<size_t>(x.features))
      k.fail("eval.shape", cat(labels, " labels for ", x.features, " scores"));
    std::vector<size_t> order(labels);
    for (size_t i = 0; i < labels; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t p, size_t q) {
      return by_string(a) ? (*a.classlabels_strings)[p] < (*a.classlabels_strings)[q]
                          : (*a.classlabels_int64s)[p] < (*a.classlabels_int64s)[q];
    });
    std::vector<Datum> rows;
    for (int64_t r = 0; r < x.rows; ++r) {
      std::vector<std::pair<Datum, Datum>> map;
      for (const size_t i : order)
        map.emplace_back(
            by_string(a) ? Tensor({}, {(*a.classlabels_strings)[i]}) : Tensor::int_scalar((*a.classlabels_int64s)[i]),
            Tensor::float_scalar(static_cast<float>(x.row(r)[i])));
      rows.push_back(Datum::map(std::move(map)));
    }
    k.out(0, Datum::sequence(std::move(rows)));
  }
};

constexpr OpRules table[] = {rules<CastMap>(), rules<DictVectorizer>(), rules<ZipMap>()};

}  // namespace

std::span<const OpRules> map_rules() { return table; }

}  // namespace cameo::ops
