// What `cameo infer IN OUT` does between its start and its end, phase by phase: read, infer, write.
//   bench_infer IN OUT          one model; the best of many turns, as JSON
//   bench_infer                 a generated graph of 20,000 nodes, in memory
// For models so small that starting a process takes longer than the work.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>

#include "api/model_file.h"
#include "formats/json.h"
#include "frontends/onnx/reader.h"
#include "ops/infer.h"
#include "ops/on.h"

namespace {

using namespace cameo;
using namespace cameo::api;

struct Spent {
  double read = 1e9, infer = 1e9, write = 1e9, processor = 1e9, wall = 1e9;
};

double processor_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double wall_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class Read, class Write>
Spent best_of(Read read, Write write, const std::string& fresh = {}) {
  Spent best;
  const double begun = wall_now();
  for (int turn = 0; turn < 5 || (wall_now() - begun < 1 && turn < 1000); ++turn) {
    if (!fresh.empty()) std::remove(fresh.c_str());  // as for most users, OUT is a new file
    const double wall = wall_now(), t0 = processor_now();
    Model m = read();
    const double t1 = processor_now();
    infer(m.graph, m.functions);
    const double t2 = processor_now();
    write(m);
    const double t3 = processor_now(), end = wall_now();
    best.read = std::min(best.read, t1 - t0);
    best.infer = std::min(best.infer, t2 - t1);
    best.write = std::min(best.write, t3 - t2);
    best.processor = std::min(best.processor, t3 - t0);
    best.wall = std::min(best.wall, end - wall);
  }
  return best;
}

WriteOptions options() {
  WriteOptions w;
  w.value_info = WriteOptions::ValueInfo::all;
  return w;
}

Spent of_file(const std::string& in, const std::string& out) {
  return best_of(
      [&] {
        DiagSink diags;
        return load_model(in, diags);
      },
      [&](Model& m) {
        save_model(m, out, options());
      },  // without the source's digest, which onnx does not write either
      out);
}

Bytes generated(int nodes) {
  Model m;
  m.opsets[""] = 18;
  Graph& g = m.graph;
  ValueId last = g.add_input(g.main(), "x", Type::tensor(DType::f32, {g.dims().symbol("n"), 8, 8}));
  const ValueId weight = g.add_constant(Tensor(DType::f32, {8, 8}, Bytes::own(std::vector<std::byte>(256))), "weight");
  On on(g, g.main());
  for (int i = 0; i + 6 <= nodes; i += 6) {
    last = on.MatMul(on.Add(on.Transpose(on.Relu(last), {.perm = std::vector<int64_t>{0, 2, 1}}), last), weight);
    last = on.Reshape(last, on.Shape(last));
  }
  g.set_region_outputs(g.main(), {last});
  return Bytes::own(std::string_view(write_onnx(m)));
}

Spent of_generated() {
  const Bytes file = generated(20000);
  return best_of(
      [&] {
        DiagSink diags;
        return read_onnx(file, "", diags);
      },
      [](Model& m) { write_onnx(m, options()); });
}

}  // namespace

int main(int argc, char** argv) {
  std::string in, out, report;
  for (int i = 1; i < argc; ++i) {
    const std::string_view a = argv[i], flag = "--benchmark_out=";  // how scripts/bench says where
    if (a.starts_with(flag)) report = a.substr(flag.size());
    else if (!a.starts_with("--")) (in.empty() ? in : out) = a;
  }
  const Spent s = in.empty() ? of_generated() : of_file(in, out);
  cameo::json::Writer w;
  w.object().key("model").value(in.empty() ? std::string_view("generated") : std::string_view(in));
  w.key("read_s").value(s.read).key("infer_s").value(s.infer).key("write_s").value(s.write);
  w.key("processor_s").value(s.processor).key("wall_s").value(s.wall).end();
  if (!report.empty()) std::ofstream(report) << w.text() << "\n";
  std::printf("%s\n", std::string(w.text()).c_str());
}
