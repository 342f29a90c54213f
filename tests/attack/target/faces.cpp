#include "tests/attack/target/faces.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/c.h"
#include "cameo/limits.h"
#include "cameo/page.h"

namespace attack {

namespace {

// The budgets that the campaign gives the command.
cameo::Limits hostile_limits() {
  cameo::Limits out;
  out.memory_bytes = uint64_t{700} << 20;
  out.seconds = 6;
  return out;
}

std::string contents(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// On both streams: the judge looks for bugs on the second.
int failed(const std::string& reply) {
  std::fprintf(stderr, "%s\n", reply.c_str());
  return reply.find("\"exit_code\":4") != reply.npos ? 4 : 1;
}

struct Text {
  char* text = nullptr;
  ~Text() { cameo_release_text(text); }
  void print() const {
    if (text) std::printf("%s\n", text);
  }
};
struct Handle {
  cameo_model* model = nullptr;
  ~Handle() { cameo_release_model(model); }
};

// What a call has to work with.
struct Call {
  const cameo_model* model;
  const cameo_model* second;
  const char* settings;
  cameo_model** out;
  char** text;
};

cameo_status run_model(const Call& c) {
  cameo_session* session = nullptr;
  cameo_status status = cameo_open_session(c.model, c.settings, &session);
  const float numbers[24] = {};
  const int64_t shape[] = {2, 3, 4};
  cameo_array input{nullptr, "f32", shape, 3, numbers, sizeof numbers};
  cameo_results* results = nullptr;
  if (status == CAMEO_OK) status = cameo_run(session, &input, 1, &results);
  for (size_t i = 0; i < cameo_result_count(results); ++i)
    if (status == CAMEO_OK) status = cameo_result(results, i, &input);
  cameo_release_results(results);
  cameo_release_session(session);
  return status;
}

struct Function {
  std::string_view name;
  cameo_status (*call)(const Call& c);
};
constexpr Function functions[] = {
    {"describe", [](const Call& c) { return cameo_describe(c.model, c.text); }},
    {"text", [](const Call& c) { return cameo_text(c.model, c.text); }},
    {"stats", [](const Call& c) { return cameo_stats(c.model, c.text); }},
    {"export", [](const Call& c) { return cameo_export(c.model, c.settings, c.out); }},
    {"simplify", [](const Call& c) { return cameo_simplify(c.model, c.settings, c.out, c.text); }},
    {"quantize",
     [](const Call& c) { return cameo_quantize(c.model, "inputs.npz", nullptr, c.settings, c.out, c.text); }},
    {"infer", [](const Call& c) { return cameo_infer(c.model, nullptr, c.out); }},
    {"check", [](const Call& c) { return cameo_check(c.model, nullptr, c.text); }},
    {"lint", [](const Call& c) { return cameo_lint(c.model, c.settings, c.text); }},
    {"fix_lint", [](const Call& c) { return cameo_fix_lint(c.model, c.settings, c.out, c.text); }},
    {"convert", [](const Call& c) { return cameo_convert(c.model, 13, c.settings, c.out, nullptr); }},
    {"edit", [](const Call& c) { return cameo_edit(c.model, c.settings, c.out); }},
    {"merge", [](const Call& c) { return cameo_merge(c.model, c.second, c.settings, c.out); }},
    {"diff", [](const Call& c) { return cameo_diff(c.model, c.second, c.text); }},
    {"explain", [](const Call& c) { return cameo_explain(c.model, nullptr, 0, c.text); }},
    {"verify", [](const Call& c) { return cameo_verify(c.model, c.second, c.settings, c.text); }},
    {"picture", [](const Call& c) { return cameo_picture(c.model, 1, c.text); }},
    {"run", run_model},
};

}  // namespace

int desk_main(int argc, char** argv) {
  if (argc < 4) return 2;
  const cameo::LimitScope within(hostile_limits());
  cameo::Desk desk({.files = {argv[2]}, .threads = 1});
  std::vector<cameo::Buffer> given;
  for (int i = 4; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--")) continue;
    const auto blob = std::make_shared<const std::string>(contents(argv[i]));
    given.push_back({blob, blob->data(), blob->size()});
  }
  const std::string requests = contents(argv[3]);
  int status = 0;
  for (size_t at = 0; at < requests.size() && status != 4;) {
    const size_t end = std::min(requests.find('\n', at), requests.size());
    std::vector<cameo::Buffer> results;
    const std::string reply = desk.call(requests.substr(at, end - at), {.given = given, .results = &results});
    std::printf("%s\n", reply.c_str());
    if (reply.starts_with("{\"ok\":false")) status = failed(reply);
    at = end + 1;
  }
  return status;
}

int c_main(int argc, char** argv) {
  if (argc < 6) return 2;
  const cameo::LimitScope within(hostile_limits());
  const auto it =
      std::find_if(std::begin(functions), std::end(functions), [&](const Function& f) { return f.name == argv[2]; });
  if (it == std::end(functions)) return 2;
  Handle model, second, made;
  Text text;
  const std::string settings = contents(argv[4]);
  cameo_status status = cameo_load(argv[3], &model.model);
  if (status == CAMEO_OK) status = cameo_load(argc > 6 ? argv[6] : argv[3], &second.model);
  if (status == CAMEO_OK) status = it->call({model.model, second.model, settings.c_str(), &made.model, &text.text});
  if (status == CAMEO_OK && made.model) status = cameo_save(made.model, argv[5], nullptr);
  if (status != CAMEO_OK) std::fprintf(stderr, "%s", cameo_last_findings());
  else text.print();
  return status;
}

}  // namespace attack
