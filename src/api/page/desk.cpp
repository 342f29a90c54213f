// include/cameo/page.h.
#include <algorithm>
#include <array>

#include "formats/json.h"
#include "support/error.h"
#include "support/near_name.h"

#include "api/page/call.h"
#include "cameo/face.h"
#include "cameo/limits.h"
#include "cameo/page.h"

namespace cameo {

struct Desk::State : page::Desktop {};

namespace {

using support::cat;
using support::error;

std::array<std::span<const page::Method>, 6> tables() {
  return {page::model_methods(), page::graph_methods(),   page::weight_methods(),
          page::verb_methods(),  page::finding_methods(), page::run_methods()};
}

const page::Method& method_of(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& table : tables())
    for (const page::Method& m : table) {
      if (m.name == name) return m;
      names.push_back(m.name);
    }
  const auto close = support::nearest(name, names);
  throw error("use.method", cat("there is no method '", name, "'"))
      .help(close.empty() ? "" : cat("did you mean ", close, "?"));
}

std::string failed(const Error& e) {
  json::Writer w;
  w.object().key("ok").value(false).key("errors");
  page::write_findings(w, e.diags());
  return w.key("exit_code").value(e.exit_code()).end().text();
}

std::string answer(page::Desktop& desk, std::string_view request, const DeskCall& with) {
  const json::Document document(support::Bytes::own(request), "the request", {.depth = 32, .bytes = 64u << 20});
  const json::Value root = document.root();
  if (!root.is_object() || !root.find("method") || !root["method"].is_string())
    throw error("use.method", "a request is an object with a method");
  const json::Value params = root.present("params");
  if (params && !params.is_object()) throw error("use.params", "params is not an object");
  page::Call call(desk, params, request, with);
  method_of(root["method"].text()).run(call);
  require_whole_files();
  return cat("{\"ok\":true,\"result\":", call.out.text(), "}");
}

}  // namespace

Desk::Desk(const DeskSettings& settings) : state_(std::make_unique<State>()) { state_->settings = settings; }
Desk::~Desk() = default;
Desk::Desk(Desk&&) noexcept = default;
Desk& Desk::operator=(Desk&&) noexcept = default;

Desk::State& Desk::state() const {
  if (!state_) throw error("use.moved-from", "the desk was moved from");
  return *state_;
}

void Desk::allow(const std::string& path) {
  auto& files = state().settings.files;
  if (std::find(files.begin(), files.end(), path) == files.end()) files.push_back(path);
}
void Desk::offer(const std::string& name, uint64_t size, ReadAt read) {
  state().offers[name] = {.size = size, .read = std::move(read)};
}
void Desk::offer(const std::string& name, Buffer bytes) {
  state().offers[name] = {.size = bytes.size, .bytes = std::move(bytes)};
}
void Desk::offer(const std::string& name, Model model) { state().offers[name] = {.model = std::move(model)}; }

std::string Desk::call(std::string_view request, const DeskCall& with) noexcept {
  try {
    try {
      return answer(state(), request, with);
    } catch (...) {
      return failed(caught());
    }
  } catch (...) {  // caught() has seen it; only memory can be missing now
    return R"({"ok":false,"errors":[],"exit_code":1})";
  }
}

std::vector<std::string> Desk::methods() {
  std::vector<std::string> out;
  for (const auto& table : tables())
    for (const page::Method& m : table) out.emplace_back(m.name);
  return out;
}

}  // namespace cameo
