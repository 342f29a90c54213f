// The `cameo` command: finds the verb, runs it, turns what goes wrong into words and an exit code.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>

#include "cameo/version.h"
#include "engine/session.h"
#include "cli/stop.h"
#include "cli/verb.h"
#include "cli/verbs.h"
#include "formats/json.h"
#include "formats/mapped_file.h"
#include "ops/schema.h"
#include "support/budget.h"
#include "support/text.h"

namespace cameo::cli {

static_assert(version == CAMEO_PROJECT_VERSION, "include/cameo/version.h and CMakeLists.txt disagree");

namespace {

struct Row {
  std::string_view name, summary;
  int (*main)(Raw raw, Out& out);  // null: not built yet
};

constexpr Row verbs[] = {
    {"export", "a PyTorch archive to ONNX", export_main},
    {"simplify", "a smaller graph that computes the same", simplify_main},
    {"infer", "shapes and types of every value, symbolic", infer_main},
    {"check", "everything that is wrong with a model, at once", check_main},
    {"show", "inputs, outputs, operators, sizes of a model or archive", show_main},
    {"stats", "operators, parameters, work and memory of a model", stats_main},
    {"run", "run a model on arrays", run_main},
    {"verify", "compare two models, or a model and recorded outputs", verify_main},
    {"convert", "another opset, up or down; text and back", convert_main},
    {"merge", "two models into one", merge_main},
    {"ops", "which ATen operator becomes which ONNX operators", ops_main},
    {"extract", "a part of a model as a model", extract_main},
    {"edit", "change names, shapes, nodes, weights", edit_main},
    {"diff", "how two models differ, whatever their names", diff_main},
    {"quantize", "8-bit models", nullptr},
    {"lint", "what a deployment target will not take", nullptr},
    {"explain", "why a rewrite did not apply", explain_main},
    {"view", "the graph as a page or picture", nullptr},
    {"completion", "a script that completes verbs and flags in your shell", completion_main},
};

std::string cpu_features() {
  std::string out;
#if defined(__x86_64__) || defined(__i386__)
  const auto add = [&](const char* name, bool there) {
    if (there) out += out.empty() ? name : cat(" ", name);
  };
  add("sse4.2", __builtin_cpu_supports("sse4.2"));
  add("avx", __builtin_cpu_supports("avx"));
  add("avx2", __builtin_cpu_supports("avx2"));
  add("fma", __builtin_cpu_supports("fma"));
  add("avx512f", __builtin_cpu_supports("avx512f"));
#elif defined(__aarch64__)
  out = "neon";
#endif
  return out.empty() ? "none" : out;
}

int print_version(Out& out) {
  if (out.json) {
    json::Writer w;
    w.object();
    w.key("version").value(version);
    w.key("newest_opset").value(newest_released_opset);
    w.key("opset_in_development").value(newest_opset);
    w.key("archive_versions").object().key("torchscript").value("1-10").end();
    w.key("cpu").value(cpu_features());
    w.key("onednn").value(!onednn_version().empty());
    w.end();
    out.line(w.text());
    return 0;
  }
  out.line(cat("cameo ", version));
  out.line(cat("newest opset: ", newest_released_opset, " (", newest_opset, " in development)"));
  out.line("archives read: TorchScript 1 to 10");
  out.line(cat("CPU: ", cpu_features()));
  out.line(cat("oneDNN: ", onednn_version().empty() ? "no" : onednn_version()));
  return 0;
}

std::string overview() {
  std::string out = "cameo VERB [flags]: PyTorch models to ONNX, and everything around ONNX models\n\n";
  for (const Row& r : verbs)
    if (r.main) out += cat("  ", r.name, std::string(12 - r.name.size(), ' '), r.summary, "\n");
  return out + "\ncameo VERB --help says more, with an example. cameo --version [--json]\n";
}

int dispatch(std::string_view name, Raw rest, Out& out) {
  for (const Row& r : verbs) {
    if (r.name != name) continue;
    if (!r.main) throw error("use.not-built", cat("cameo ", name, " (", r.summary, ") is not built yet"));
    return r.main(rest, out);
  }
  std::vector<std::string_view> names;
  for (const Row& r : verbs) names.push_back(r.name);
  const auto close = nearest(name, names);
  throw error("use.unknown-verb", cat("there is no verb '", name, "'"))
      .help(close.empty() ? "cameo --help lists them" : cat("did you mean ", close, "?"));
}

// The flags that every verb honours, taken out wherever they stand before `--`.
struct Common {
  std::vector<std::string_view> rest;
  std::vector<std::string_view> budgets;  // "--max-time=5", or the flag and its value one after the other
};

Common take_common(std::span<char*> argv, Out& out) {
  Common c;
  bool literal = false;
  for (size_t i = 0; i < argv.size(); ++i) {
    const std::string_view a = argv[i];
    literal |= a == "--";
    const bool budget = !literal && std::any_of(std::begin(budget_flags), std::end(budget_flags), [&](const Flag& f) {
      return a.starts_with("--") && a.substr(2, a.find('=') - 2) == f.name;
    });
    if (!literal && a == "--json") out.json = true;
    else if (!literal && a == "-q") out.quiet = true;
    else if (!literal && a == "-v") out.verbose = true;
    else if (budget) {
      c.budgets.push_back(a);
      if (a.find('=') == a.npos && i + 1 < argv.size()) c.budgets.push_back(argv[++i]);
    } else c.rest.push_back(a);
  }
  return c;
}

// Gives the exit code. What was found in a file that changed meanwhile tells nothing about it.
int tell(const Error& found, Out& out) {
  try {
    if (!out.published) require_unchanged_files();
  } catch (const Error& changed) {
    out.diags(changed.diags());
    return changed.exit_code();
  }
  out.diags(found.diags());
  return found.diag().code == "budget.interrupted" ? interrupted_code() : found.exit_code();
}

int guarded(const Common& common, Out& out) {
  try {
    const std::vector<std::string_view>& args = common.rest;
    const LimitScope within(limits_of(common.budgets, out));
    int code = 0;
    if (args.empty() || args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
      out.print(overview());
      code = args.empty() ? 2 : 0;
    } else if (args[0] == "--list-verbs") {  // for shells
      for (const Row& r : verbs)
        if (r.main) out.print(cat(r.name, "\t", r.summary, "\n"));
    } else if (args[0] == "--version") {
      code = print_version(out);
    } else {
      code = dispatch(args[0], Raw(args).subspan(1), out);
    }
    if (!out.published) require_unchanged_files();
    out.flush();
    return code;
  } catch (const Error& e) {
    return tell(e, out);
  } catch (const std::bad_alloc&) {
    return tell(out_of_memory(), out);
  } catch (const std::length_error&) {  // of a container that no memory could hold
    return tell(out_of_memory(), out);
  } catch (const std::exception& e) {
    return tell(error("bug.exception", cat("this is a bug in Cameo: ", e.what())), out);
  }
}

}  // namespace

}  // namespace cameo::cli

int main(int argc, char** argv) {
  cameo::cli::Out out;
  cameo::cli::stop_on_signals();
  const auto args = cameo::cli::take_common({argv + 1, argv + std::max(argc, 1)}, out);
  const int code = cameo::cli::guarded(args, out);
  if (code == 4) {
    std::string line = "to reproduce: cameo";
    for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
    std::fprintf(stderr, "%s\n", cameo::support::printable(line).c_str());
  }
  return code;
}
