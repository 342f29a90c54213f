// Methods that make a new model of one: each is a function of include/cameo, with its settings as JSON.
#include <algorithm>

#include "api/edit_json.h"
#include "api/settings_json.h"

#include "api/page/call.h"
#include "api/page/command.h"
#include "cameo/check.h"
#include "cameo/convert.h"
#include "cameo/edit.h"
#include "cameo/export.h"

namespace cameo::page {

namespace {

Files files_of(Call& call, std::string_view word) { return {call.model().file, file_after(call.model().file, word)}; }

void simplify_model(Call& call) {
  SimplifySettings settings = faces::simplify_settings(call.json_text("settings"));
  settings.progress = [&](const char* what, uint64_t done, uint64_t all) { return call.progress(what, done, all); };
  Simplified s = simplify(call.model().model, settings);
  const Files files = files_of(call, "simplified");
  Opened made = made_of(call, s.model, "simplify", files, simplify_command(files, settings));
  made.ledger = std::move(s.ledger);
  put_down(call, std::move(made), s.findings);
}

void convert_model(Call& call) {
  ConvertSettings settings = faces::convert_settings(call.json_text("settings"));
  settings.progress = [&](const char* what, uint64_t done, uint64_t all) { return call.progress(what, done, all); };
  if (!settings.calibrate.empty()) throw error("use.file", "the page reads no files by path");
  Converted c = convert(call.model().model, settings);
  constexpr std::string_view words[] = {"", "f16", "bf16", "mixed"};
  const std::string word(words[static_cast<size_t>(settings.float_type)]);
  const Files files = files_of(call, settings.opset && word.empty() ? cat("opset", settings.opset)
                                     : word.empty()                 ? "converted"
                                                                    : word);
  put_down(call, made_of(call, c.model, "convert", files, convert_command(files, settings)), c.findings);
}

void infer_model(Call& call) {
  Model typed = infer(call.model().model);
  const auto findings = typed.findings();
  const Files files = files_of(call, "typed");
  put_down(call, made_of(call, std::move(typed), "infer", files, plain_command("infer", files)), findings);
}

void export_archive(Call& call) {
  ExportSettings settings = faces::export_settings(call.json_text("settings"));
  settings.progress = [&](const char* what, uint64_t done, uint64_t all) { return call.progress(what, done, all); };
  if (!settings.example_inputs.empty() || !settings.rules.empty())
    throw error("use.file", "the page reads no files by path").help("give the shapes of the inputs");
  Exported e = export_model(call.model().model, settings);
  const Files files = files_of(call, "");
  put_down(call, made_of(call, e.model, "export", files, export_command(files, settings)), e.findings);
}

void extract_part(Call& call) {
  const auto from = call.texts("inputs"), to = call.texts("outputs");
  const Files files = files_of(call, "part");
  put_down(call,
           made_of(call, extract(call.model().model, from, to), "extract", files, extract_command(files, from, to)),
           {});
}

void edit_model(Call& call) {
  faces::Edited e = faces::edited(call.model().model, call.value("changes"), false);
  const Files files = files_of(call, "edited");
  put_down(call, made_of(call, std::move(e.model), "edit", files, edit_command(files, e.flags)), {});
}

void merge_models(Call& call) {
  const MergeSettings settings = faces::merge_settings(call.json_text("settings"));
  const Opened& second = call.model("second");
  Model merged = merge(call.model().model, second.model, settings);
  const Files files = files_of(call, "merged");
  put_down(call, made_of(call, std::move(merged), "merge", files, merge_command(files, second.file, settings)), {});
}

void list_rules(Call& call) {
  call.out.array();
  for (const RuleInfo& r : rules()) call.out.object().key("name").value(r.name).key("class").value(r.kind).end();
  call.out.end();
}

void explain_rules(Call& call) {
  const Explanation e = explain(call.model().model, call.text("rule"));
  auto& w = call.out.object();
  for (const auto& [key, list] : {std::pair("applied", &e.applied), std::pair("refused", &e.refused)}) {
    w.key(key).array();
    for (const auto& p : *list)
      w.object().key("rule").value(p.rule).key("value").value(p.value).key("why").value(p.why).end();
    w.end();
  }
  w.end();
}

constexpr Method methods[] = {
    {"simplify", simplify_model},
    {"convert", convert_model},
    {"infer", infer_model},
    {"export", export_archive},
    {"extract", extract_part},
    {"edit", edit_model},
    {"merge", merge_models},
    {"quantize", quantize_model},
    {"quantize_dynamic", quantize_dynamically},
    {"quantize_weights", quantize_only_weights},
    {"rules", list_rules},
    {"explain", explain_rules},
};

}  // namespace

Opened made_of(Call& call, Model model, std::string_view verb, const Files& files, std::string command) {
  return {.model = std::move(model),
          .file = files.out,
          .from = call.handle(),
          .verb = std::string(verb),
          .settings = call.json_text("settings"),
          .command = std::move(command)};
}

std::span<const Method> verb_methods() { return methods; }

}  // namespace cameo::page
