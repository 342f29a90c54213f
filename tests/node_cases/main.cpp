// ONNX's node cases: every model is read, inferred and run with the reference kernels, and compared with what ONNX
// recorded.
//
// usage: node_cases [FOLDER] [--filter TEXT] [--symbolic] [--no-run] [--fast] [--quiet] [--expected FILE]
// FOLDER is $CAMEO_CONFORMANCE unless given. --symbolic replaces every size of every input by a symbol before
// inferring, and puts the numbers back to compare. --fast runs a Session with its fast kernels, within the same
// tolerances.
// --expected lists cases that fail for a reason, one `name: reason` a line; one of
// them that passes is a failure too.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/session.h"
#include "formats/json.h"
#include "formats/mapped_file.h"
#include "frontends/onnx/datum.h"
#include "frontends/onnx/reader.h"
#include "ops/infer.h"
#include "runtime/reference.h"

namespace fs = std::filesystem;
using namespace cameo;
using namespace cameo::tests;

namespace {

struct Options {
  std::string folder, filter, expected;
  bool symbolic = false, run = true, fast = false, quiet = false;
};

struct Tolerance {
  double rtol = 1e-3, atol = 1e-7;
};

// Recorded with numpy's own random generator: only shape and type can be compared.
bool values_are_random(const std::string& name) {
  static constexpr std::string_view patterns[] = {"bernoulli", "training_dropout"};
  return std::any_of(std::begin(patterns), std::end(patterns), [&](std::string_view p) {
    return name.find(p) != name.npos && name.find("_zero_ratio") == name.npos;
  });
}

std::vector<Datum> recorded(const fs::path& folder, const Graph& g, const std::vector<ValueId>& values,
                            std::string_view kind) {
  std::vector<Datum> out;
  for (size_t i = 0; i < values.size(); ++i) {
    const fs::path file = folder / cat(kind, "_", i, ".pb");
    if (!fs::exists(file)) break;
    out.push_back(read_datum(map_file(file.string()), g[values[i]].fact.type, file.string()));
  }
  return out;
}

std::string compare(const Datum& got, const Datum& want, const Tolerance& t, bool values);

std::string compare_tensors(const Tensor& got, const Tensor& want, const Tolerance& t, bool values) {
  if (got.dtype() != want.dtype()) return cat("dtype ", name(got.dtype()), " instead of ", name(want.dtype()));
  if (got.shape() != want.shape()) {
    std::string a, b;
    for (const auto d : got.shape()) a += cat(d, ",");
    for (const auto d : want.shape()) b += cat(d, ",");
    return cat("shape [", a, "] instead of [", b, "]");
  }
  if (!values) return "";
  if (got.dtype() == DType::string) return got == want ? "" : "strings differ";
  if (is_complex(got.dtype())) return got == want ? "" : "complex numbers differ";
  for (int64_t i = 0; i < got.count(); ++i) {
    const double a = got.double_at(i), b = want.double_at(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    if (!(std::fabs(a - b) <= t.atol + t.rtol * std::fabs(b))) return cat("element ", i, " is ", a, " instead of ", b);
  }
  return "";
}

std::string compare(const Datum& got, const Datum& want, const Tolerance& t, bool values) {
  if (got.kind != want.kind)
    return cat("kind ", static_cast<int>(got.kind), " instead of ", static_cast<int>(want.kind));
  if (got.kind == Datum::Kind::tensor) return compare_tensors(got.tensor, want.tensor, t, values);
  if (got.kind == Datum::Kind::sequence) {
    if (got.items->size() != want.items->size())
      return cat(got.items->size(), " items instead of ", want.items->size());
    for (size_t i = 0; i < got.items->size(); ++i)
      if (auto why = compare((*got.items)[i], (*want.items)[i], t, values); !why.empty())
        return cat("item ", i, ": ", why);
  }
  if (got.kind == Datum::Kind::map) {
    if (got.entries->size() != want.entries->size()) return "maps of different sizes";
    for (size_t i = 0; i < got.entries->size(); ++i)
      for (auto why : {compare((*got.entries)[i].first, (*want.entries)[i].first, t, values),
                       compare((*got.entries)[i].second, (*want.entries)[i].second, t, values)})
        if (!why.empty()) return cat("entry ", i, ": ", why);
  }
  return "";
}

struct Shapes {
  size_t from_data = 0;
  std::string wrong;
};

// An inferred type against a recorded value. Sizes that depend on data are counted, not compared.
void compare_type(const Type& type, const Datum& want, std::span<const Substitution> sizes, Shapes& out) {
  if (want.kind == Datum::Kind::none || !out.wrong.empty()) return;
  if (want.kind == Datum::Kind::sequence) {
    if (type.is_optional() && type.inner->is_sequence()) return compare_type(*type.inner, want, sizes, out);
    if (!type.is_sequence()) out.wrong = cat("inferred ", type.text(), " for a sequence");
    else if (!want.items->empty()) {
      Type element = *type.inner;
      if (element.is_tensor() && element.has_rank()) element.shape.reset();
      compare_type(element, (*want.items)[0], sizes, out);
      out.from_data = 0;
    }
    return;
  }
  if (want.kind == Datum::Kind::map) return;
  if (type.is_optional()) return compare_type(*type.inner, want, sizes, out);
  if (!type.is_tensor() || type.elem != want.tensor.dtype()) {
    out.wrong = cat("inferred ", type.text(), " for a tensor of ", name(want.tensor.dtype()));
    return;
  }
  if (!type.has_rank()) {
    ++out.from_data;
    return;
  }
  if (type.rank() != want.tensor.rank()) {
    out.wrong = cat("inferred ", type.text(), " for a tensor of rank ", want.tensor.rank());
    return;
  }
  for (size_t i = 0; i < type.shape->size(); ++i) {
    const Dim d = (*type.shape)[i];
    const auto known = evaluate(d, sizes);
    if (!known) ++out.from_data;
    else if (*known != want.tensor.shape()[i])
      out.wrong = cat("inferred ", type.text(), ", axis ", i, " is really ", want.tensor.shape()[i]);
  }
}

struct Report {
  size_t passed = 0, failed = 0, skipped = 0;
  std::map<std::string, std::string> failures, data_dependent;
};

std::vector<Substitution> make_symbolic(Graph& g) {
  std::vector<Substitution> sizes;
  size_t n = 0;
  for (const ValueId v : g[g.main()].inputs) {
    Type& t = g.fact(v).type;
    if (!t.is_tensor() || !t.has_rank()) continue;
    for (Dim& d : *t.shape) {
      if (!d.is_literal()) continue;
      const Dim symbol = g.dims().symbol(cat("s", n++));
      sizes.push_back({symbol, d});
      d = symbol;
    }
  }
  return sizes;
}

void run_case(const fs::path& folder, const Tolerance& tolerance, const Options& options, Report& report) {
  const std::string name = folder.filename().string();
  const auto fail = [&](std::string why) {
    ++report.failed;
    report.failures[name] = std::move(why);
  };
  try {
    DiagSink sink;
    Model model = read_onnx((folder / "model.onnx").string(), sink);
    Graph& g = model.graph;
    const fs::path data = folder / "test_data_set_0";
    const auto inputs = recorded(data, g, g[g.main()].inputs, "input");
    const auto outputs = recorded(data, g, g[g.main()].outputs, "output");
    const auto sizes = options.symbolic ? make_symbolic(g) : std::vector<Substitution>{};
    InferOptions how;
    how.keep_declared = false;
    const InferResult result = infer(g, model.functions, how);
    if (!result.findings.empty()) return fail(cat("infer: ", result.findings[0].what));
    Shapes shapes;
    for (size_t i = 0; i < outputs.size(); ++i)
      compare_type(g[g[g.main()].outputs[i]].fact.type, outputs[i], sizes, shapes);
    if (!shapes.wrong.empty()) return fail(shapes.wrong);
    if (shapes.from_data) report.data_dependent[name] = cat(shapes.from_data, " sizes");
    if (options.run && !options.symbolic) {
      const auto got = options.fast ? Session(model).run(inputs) : run_reference(model, inputs);
      for (size_t i = 0; i < outputs.size(); ++i)
        if (auto why = compare(got[i], outputs[i], tolerance, !values_are_random(name)); !why.empty())
          return fail(cat("output ", i, ": ", why));
    }
    ++report.passed;
  } catch (const Error& e) {
    if (e.diag().code == "eval.codec-library") ++report.skipped;  // an optional library that is not installed
    else fail(e.what());
  } catch (const std::exception& e) {
    fail(e.what());
  }
}

// Takes the expected failures out of the report; gives their number.
size_t settle_expected(const Options& options, Report& report) {
  size_t settled = 0;
  std::ifstream file(options.expected);
  for (std::string line; std::getline(file, line);) {
    const std::string name = line.substr(0, line.find(':'));
    if (name.empty() || name[0] == '#' || name.find(options.filter) == name.npos) continue;
    if (report.failures.erase(name)) {
      --report.failed;
      ++settled;
    } else {
      --report.passed;
      ++report.failed;
      report.failures[name] = "is listed as an expected failure and passes: remove it from the list";
    }
  }
  return settled;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view a = argv[i];
    if (a == "--filter" && i + 1 < argc) options.filter = argv[++i];
    else if (a == "--expected" && i + 1 < argc) options.expected = argv[++i];
    else if (a == "--symbolic") options.symbolic = true;
    else if (a == "--no-run") options.run = false;
    else if (a == "--fast") options.fast = true;
    else if (a == "--quiet") options.quiet = true;
    else options.folder = a;
  }
  if (const char* folder = std::getenv("CAMEO_CONFORMANCE"); folder && options.folder.empty()) options.folder = folder;
  if (options.folder.empty()) {
    std::puts(
        "usage: node_cases [FOLDER] [--filter TEXT] [--symbolic] [--no-run] [--fast] [--quiet] [--expected FILE]");
    return 2;
  }
  const fs::path root = options.folder;
  const json::Document index(map_file((root / "index.json").string()), "index.json");
  Report report;
  for (const auto& [name, about] : index.root().members()) {
    if (std::string_view(name).find(options.filter) == std::string_view::npos) continue;
    run_case(root / std::string(name), {about["rtol"].number(), about["atol"].number()}, options, report);
  }
  size_t skipped = report.skipped;
  if (!options.expected.empty()) skipped += settle_expected(options, report);
  if (!options.quiet) {
    for (const auto& [name, why] : report.failures) std::printf("FAILED %s: %s\n", name.c_str(), why.c_str());
    for (const auto& [name, why] : report.data_dependent)
      std::printf("data-dependent %s: %s\n", name.c_str(), why.c_str());
  }
  std::printf("%zu passed, %zu failed, %zu skipped\n", report.passed, report.failed, skipped);
  return report.failed != 0;
}
