#include <algorithm>

#include "api/archive_info.h"
#include "cli/show.h"
#include "formats/json.h"
#include "support/error.h"

namespace cameo::cli {

namespace {

void print_json(const ArchiveInfo& info, const std::string& path, Out& out) {
  json::Writer w;
  w.object();
  w.key("file").value(path);
  w.key("kind").value("torchscript");
  w.key("archive_version").value(info.version);
  w.key("class").value(info.class_name);
  w.key("methods").array();
  for (const ArchiveMethod& m : info.methods) {
    w.object().key("name").value(m.name).key("signature").value(m.signature).key("example").array();
    for (const std::string& e : m.example) w.value(e);
    w.end().end();
  }
  w.end();
  json_operators(w, info.operators);
  w.key("tensors")
      .value(uint64_t{info.tensors})
      .key("parameters")
      .value(info.parameters)
      .key("weight_bytes")
      .value(info.weight_bytes);
  w.end();
  out.line(w.text());
}

void print_text(const ArchiveInfo& info, const std::string& path, Out& out) {
  out.line(cat(path, ": TorchScript archive, format version ", info.version, ", ", info.class_name));
  out.line(), out.line("methods");
  for (const ArchiveMethod& m : info.methods) {
    out.line(cat("  ", m.signature));
    if (!m.example.empty()) out.line(cat("      recorded with ", joined(m.example)));
  }
  print_operators(info.operators, out);
  out.line(), out.line(cat("parameters: ", count_text(info.parameters), " in ", info.tensors, " tensors, ",
                           bytes_text(info.weight_bytes)));
}

}  // namespace

void print_operators(const std::vector<ArchiveOperator>& operators, Out& out) {
  size_t calls = 0, width = 0;
  for (const ArchiveOperator& o : operators)
    calls += o.count, width = std::max(width, std::min(o.name.size(), widest_column));
  out.line(), out.line(cat("operators: ", calls, " calls of ", operators.size()));
  for (const ArchiveOperator& o : operators)
    out.line(cat("  ", padded(o.name, width), padded_left(cat(" ", o.count), 8), o.lowers ? "" : "  does not lower"));
}

void json_operators(json::Writer& w, const std::vector<ArchiveOperator>& operators) {
  w.key("operators").array();
  for (const ArchiveOperator& o : operators)
    w.object().key("name").value(o.name).key("count").value(uint64_t{o.count}).key("lowers").value(o.lowers).end();
  w.end();
}

int show_archive(torchscript::Program& program, bool text, Out& out) {
  if (text) {
    out.program(torchscript::dump(program));
    return 0;
  }
  const ArchiveInfo info = archive_info(program);
  if (out.json) print_json(info, program.path(), out);
  else print_text(info, program.path(), out);
  return 0;
}

}  // namespace cameo::cli
