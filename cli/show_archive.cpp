#include "cli/show_archive.h"

#include <algorithm>

#include "cli/words.h"

namespace cameo::cli {

namespace {

void print_contents(const ArchiveContents& c, Out& out) {
  size_t calls = 0, width = 0;
  for (const ArchiveOperator& o : c.operators)
    calls += o.count, width = std::max(width, std::min(o.name.size(), widest_column));
  out.line(), out.line(cat("operators: ", calls, " calls of ", c.operators.size()));
  for (const ArchiveOperator& o : c.operators)
    out.line(cat("  ", padded(o.name, width), padded_left(cat(" ", o.count), 8), o.lowers ? "" : "  does not lower"));
  out.line(), out.line(cat("parameters: ", count_text(c.parameters), " in ", c.tensors, " tensors, ",
                           bytes_text(c.weight_bytes)));
}

void print_people(const TorchScriptInfo& info, const std::string& path, Out& out) {
  out.line(cat(path, ": TorchScript archive, format version ", info.version, ", ", info.class_name));
  out.line(), out.line("methods");
  for (const ArchiveMethod& m : info.methods) {
    out.line(cat("  ", m.signature));
    if (!m.example.empty()) out.line(cat("      recorded with ", joined(m.example)));
  }
  print_contents(info, out);
}

void print_values(std::string_view title, const std::vector<ValueInfo>& values, Out& out) {
  out.line(), out.line(title);
  size_t width = 0;
  for (const ValueInfo& v : values) width = std::max(width, std::min<size_t>(v.name.size(), 40));
  for (const ValueInfo& v : values) out.line(cat("  ", padded(v.name, width), "  ", v.type));
}

void print_people(const TorchExportInfo& info, const std::string& path, Out& out) {
  out.line(cat(path, ": torch.export archive",
               info.torch_version.empty() ? "" : cat(" of PyTorch ", info.torch_version), ", schema ", info.schema,
               info.training_ir ? ", not functional" : ""));
  if (info.programs.size() > 1) out.line(cat("programs: ", joined(info.programs), "; this is ", info.program));
  print_values("inputs", info.inputs, out);
  print_values("outputs", info.outputs, out);
  if (!info.written.empty()) out.line(), out.line(cat("written: ", joined(info.written)));
  out.line(), out.line(info.sizes.empty() ? "dynamic dims: none" : "dynamic dims");
  for (const ArchiveSize& s : info.sizes)
    out.line(cat("  ", s.symbol, "  ", s.lo ? cat(*s.lo) : "", "..", s.hi ? cat(*s.hi) : "",
                 s.place.empty() ? "" : cat("  ", s.place)));
  print_contents(info, out);
}

template <class Info>
void show(const Info& info, const std::string& path, Out& out) {
  if (out.json) out.line(to_json(info, path));
  else print_people(info, path, out);
}

}  // namespace

void show_archive(const Model& archive, const std::string& path, const std::string& method, Out& out) {
  if (archive.kind() == Model::Kind::torchscript) show(torchscript_info(archive), path, out);
  else show(torch_export_info(archive, method), path, out);
}

}  // namespace cameo::cli
