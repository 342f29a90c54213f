// Categories as numbers and back.
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "ops/ml/scores.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

// An element as text that is equal for equal elements: what keys of every type are looked up by.
std::string key_of(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::string) return t.strings()[static_cast<size_t>(i)];
  if (is_int(t.dtype()) || t.dtype() == DType::boolean) return cat(t.int_at(i));
  double v = t.double_at(i);
  if (v == 0) v = 0;                // minus zero is zero
  if (std::isnan(v)) return "nan";  // and every NaN the same key
  std::string bits(sizeof v, '\0');
  std::memcpy(bits.data(), &v, sizeof v);
  return bits;
}

std::unordered_map<std::string, int64_t> numbered(const Tensor& keys) {
  std::unordered_map<std::string, int64_t> out;
  for (int64_t i = 0; i < keys.count(); ++i) out.insert_or_assign(key_of(keys, i), i);
  return out;
}

Tensor of_floats(const std::vector<float>& v) {
  return Tensor::of<float>(DType::f32, {static_cast<int64_t>(v.size())}, v);
}
Tensor of_strings(const std::vector<std::string>& v) { return {{static_cast<int64_t>(v.size())}, v}; }

template <class Floats, class Ints, class Strings>
std::optional<Tensor> one_of(const Floats& floats, const Ints& ints, const Strings& strings,
                             const std::optional<Tensor>& tensor) {
  if (floats) return of_floats(*floats);
  if (ints) return Tensor::ints(*ints);
  if (strings) return of_strings(*strings);
  return tensor;
}

struct LabelEncoder : Rules<op::LabelEncoder> {
  static std::optional<Tensor> values(const op::LabelEncoder& a) {
    return one_of(a.values_floats, a.values_int64s, a.values_strings, a.values_tensor);
  }

  static std::optional<Tensor> keys(const op::LabelEncoder& a) {
    return one_of(a.keys_floats, a.keys_int64s, a.keys_strings, a.keys_tensor);
  }

  static void infer(const op::LabelEncoder& a, Infer& c) {
    const auto from = keys(a), to = values(a);
    if (!to) c.fail("infer.attribute", "no values are given");
    if (from && from->count() != to->count())
      c.fail("infer.attribute", cat(from->count(), " keys for ", to->count(), " values"));
    if (from && c.dtype(0) != DType::undefined && from->dtype() != c.dtype(0))
      c.fail("infer.type", cat("the input's elements are ", name(c.dtype(0)), ", the keys ", name(from->dtype())));
    c.out(0, to->dtype(), c.shape(0));
  }

  static void eval(const op::LabelEncoder& a, Eval& k) {
    const Tensor& x = k.in(0);
    const auto from = keys(a), to = values(a);
    if (!from || !to || from->count() != to->count())
      throw error("model.attribute", "LabelEncoder: keys and values do not fit");
    if ((x.dtype() == DType::string) != (from->dtype() == DType::string))
      k.fail("eval.type", cat("keys of ", name(from->dtype()), " for a tensor of ", name(x.dtype())));
    const Tensor otherwise = fallback(a, to->dtype());
    const auto numbers = numbered(*from);
    std::vector<int64_t> places;
    for (int64_t i = 0; i < x.count(); ++i) {
      const auto it = numbers.find(key_of(x, i));
      places.push_back(it == numbers.end() ? -1 : it->second);
    }
    k.out(0, take(*to, x.shape(), places, &otherwise));
  }

  static Tensor fallback(const op::LabelEncoder& a, DType dtype) {
    if (a.default_tensor && a.default_tensor->count() == 1 && a.default_tensor->dtype() == dtype)
      return a.default_tensor->reshaped({1});
    if (dtype == DType::string) return of_strings({a.default_string});
    if (is_float(dtype)) return full(dtype, {1}, static_cast<double>(a.default_float));
    return full(dtype, {1}, static_cast<double>(a.default_int64));
  }

  // Version 1 had one list of strings, read in the direction that follows from the input's type.
  static void up_from_classes(Upgrade& u) {
    const AttrValue* held = find_attr(u.attrs, "classes_strings");
    const auto* given = held ? std::get_if<std::vector<std::string>>(held) : nullptr;
    if (!given) return;
    const auto classes = *given;
    std::vector<int64_t> numbers(classes.size());
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
    u.drop("classes_strings");
    const DType dtype = u.fact(u.input(0)).dtype();
    if (dtype == DType::undefined)
      throw error("model.old-encoding", "LabelEncoder of version 1 on a value of unknown type")
          .help("declare the value's type in value_info");
    const bool reads_strings = dtype == DType::string;
    u.set(reads_strings ? "keys_strings" : "values_strings", classes);
    u.set(reads_strings ? "values_int64s" : "keys_int64s", numbers);
  }

  static void down_from_tensors(Downgrade& d) {
    for (const std::string part : {"keys", "values"}) {
      const AttrValue* held = find_attr(d.attrs, part + "_tensor");
      const Tensor* t = held ? std::get_if<Tensor>(held) : nullptr;
      if (!t) continue;
      const Tensor list = *t;
      d.drop(part + "_tensor");
      if (list.dtype() == DType::string) d.set(part + "_strings", list.strings());
      else if (list.dtype() == DType::i64) d.set(part + "_int64s", list.to_ints());
      else if (list.dtype() == DType::f32)
        d.set(part + "_floats", std::vector<float>(list.as<float>().begin(), list.as<float>().end()));
      else d.refuse(cat("keys and values of ", name(list.dtype()), " did not exist there"));
    }
    const AttrValue* held = find_attr(d.attrs, "default_tensor");
    const Tensor* t = held ? std::get_if<Tensor>(held) : nullptr;
    if (!t) return d.drop("default_tensor");
    const Tensor value = *t;
    d.drop("default_tensor");
    if (value.count() != 1) return d.refuse("default_tensor has not one element");
    if (value.dtype() == DType::string) d.set("default_string", value.strings()[0]);
    else if (value.dtype() == DType::i64) d.set("default_int64", value.int_at(0));
    else d.set("default_float", static_cast<float>(value.double_at(0)));
  }

  static constexpr Revision revisions[] = {
      {2, up_from_classes, [](Downgrade& d) { d.refuse("LabelEncoder mapped strings to their places and back only"); }},
      {4, nullptr, down_from_tensors},
  };
};

struct CategoryMapper : Rules<op::CategoryMapper> {
  static void infer(const op::CategoryMapper& a, Infer& c) {
    check_lists(a);
    c.out(0, c.dtype(0) == DType::string ? DType::i64 : DType::string, c.shape(0));
  }
  static void check_lists(const op::CategoryMapper& a) {
    if (!a.cats_int64s || !a.cats_strings || a.cats_int64s->size() != a.cats_strings->size())
      throw error("model.attribute", "CategoryMapper: the two lists do not fit");
  }
  static void eval(const op::CategoryMapper& a, Eval& k) {
    const Tensor& x = k.in(0);
    check_lists(a);
    const Tensor ints = Tensor::ints(*a.cats_int64s), strings = of_strings(*a.cats_strings);
    const bool reads_strings = x.dtype() == DType::string;
    const auto numbers = numbered(reads_strings ? strings : ints);
    std::vector<int64_t> places;
    for (int64_t i = 0; i < x.count(); ++i) {
      const auto it = numbers.find(key_of(x, i));
      places.push_back(it == numbers.end() ? -1 : it->second);
    }
    const Tensor otherwise = reads_strings ? Tensor::int_scalar(a.default_int64) : of_strings({a.default_string});
    k.out(0, take(reads_strings ? ints : strings, x.shape(), places, &otherwise));
  }
};

struct OneHotEncoder : Rules<op::OneHotEncoder> {
  static Tensor categories(const op::OneHotEncoder& a) {
    if (a.cats_int64s && !a.cats_int64s->empty()) return Tensor::ints(*a.cats_int64s);
    if (a.cats_strings) return of_strings(*a.cats_strings);
    throw error("model.attribute", "OneHotEncoder without categories");
  }
  static void infer(const op::OneHotEncoder& a, Infer& c) {
    const Tensor cats = categories(a);
    if (c.dtype(0) != DType::undefined && (c.dtype(0) == DType::string) != (cats.dtype() == DType::string))
      c.fail("infer.type", cat("categories of ", name(cats.dtype()), " for a tensor of ", name(c.dtype(0))));
    Shape out = c.shape(0);
    out.push_back(cats.count());
    c.out(0, DType::f32, out);
  }
  static void eval(const op::OneHotEncoder& a, Eval& k) {
    const Tensor cats = categories(a);
    if ((k.in(0).dtype() == DType::string) != (cats.dtype() == DType::string))
      k.fail("eval.type", cat("categories of ", name(cats.dtype()), " for a tensor of ", name(k.in(0).dtype())));
    const Tensor x = cats.dtype() == DType::string ? k.in(0) : convert(k.in(0), DType::i64);
    const auto numbers = numbered(cats);
    auto shape = x.shape();
    shape.push_back(cats.count());
    std::vector<float> out(static_cast<size_t>(element_count(shape)), 0);
    for (int64_t i = 0; i < x.count(); ++i) {
      const auto it = numbers.find(key_of(x, i));
      if (it != numbers.end()) out[static_cast<size_t>(i * cats.count() + it->second)] = 1;
      else if (!a.zeros) k.fail("eval.category", "an element is not one of the categories");
    }
    k.out(0, store(DType::f32, shape, out));
  }
};

constexpr OpRules table[] = {rules<LabelEncoder>(), rules<CategoryMapper>(), rules<OneHotEncoder>()};

}  // namespace

std::span<const OpRules> category_rules() { return table; }

}  // namespace cameo::ops
