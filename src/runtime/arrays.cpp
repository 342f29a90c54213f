#include "runtime/arrays.h"

#include <algorithm>
#include <filesystem>

#include "frontends/onnx/datum.h"
#include "kernels/carrier.h"
#include "support/error.h"

namespace cameo::runtime {

namespace {

struct Spelling {
  DType dtype;
  std::string_view descr;
};
constexpr Spelling spellings[] = {
    {DType::f32, "<f4"}, {DType::f64, "<f8"},     {DType::f16, "<f2"}, {DType::i8, "|i1"},    {DType::i16, "<i2"},
    {DType::i32, "<i4"}, {DType::i64, "<i8"},     {DType::u8, "|u1"},  {DType::u16, "<u2"},   {DType::u32, "<u4"},
    {DType::u64, "<u8"}, {DType::boolean, "|b1"}, {DType::c64, "<c8"}, {DType::c128, "<c16"},
};

DType plain_dtype(const npy::Descr& d) {
  for (const Spelling& s : spellings)
    if (s.descr[1] == d.kind && std::to_string(d.item_bytes) == s.descr.substr(2)) return s.dtype;
  return DType::undefined;
}

// NumPy has no letter for these: raw bytes, or the next wider integer.
bool holds(const npy::Descr& d, DType wanted) {
  return d.kind == 'V' && bits(wanted) >= 8 && d.item_bytes * 8 == static_cast<uint64_t>(bits(wanted)) &&
         is_float(wanted);
}

}  // namespace

Tensor to_tensor(const npy::Array& raw, DType wanted, const std::string& what) {
  const npy::Descr d = npy::parse_descr(raw.descr);
  if (d.kind == 'S' || d.kind == 'U') return Tensor(raw.shape, npy::to_strings(raw));
  const npy::Array a = npy::plain(raw);
  DType dtype = holds(d, wanted) ? wanted : plain_dtype(d);
  if (dtype == DType::undefined)
    throw error("file.unsupported",
                cat(what, " has NumPy's dtype '", raw.descr, "', which ",
                    wanted == DType::undefined ? "has no meaning without a model" : cat("is not ", name(wanted))));
  // Whole numbers may be places: what is checked has to be what is used, though the file changes.
  const bool decides = dtype == DType::i64 || dtype == DType::i32;
  Tensor t(dtype, a.shape, decides ? Bytes::own(a.data.text()) : a.data);
  if (is_sub_byte(wanted) && (dtype == DType::i8 || dtype == DType::u8)) return store(wanted, a.shape, t.to_ints());
  return t;
}

npy::Array to_array(const Tensor& t) {
  npy::Array a;
  a.shape = t.shape();
  if (t.dtype() == DType::string) return npy::from_strings(t.strings(), t.shape());
  Tensor plain = t;
  if (is_sub_byte(t.dtype()))
    plain = is_float(t.dtype()) ? store(DType::f32, t.shape(), t.to_doubles())
                                : store(is_signed_int(t.dtype()) ? DType::i8 : DType::u8, t.shape(), t.to_ints());
  a.descr = bits(plain.dtype()) == 8 ? "|V1" : "<V2";  // 8-bit floats and bfloat16
  for (const Spelling& s : spellings)
    if (s.dtype == plain.dtype()) a.descr = s.descr;
  a.data = plain.bytes();
  return a;
}

Tensor load_npy(const std::string& path, DType wanted) {
  const auto arrays = npy::load(path);
  if (arrays.size() != 1) throw error("use.npy", cat(path, " holds ", arrays.size(), " arrays, and one is needed"));
  return to_tensor(arrays[0].array, wanted, path);
}

namespace {

void add(npy::NpzWriter& w, const std::string& name, const Datum& d) {
  switch (d.kind) {
    case Datum::Kind::tensor: w.add(name, to_array(d.tensor)); break;
    case Datum::Kind::sequence:
      for (size_t i = 0; i < d.items->size(); ++i) add(w, cat(name, ".", i), (*d.items)[i]);
      break;
    case Datum::Kind::map:
      for (size_t i = 0; i < d.entries->size(); ++i) {
        add(w, cat(name, ".keys.", i), (*d.entries)[i].first);
        add(w, cat(name, ".values.", i), (*d.entries)[i].second);
      }
      break;
    case Datum::Kind::none: break;
  }
}

DType wanted_dtype(const Type& t) {
  const Type* inner = &t;
  while (inner->inner) inner = inner->inner.get();
  return inner->elem;
}

// Elements of a sequence stand in the file as `name.0`, `name.1`, ...
std::optional<Datum> sequence_of(const std::vector<npy::Named>& arrays, const std::string& name, const Type& type) {
  std::vector<Datum> items;
  while (true) {
    const std::string key = cat(name, ".", items.size());
    const auto it = std::find_if(arrays.begin(), arrays.end(), [&](const npy::Named& n) { return n.name == key; });
    if (it == arrays.end()) break;
    items.emplace_back(to_tensor(it->array, wanted_dtype(type), cat("'", key, "'")));
  }
  if (items.empty()) return std::nullopt;
  return Datum::sequence(std::move(items));
}

std::vector<Datum> from_folder(const std::string& path, const Graph& g, const std::vector<ValueId>& params,
                               const std::string& prefix) {
  std::vector<Datum> out(params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    const std::string file = (std::filesystem::path(path) / cat(prefix, "_", i, ".pb")).string();
    if (std::filesystem::is_regular_file(file)) out[i] = read_datum(map_file(file), g[params[i]].fact.type, file);
  }
  return out;
}

}  // namespace

std::vector<NamedDatum> load_named(const std::string& path) {
  std::vector<NamedDatum> out;
  if (std::filesystem::is_directory(path)) {
    for (size_t i = 0;; ++i) {
      const std::string file = (std::filesystem::path(path) / cat("input_", i, ".pb")).string();
      if (!std::filesystem::is_regular_file(file)) break;
      out.push_back({cat("x", i), read_datum(map_file(file), Type(), file)});
    }
    if (out.empty())
      throw error("use.inputs", cat(path, " has no input_0.pb"))
          .help("a test_data_set folder holds input_0.pb, input_1.pb, ...");
    return out;
  }
  for (const auto& [name, array] : npy::load(path)) {
    const npy::Descr d = npy::parse_descr(array.descr);
    out.push_back({name, to_tensor(array, d.kind == 'V' && d.item_bytes == 2 ? DType::bf16 : DType::undefined,
                                   cat("'", name, "'"))});
  }
  return out;
}

void write_npz(AtomicFile& file, const std::vector<NamedDatum>& values) {
  npy::NpzWriter w(file.sink());
  for (const NamedDatum& v : values) add(w, v.name, v.value);
  w.finish();
}

void save_npz(const std::string& path, const std::vector<NamedDatum>& values) {
  AtomicFile file(path);
  write_npz(file, values);
  file.commit();
}

std::vector<Datum> load_values(const std::string& path, const Graph& g, const std::vector<ValueId>& params,
                               const std::string& prefix) {
  if (std::filesystem::is_directory(path)) return from_folder(path, g, params, prefix);
  const auto arrays = npy::load(path);
  std::vector<Datum> out(params.size());
  std::vector<bool> used(arrays.size(), false);
  for (size_t i = 0; i < params.size(); ++i) {
    const Value& v = g[params[i]];
    const auto take = [&](const std::string& key) -> bool {
      for (size_t k = 0; k < arrays.size(); ++k)
        if (arrays[k].name == key && !used[k]) {
          out[i] = to_tensor(arrays[k].array, wanted_dtype(v.fact.type), cat("'", v.name, "'"));
          return used[k] = true;
        }
      return false;
    };
    if (take(v.name) || take(cat("x", i)) || (prefix == "output" && take(cat("y", i))) ||
        (i == 0 && arrays.size() == 1 && take("")))
      continue;
    if (!v.fact.type.is_sequence()) continue;
    if (auto items = sequence_of(arrays, v.name, v.fact.type)) {
      for (size_t k = 0; k < arrays.size(); ++k) used[k] = used[k] || arrays[k].name.starts_with(v.name + ".");
      out[i] = std::move(*items);
    }
  }
  for (size_t k = 0; k < arrays.size(); ++k) {
    if (used[k]) continue;
    std::string names;
    for (const ValueId v : params) names += cat(names.empty() ? "" : ", ", g[v].name);
    throw error("use.input-name",
                cat(path, " has an array '", arrays[k].name, "', and the model has no ", prefix, " of that name"))
        .help(cat("its ", prefix, "s are: ", names));
  }
  return out;
}

}  // namespace cameo::runtime
