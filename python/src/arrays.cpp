// Arrays between Python and the engine, without copies where both can.
#include "bindings.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

namespace cameo::python {

namespace {

// Gives up a Python object from any thread.
std::shared_ptr<const void> keep(nb::object o) {
  PyObject* p = o.release().ptr();
  return std::shared_ptr<const void>(p, [](const void* q) {
    if (!nb::is_alive()) return;
    nb::gil_scoped_acquire gil;
    Py_DECREF(static_cast<PyObject*>(const_cast<void*>(q)));
  });
}

using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

DType dtype_of(nb::dlpack::dtype t) {
  using Code = nb::dlpack::dtype_code;
  const int b = t.bits;
  switch (static_cast<Code>(t.code)) {
    case Code::Float: return b == 16 ? DType::f16 : b == 32 ? DType::f32 : b == 64 ? DType::f64 : DType::undefined;
    case Code::Int:
      return b == 8 ? DType::i8 : b == 16 ? DType::i16 : b == 32 ? DType::i32 : b == 64 ? DType::i64 : DType::undefined;
    case Code::UInt:
      return b == 8 ? DType::u8 : b == 16 ? DType::u16 : b == 32 ? DType::u32 : b == 64 ? DType::u64 : DType::undefined;
    case Code::Bfloat: return DType::bf16;
    case Code::Bool: return DType::boolean;
    case Code::Complex: return b == 64 ? DType::c64 : b == 128 ? DType::c128 : DType::undefined;
    default: return DType::undefined;
  }
}

// NumPy's names of the types that DLPack's exchange with NumPy does not know.
DType dtype_by_name(const std::string& name) {
  if (name == "bfloat16") return DType::bf16;
  if (name == "float8_e4m3fn") return DType::f8e4m3fn;
  if (name == "float8_e4m3fnuz") return DType::f8e4m3fnuz;
  if (name == "float8_e5m2") return DType::f8e5m2;
  if (name == "float8_e5m2fnuz") return DType::f8e5m2fnuz;
  if (name == "float8_e8m0fnu") return DType::f8e8m0;
  return DType::undefined;
}
const char* numpy_name(DType t) {
  switch (t) {
    case DType::f32: return "float32";
    case DType::f64: return "float64";
    case DType::f16: return "float16";
    case DType::i8: return "int8";
    case DType::i16: return "int16";
    case DType::i32: return "int32";
    case DType::i64: return "int64";
    case DType::u8: return "uint8";
    case DType::u16: return "uint16";
    case DType::u32: return "uint32";
    case DType::u64: return "uint64";
    case DType::boolean: return "bool";
    case DType::c64: return "complex64";
    case DType::c128: return "complex128";
    case DType::bf16: return "bfloat16";
    case DType::f8e4m3fn: return "float8_e4m3fn";
    case DType::f8e4m3fnuz: return "float8_e4m3fnuz";
    case DType::f8e5m2: return "float8_e5m2";
    case DType::f8e5m2fnuz: return "float8_e5m2fnuz";
    case DType::f8e8m0: return "float8_e8m0fnu";
    default: return nullptr;
  }
}

bool is_foreign(DType t) {
  return t == DType::bf16 || dtype_by_name(numpy_name(t) ? numpy_name(t) : "") != DType::undefined;
}

Tensor wrap(const AnyArray& a, DType dtype, nb::object owner) {
  std::vector<int64_t> shape;
  for (size_t i = 0; i < a.ndim(); ++i) shape.push_back(static_cast<int64_t>(a.shape(i)));
  const uint64_t size = packed_bytes(dtype, element_count(shape));
  return Tensor(dtype, std::move(shape),
                Bytes(keep(std::move(owner)), {static_cast<const std::byte*>(a.data()), narrow<size_t>(size)}));
}

Tensor strings(nb::handle array) {
  nb::object flat = array.attr("reshape")(-1).attr("tolist")();
  std::vector<std::string> out;
  for (nb::handle item : flat)
    out.push_back(nb::isinstance<nb::bytes>(item)
                      ? std::string(nb::cast<nb::bytes>(item).c_str(), nb::cast<nb::bytes>(item).size())
                      : nb::cast<std::string>(nb::str(item)));
  std::vector<int64_t> shape;
  for (nb::handle n : array.attr("shape")) shape.push_back(nb::cast<int64_t>(n));
  return Tensor(std::move(shape), std::move(out));
}

}  // namespace

Bytes bytes_of(nb::handle buffer) {
  auto* view = new Py_buffer;
  if (PyObject_GetBuffer(buffer.ptr(), view, PyBUF_SIMPLE) != 0) {
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
  return Bytes(std::move(owner), {static_cast<const std::byte*>(view->buf), static_cast<size_t>(view->len)});
}

Tensor to_tensor(nb::handle given, DType wanted) {
  nb::object array = nb::borrow(given);
  if (nb::hasattr(array, "detach")) array = array.attr("detach")();  // a torch tensor that has a gradient
  AnyArray a;
  if (nb::try_cast(array, a, false) && dtype_of(a.dtype()) != DType::undefined)
    return wrap(a, dtype_of(a.dtype()), array);
  nb::module_ np = nb::module_::import_("numpy");
  if (nb::hasattr(array, "cpu")) array = array.attr("cpu")().attr("contiguous")();
  if (nb::try_cast(array, a, false) && dtype_of(a.dtype()) != DType::undefined)
    return wrap(a, dtype_of(a.dtype()), array);
  if (!nb::hasattr(array, "dtype") && wanted != DType::undefined && wanted != DType::string && numpy_name(wanted) &&
      !is_foreign(wanted))
    array = np.attr("asarray")(array, nb::arg("dtype") = numpy_name(wanted));
  else array = np.attr("asarray")(array);
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind == "O" || kind == "S" || kind == "U" || kind == "T") return strings(array);
  array = np.attr("ascontiguousarray")(array).attr("reshape")(array.attr("shape"));
  const std::string name = nb::cast<std::string>(array.attr("dtype").attr("name"));
  if (const DType t = dtype_by_name(name); t != DType::undefined) {
    nb::object raw = array.attr("view")(bits(t) == 16 ? "uint16" : "uint8");
    return wrap(nb::cast<AnyArray>(raw), t, raw);
  }
  if (!nb::try_cast(array, a, false) || dtype_of(a.dtype()) == DType::undefined)
    throw error("run.dtype", cat("an array of ", name, " is given, which is no element type of ours"));
  return wrap(a, dtype_of(a.dtype()), array);
}

Datum to_datum(nb::handle array, DType wanted) {
  if (array.is_none()) return Datum();
  if ((nb::isinstance<nb::list>(array) || nb::isinstance<nb::tuple>(array)) && nb::len(array) > 0) {
    nb::object first = array[nb::int_(0)];
    if (nb::hasattr(first, "shape") && wanted == DType::undefined) {
      std::vector<Datum> items;
      for (nb::handle item : array) items.push_back(to_datum(item));
      return Datum::sequence(std::move(items));
    }
  }
  return Datum(to_tensor(array, wanted));
}

nb::object to_python(const Datum& d) {
  if (d.kind == Datum::Kind::none) return nb::none();
  if (d.kind == Datum::Kind::sequence) {
    nb::list out;
    for (const Datum& item : *d.items) out.append(to_python(item));
    return std::move(out);
  }
  if (d.kind == Datum::Kind::map) {
    nb::dict out;
    for (const auto& [key, value] : *d.entries) out[to_python(key).attr("item")()] = to_python(value);
    return std::move(out);
  }
  nb::module_ np = nb::module_::import_("numpy");
  nb::list shape;
  for (const int64_t n : d.tensor.shape()) shape.append(n);
  const DType t = d.tensor.dtype();
  if (t == DType::string) {
    nb::list items;
    for (const std::string& s : d.tensor.strings()) items.append(nb::str(s.c_str(), s.size()));
    nb::object array = np.attr("empty")(items.attr("__len__")(), nb::arg("dtype") = "object");
    array[nb::slice(nb::none(), nb::none(), nb::none())] = items;
    return array.attr("reshape")(nb::tuple(shape));
  }
  auto* owner = new Tensor(d.tensor);
  nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  const size_t size = d.tensor.bytes().size();
  nb::ndarray<nb::numpy, uint8_t> raw(const_cast<std::byte*>(d.tensor.bytes().data()), {size}, capsule);
  nb::object bytes = nb::cast(raw);
  const char* name = numpy_name(t);
  if (!name || is_sub_byte(t)) return bytes;  // packed, as ONNX has them
  nb::object dtype = is_foreign(t) ? nb::module_::import_("ml_dtypes").attr(name) : nb::object(nb::str(name));
  return bytes.attr("view")(dtype).attr("reshape")(nb::tuple(shape));
}

nb::object type_of(const Type& t) {
  const char* kinds[] = {"unknown", "tensor", "sparse_tensor", "sequence", "optional", "map"};
  nb::object dims = nb::none();
  if (t.is_tensor() && t.has_rank()) {
    nb::list list;
    for (const Dim d : *t.shape) {
      if (d.is_literal()) list.append(d.literal());
      else if (d.is_symbol() && is_fresh(d)) list.append(nb::none());
      else list.append(nb::str(d.text().c_str()));
    }
    dims = list;
  }
  return nb::make_tuple(kinds[static_cast<size_t>(t.kind)], std::string(name(t.elem)), dims, t.onnx_text());
}

}  // namespace cameo::python
