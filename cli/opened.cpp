#include "cli/opened.h"

#include "support/error.h"

namespace cameo::cli {

cameo::Model opened(const std::string& path, Out& out) {
  cameo::Model m = load(path);
  if (m.is_archive())
    throw support::error("use.archive", support::cat(path, " is a PyTorch archive, and an ONNX model is wanted"))
        .help(support::cat("cameo export ", path, " makes one"));
  out.diags(m.findings());
  return m;
}

}  // namespace cameo::cli
