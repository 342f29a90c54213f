#include "cli/common.h"

#include <algorithm>

namespace cameo::cli {

SaveSettings save_settings(const Verb& verb, const Args& args) {
  constexpr std::pair<std::string_view, Weights> modes[] = {
      {"keep", Weights::keep}, {"embed", Weights::embed}, {"external", Weights::external}};
  SaveSettings s;
  for (const std::string& word : args.values("weights")) {
    const auto* const mode =
        std::find_if(std::begin(modes), std::end(modes), [&](const auto& m) { return m.first == word; });
    if (mode == std::end(modes))
      throw error("use.value", cat("--weights ", word))
          .help(word.starts_with("int") && verb.name == "quantize"
                    ? cat("--bits ", word.substr(3), " quantizes weights; --weights says where they go")
                    : "keep, embed or external");
    s.weights = mode->second;
  }
  s.durable = args.has("durable");
  if (!args.has("no-provenance")) s.provenance = command_line(verb, args);
  return s;
}

std::string command_line(const Verb& verb, const Args& args) {
  std::string out(verb.name);
  for (const auto& given : args.given()) {
    const auto flag =
        std::find_if(verb.flags.begin(), verb.flags.end(), [&](const Flag& f) { return f.name == given.flag; });
    if (flag != verb.flags.end() && flag->value.find("FILE") != std::string_view::npos) continue;
    out += given.value.empty() ? cat(" --", given.flag) : cat(" --", given.flag, "=", given.value);
  }
  return out;
}

void save(const Model& m, const std::string& target, const SaveSettings& settings, Out& out) {
  Publication files;
  SaveSettings how = settings;
  how.progress = out.bar();
  out.diags(m.save(files, target, how));
  publish(files, settings.durable, out);
}

void publish(Publication& files, bool durable, Out& out) {
  require_unchanged_files();
  files.commit(durable);
  out.published = true;
}

}  // namespace cameo::cli
