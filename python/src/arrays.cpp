// Arrays between Python and the library, without copies where both can.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "bindings.h"

namespace cameo::python {

std::shared_ptr<const void> keep(nb::object o) {
  PyObject* p = o.release().ptr();
  return std::shared_ptr<const void>(p, [](const void* q) {
    if (!nb::is_alive()) return;
    nb::gil_scoped_acquire gil;
    Py_DECREF(static_cast<PyObject*>(const_cast<void*>(q)));
  });
}

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Element types: the library's names, NumPy's, DLPack's code and bits. Those that DLPack's exchange with NumPy does not
// know are `foreign`: ml_dtypes has them, and they are handed over as bytes.
using Code = nb::dlpack::dtype_code;
struct ElementType {
  std::string_view name;
  const char* numpy;
  Code code;
  int bits;
  bool foreign = false;
};
constexpr ElementType element_types[] = {
    {"f32", "float32", Code::Float, 32},
    {"f64", "float64", Code::Float, 64},
    {"f16", "float16", Code::Float, 16},
    {"i8", "int8", Code::Int, 8},
    {"i16", "int16", Code::Int, 16},
    {"i32", "int32", Code::Int, 32},
    {"i64", "int64", Code::Int, 64},
    {"u8", "uint8", Code::UInt, 8},
    {"u16", "uint16", Code::UInt, 16},
    {"u32", "uint32", Code::UInt, 32},
    {"u64", "uint64", Code::UInt, 64},
    {"bool", "bool", Code::Bool, 8},
    {"c64", "complex64", Code::Complex, 64},
    {"c128", "complex128", Code::Complex, 128},
    {"bf16", "bfloat16", Code::Bfloat, 16, true},
    {"f8e4m3fn", "float8_e4m3fn", Code::Float, 8, true},
    {"f8e4m3fnuz", "float8_e4m3fnuz", Code::Float, 8, true},
    {"f8e5m2", "float8_e5m2", Code::Float, 8, true},
    {"f8e5m2fnuz", "float8_e5m2fnuz", Code::Float, 8, true},
    {"f8e8m0", "float8_e8m0fnu", Code::Float, 8, true},
};

template <class F>
const ElementType* find_type(F is) {
  for (const ElementType& t : element_types)
    if (is(t)) return &t;
  return nullptr;
}
const ElementType* by_dlpack(nb::dlpack::dtype t) {  // 8 bits of a float may be any of five
  return find_type([&](const ElementType& e) {
    return e.code == static_cast<Code>(t.code) && e.bits == t.bits && (e.bits > 8 || !e.foreign);
  });
}
const ElementType* by_name(std::string_view name) {
  return find_type([&](const ElementType& e) { return e.name == name; });
}
const ElementType* foreign_by_numpy_name(std::string_view name) {
  return find_type([&](const ElementType& e) { return e.foreign && e.numpy == name; });
}

SharedArray wrap(const AnyArray& a, const ElementType& type, nb::object owner) {
  SharedArray out;
  out.dtype = type.name;
  for (size_t i = 0; i < a.ndim(); ++i) out.shape.push_back(static_cast<int64_t>(a.shape(i)));
  out.memory = {keep(std::move(owner)), a.data(), a.size() * static_cast<size_t>(type.bits) / 8};
  return out;
}

// Nothing where DLPack does not give it as it is.
std::optional<SharedArray> as_it_is(nb::object array) {
  AnyArray a;
  if (!nb::try_cast(array, a, false)) return std::nullopt;
  const ElementType* type = by_dlpack(a.dtype());
  return type ? std::optional(wrap(a, *type, array)) : std::nullopt;
}

SharedArray strings(nb::handle array) {
  SharedArray out;
  out.dtype = "str";
  for (nb::handle item : array.attr("reshape")(-1).attr("tolist")())
    out.strings.push_back(nb::isinstance<nb::bytes>(item)
                              ? std::string(nb::cast<nb::bytes>(item).c_str(), nb::cast<nb::bytes>(item).size())
                              : nb::cast<std::string>(nb::str(item)));
  for (nb::handle n : array.attr("shape")) out.shape.push_back(nb::cast<int64_t>(n));
  return out;
}

nb::object string_array(const SharedArray& a, nb::tuple shape) {
  nb::list items;
  for (const std::string& s : a.strings) items.append(nb::str(s.c_str(), s.size()));
  nb::object array = nb::module_::import_("numpy").attr("empty")(nb::len(items), nb::arg("dtype") = "object");
  array[nb::slice(nb::none(), nb::none(), nb::none())] = items;
  return array.attr("reshape")(shape);
}

}  // namespace

Buffer buffer_of(nb::handle object) {
  auto* view = new Py_buffer;
  if (PyObject_GetBuffer(object.ptr(), view, PyBUF_SIMPLE) != 0) {
    delete view;
    throw nb::python_error();
  }
  std::shared_ptr<const void> owner(view, [](const void* p) {
    auto* v = static_cast<Py_buffer*>(const_cast<void*>(p));
    if (nb::is_alive()) {
      nb::gil_scoped_acquire gil;
      PyBuffer_Release(v);
    }
    delete v;
  });
  return {std::move(owner), view->buf, static_cast<size_t>(view->len)};
}

SharedArray to_array(nb::handle given, std::string_view wanted) {
  nb::object array = nb::borrow(given);
  if (nb::hasattr(array, "detach")) array = array.attr("detach")();  // a torch tensor that has a gradient
  if (auto a = as_it_is(array)) return std::move(*a);
  nb::module_ np = nb::module_::import_("numpy");
  if (nb::hasattr(array, "cpu")) array = array.attr("cpu")().attr("contiguous")();
  if (auto a = as_it_is(array)) return std::move(*a);
  const ElementType* type = by_name(wanted);
  if (!nb::hasattr(array, "dtype") && type && !type->foreign)
    array = np.attr("asarray")(array, nb::arg("dtype") = type->numpy);
  else array = np.attr("asarray")(array);
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind == "O" || kind == "S" || kind == "U" || kind == "T") return strings(array);
  if (!nb::cast<bool>(array.attr("dtype").attr("isnative")))
    array = array.attr("astype")(array.attr("dtype").attr("newbyteorder")("="));
  array = np.attr("ascontiguousarray")(array).attr("reshape")(array.attr("shape"));
  const std::string name = nb::cast<std::string>(array.attr("dtype").attr("name"));
  if (const ElementType* foreign = foreign_by_numpy_name(name)) {
    nb::object raw = array.attr("view")(foreign->bits == 16 ? "uint16" : "uint8");
    return wrap(nb::cast<AnyArray>(raw), *foreign, raw);
  }
  if (auto a = as_it_is(array)) return std::move(*a);
  throw failure("run.dtype", "an array of " + name + " is given: unsupported element type");
}

RunValue to_value(nb::handle array, std::string_view wanted) {
  if (array.is_none()) return {};
  if ((nb::isinstance<nb::list>(array) || nb::isinstance<nb::tuple>(array)) && nb::len(array) > 0 && wanted.empty() &&
      nb::hasattr(array[nb::int_(0)], "shape")) {
    RunValue out;
    out.kind = RunValue::Kind::sequence;
    for (nb::handle item : array) out.items.push_back(to_value(item));
    return out;
  }
  return to_array(array, wanted);
}

namespace {

// A NumPy array over the memory; writable only where nobody else has it.
nb::object array_over(const SharedArray& a, bool writable) {
  nb::list sizes;
  for (const int64_t n : a.shape) sizes.append(n);
  nb::tuple shape(sizes);
  if (a.dtype == "str") return string_array(a, shape);
  auto* owner = new Buffer(a.memory);
  nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<Buffer*>(p); });
  void* data = const_cast<void*>(a.memory.data);
  nb::object bytes = writable ? nb::cast(nb::ndarray<nb::numpy, uint8_t>(data, {a.memory.size}, capsule))
                              : nb::cast(nb::ndarray<nb::numpy, const uint8_t>(data, {a.memory.size}, capsule));
  const ElementType* type = by_name(a.dtype);
  if (!type) return bytes;  // several elements to a byte: packed, as ONNX has them
  nb::object dtype =
      type->foreign ? nb::module_::import_("ml_dtypes").attr(type->numpy) : nb::object(nb::str(type->numpy));
  return bytes.attr("view")(dtype).attr("reshape")(shape);
}

template <class F>
nb::object value_of(const RunValue& v, F array) {
  using Kind = RunValue::Kind;
  if (v.kind == Kind::nothing) return nb::none();
  if (v.kind == Kind::array) return array(v.array);
  if (v.kind == Kind::sequence) {
    nb::list out;
    for (const RunValue& item : v.items) out.append(value_of(item, array));
    return std::move(out);
  }
  nb::dict out;
  for (size_t i = 0; i < v.items.size(); ++i)
    out[value_of(v.keys[i], array).attr("item")()] = value_of(v.items[i], array);
  return std::move(out);
}

}  // namespace

nb::object to_python(const SharedArray& a) { return array_over(a, false); }

nb::object to_python(const RunValue& v) {
  return value_of(v, [](const SharedArray& a) { return array_over(a, false); });
}

nb::object result_to_python(const RunValue& v) {
  return value_of(v, [](const SharedArray& a) {
    const bool ours = a.memory.owner.use_count() == 1 || a.dtype == "str";
    return ours ? array_over(a, true) : array_over(a, false).attr("copy")();
  });
}

nb::list name_list(const std::vector<std::string>& names) {
  nb::list out;
  for (const std::string& n : names) out.append(name_text(n));
  return out;
}

std::vector<std::string> text_list(nb::handle items) {
  std::vector<std::string> out;
  for (nb::handle item : items) out.push_back(nb::cast<std::string>(nb::str(item)));
  return out;
}

std::vector<int64_t> int_list(nb::handle items) {
  std::vector<int64_t> out;
  for (nb::handle item : items) out.push_back(nb::cast<int64_t>(nb::int_(item)));
  return out;
}

std::map<std::string, int64_t> sizes_of(nb::handle dict) {
  std::map<std::string, int64_t> out;
  if (!dict.is_none())
    for (nb::handle entry : entries(dict))
      out[nb::cast<std::string>(entry[0])] = nb::cast<int64_t>(nb::int_(nb::object(entry[1])));
  return out;
}

nb::object size_list(const std::optional<std::vector<std::string>>& sizes) {
  if (!sizes) return nb::none();
  nb::list out;
  for (const std::string& size : *sizes) {
    if (size == "?") out.append(nb::none());
    else if (size.find_first_not_of("0123456789") == size.npos) out.append(nb::int_(nb::str(size.c_str())));
    else out.append(nb::str(size.c_str()));
  }
  return std::move(out);
}

}  // namespace cameo::python
