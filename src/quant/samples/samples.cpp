#include "quant/samples/samples.h"

#include <algorithm>
#include <filesystem>

#include "quant/samples/stream.h"
#include "runtime/arrays.h"
#include "runtime/inputs.h"
#include "support/ascii.h"
#include "support/error.h"

namespace cameo::quant {

namespace fs = std::filesystem;

namespace {

bool ends_with_any(std::string name, std::initializer_list<std::string_view> ends) {
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return ascii::to_lower(c); });
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view e) { return name.ends_with(e); });
}
bool is_array_file(const std::string& name) { return ends_with_any(name, {".npz", ".npy"}); }
bool is_picture(const std::string& name) {
  return ends_with_any(name,
                       {".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".pgm", ".pnm", ".tif", ".tiff", ".webp", ".jp2"});
}

// In the order of their names, so that the same folder gives the same model. What is no file is not waited for.
std::vector<std::string> files_of(const std::string& folder, bool pictures) {
  std::vector<std::string> out;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string name = it->path().string();
    std::error_code gone;
    if ((pictures ? is_picture(name) : is_array_file(name)) && fs::is_regular_file(name, gone)) out.push_back(name);
  }
  if (failed) throw error("file.unreadable", cat("cannot read the folder ", folder, ": ", failed.message()));
  std::sort(out.begin(), out.end());
  return out;
}

// Samples that are there already, and then those of the next file.
class FileSamples {
 public:
  FileSamples(const Graph& g, std::vector<std::string> files, std::optional<PictureOptions> pictures)
      : g_(g), files_(std::move(files)), pictures_(std::move(pictures)) {}

  bool next(std::vector<Datum>& inputs) {
    while (!ready_.next(inputs)) {
      if (at_ == files_.size()) return false;
      const std::string& file = files_[at_++];
      ready_ = Rows(g_, pictures_ && is_picture(file) ? std::vector{Datum(picture_tensor(file, g_, *pictures_))}
                                                      : load_values(file, g_, run_inputs(g_)));
    }
    return true;
  }

 private:
  const Graph& g_;
  std::vector<std::string> files_;
  std::optional<PictureOptions> pictures_;
  size_t at_ = 0;
  Rows ready_;
};

Tensor row_of(const Tensor& t, int64_t row) {
  std::vector<int64_t> shape = t.shape();
  const size_t bytes = t.bytes().size() / static_cast<size_t>(shape[0]);
  shape[0] = 1;
  return {t.dtype(), shape, t.bytes().slice(static_cast<size_t>(row) * bytes, bytes)};
}

}  // namespace

namespace {
// How many rows there are to be split; nothing where the inputs are one sample.
std::optional<int64_t> common_rows(const Graph& g, const std::vector<Datum>& inputs) {
  const auto params = run_inputs(g);
  int64_t rows = 0;
  std::optional<Dim> symbol;
  for (size_t i = 0; i < inputs.size() && i < params.size(); ++i) {
    if (inputs[i].kind == Datum::Kind::none) continue;
    const Type& t = g[params[i]].fact.type;
    if (inputs[i].kind != Datum::Kind::tensor || inputs[i].tensor.rank() == 0 ||
        is_sub_byte(inputs[i].tensor.dtype()) || inputs[i].tensor.dtype() == DType::string || !t.has_rank() ||
        t.rank() != inputs[i].tensor.rank())
      return std::nullopt;
    const Dim first = (*t.shape)[0];
    if (first.is_literal() ? first.literal() != 1 : symbol && *symbol != first) return std::nullopt;
    if (!first.is_literal()) symbol = first;
    const int64_t here = inputs[i].tensor.shape()[0];
    if (here == 0) return 0;                                 // a batch of nothing
    if (inputs[i].tensor.count() == 0) return std::nullopt;  // rows of nothing: no file limits how many
    if (rows && here != rows) return std::nullopt;
    rows = here;
  }
  return rows <= 1 ? std::nullopt : std::optional(rows);
}
}  // namespace

Rows::Rows(const Graph& g, std::vector<Datum> inputs) : inputs_(std::move(inputs)) {
  const auto rows = common_rows(g, inputs_);
  split_ = rows.has_value();
  count_ = rows.value_or(1);
}

bool Rows::next(std::vector<Datum>& row) {
  if (at_ == count_) return false;
  row.clear();
  for (const Datum& d : inputs_)
    row.push_back(split_ && d.kind == Datum::Kind::tensor ? Datum(row_of(d.tensor, at_)) : d);
  ++at_;
  return true;
}

Samples samples_from(const Graph& g, const std::string& path, const std::optional<PictureOptions>& pictures) {
  if (path == "-") return stream_samples(g);
  if (!fs::exists(path)) throw error("file.missing", cat("no such file: ", path));
  std::vector<std::string> files{path};
  if (fs::is_directory(path) && !fs::exists(fs::path(path) / "input_0.pb")) {
    files = files_of(path, pictures.has_value());
    if (files.empty())
      throw error("quantize.samples",
                  cat("the folder ", path, " has no ", pictures ? "pictures" : ".npz or .npy files"))
          .help(pictures ? "PNG, JPEG, BMP, PNM, TIFF, WebP" : "for pictures, say how they become inputs with --image");
  } else if (!pictures && is_picture(path)) {
    throw error("quantize.samples", cat(path, " is a picture")).help("say how pictures become inputs with --image");
  }
  return [state = std::make_shared<FileSamples>(g, std::move(files), pictures)](std::vector<Datum>& inputs) {
    return state->next(inputs);
  };
}

}  // namespace cameo::quant
