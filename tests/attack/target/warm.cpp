#include "tests/attack/target/warm.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

int command_main(int argc, char** argv);

namespace attack {

namespace {

constexpr const char* model = R"(<ir_version: 8, opset_import: ["" : 18]>
g (float[n,4] x, float[n,4] z) => (float[n,4] y) {
  c = Constant <value = float[4] {1.0, 2.0, 3.0, 4.0}> ()
  w = Constant <value = float[4,4] {1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0}> ()
  a = Add(x, c)
  m = MatMul(a, w)
  r = Relu(m)
  s = Softmax <axis = -1> (r)
  y = Mul(s, z)
}
)";

void call(std::initializer_list<const char*> words) {
  std::vector<std::string> kept{"cameo"};
  kept.insert(kept.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& w : kept) argv.push_back(w.data());
  argv.push_back(nullptr);
  command_main(static_cast<int>(kept.size()), argv.data());
}

// No thread starts in these: a fork loses them.
void call_verbs() {
  call({"--version"});
  call({"ops", "aten::add"});
  char folder[] = "/tmp/cameo-attack-warm-XXXXXX";
  if (!mkdtemp(folder)) return;
  const std::string in = std::string(folder) + "/m.onnxtxt", out = std::string(folder) + "/o.onnx";
  if (FILE* f = std::fopen(in.c_str(), "w")) std::fputs(model, f), std::fclose(f);
  const char *m = in.c_str(), *o = out.c_str();
  for (const char* verb : {"check", "stats", "show", "explain"}) call({verb, m});
  for (const char* verb : {"infer", "simplify", "extract", "onnxsim"}) call({verb, m, o});
  call({"convert", m, o, "--opset", "13"});
  call({"edit", m, o, "--strip"});
  call({"lint", m, "--target", "all"});
  call({"diff", m, m});
  call({"quantize", m, o, "--bits", "8"});
  call({"run", m, "--random", "1", "--dim", "n=2", "--reference", "--threads", "1"});
  unlink(o);
  unlink(m);
  rmdir(folder);
}

}  // namespace

void warm_up() {
  const int silent = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {0, 1}) dup2(silent, fd);
  const int errors = dup(2);
  dup2(silent, 2);
  call_verbs();
  std::fflush(stdout);
  dup2(errors, 2);
  close(errors);
  (void)dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);  // what the engine loads when it first needs it
}

}  // namespace attack
