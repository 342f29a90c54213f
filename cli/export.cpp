// cameo export: a PyTorch archive to ONNX.
#include "cameo/export.h"

#include <chrono>

#include "cameo/json.h"
#include "cameo/limits.h"
#include "cli/common.h"
#include "cli/export_flags.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Verb verb{"export",
                    "IN [OUT]",
                    "a PyTorch archive (TorchScript or torch.export) to ONNX, without PyTorch",
                    "cameo export net.pt -o net.onnx --input 'x=f32[batch,3,224,224]'\n"
                    "cameo export net.pt -o net.onnx --inputs example.npz --verify expected.npz",
                    export_flags,
                    1,
                    2};

// The report's file is opened before the work: a name that cannot be written fails first. It is written last, since it
// tells what the check of the written model found.
struct ReportFile {
  ReportFile(const std::string& name, const std::string& target)
      : page(name.ends_with(".html") || name.ends_with(".htm")), file(opened_file(name)) {
    if (file.goes_to(target))
      throw error("use.output", cat(target, " would be written twice")).help("give the report a name of its own");
  }
  Publication::File opened_file(const std::string& name) {
    if (!page && !name.ends_with(".json") && name != "-")
      throw error("use.value", cat("--report writes .html or .json, not '", name, "'"));
    return files.open(name);
  }
  void write(const Exported& e, const ExportReport& report) {
    file.append(page ? report_html(e, report) : report_json(e, report));
    files.commit();
  }

  const bool page;
  Publication files;
  Publication::File file;
};

// Findings are shown once the model is written, or when the export fails.
Exported exported(const std::string& in, ExportSettings settings, Out& out) {
  std::vector<Diag> found;
  settings.progress = out.bar();
  settings.on_finding = [&](const Diag& d) { found.push_back(d); };
  try {
    return export_model(load(in), settings);
  } catch (...) {
    out.diags(found);
    throw;
  }
}

std::vector<Diag> saved(const Exported& e, const std::string& target, const Args& args, Out& out) {
  SaveSettings settings{.durable = args.has("durable"), .progress = out.bar()};
  if (!args.has("no-provenance")) settings.provenance = command_line(verb, args);
  if (const auto expected = args.value("verify")) require_comparable(e, *expected);
  require_unchanged_files();
  auto notes = args.has("no-check") ? e.model.save(target, settings) : save_checked(e, target, settings);
  out.published = true;
  notes.insert(notes.begin(), e.findings.begin(), e.findings.end());
  return notes;
}

void tell(const Exported& e, const ExportReport& r, bool recorded, Out& out) {
  if (!out.json) {
    out.say(cat(r.source, " -> ", r.target, ": ", plural(e.model.node_count(), "node"), ", opset ", e.model.opset()));
    if (r.verified)
      out.say(cat("verified: ", plural(r.verified->outputs.size(), "output"), ", largest difference ",
                  r.verified->worst()));
    return;
  }
  json::Writer w;
  w.object().key("file").value(r.target).key("nodes").value(uint64_t{e.model.node_count()});
  w.key("opset").value(e.model.opset());
  if (r.verified) {
    w.key("verified").object().key("outputs").value(uint64_t{r.verified->outputs.size()});
    w.key("max_difference").value(r.verified->worst()).end();
  }
  if (recorded) w.key("recorded").value(e.recorded);
  w.end();
  if (r.target != "-") out.line(w.text());
}

}  // namespace

int export_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const auto start = std::chrono::steady_clock::now();
  ExportReport report{args->operands[0], "", command_line(verb, *args)};
  const std::string& in = report.source;
  report.target = export_target(*args);
  const ExportSettings settings = export_settings(*args);
  const VerifySettings tolerance = export_tolerance(*args);
  std::optional<ReportFile> report_file;
  if (const auto name = args->value("report")) report_file.emplace(*name, report.target);
  const Exported e = exported(in, settings, out);
  if (args->has("verbose") && !out.json) out.print(report.target == "-" ? "" : e.recorded);
  report.findings = saved(e, report.target, *args, out);
  out.diags(report.findings);
  if (const auto file = args->value("verify")) {
    report.verified = verify_saved(e, report.target, *file, tolerance);
    if (!report.verified->agree) throw Error(report.verified->findings());
  }
  const LimitScope telling{Limits()};  // the model is written: a time limit no longer applies
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (report_file) report_file->write(e, report);
  tell(e, report, args->has("verbose"), out);
  return 0;
}

}  // namespace cameo::cli
