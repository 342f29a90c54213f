// A stranger's program: it sees cameo's public headers alone.
#include <cameo/build.h>
#include <cameo/diag.h>
#include <cameo/session.h>

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

int main() { return builds_a_model() && runs_it() && refuses_nonsense() ? 0 : 1; }
