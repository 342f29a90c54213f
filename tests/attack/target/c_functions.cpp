#include "tests/attack/target/c_functions.h"

#include <fstream>
#include <iterator>

namespace attack {

namespace {

std::string contents(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The samples of a case, if it has some.
const char* samples() { return std::ifstream("inputs.npz") ? "inputs.npz" : nullptr; }

cameo_status load_bytes(const CCall& c) {
  const std::string data = contents(c.file);
  return cameo_load_bytes(data.data(), data.size(), c.made);
}

// To bytes, and back.
cameo_status bytes(const CCall& c) {
  char* data = nullptr;
  size_t size = 0;
  const cameo_status status = cameo_bytes(c.model, c.settings, &data, &size);
  const Text owner(data);
  return status == CAMEO_OK ? cameo_load_bytes(data, size, c.made) : status;
}

cameo_status weight(const CCall& c) {
  cameo_status status = CAMEO_OK;
  for (const std::string& name : c.lines) {
    char* data = nullptr;
    size_t size = 0, sum = 0;
    status = cameo_weight(c.model, name.c_str(), &data, &size);
    const Text owner(data);
    for (size_t i = 0; i < size; ++i) sum += static_cast<unsigned char>(data[i]);
    if (sum == SIZE_MAX) return CAMEO_BUG;  // every byte is read
  }
  return status;
}

cameo_status extract(const CCall& c) {
  std::vector<const char*> names;
  for (const std::string& line : c.lines) names.push_back(line.c_str());
  const size_t from = names.size() / 2;
  return cameo_extract(c.model, names.data(), from, names.data() + from, names.size() - from, c.made);
}

// Stopped by its caller at the third message.
cameo_status watched(const CCall& c) {
  int calls = 0;
  cameo_watch(
      [](void* user, const char* what, uint64_t, uint64_t) { return ++*static_cast<int*>(user) > 3 && what ? 1 : 0; },
      &calls);
  const cameo_status status = cameo_prepare(c.model, c.settings, c.made, nullptr);
  cameo_watch(nullptr, nullptr);
  return status;
}

cameo_status limited(const CCall& c) {
  const cameo_status status = cameo_limit(c.settings);
  return status == CAMEO_OK ? cameo_simplify(c.model, nullptr, c.made, c.text) : status;
}

cameo_status interrupted(const CCall& c) {
  cameo_interrupt();
  const cameo_status status = cameo_infer(c.model, nullptr, c.made);
  cameo_resume();
  return status == CAMEO_OK ? status : cameo_infer(c.model, nullptr, c.made);
}

constexpr CFunction table[] = {
    {"describe", [](const CCall& c) { return cameo_describe(c.model, c.text); }},
    {"text", [](const CCall& c) { return cameo_text(c.model, c.text); }},
    {"findings", [](const CCall& c) { return cameo_findings(c.model, c.text); }},
    {"stats", [](const CCall& c) { return cameo_stats(c.model, c.text); }},
    {"weight", weight},
    {"load_bytes", load_bytes},
    {"bytes", bytes},
    {"save", [](const CCall& c) { return cameo_save(c.model, c.out, c.settings); }},
    {"save_checked", [](const CCall& c) { return cameo_save_checked(c.model, c.out, c.settings, c.text); }},
    {"export", [](const CCall& c) { return cameo_export(c.model, c.settings, c.made); }},
    {"simplify", [](const CCall& c) { return cameo_simplify(c.model, c.settings, c.made, c.text); }},
    {"quantize",
     [](const CCall& c) { return cameo_quantize(c.model, "inputs.npz", nullptr, c.settings, c.made, c.text); }},
    {"quantize_weights",
     [](const CCall& c) { return cameo_quantize_weights(c.model, samples(), nullptr, c.settings, c.made, c.text); }},
    {"quantize_dynamic", [](const CCall& c) { return cameo_quantize_dynamic(c.model, c.settings, c.made, c.text); }},
    {"convert_weights", [](const CCall& c) { return cameo_convert_weights(c.model, c.line(0), c.made, c.text); }},
    {"infer", [](const CCall& c) { return cameo_infer(c.model, c.settings, c.made); }},
    {"check", [](const CCall& c) { return cameo_check(c.model, c.settings, c.text); }},
    {"lint", [](const CCall& c) { return cameo_lint(c.model, c.settings, c.text); }},
    {"fix_lint", [](const CCall& c) { return cameo_fix_lint(c.model, c.settings, c.made, c.text); }},
    {"prepare", [](const CCall& c) { return cameo_prepare(c.model, c.settings, c.made, c.text); }},
    {"convert", [](const CCall& c) { return cameo_convert(c.model, 13, c.settings, c.made, c.text); }},
    {"extract", extract},
    {"edit", [](const CCall& c) { return cameo_edit(c.model, c.settings, c.made); }},
    {"merge", [](const CCall& c) { return cameo_merge(c.model, c.second, c.settings, c.made); }},
    {"diff", [](const CCall& c) { return cameo_diff(c.model, c.second, c.text); }},
    {"explain", [](const CCall& c) { return cameo_explain(c.model, nullptr, 0, c.text); }},
    {"operators", [](const CCall& c) { return cameo_operators(c.settings, c.text); }},
    {"rules", [](const CCall& c) { return cameo_rules(c.text); }},
    {"verify", [](const CCall& c) { return cameo_verify(c.model, c.second, c.settings, c.text); }},
    {"picture", [](const CCall& c) { return cameo_picture(c.model, 1, c.text); }},
    {"page", [](const CCall& c) { return cameo_page(c.model, c.line(0), c.text); }},
    {"watched", watched},
    {"limited", limited},
    {"interrupted", interrupted},
};

}  // namespace

std::span<const CFunction> c_functions() { return table; }

}  // namespace attack
