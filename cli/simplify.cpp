// cameo simplify: a smaller graph that computes the same.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "api/simplify_check.h"
#include "backends/onnx/lean.h"
#include "cli/common.h"
#include "cli/show.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "formats/publication.h"
#include "passes/edit.h"
#include "passes/statistics.h"
#include "support/error.h"
#include "support/text.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"overwrite-input-shape", 0, "NAME:1,3,224,224",
     "fix an input's shape first; a size may be a name; NAME: may be left out where there is one input; repeatable"},
    {"check", 0, "N",
     "run the model before and after on N sets of inputs; a rewrite that changes an output is found, undone and named"},
    {"test-input-shape", 0, "NAME:1,3,224,224", "sizes for --check; repeatable"},
    {"rtol", 0, "X", "relative tolerance of --check; 1e-3 unless said"},
    {"atol", 0, "X", "absolute tolerance of --check; 1e-4 of an output's largest number unless said"},
    {"skip", 0, "RULE,…", "leave out these rules"},
    {"only", 0, "RULE,…", "apply these rules alone"},
    {"list-rules", 0, "", "every rule's name and class"},
    {"exact", 0, "", "only rules that keep every bit"},
    {"freeze-initializers", 0, "", "weights that are also inputs become constants"},
    {"no-fuse", 0, "", "make no bigger operators of several"},
    {"no-fold", 0, "", "compute nothing from constants"},
    {"sizes-may-be-zero", 0, "", "do not take named sizes of inputs to be at least 1"},
    {"unroll", 0, "N", "unroll loops of at most N rounds; loops of one round always"},
    {"no-shapes", 0, "",
     "do not write inferred shapes into the result; nor are they where the file would grow by more than 1 %"},
    {"ledger", 0, "FILE", "every application of a rule, as JSON lines"},
    weights_flag,
    no_provenance,
    durable_flag,
};
constexpr Verb verb{
    "simplify",
    "IN OUT",
    "a smaller graph that computes the same",
    "cameo simplify net.onnx simple.onnx\ncameo simplify net.onnx simple.onnx --overwrite-input-shape x:1,3,224,224",
    flags,
    0,
    2};

void list_rules(Out& out) {
  for (const RuleInfo& r : rule_list()) {
    if (!out.json) {
      out.line(cat(r.name, std::string(r.name.size() < 30 ? 30 - r.name.size() : 1, ' '), name(r.exactness)));
      continue;
    }
    json::Writer w;
    w.object().key("rule").value(r.name).key("class").value(name(r.exactness)).end();
    out.line(w.text());
  }
}

// "x:1,3,224,224", or the sizes alone where there is one input.
struct InputShape {
  std::string input;
  std::vector<std::string> sizes;
};
InputShape input_shape(const Model& m, std::string_view flag, const std::string& text) {
  const size_t colon = text.rfind(':');
  InputShape out{colon == text.npos ? "" : text.substr(0, colon),
                 split(text.substr(colon == text.npos ? 0 : colon + 1), ',')};
  const auto& inputs = m.graph[m.graph.main()].inputs;
  if (out.input.empty() && inputs.size() != 1)
    throw error("use.value", cat("--", flag, " ", text, ": the model has ", inputs.size(), " inputs, say which"))
        .help("NAME:1,3,224,224");
  if (out.input.empty()) out.input = m.graph[inputs[0]].name;
  return out;
}

CheckOptions check_options(const Args& args, const Model& m) {
  CheckOptions o;
  o.inputs = args.integer("check", 0, 0, 1000);
  if (args.has("rtol")) o.tolerance.rtol = args.number("rtol", 0);
  if (args.has("atol")) o.tolerance.atol = args.number("atol", 0);
  for (const std::string& text : args.values("test-input-shape")) {
    const InputShape given = input_shape(m, "test-input-shape", text);
    const Type& t = m.graph[find_value(m.graph, given.input)].fact.type;
    if (!t.has_rank() || static_cast<size_t>(t.rank()) != given.sizes.size())
      throw error("use.value", cat("--test-input-shape ", text, ": '", given.input, "' is ", t.text()));
    for (size_t i = 0; i < given.sizes.size(); ++i)
      if (const Dim d = (*t.shape)[i]; d.is_symbol())
        o.sizes[std::string(symbol_name(d))] = std::atoll(given.sizes[i].c_str());
  }
  return o;
}

SimplifyResult simplified(Model& m, int64_t opset, const Args& args, const SimplifyOptions& options, Out& out) {
  DiagSink diags;
  SimplifyResult result;
  if (!args.has("check")) result = simplify_for_opset(m, opset, options, false, &diags);
  else {
    CheckedResult checked = simplify_checked(m, opset, options, check_options(args, m), &diags);
    for (const Application& a : checked.undone)
      diags.warn("simplify.undone",
                 cat("the rewrite ", a.rule, " at '", a.value, "' changed an output and was undone"));
    for (const std::string& why : checked.skipped)
      diags.warn("simplify.not-checked", cat("one set of inputs could not be run: ", why));
    out.say(
        cat("checked on ", plural(checked.compared, "set"), " of inputs; the largest difference is ", checked.worst));
    result = std::move(checked.result);
  }
  out.diags(diags.all());
  return result;
}

SimplifyOptions options_of(const Args& args) {
  SimplifyOptions o;
  o.skip = args.list("skip");
  o.only = args.list("only");
  o.exact = args.has("exact");
  o.freeze_initializers = args.has("freeze-initializers");
  o.fuse = !args.has("no-fuse");
  o.fold = !args.has("no-fold");
  o.sizes_may_be_zero = args.has("sizes-may-be-zero");
  o.unroll = args.integer("unroll", 0, 0, 100000);
  return o;
}

struct Side {
  Statistics stats;
  std::optional<uint64_t> bytes;
};

std::optional<uint64_t> size_of(const std::string& path) {
  std::error_code code;
  const auto n = path == "-" ? uintmax_t{0} : std::filesystem::file_size(path, code);
  return path == "-" || code ? std::nullopt : std::optional<uint64_t>(n);
}

std::string table(const Side& a, const Side& b) {
  std::map<std::string, std::pair<size_t, size_t>> ops;
  for (const OpCount& o : a.stats.operators) ops[o.name].first = o.count;
  for (const OpCount& o : b.stats.operators) ops[o.name].second = o.count;
  size_t width = 10;
  for (const auto& [name, counts] : ops) width = std::max(width, std::min(printable(name).size(), widest_column));
  std::string out;
  const auto row = [&](const std::string& name, const std::string& before, const std::string& after) {
    out += cat(padded(printable(name), width), padded_left(before, 14), padded_left(after, 14), "\n");
  };
  row("operator", "before", "after");
  for (const auto& [name, counts] : ops) row(name, cat(counts.first), cat(counts.second));
  row("nodes", count_text(a.stats.nodes), count_text(b.stats.nodes));
  row("weights", bytes_text(a.stats.weight_bytes), bytes_text(b.stats.weight_bytes));
  if (a.bytes && b.bytes) row("file", bytes_text(*a.bytes), bytes_text(*b.bytes));
  row("MACs", a.stats.macs.text(), b.stats.macs.text());
  return out;
}

void write_ledger(AtomicFile& file, const std::vector<Application>& ledger) {
  for (const Application& a : ledger) {
    json::Writer w;
    w.object().key("rule").value(a.rule).key("class").value(name(a.exactness)).key("value").value(a.value);
    w.key("nodes_removed").value(uint64_t{a.removed}).key("nodes_added").value(uint64_t{a.added}).end();
    file.append(cat(w.text(), "\n"));
  }
}

void print_json(Out& out, const Side& a, const Side& b, const SimplifyResult& result, double ms, uint64_t peak) {
  json::Writer w;
  w.object().key("nodes_before").value(uint64_t{a.stats.nodes}).key("nodes_after").value(uint64_t{b.stats.nodes});
  for (const auto& [key, side] : {std::pair("before", &a), std::pair("after", &b)}) {
    w.key(cat("operators_", key)).object();
    for (const OpCount& o : side->stats.operators) w.key(o.name).value(uint64_t{o.count});
    w.end();
    if (side->bytes) w.key(cat("bytes_", key)).value(*side->bytes);
    w.key(cat("macs_", key));
    json_count(w, side->stats.macs);
  }
  w.key("applications")
      .value(uint64_t{result.ledger.size()})
      .key("rounds")
      .value(uint64_t{result.rounds})
      .key("ms")
      .value(ms)
      .key("peak_bytes")
      .value(peak)
      .end();
  out.line(w.text());
}

// The kernel's own figure where it tells: getrusage's begins with what the parent had at the fork.
uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

int simplify_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  if (args->has("list-rules")) return list_rules(out), 0;
  if (args->operands.size() != 2)
    throw error("use.operands", cat("simplify takes IN and OUT, and ", args->operands.size(), " are given"));
  const auto start = std::chrono::steady_clock::now();
  const std::string &in = args->operands[0], &target = args->operands[1];
  Publication files;
  AtomicFile* const ledger = args->has("ledger") ? &files.open(*args->value("ledger")) : nullptr;
  Model m = open_model(in, out);
  for (const std::string& text : args->values("overwrite-input-shape")) {
    const InputShape given = input_shape(m, "overwrite-input-shape", text);
    fix_shape(m, given.input, given.sizes);
  }
  std::optional<Side> before;
  SimplifyOptions options = options_of(*args);
  options.before = [&](const Model& read) {
    if (!before) before = Side{statistics(read), size_of(in)};
  };
  // A bar only for what takes long.
  options.progress = [&](size_t done, size_t left) {
    constexpr std::chrono::milliseconds patience{300};
    if (std::chrono::steady_clock::now() - start > patience) out.progress("simplifying", done, done + left);
  };
  const auto opset = m.opsets.find("");
  const SimplifyResult result =
      simplified(m, opset == m.opsets.end() ? newest_released_opset : opset->second, *args, options, out);
  out.progress("simplifying", 1, 1);
  WriteOptions write = write_options(*args);
  if (!args->has("no-shapes")) {
    write.value_info = WriteOptions::ValueInfo::all;
    constexpr uint64_t always = 1024;  // shapes and provenance of a small model
    if (const auto bytes = size_of(in)) write.shapes_up_to = *bytes + std::max(*bytes / 100, always);
  }
  if (ledger) write_ledger(*ledger, result.ledger);
  write_model(m, in, files, target, verb, *args, write, out);
  publish(files, write.durable, out);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const Side after{statistics(m), size_of(target)};
  if (out.json && target != "-") print_json(out, *before, after, result, ms, peak_bytes());
  else if (target != "-" && !out.quiet) {
    out.print(table(*before, after));
    out.line(cat("time", padded_left(cat(static_cast<int64_t>(ms), " ms"), 20), ", peak memory ",
                 bytes_text(peak_bytes()), ", ", plural(result.ledger.size(), "rewrite")));
  }
  return 0;
}

}  // namespace cameo::cli
