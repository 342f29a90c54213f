// Methods about whole models: open, look, save.
#include <algorithm>
#include <filesystem>

#include "api/settings_json.h"
#include "formats/mapped_file.h"

#include "api/page/call.h"
#include "api/temporary_folder.h"
#include "cameo/archive.h"
#include "cameo/face.h"
#include "cameo/stats.h"

namespace cameo::page {

namespace {

Model load_offer(const std::string& name, const Offer& offer) {
  if (offer.model) return *offer.model;
  if (offer.read) return load_from(offer.size, offer.read);
  return load_buffer(offer.bytes, name);
}

// The name as the page shows it: without folders.
std::string short_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void write_summary(json::Writer& w, const Opened& m) {
  const Model& model = m.model;
  if (model.kind() == Model::Kind::torchscript) w.raw(to_json(torchscript_info(model), m.file));
  else if (model.kind() == Model::Kind::torch_export) w.raw(to_json(torch_export_info(model), m.file));
  else w.raw(summary_json(m.typed ? *m.typed : model, m.file));
}

std::string_view kind_name(const Model& m) {
  constexpr std::string_view names[] = {"onnx", "torchscript", "torch_export"};
  return names[static_cast<size_t>(m.kind())];
}

void write_head(json::Writer& w, int64_t number, const Opened& m) {
  w.key("model").value(number).key("file").value(m.file).key("name").value(short_name(m.file));
  w.key("from").value(m.from).key("verb").value(m.verb).key("command").value(m.command);
  w.key("kind").value(kind_name(m.model)).key("rewrites").value(uint64_t{m.ledger.size()});
}

void open_model(Call& call) {
  const std::string name = call.need_text("file");
  const auto offer = call.desk.offers.find(name);
  const auto& allowed = call.desk.settings.files;
  const bool from_disk = !call.has("blob") && offer == call.desk.offers.end();
  if (from_disk && std::find(allowed.begin(), allowed.end(), name) == allowed.end())
    throw error("use.file", cat("the file '", name, "' was not given to this desk"))
        .help("name it on the command line, or drop it on the page");
  Model model = from_disk          ? load(name)
                : call.has("blob") ? load_buffer(call.given(call.integer("blob", 0)), name)
                                   : load_offer(name, offer->second);
  const auto findings = model.findings();
  put_down(call,
           {.model = std::move(model),
            .file = name,
            .verb = "open",
            .command = cat("cameo show ", shell_file(name)),
            .in_memory = !from_disk},
           findings);
}

void close_model(Call& call) {
  call.model();
  call.desk.models.erase(call.handle());
  std::erase_if(call.desk.runs, [&](const auto& r) { return r.second.model == call.handle(); });
  call.out.object().end();
}

void list_models(Call& call) {
  call.out.object().key("models").array();
  for (const auto& [number, m] : call.desk.models) {
    call.out.object();
    write_head(call.out, number, m);
    call.out.end();
  }
  call.out.end().key("files").array();
  for (const auto& [name, offer] : call.desk.offers)
    if (offer.model) call.out.value(name);
  for (const std::string& f : call.desk.settings.files) call.out.value(f);
  call.out.end().end();
}

void show_model(Call& call) { write_summary(call.out, call.model()); }
void stats_of_model(Call& call) { call.out.raw(to_json(stats(call.model().with_types()))); }

void text_of_model(Call& call) {
  constexpr size_t most = 4u << 20;  // a page cannot show more
  std::string text = call.model().model.text();
  const bool cut = text.size() > most;
  if (cut) text.resize(text.rfind('\n', most) + 1);
  call.out.object().key("text").value(printable_lines(text)).key("cut").value(cut).end();
}

// The names of the model's file and of that of its weights, if it has one.
std::vector<std::string> write_files(const std::string& folder, const std::string& name, const Model& model,
                                     const SaveSettings& settings) {
  model.save(cat(folder, "/", name), settings);
  std::vector<std::string> out{name};
  std::error_code none;
  if (const std::string& data = settings.external_name;
      !data.empty() && std::filesystem::exists(cat(folder, "/", data), none))
    out.push_back(data);
  return out;
}

#if !defined(__EMSCRIPTEN__)
// Files as blobs, which the system reads as they are sent: the folder is gone before the reply.
void give_files(Call& call, const std::vector<std::string>& names, const std::string& folder) {
  call.out.key("files").array();
  for (const std::string& name : names) {
    const auto file = std::make_shared<support::Bytes>(formats::map_file(cat(folder, "/", name)));
    call.out.object().key("name").value(name).key("bytes").value(uint64_t{file->size()});
    if (const auto blob = call.give(Buffer{file, file->data(), file->size()})) call.out.key("blob").value(*blob);
    call.out.end();
  }
  call.out.end();
}
#endif

void need_plain(const std::string& name) {
  if (name.empty() || name.front() == '.' || name.find_first_of("/\\") != name.npos)
    throw error("use.file", cat("'", name, "' is not a plain file name"));
}

void save_model(Call& call) {
  Opened& m = call.model();
  const SaveSettings settings = faces::save_settings(call.json_text("settings"));
  if (m.model.is_archive()) throw error("use.archive", "a PyTorch archive is not written; export it first");
  call.progress("writing", 0, 1);
  if (call.has("name")) {
    if (!settings.external_name.empty()) need_plain(settings.external_name);
    const std::string name = call.need_text("name");
    return give_written(call, name, [&](const auto& folder) { return write_files(folder, name, m.model, settings); });
  }
  std::string bytes = m.model.bytes(settings);
  call.out.object().key("bytes").value(uint64_t{bytes.size()});
  if (const auto blob = call.give(std::move(bytes))) call.out.key("blob").value(*blob);
  call.out.end();
}

constexpr Method methods[] = {
    {"open", open_model},      {"close", close_model},  {"models", list_models}, {"show", show_model},
    {"stats", stats_of_model}, {"text", text_of_model}, {"save", save_model},
};

}  // namespace

void give_written(Call& call, const std::string& name,
                  const std::function<std::vector<std::string>(const std::string& folder)>& write) {
  need_plain(name);
  const std::string& folder = call.desk.settings.out;
  call.out.object().key("name").value(name);
  if (!folder.empty()) {
    call.out.key("files").array();
    for (const std::string& file : write(folder)) call.out.object().key("name").value(file).end();
    call.out.end();
  } else {
#if !defined(__EMSCRIPTEN__)
    const api::TemporaryFolder own;
    give_files(call, write(own.path), own.path);
#endif
  }
  call.out.end();
}

void put_down(Call& call, Opened made, const std::vector<Diag>& findings) {
  const bool preview = call.flag("preview");
  // "as": the number that it had before, where a desk is set up again.
  const int64_t as = call.integer("as", 0), number = preview                             ? 0
                                                     : as && !call.desk.models.count(as) ? as
                                                                                         : call.desk.next;
  call.desk.next = std::max(call.desk.next, number + 1);
  auto& w = call.out.object();
  write_head(w, number, made);
  if (!made.model.is_archive()) w.key("stats").raw(to_json(stats(made.with_types())));
  w.key("summary");
  write_summary(w, made);
  w.key("ledger").array();
  for (const Rewriting& r : made.ledger) w.raw(to_json(r));
  w.end().key("findings");
  write_findings(w, findings);
  if (!made.report.empty()) w.key("report").raw(made.report);
  w.end();
  if (!preview) call.desk.models.emplace(number, std::move(made));
}

std::span<const Method> model_methods() { return methods; }

}  // namespace cameo::page
