#include "quant/samples/stream.h"

#include <cstdio>

#include "formats/npy.h"
#include "formats/npy_header.h"
#include "quant/samples/samples.h"
#include "runtime/arrays.h"
#include "runtime/inputs.h"

namespace cameo::quant {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t preamble = 12;  // magic, version, length of the header in 2 or 4 bytes
constexpr size_t most_header = 1 << 20;
constexpr uint64_t most_bytes = uint64_t{4} << 30;  // of one array

class Stream {
 public:
  explicit Stream(const Graph& g) : g_(g), params_(run_inputs(g, false)) {}

  bool next(std::vector<Datum>& inputs) {
    while (!ready_.next(inputs))
      if (!read_more()) return false;
    return true;
  }

 private:
  // Fewer than asked for only at the end.
  std::string read(uint64_t count) {
    std::string out;
    constexpr uint64_t piece = 1 << 20;
    while (count > 0) {
      const auto want = static_cast<size_t>(std::min(count, piece));
      const size_t before = out.size();
      out.resize(before + want);
      const size_t got = std::fread(out.data() + before, 1, want, stdin);
      out.resize(before + got);
      count -= got;
      if (got < want) break;
    }
    return out;
  }

  bool read_more() {
    std::string start = read(preamble);
    if (start.empty()) return false;
    if (start.starts_with("PK")) return read_npz(std::move(start));
    if (!start.starts_with(magic) || start.size() < preamble)
      throw error("file.not-npy", "standard input is neither .npy arrays nor an .npz");
    std::vector<Datum> inputs(run_inputs(g_).size());
    const auto all = run_inputs(g_);
    for (size_t i = 0; i < params_.size(); ++i) {
      if (i > 0) start = read(preamble);
      if (start.size() < preamble)
        throw error("file.damaged",
                    cat("standard input ends after ", i, " of the ", params_.size(), " arrays of a sample"));
      const size_t place = static_cast<size_t>(std::find(all.begin(), all.end(), params_[i]) - all.begin());
      inputs[place] = Datum(read_array(start, i));
    }
    ready_ = Rows(g_, std::move(inputs));
    return true;
  }

  Tensor read_array(std::string text, size_t i) {
    const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(text[at])); };
    if (!text.starts_with(magic)) throw error("file.not-npy", "standard input has something else after an array");
    const bool wide = byte(6) > 1;
    const size_t length = byte(8) | byte(9) << 8 | (wide ? byte(10) << 16 | byte(11) << 24 : 0);
    const size_t header = (wide ? 12 : 10) + length;
    if (header > most_header) throw error("file.damaged", "the header of an array on standard input is too long");
    text += read(header - preamble);
    npy::Array array;
    npy::read_header(text, "standard input", array);
    const uint64_t count = npy::element_count(array), item = npy::parse_descr(array.descr).item_bytes;
    if (item && count > most_bytes / item) throw error("file.damaged", "an array on standard input has over 4 GiB");
    const std::string data = read(count * item);
    const npy::Array whole = npy::read(Bytes::own(text + data), "standard input");
    return to_tensor(whole, g_[params_[i]].fact.dtype(), cat("'", g_[params_[i]].name, "'"));
  }

  bool read_npz(std::string start) {
    start += read(most_bytes);
    std::vector<Datum> inputs(run_inputs(g_).size());
    const auto all = run_inputs(g_);
    for (const auto& named : npy::read_npz(Bytes::own(start), "standard input"))
      for (size_t i = 0; i < all.size(); ++i)
        if (named.name == g_[all[i]].name || named.name == cat("x", i))
          inputs[i] = Datum(to_tensor(named.array, g_[all[i]].fact.dtype(), cat("'", named.name, "'")));
    ready_ = Rows(g_, std::move(inputs));
    return true;
  }

  const Graph& g_;
  std::vector<ValueId> params_;
  Rows ready_;
};

}  // namespace

Samples stream_samples(const Graph& g) {
  return [state = std::make_shared<Stream>(g)](std::vector<Datum>& inputs) { return state->next(inputs); };
}

}  // namespace cameo::quant
