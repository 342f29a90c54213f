// A stranger's program: it sees cameo's public headers alone.
#include <cameo/arrays.h>
#include <cameo/build.h>
#include <cameo/diag.h>
#include <cameo/export.h>
#include <cameo/model.h>
#include <cameo/session.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

// The builder infers as it goes.
static bool builds_a_model() {
  cameo::Builder g("line");
  auto x = g.input("x", "f32[batch,4]");
  auto a = g.weight("a", {4}, std::vector<float>{1, 2, 3, 4});
  g.output("y", a * x);
  return g.text().find("Mul") != std::string::npos;
}

// What was built runs.
static bool runs_it() {
  cameo::Builder g("double");
  auto x = g.input("x", "f32[n]");
  g.output("y", x + x);
  g.save("double.onnx");
  const cameo::Runnable net("double.onnx");
  const auto y = net.run({cameo::Array::of({2}, std::vector<float>{1, 2})});
  return y.size() == 1 && y[0].as<float>()[1] == 4;
}

// A wrong call is an error with a code and an exit status, not a crash.
static bool refuses_nonsense() try {
  cameo::Builder g("nonsense");
  g.op("NoSuchOperator", {});
  return false;
} catch (const cameo::Error& e) {
  std::fputs(e.diag().render().c_str(), stdout);
  return e.exit_code() == 1 && !e.diag().code.empty();
}

// An archive is exported, saved, loaded, inferred, checked, converted and run; the numbers are PyTorch's.
static bool exports_an_archive(const std::string& data) {
  const cameo::Net archive = cameo::load(data + "/blocks.pt");
  if (!archive.is_archive()) return false;
  cameo::export_onnx(archive, {.inputs = {"x=f32[batch,6]"}, .output_names = {"y"}, .opset = 17}).save("blocks.onnx");
  const cameo::Net net = cameo::infer(cameo::load("blocks.onnx"));
  if (net.inputs()[0].type != "f32[batch,6]" || net.outputs()[0].name != "y" || !cameo::check("blocks.onnx").empty()) return false;
  cameo::convert(net, 13).save("blocks13.onnx");
  const auto x = cameo::load_arrays(data + "/blocks_in.npz")[0].array;
  const auto wanted = cameo::load_arrays(data + "/blocks_out.npz")[0].array;
  for (const char* file : {"blocks.onnx", "blocks13.onnx"}) {
    const auto got = cameo::Runnable(file).run({x})[0];
    if (got.shape != wanted.shape) return false;
    for (size_t i = 0; i < wanted.as<float>().size(); ++i)
      if (std::fabs(got.as<float>()[i] - wanted.as<float>()[i]) > 1e-5f) return false;
  }
  return true;
}

static bool says_what_is_wrong(const std::string& data) try {
  cameo::export_onnx(cameo::load(data + "/custom.pt"), {.inputs = {"x=f32[b,3]"}});
  return false;
} catch (const cameo::Error& e) {
  return e.diag().code == "lower.no-rule" && e.diag().what.find("mylib::scale_shift") != std::string::npos;
}

int main(int count, char** arguments) {
  const std::string data = count > 1 ? arguments[1] : ".";
  return builds_a_model() && runs_it() && refuses_nonsense() && exports_an_archive(data) && says_what_is_wrong(data) ? 0 : 1;
}
