#include "cli/opened.h"

#include "cli/words.h"

namespace cameo::cli {

Model opened(const std::string& path, Out& out) {
  Model m = load(path);
  if (m.is_archive())
    throw error("use.archive", cat(path, " is a PyTorch archive; an ONNX model is needed"))
        .help(cat("cameo export ", path, " makes one"));
  out.diags(m.findings());
  return m;
}

}  // namespace cameo::cli
