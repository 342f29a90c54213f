// include/cameo/view.h: a model as a picture, and as a page that needs no server.
#include <algorithm>
#include <span>

#include "formats/mapped_file.h"
#include "support/error.h"
#include "support/file_bytes.h"

#include "api/page/call.h"
#include "api/page/embedded.h"
#include "api/page/scene.h"
#include "api/page/svg.h"
#include "cameo/check.h"
#include "cameo/page.h"
#include "cameo/stats.h"
#include "cameo/view.h"

namespace cameo {

namespace {

using support::cat;
using support::error;

constexpr std::string_view answered = R"({"ok":true,"result":)";

std::string request_of(std::string_view method, std::string_view params) {
  return cat(R"({"method":")", method, R"(","params":)", params, "}");
}

// Replies as the page asks for them: its RecordedEngine looks them up by method and parameters.
class Recorder {
 public:
  explicit Recorder(Desk desk) : desk_(std::move(desk)) {}

  // The result as JSON; a failed call throws its first finding, or gives "" where that is allowed.
  std::string record(std::string_view method, const std::string& params, bool may_fail = false) {
    const std::string reply = desk_.call(request_of(method, params));
    if (!reply.starts_with(answered)) {
      if (may_fail) return "";
      const json::Document d(support::Bytes::own(reply), "reply");
      const json::Value found = d.root()["errors"];
      if (!found.size()) throw error("budget.memory", "out of memory");
      const json::Value first = found[size_t{0}];
      throw error(first["code"].text(), std::string(first["what"].text()));
    }
    std::string result = reply.substr(answered.size(), reply.size() - answered.size() - 1);
    out_.key(cat(method, " ", params)).raw(result);
    return result;
  }
  json::Writer& out() { return out_; }

 private:
  Desk desk_;
  json::Writer out_;
};

std::string text_param(std::string_view text) {
  json::Writer w;
  w.value(text);
  return w.text();
}

// The panels of all items, and the weights that they name.
void record_items(Recorder& r, uint64_t items, uint64_t most_weight_bytes) {
  uint64_t bytes = 0;
  for (uint64_t i = 1; i < items; ++i) {
    const std::string node = r.record("node", cat(R"({"model":1,"item":)", i, "}"));
    const json::Document d(support::Bytes::own(node), "node");
    const json::Value inputs = d.root().find("inputs");
    if (!inputs) continue;
    for (const json::Value v : inputs.elements()) {
      const json::Value weight = v.find("weight");
      if (!weight) continue;
      bytes += static_cast<uint64_t>(weight["bytes"].integer());
      if (bytes > most_weight_bytes) continue;
      r.record("weight", cat(R"({"model":1,"item":)", i, R"(,"value":)", text_param(v["label"].text()), "}"), true);
    }
  }
}

// No text of a model may end the element that it stands in.
std::string for_script(std::string_view json_text) {
  std::string out;
  for (const char c : json_text) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

}  // namespace

bool has_module() { return page::page_has_module(); }
bool has_page() { return !page::embedded_page().empty(); }

std::string picture_svg(const Model& model, bool open_all) {
  const page::Tree tree = page::tree_of(infer(model));
  return page::svg_text(tree, page::scene_of(tree, open_all ? page::all_modules(tree) : page::first_open(tree)));
}

namespace {

// The page with data in the place for it.
std::string page_with(const std::string& html, std::string_view data) {
  constexpr std::string_view mark = R"(id="cameo-data">null<)";
  const size_t at = html.find(mark);
  support::invariant(at != html.npos, "the page has a place for data");
  const size_t place = at + mark.size() - 5;  // before "null<"
  return cat(html.substr(0, place), for_script(data), html.substr(place + 4));
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? static_cast<uint32_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += k <= n ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

// The model itself, in a page that carries the engine: everything works there.
std::string working_page(const std::string& file, std::span<const std::byte> bytes) {
  json::Writer w;
  std::string name = file.substr(file.rfind('/') + 1);
  if (name.ends_with(".onnxtxt")) name.resize(name.size() - 3);  // what it holds is no text any more
  w.object().key("model").object().key("name").value(name);
  w.key("base64").value(base64(bytes)).end().end();
  return page_with(std::string(page::needed_page()), w.text());
}

std::string recorded_page(Desk desk, const std::string& file, uint64_t most_weight_bytes) {
  Recorder r(std::move(desk));
  r.out().object().key("replies").object();
  const std::string opened = r.record("open", cat(R"({"file":)", text_param(file), "}"));
  r.record("models", "{}");
  if (json::Document(support::Bytes::own(opened), "open").root()["kind"].text() == "onnx") {
    r.record("graph", R"({"model":1})");
    const std::string all = r.record("graph", R"({"model":1,"all":true})");
    r.record("picture", R"({"model":1})");
    r.record("check", R"({"model":1})", true);
    record_items(r, static_cast<uint64_t>(json::Document(support::Bytes::own(all), "graph").root()["items"].integer()),
                 most_weight_bytes);
  }
  r.out().end().end();
  return page_with(page::page_without_module(), r.out().text());
}

}  // namespace

std::string page_html(const std::string& file, uint64_t most_weight_bytes) {
  if (page::page_has_module()) {
    const Model model = load(file);
    if (model.is_archive()) {
      const auto bytes = formats::map_file(file);
      if (length_of(bytes) <= most_weight_bytes) return working_page(file, bytes.span());
    } else if (stats(model).weight_bytes <= most_weight_bytes) return page_html(model, file, most_weight_bytes);
  }
  return recorded_page(Desk({.files = {file}}), file, most_weight_bytes);
}

std::string page_html(const Model& model, const std::string& name, uint64_t most_weight_bytes) {
  if (page::page_has_module() && !model.is_archive() && stats(model).weight_bytes <= most_weight_bytes) {
    const std::string bytes = model.bytes();
    return working_page(name, std::as_bytes(std::span(bytes)));
  }
  Desk desk;
  desk.offer(name, model);
  return recorded_page(std::move(desk), name, most_weight_bytes);
}

}  // namespace cameo
