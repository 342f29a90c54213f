// Sessions, kernels of the caller's own, desks and views of the C interface.
#include <cstring>

#include "tests/attack/target/c_functions.h"

namespace attack {

namespace {

constexpr float numbers[24] = {1, -2, 3, 0.5f};
constexpr int64_t shape[] = {2, 3, 4};
constexpr cameo_array one_input{nullptr, "f32", shape, 3, numbers, sizeof numbers};

// Reads every byte that is there.
size_t sum_of(const void* data, size_t size) {
  size_t sum = 0;
  for (size_t i = 0; data && i < size; ++i) sum += static_cast<const unsigned char*>(data)[i];
  return sum;
}

cameo_status read_results(const cameo_results* results) {
  cameo_status status = CAMEO_OK;
  for (size_t i = 0; i <= cameo_result_count(results); ++i) {  // one too many
    cameo_array a{};
    const cameo_status each = cameo_result(results, i, &a);
    if (i < cameo_result_count(results) && each != CAMEO_OK) status = each;
    if (each == CAMEO_OK && std::strcmp(a.dtype, "string") != 0) sum_of(a.data, a.size);
  }
  return status;
}

// One run of a session that was opened with this status; ends the session.
cameo_status run_once(cameo_session* session, cameo_status status) {
  cameo_results* results = nullptr;
  if (status == CAMEO_OK) status = cameo_run(session, &one_input, 1, &results);
  if (status == CAMEO_OK) status = read_results(results);
  cameo_release_results(results);
  cameo_release_session(session);
  return status;
}

cameo_status run(const CCall& c) {
  cameo_session* session = nullptr;
  const cameo_status status = cameo_open_session(c.model, c.settings, &session);
  return run_once(session, status);
}

// Lines: names of outputs, which get memory that need not be of the right size.
cameo_status run_into(const CCall& c) {
  cameo_session* session = nullptr;
  cameo_status status = cameo_open_session(c.model, nullptr, &session);
  cameo_results* results = nullptr;
  char* profile = nullptr;
  alignas(8) static std::byte memory[4][96];
  std::vector<cameo_output> outputs;
  for (size_t i = 0; i < c.lines.size() && i < 4; ++i)
    outputs.push_back({c.lines[i].c_str(), memory[i], i % 2 ? sizeof memory[i] : 24});
  if (status == CAMEO_OK)
    status = cameo_run_into(session, &one_input, 1, outputs.data(), outputs.size(), &profile, &results);
  if (status == CAMEO_OK) status = read_results(results);
  cameo_release_text(profile);
  cameo_release_results(results);
  cameo_release_session(session);
  return status;
}

// Gives the first input back, or says no.
int kernel(void*, cameo_kernel_call* call) {
  cameo_array in{};
  if (cameo_kernel_integer(call, "axis", 0) + static_cast<int64_t>(cameo_kernel_number(call, "alpha", 0)) == 99)
    return 1;
  if (std::strlen(cameo_kernel_attributes(call)) == 0) return 2;
  for (size_t i = 0; i <= cameo_kernel_input_count(call); ++i)
    if (cameo_kernel_input(call, i, &in) == CAMEO_OK && in.dtype) sum_of(in.data, in.size);
  const bool given = cameo_kernel_input(call, 0, &in) == CAMEO_OK && in.dtype;
  for (size_t i = 0; i < cameo_kernel_output_count(call); ++i) {
    void* out = cameo_kernel_output(call, i, given ? in.dtype : "f32", given ? in.shape : shape, given ? in.rank : 3);
    if (!out) cameo_kernel_fail(call, "no output");
    else if (given && in.size) std::memcpy(out, in.data, in.size);
  }
  return 0;
}

std::vector<cameo_kernel> kernels(const CCall& c) {
  std::vector<cameo_kernel> out;
  for (const std::string& op : c.lines) out.push_back({op.c_str(), kernel, nullptr});
  return out;
}

cameo_status run_with(const CCall& c) {
  cameo_session* session = nullptr;
  const auto own = kernels(c);
  const cameo_status status = cameo_open_session_with(c.model, nullptr, own.data(), own.size(), &session);
  return run_once(session, status);
}

cameo_status verify_with(const CCall& c) {
  const auto own = kernels(c);
  return cameo_verify_with(c.model, c.second, nullptr, own.data(), own.size(), c.text);
}

cameo_status quantize_with(const CCall& c) {
  const auto own = kernels(c);
  return cameo_quantize_with(c.model, "inputs.npz", nullptr, nullptr, own.data(), own.size(), c.made, c.text);
}

// Lines: requests to a desk that has one model and one file.
cameo_status ask(const CCall& c) {
  cameo_desk* desk = nullptr;
  cameo_status status = cameo_open_desk("{\"threads\": 1}", &desk);
  if (status == CAMEO_OK) status = cameo_allow(desk, c.file);
  if (status == CAMEO_OK) status = cameo_offer(desk, "offered.onnx", c.model);
  const cameo_blob given{numbers, sizeof numbers};
  for (size_t i = 0; i < c.lines.size() && status == CAMEO_OK; ++i) {
    char* reply = nullptr;
    cameo_blobs* results = nullptr;
    status = cameo_ask(desk, c.lines[i].c_str(), &given, 1, &reply, &results);
    cameo_blob blob{};
    for (size_t k = 0; k <= cameo_blob_count(results); ++k)
      if (cameo_blob_at(results, k, &blob) == CAMEO_OK) sum_of(blob.data, blob.size);
    if (reply && std::strstr(reply, "\"exit_code\":4")) status = CAMEO_BUG;
    cameo_release_text(reply);
    cameo_release_blobs(results);
  }
  cameo_release_desk(desk);
  return status;
}

// Handles that are released, or of another kind, are told so.
cameo_status released(const CCall& c) {
  cameo_desk* desk = nullptr;
  cameo_session* session = nullptr;
  cameo_open_desk(nullptr, &desk);
  cameo_release_desk(desk);
  cameo_release_desk(desk);
  cameo_open_session(c.model, nullptr, &session);
  cameo_release_session(session);
  cameo_results* results = nullptr;
  if (cameo_run(session, &one_input, 1, &results) == CAMEO_OK) return CAMEO_BUG;
  return cameo_describe(reinterpret_cast<const cameo_model*>(session), c.text) == CAMEO_OK ? CAMEO_BUG : CAMEO_OK;
}

constexpr CFunction table[] = {
    {"run", run}, {"run_into", run_into},           {"run_with", run_with}, {"verify_with", verify_with},
    {"ask", ask}, {"quantize_with", quantize_with}, {"released", released},
};

}  // namespace

std::span<const CFunction> c_run_functions() { return table; }

}  // namespace attack
