// Kernels of include/cameo/c.h.
#include <optional>

#include "api/c_calls.h"
#include "api/settings_json.h"

struct cameo_kernel_call {
  cameo::KernelCall& call;
  std::optional<std::string> failed;  // what the kernel said
  mutable std::string attributes;     // made when asked for
  // What cameo_array points to.
  mutable std::vector<std::pair<std::string, std::vector<int64_t>>> inputs;
};

namespace cameo::faces {

namespace {

void attribute(json::Writer& w, const Attribute::Content& content) {
  std::visit(
      [&](const auto& c) {
        using T = std::decay_t<decltype(c)>;
        if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, int64_t> || std::is_same_v<T, double>)
          w.value(c);
        else if constexpr (!std::is_same_v<T, Array>) {
          w.array();
          for (const auto& item : c) w.value(item);
          w.end();
        }
      },
      content);
}

std::string attributes(const KernelNode& node) {
  json::Writer w;
  w.object();
  for (const Attribute& a : node.attributes)
    if (!std::holds_alternative<Array>(a.value)) attribute(w.key(a.name), a.value);
  return w.end().text();
}

}  // namespace

std::vector<Kernel> kernels_of(const cameo_kernel* list, size_t count) {
  std::vector<Kernel> out;
  for (size_t i = 0; i < count; ++i) {
    need(list, "the list of kernels");
    const cameo_kernel& given = list[i];
    Kernel k;
    k.op = &need(given.op, "the operator of a kernel");
    if (!given.run) throw error("use.null", cat("the kernel of ", k.op, " is a null pointer"));
    k.run = [run = given.run, user = given.user](KernelCall& call) {
      cameo_kernel_call c{call, {}, {}, {}};
      c.inputs.resize(call.input_count());
      const int status = run(user, &c);
      if (status != 0 || c.failed)
        throw error("kernel.failed",
                    cat("the kernel of ", call.op, " failed: ", c.failed.value_or(cat("status ", status))));
    };
    out.push_back(std::move(k));
  }
  return out;
}

}  // namespace cameo::faces

using namespace cameo;
using namespace cameo::faces;

size_t cameo_kernel_input_count(const cameo_kernel_call* call) { return call ? call->call.input_count() : 0; }
size_t cameo_kernel_output_count(const cameo_kernel_call* call) { return call ? call->call.outputs : 0; }

cameo_status cameo_kernel_input(const cameo_kernel_call* call, size_t i, cameo_array* out) {
  return guarded([&] {
    cameo_array& target = place(out);
    const KernelCall& c = need(call, "the call").call;
    if (i >= c.input_count())
      throw error("kernel.input", cat("there is no input ", i, ": the node has ", c.input_count()));
    if (!c.has(i)) return;
    const ArrayView a = c.array(i);
    auto& [dtype, shape] = call->inputs[i];
    dtype = a.dtype;
    shape = a.shape;
    target = {nullptr, dtype.c_str(), shape.data(), shape.size(), a.data, static_cast<size_t>(a.byte_size())};
  });
}

int64_t cameo_kernel_integer(const cameo_kernel_call* call, const char* attribute, int64_t otherwise) {
  const Attribute* a = call && attribute ? call->call.attribute(attribute) : nullptr;
  const auto* whole = a ? std::get_if<int64_t>(&a->value) : nullptr;
  return whole ? *whole : otherwise;
}
double cameo_kernel_number(const cameo_kernel_call* call, const char* attribute, double otherwise) {
  const Attribute* a = call && attribute ? call->call.attribute(attribute) : nullptr;
  if (const auto* whole = a ? std::get_if<int64_t>(&a->value) : nullptr) return static_cast<double>(*whole);
  const auto* number = a ? std::get_if<double>(&a->value) : nullptr;
  return number ? *number : otherwise;
}
const char* cameo_kernel_attributes(const cameo_kernel_call* call) {
  if (!call) return "{}";
  guarded([&] { call->attributes = attributes(call->call); });
  return call->attributes.c_str();
}

void* cameo_kernel_output(cameo_kernel_call* call, size_t i, const char* dtype, const int64_t* shape, size_t rank) {
  static std::byte nothing;  // where no element is
  void* out = nullptr;
  guarded([&] {
    KernelCall& c = const_cast<cameo_kernel_call&>(need(call, "the call")).call;
    if (rank) need(shape, "the shape");
    const auto memory = c.output_bytes(i, &need(dtype, "the dtype"), std::vector<int64_t>(shape, shape + rank));
    out = memory.empty() ? &nothing : memory.data();
  });
  return out;
}

void cameo_kernel_fail(cameo_kernel_call* call, const char* why) {
  guarded([&] {
    if (call) call->failed = why ? why : "";
  });
}

cameo_status cameo_open_session_with(const cameo_model* model, const char* settings_json, const cameo_kernel* kernels,
                                     size_t kernel_count, cameo_session** out) {
  return guarded([&] {
    cameo_session*& target = place(out);
    SessionSettings how = session_settings(settings(settings_json));
    how.kernels = kernels_of(kernels, kernel_count);
    target = given_out(new cameo_session{Session(need(model, "the model").model, how)});
  });
}
cameo_status cameo_verify_with(const cameo_model* model, const cameo_model* reference, const char* settings_json,
                               const cameo_kernel* kernels, size_t kernel_count, char** report) {
  return give_text(report, [&] {
    VerifySettings how = verify_settings(settings(settings_json));
    how.kernels = kernels_of(kernels, kernel_count);
    return to_json(verify(need(model, "the model").model, need(reference, "the reference").model, how));
  });
}
