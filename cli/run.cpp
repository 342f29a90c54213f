// cameo run: a model on arrays.
#include <chrono>
#include <ctime>

#include "cameo/session.h"
#include "cli/common.h"
#include "cli/run_inputs.h"
#include "cli/run_report.h"
#include "cli/verbs.h"

namespace cameo::cli {

namespace {

constexpr Flag flags[] = {
    {"inputs", 0, "FILE", "an .npz (keys are input names, or x0, x1, ...), an .npy, or a test_data_set folder"},
    {"random", 0, "SEED", "random inputs; the same seed gives the same values everywhere"},
    {"dim", 0, "NAME=N",
     "the value of a named size, for --random; default: the smallest usual one that the model allows. NAME=A..B: "
     "every run of --repeat takes the next one"},
    {"output", 'o', "OUT.npz", "where the outputs go"},
    {"threads", 0, "N", "threads to use; default: all"},
    {"repeat", 0, "N", "run N times and print the times"},
    {"profile", 0, "FILE", "a Chrome trace of the last run, and a table of where its time went"},
    {"reference", 0, "", "use only the reference kernels"},
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

SessionSettings settings_of(const Args& args) {
  SessionSettings s;
  s.threads = static_cast<int>(args.integer("threads", 0, 1, 4096));
  s.reference = args.has("reference");
  s.keep_outputs = args.list("keep-outputs");
  return s;
}

}  // namespace

int run_main(Raw raw, Out& out) {
  const auto args = parse(verb, raw, out);
  if (!args) return 0;
  const int64_t repeat = args->integer("repeat", 1, 1, 1'000'000'000);
  const SessionSettings settings = settings_of(*args);
  Publication files;
  std::optional<Publication::File> trace, target;
  if (args->has("profile")) trace = files.open(*args->value("profile"));
  if (args->has("output")) target = files.open(*args->value("output"), {".npz"});
  Model m = opened(args->operands[0], out);
  RunInputs inputs(m, *args);
  if (args->has("random"))
    if (const auto sizes = inputs.sizes_text(m); !sizes.empty()) out.say(cat("made-up inputs: ", sizes));
  const Session session(std::move(m), settings);
  RunReport report{.timed = args->has("repeat")};
  std::vector<RunValue> results;
  std::vector<Step> steps;
  for (int64_t i = 0; i < repeat; ++i) {
    const auto& given = inputs.of(i);
    out.progress("running", static_cast<uint64_t>(i), static_cast<uint64_t>(repeat));
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    results = session.run_values(given, trace && i + 1 == repeat ? &steps : nullptr);
    report.ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    report.cpu_ms.push_back(1000.0 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
  }
  out.progress("running", 1, 1);
  const auto names = session.result_names();
  for (size_t i = 0; i < results.size(); ++i) report.outputs.emplace_back(names[i], std::move(results[i]));
  if (trace) trace->append(chrome_trace(steps));
  if (target) save_values(*target, report.outputs);
  publish(files, false, out);
  if (args->value("output") == "-") return 0;
  report_run(report, session, out);
  if (trace && !out.json) out.print(profile_table(steps));
  return 0;
}

}  // namespace cameo::cli
