#include "tests/attack/target/faces.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/limits.h"
#include "cameo/page.h"
#include "tests/attack/target/c_functions.h"

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

const CFunction* function_named(std::string_view name) {
  for (const auto& table : {c_functions(), c_run_functions()})
    for (const CFunction& f : table)
      if (f.name == name) return &f;
  return nullptr;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

int c_main(int argc, char** argv) {
  if (argc < 6) return 2;
  const cameo::LimitScope within(hostile_limits());
  const CFunction* function = function_named(argv[2]);
  if (!function) return 2;
  const std::string settings = contents(argv[4]);
  cameo_model *first = nullptr, *other = nullptr, *result = nullptr;
  char* told = nullptr;
  cameo_status status = cameo_load(argv[3], &first);
  const Model model(first);
  if (status == CAMEO_OK) status = cameo_load(argc > 6 ? argv[6] : argv[3], &other);
  const Model second(other);
  if (status == CAMEO_OK)
    status = function->call({first, other, argv[3], argv[5], settings.c_str(), lines_of(settings), &result, &told});
  const Model made(result);
  const Text text(told);
  if (status == CAMEO_OK && made) status = cameo_save(result, argv[5], nullptr);
  if (status != CAMEO_OK) std::fprintf(stderr, "%s", cameo_last_findings());
  else if (text) std::printf("%s\n", told);
  return status;
}

}  // namespace attack
