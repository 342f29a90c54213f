// cameo export: a PyTorch archive to ONNX.
#include <chrono>
#include <filesystem>

#include "api/export_report.h"
#include "cameo/limits.h"
#include "cli/common.h"
#include "cli/export_flags.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "formats/atomic_file.h"
#include "support/error.h"

namespace cameo::cli {

namespace {

constexpr Verb verb{"export",
                    "IN",
                    "a PyTorch archive (TorchScript or torch.export) to ONNX, without PyTorch",
                    "cameo export net.pt -o net.onnx --input 'x=f32[batch,3,224,224]'\n"
                    "cameo export net.pt -o net.onnx --inputs example.npz --verify expected.npz",
                    export_flags,
                    1,
                    1};

// The report's file is opened before the work: a name that cannot be written fails first. It is written last, since it
// tells what the check of the written model found.
struct ReportFile {
  explicit ReportFile(const std::string& name)
      : page(name.ends_with(".html") || name.ends_with(".htm")), file(checked(name)) {}
  void write(const Exported& e, const ExportReport& report) {
    file.append(page ? report_html(e, report) : report_json(e, report));
    file.commit();
  }
  const std::string& checked(const std::string& name) const {
    if (!page && !name.ends_with(".json") && name != "-")
      throw error("use.value", cat("--report writes .html or .json, not '", name, "'"));
    return name;
  }

  const bool page;
  AtomicFile file;
};

void tell(const std::string& in, const std::string& target, const Exported& e, const ExportReport& r, bool recorded,
          Out& out) {
  if (out.json) {
    json::Writer w;
    w.object()
        .key("file")
        .value(target)
        .key("nodes")
        .value(uint64_t{e.model.graph.node_count()})
        .key("opset")
        .value(r.opset);
    if (r.verified)
      w.key("verified")
          .object()
          .key("outputs")
          .value(uint64_t{r.verified->outputs})
          .key("max_difference")
          .value(r.verified->worst)
          .end();
    if (recorded) w.key("recorded").value(e.recorded);
    w.end();
    if (target != "-") out.line(w.text());
    return;
  }
  out.say(cat(in, " -> ", target, ": ", plural(e.model.graph.node_count(), "node"), ", opset ", r.opset));
  if (r.verified)
    out.say(cat("verified: ", plural(r.verified->outputs, "output"), ", largest difference ", r.verified->worst));
}

}  // namespace

int export_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const auto start = std::chrono::steady_clock::now();
  const std::string in = args->operands[0];
  const std::string target =
      args->text("output", in == "-" ? "-" : std::filesystem::path(in).replace_extension(".onnx").string());
  ArchiveExport how = export_request(*args);
  std::optional<ReportFile> report_file;
  if (const auto name = args->value("report")) report_file.emplace(*name);
  how.trace = args->has("verbose") || report_file;
  if (report_file && report_file->file.goes_to(target))
    throw error("use.output", cat(target, " would be written twice")).help("give the report a name of its own");
  if (!args->has("no-provenance")) how.command = command_line(verb, *args);
  DiagSink sink;
  size_t shown = 0;
  const auto show_findings = [&] {
    for (; shown < sink.all().size(); ++shown) out.diag(sink.all()[shown]);
  };
  ExportReport report{in, target, command_line(verb, *args), *how.write.opset, 0, {}, {}};
  const Exported e = [&] {
    try {
      return export_archive(in, how, sink);
    } catch (...) {
      show_findings();  // what led to it
      throw;
    }
  }();
  if (args->has("verbose") && !out.json) out.print(target == "-" ? "" : e.recorded);
  require_unchanged_files();
  save_exported(e, target, how, sink);
  out.published = true;
  show_findings();
  if (!how.expected.empty()) report.verified = verify_exported(e, target, how);
  const LimitScope telling{Limits()};  // the model has its name: too late to be late
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.findings = sink.all();
  if (report_file) report_file->write(e, report);
  tell(in, target, e, report, args->has("verbose"), out);
  return 0;
}

}  // namespace cameo::cli
