// cameo run: a model on arrays.
#include <algorithm>
#include <chrono>
#include <ctime>

#include "cli/common.h"
#include "cli/verbs.h"
#include "engine/profile.h"
#include "engine/session.h"
#include "formats/json.h"
#include "formats/publication.h"
#include "ops/infer.h"
#include "runtime/arrays.h"
#include "runtime/inputs.h"
#include "runtime/watch.h"
#include "support/error.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"inputs", 0, "FILE", "an .npz (keys are input names, or x0, x1, ...), an .npy, or a test_data_set folder"},
    {"random", 0, "SEED", "make the inputs up; the same seed gives the same values everywhere"},
    {"dim", 0, "NAME=N",
     "a named size, for --random; 1 unless said. NAME=A..B: every run of --repeat takes the next of these"},
    {"output", 'o', "OUT.npz", "where the outputs go"},
    {"threads", 0, "N", "how many threads to use; all there are unless said"},
    {"repeat", 0, "N", "run N times and tell the times"},
    {"profile", 0, "FILE", "a Chrome trace of the last run, and a table of where its time went"},
    {"reference", 0, "", "with the plain kernels that the fast ones are judged by"},
    {"keep-outputs", 0, "PATTERN", "also give intermediate values whose name matches (* and ?)"},
};
constexpr Verb verb{
    "run",
    "IN",
    "run a model on arrays",
    "cameo run net.onnx --inputs x.npz -o y.npz\ncameo run net.onnx --random 0 --dim batch=8 --repeat 20",
    flags,
    1,
    1};

// A named size, or a range of sizes that the runs take in turn.
struct SizeRange {
  int64_t first = 1, last = 1;
  int64_t at(int64_t run) const { return first + run % (last - first + 1); }
};

std::map<std::string, SizeRange> named_sizes(const Args& args) {
  std::map<std::string, SizeRange> out;
  for (const std::string& d : args.values("dim")) {
    const auto [dim, size] = name_and_value("dim", d);
    const auto number = [&, &whole = size](std::string_view text) -> int64_t {
      if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != text.npos)
        throw error("use.value", cat("--dim wants a size or a range of them (A..B), not '", whole, "'"));
      return std::stoll(std::string(text));
    };
    const size_t dots = size.find("..");
    SizeRange r;
    r.first = r.last = number(std::string_view(size).substr(0, dots));
    if (dots != size.npos) r.last = number(std::string_view(size).substr(dots + 2));
    if (r.last < r.first)
      throw error("use.value", cat("--dim: ", r.first, " is more than ", r.last, " in '", size, "'"));
    out[dim] = r;
  }
  return out;
}

std::vector<Datum> made_up(const Graph& g, const std::vector<ValueId>& params, const Args& args, int64_t run) {
  std::map<std::string, int64_t> sizes;
  for (const auto& [dim, range] : named_sizes(args)) sizes[dim] = range.at(run);
  return random_inputs(g, params, static_cast<uint64_t>(args.integer("random", 0)), sizes);
}

bool sizes_change(const Args& args) {
  for (const auto& [dim, range] : named_sizes(args))
    if (range.first != range.last) return true;
  return false;
}

std::vector<Datum> gather_inputs(const Graph& g, const std::vector<ValueId>& params, const Args& args) {
  if (args.has("inputs") && args.has("random"))
    throw error("use.conflict", "--inputs and --random cannot be used together");
  if (const auto file = args.value("inputs")) return load_values(*file, g, params);
  const bool needs_inputs = std::any_of(params.begin(), params.end(), [&](ValueId v) { return !g[v].weight; });
  if (needs_inputs && !args.has("random"))
    throw error("use.inputs", "the model has inputs, and none were given")
        .help("--inputs FILE.npz, or --random SEED to make them up");
  return made_up(g, params, args, 0);
}

struct Times {
  double min = 0, median = 0, p99 = 0;
};
Times summary(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  const auto at = [&](double q) {
    return ms[std::min(ms.size() - 1, static_cast<size_t>(q * static_cast<double>(ms.size())))];
  };
  return {ms.front(), at(0.5), at(0.99)};
}

std::string shape_of(const Datum& d) {
  if (d.kind == Datum::Kind::sequence) return cat("sequence of ", d.items->size());
  if (d.kind == Datum::Kind::map) return cat("map of ", d.entries->size());
  if (d.kind == Datum::Kind::none) return "none";
  std::string out = cat(name(d.tensor.dtype()), "[");
  for (size_t i = 0; i < d.tensor.shape().size(); ++i) out += cat(i ? "," : "", d.tensor.shape()[i]);
  return out + "]";
}

void report(const std::vector<NamedDatum>& outputs, const std::vector<double>& ms, const std::vector<double>& cpu_ms,
            bool timed, const MemoryUse& memory, Out& out) {
  const Times t = summary(ms);
  if (out.json) {
    json::Writer w;
    w.object().key("outputs").array();
    for (const NamedDatum& o : outputs) w.object().key("name").value(o.name).key("type").value(shape_of(o.value)).end();
    w.end();
    w.key("runs")
        .value(uint64_t{ms.size()})
        .key("min_ms")
        .value(t.min)
        .key("median_ms")
        .value(t.median)
        .key("p99_ms")
        .value(t.p99);
    w.key("first_ms")
        .value(ms.front())
        .key("cpu_ms")
        .value(summary(cpu_ms).median)
        .key("arena_bytes")
        .value(memory.arena)
        .key("packed_bytes")
        .value(memory.weights)
        .end();
    return out.line(w.text());
  }
  for (const NamedDatum& o : outputs) out.line(cat(o.name, "  ", shape_of(o.value)));
  if (!timed) return;
  char text[120];
  std::snprintf(text, sizeof text, "%zu runs: min %.3f ms, median %.3f ms, p99 %.3f ms", ms.size(), t.min, t.median,
                t.p99);
  out.line(text);
  std::snprintf(text, sizeof text, "memory: %.1f MiB for a run, %.1f MiB of packed weights",
                static_cast<double>(memory.arena) / 1048576, static_cast<double>(memory.weights) / 1048576);
  out.line(text);
}

}  // namespace

int run_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const int64_t repeat = args->integer("repeat", 1, 1, 1'000'000'000);
  SessionOptions options;
  options.threads = static_cast<int>(args->integer("threads", 0, 1, 4096));
  options.fast = !args->has("reference");
  Publication files;
  const auto opened = [&](std::string_view flag) {
    return args->has(flag) ? &files.open(*args->value(flag)) : nullptr;
  };
  AtomicFile *const trace = opened("profile"), *const target = opened("output");
  Model m = open_model(args->operands[0], out);
  const auto params = run_inputs(m.graph);
  auto inputs = gather_inputs(m.graph, params, *args);
  check_inputs(m.graph, params, inputs);
  options.keep = matching_values(m.graph, args->list("keep-outputs"));
  const Session session(std::move(m), options);
  const Graph& g = session.graph();
  std::vector<double> ms, cpu_ms;
  std::vector<Datum> results;
  std::vector<StepTime> times;
  const bool changing = !args->has("inputs") && sizes_change(*args);
  for (int64_t i = 0; i < repeat; ++i) {
    if (changing) inputs = made_up(g, params, *args, i);
    out.progress("running", static_cast<uint64_t>(i), static_cast<uint64_t>(repeat));
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    results = session.run(inputs, args->has("profile") && i + 1 == repeat ? &times : nullptr);
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    cpu_ms.push_back(1000.0 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
  }
  out.progress("running", 1, 1);
  std::vector<NamedDatum> named;
  std::vector<ValueId> values = g[g.main()].outputs;
  values.insert(values.end(), options.keep.begin(), options.keep.end());
  for (size_t i = 0; i < values.size(); ++i) named.push_back({g[values[i]].name, results[i]});
  if (trace) trace->append(chrome_trace(times));
  if (target) write_npz(*target, named);
  publish(files, false, out);
  if (args->value("output") == "-") return 0;
  report(named, ms, cpu_ms, args->has("repeat"), session.memory(), out);
  if (args->has("profile") && !out.json) out.print(profile_table(times));
  return 0;
}

}  // namespace cameo::cli
