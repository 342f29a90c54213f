// A stranger's program: it sees cameo's public headers alone.
#include <cameo/build.h>
#include <cameo/diag.h>

#include <cstdio>

int main() {
  cameo::Builder g("line");
  g.output("y", 2.0 * g.input("x", "f32[batch,4]") + 1.0);
  if (g.bytes().empty()) return 1;
  cameo::Diag finding;
  finding.code = "file.truncated";
  finding.what = "net.onnx ends in the middle of a tensor";
  finding.where.file = "net.onnx";
  finding.where.offset = 128;
  try {
    throw cameo::Error(finding);
  } catch (const cameo::Error& e) {
    std::fputs(e.diag().render().c_str(), stdout);
    return e.exit_code() == 3 ? 0 : 1;
  }
}
