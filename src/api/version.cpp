// include/cameo/version.h.
#include "engine/session.h"
#include "support/error.h"

#include "cameo/json.h"
#include "cameo/opset.h"
#include "cameo/version.h"

namespace cameo {

namespace {

std::string cpu_features() {
  std::string out;
#if defined(__x86_64__) || defined(__i386__)
  const auto add = [&](const char* name, bool there) {
    if (there) out += out.empty() ? name : support::cat(" ", name);
  };
  add("sse4.2", __builtin_cpu_supports("sse4.2"));
  add("avx", __builtin_cpu_supports("avx"));
  add("avx2", __builtin_cpu_supports("avx2"));
  add("fma", __builtin_cpu_supports("fma"));
  add("avx512f", __builtin_cpu_supports("avx512f"));
#elif defined(__aarch64__)
  out = "neon";
#endif
  return out.empty() ? "none" : out;
}

}  // namespace

BuildInfo build_info() { return {cpu_features(), engine::onednn_version()}; }

std::string to_json(const BuildInfo& info) {
  json::Writer w;
  w.object().key("version").value(version).key("newest_opset").value(opsets::newest);
  w.key("opset_in_development").value(opsets::in_development);
  w.key("archive_versions").object().key("torchscript").value("1-10").end();
  w.key("cpu").value(info.cpu).key("onednn").value(!info.onednn.empty());
  return w.end().text();
}

}  // namespace cameo
