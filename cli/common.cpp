#include "cli/common.h"

#include <algorithm>

#include "formats/mapped_file.h"
#include "support/error.h"

namespace cameo::cli {

Model open_model(const std::string& path, Out& out) {
  DiagSink diags;
  Model m = load_model(path, diags);
  out.diags(diags.all());
  return m;
}

Model& open_to_stay(const std::string& path, Out& out) {
  static Model* const model = new Model(open_model(path, out));
  return *model;
}

WriteOptions write_options(const Args& args) {
  WriteOptions w;
  const std::string mode = args.text("weights", "keep");
  if (mode == "keep") w.weights = WeightMode::keep;
  else if (mode == "embed") w.weights = WeightMode::embed;
  else if (mode == "external") w.weights = WeightMode::external;
  else throw error("use.value", cat("--weights is keep, embed or external, not '", mode, "'"));
  w.durable = args.has("durable");
  return w;
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

void write_model(Model& m, const std::string& source, const std::string& target, const Verb& verb, const Args& args,
                 WriteOptions options, Out& out) {
  Publication files;
  write_model(m, source, files, target, verb, args, options, out);
  publish(files, options.durable, out);
}

void publish(Publication& files, bool durable, Out& out) {
  require_unchanged_files();
  files.commit(durable);
  out.published = true;
}

void write_model(Model& m, const std::string& source, Publication& files, const std::string& target, const Verb& verb,
                 const Args& args, WriteOptions options, Out& out) {
  if (!args.has("no-provenance")) {
    Provenance p;
    if (source != "-") p.source = map_file(source);
    p.command = command_line(verb, args);
    note_provenance(m, p);
  }
  DiagSink diags;
  save_model(m, files, target, options, &diags);
  out.diags(diags.all());
}

}  // namespace cameo::cli
