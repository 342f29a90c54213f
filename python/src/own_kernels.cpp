// Kernels written in Python: functions over NumPy arrays.
#include "own_kernels.h"

#include <nanobind/stl/string.h>

#include "bindings.h"

namespace cameo::python {

namespace {

// What a function raised, for the error that is raised in its place. Owned; null: nothing.
thread_local PyObject* raised = nullptr;

// Arrays of their own: what the engine has is gone after the call, or is a weight that must not be written.
nb::object copied(const RunValue& v) {
  if (v.kind == RunValue::Kind::array && v.array.dtype != "str") return to_python(v).attr("copy")();
  if (v.kind != RunValue::Kind::sequence) return to_python(v);
  nb::list out;
  for (const RunValue& item : v.items) out.append(copied(item));
  return std::move(out);
}

nb::object to_python(const Attribute::Content& content) {
  return std::visit(
      [](const auto& c) -> nb::object {
        using T = std::decay_t<decltype(c)>;
        if constexpr (std::is_same_v<T, std::string>) return name_text(c);
        else if constexpr (std::is_same_v<T, std::vector<std::string>>) return name_list(c);
        else if constexpr (std::is_same_v<T, Array>)
          return copied(SharedArray{c.dtype, c.shape, {nullptr, c.bytes.data(), c.bytes.size()}, {}});
        else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) return nb::cast(c);
        else {
          nb::list out;
          for (const auto item : c) out.append(item);
          return std::move(out);
        }
      },
      content);
}

nb::dict attributes(const KernelNode& node) {
  nb::dict out;
  for (const Attribute& a : node.attributes) out[name_text(a.name)] = to_python(a.value);
  return out;
}

// Python's exception as ours; Ctrl-C stays what it is.
Error failed(nb::python_error& e, const std::string& what, const std::string& op) {
  if (e.matches(PyExc_KeyboardInterrupt)) {
    e.restore();
    return failure("budget.interrupted", "the call was interrupted");
  }
  const nb::handle value = e.value();
  const std::string kind = nb::cast<std::string>(nb::handle(e.type()).attr("__name__"));
  std::string said;
  try {
    said = nb::cast<std::string>(nb::str(value));
  } catch (...) {  // its __str__ raises, or gives no text
  }
  Py_XDECREF(raised);
  raised = nb::object(nb::borrow(value)).release().ptr();
  return failure("kernel.failed", what + " of " + op + " failed: " + kind + (said.empty() ? "" : ": " + said));
}

nb::handle function_of(const std::shared_ptr<const void>& kept) {
  return static_cast<PyObject*>(const_cast<void*>(kept.get()));
}

// The items of a list or tuple where several are wanted, otherwise the one value.
std::vector<nb::object> results(nb::object given, size_t wanted) {
  const bool several = nb::isinstance<nb::tuple>(given) || nb::isinstance<nb::list>(given);
  if (!several || (wanted == 1 && !nb::isinstance<nb::tuple>(given))) return {given};
  std::vector<nb::object> out;
  for (nb::handle item : given) out.push_back(nb::borrow(item));
  return out;
}

void run(nb::handle function, KernelCall& call) {
  const nb::gil_scoped_acquire gil;
  try {
    nb::list inputs;
    for (size_t i = 0; i < call.input_count(); ++i) inputs.append(call.has(i) ? copied(call.value(i)) : nb::none());
    const auto given = results(function(*inputs, **attributes(call)), call.outputs);
    if (given.size() < call.outputs)
      throw failure("kernel.result", "the kernel of " + call.op + " gives " + std::to_string(given.size()) +
                                         " outputs, and the node has " + std::to_string(call.outputs));
    for (size_t i = 0; i < call.outputs; ++i) call.give(i, to_value(given[i]));
  } catch (nb::python_error& e) {
    throw failed(e, "the kernel", call.op);
  }
}

// "f32[2,8]", or (dtype, sizes).
std::string type_text(nb::handle given) {
  if (nb::isinstance<nb::str>(given)) return nb::cast<std::string>(given);
  std::vector<std::string> sizes;
  for (nb::handle size : given[1]) sizes.push_back(size.is_none() ? "?" : nb::cast<std::string>(nb::str(size)));
  return KernelTypes::tensor(nb::cast<std::string>(nb::str(given[0])), sizes);
}

std::vector<std::string> types(nb::handle rule, const KernelTypes& given) {
  const nb::gil_scoped_acquire gil;
  try {
    nb::object type = nb::module_::import_("cameo._kernel").attr("KernelType");
    nb::list inputs;
    for (const KernelTypes::Input& in : given.inputs)
      inputs.append(in.type.empty() ? nb::none() : type(in.dtype, size_list(in.sizes)));
    const nb::object answer = rule(*inputs, **attributes(given));
    const bool one = nb::isinstance<nb::str>(answer) || nb::isinstance(answer, type);
    std::vector<std::string> out;
    if (one) return {type_text(answer)};
    for (nb::handle item : answer) out.push_back(type_text(item));
    return out;
  } catch (nb::python_error& e) {
    throw failed(e, "the shape rule of the kernel", given.op);
  } catch (const nb::cast_error&) {
    throw failure("kernel.types", "the shape rule of the kernel of " + given.op + " gives no types",
                  "one per output: \"f32[2,8]\", or (dtype, sizes)");
  }
}

}  // namespace

nb::object take_raised() { return nb::steal(std::exchange(raised, nullptr)); }

std::vector<Kernel> kernels_of(nb::handle list) {
  std::vector<Kernel> out;
  if (list.is_none()) return out;
  for (nb::handle item : list) {
    Kernel& k = out.emplace_back();
    k.op = nb::cast<std::string>(item[0]);
    k.run = [kept = keep(nb::borrow(item[1]))](KernelCall& call) { run(function_of(kept), call); };
    if (!nb::handle(nb::object(item[2])).is_none())
      k.types = [kept = keep(nb::borrow(item[2]))](const KernelTypes& t) { return types(function_of(kept), t); };
  }
  return out;
}

}  // namespace cameo::python
