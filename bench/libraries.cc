// Hand-written parts against the libraries that do the same, for docs/dependencies.md. bench/libraries.py compiles and runs
// it; a library that is not installed is left out. Not a program of `make bench`: it needs packages that Cameo does not.
//
//   libraries DOCUMENT.json MODEL.onnx      prints lines: what, ours, the library's, unit
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#if __has_include(<re2/re2.h>)
#include <re2/re2.h>
#endif
#if __has_include(<openssl/sha.h>)
#include <openssl/sha.h>
#endif
#if __has_include(<png.h>)
#include <png.h>
#endif
#if __has_include(<xxhash.h>)
#include <xxhash.h>
#endif
#if __has_include(<simdjson.h>)
#include <simdjson.h>
#endif
#if __has_include(<protozero/pbf_reader.hpp>)
#include <protozero/pbf_reader.hpp>
#endif
#include <zlib.h>

#include "formats/deflate.h"
#include "formats/json.h"
#include "formats/protobuf.h"
#include "ops/text/regex.h"
#include "ops/vision/image.h"
#include "support/content_hash.h"
#include "support/sha256.h"

// Layers may have namespaces of their own.
namespace cameo {
namespace support {}
namespace formats {}
namespace ops {}
}  // namespace cameo
using namespace cameo;
using namespace cameo::support;
using namespace cameo::formats;
using namespace cameo::ops;

namespace {

volatile uint64_t sink;  // results go here, so that no call is dropped

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Seconds of one call: the best of seven turns, each of at least 50 ms.
template <class F>
double best(F call) {
  double least = 1e9;
  for (int turn = 0; turn < 7; ++turn) {
    const double start = processor_seconds();
    int calls = 0;
    double spent = 0;
    do {
      sink = sink + static_cast<uint64_t>(call());
      ++calls;
      spent = processor_seconds() - start;
    } while (spent < 0.05);
    least = std::min(least, spent / calls);
  }
  return least;
}

void told(const std::string& what, double ours, double theirs, const char* unit) { std::printf("%s\t%.4g\t%.4g\t%s\n", what.c_str(), ours, theirs, unit); }

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Megabytes that a call takes at its peak, in a process of its own.
template <class F>
[[maybe_unused]] double peak_mb(F call) {
  auto most = [](auto work) {
    const pid_t child = fork();
    if (child == 0) {
      work();
      _exit(0);
    }
    rusage used{};
    wait4(child, nullptr, 0, &used);
    return 1e-3 * static_cast<double>(used.ru_maxrss);
  };
  return most(call) - most([] {});
}

std::span<const std::byte> bytes_of(std::string_view s) { return std::as_bytes(std::span(s)); }

std::vector<std::string> words(size_t count) {
  std::vector<std::string> out;
  uint32_t state = 7;
  auto draw = [&](uint32_t below) { return (state = state * 1664525 + 1013904223) / 65536 % below; };
  for (size_t i = 0; i < count; ++i) {
    std::string s;
    for (uint32_t n = 5 + draw(20); n > 0; --n) s += static_cast<char>('a' + draw(26));
    if (i % 2) s += "@example.org";
    out.push_back(s);
  }
  return out;
}

#if __has_include(<re2/re2.h>)
void regular_expressions() {
  const auto texts = words(2000);
  for (const char* pattern : {R"([a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,4})", R"(.*example.*)", R"((a|b|c)*[d-z]+.*)"}) {
    const Regex ours(pattern);
    const re2::RE2 theirs(pattern);
    for (const auto& t : texts)
      if (ours.matches_all_of(t) != re2::RE2::FullMatch(t, theirs)) std::printf("# differs: %s on %s\n", pattern, t.c_str());
    told(std::string("regex ") + pattern, 1e9 / 2000 * best([&] { return std::count_if(texts.begin(), texts.end(), [&](auto& t) { return ours.matches_all_of(t); }); }),
         1e9 / 2000 * best([&] { return std::count_if(texts.begin(), texts.end(), [&](auto& t) { return re2::RE2::FullMatch(t, theirs); }); }), "ns per string");
    told(std::string("regex compiled ") + pattern, 1e6 * best([&] { return Regex(pattern).matches_all_of("a"); }),
         1e6 * best([&] { return re2::RE2(pattern).ok(); }), "us");
  }
  const std::string long_text(10000, 'a');
  const Regex ours("(a*)*b");
  const re2::RE2 theirs("(a*)*b");
  told("regex (a*)*b, 10,000 characters", 1e6 * best([&] { return ours.matches_all_of(long_text); }), 1e6 * best([&] { return re2::RE2::FullMatch(long_text, theirs); }), "us");
}
#endif

void unpacking() {
  std::string text;
  for (const auto& w : words(400'000)) text += w + ' ';
  std::string packed(compressBound(text.size()), '\0');
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  deflate(&z, Z_FINISH);
  packed.resize(z.total_out);
  deflateEnd(&z);
  std::string out(text.size(), '\0');
  const std::span<std::byte> to = std::as_writable_bytes(std::span(out));
  const double mb = 1e-6 * static_cast<double>(text.size());
  told("inflate", mb / best([&] { return portable::inflate_into(bytes_of(packed), to); }), mb / best([&] { return inflate_into(bytes_of(packed), to); }), "MB/s");
  told("crc32", mb / best([&] { return portable::crc32_of(bytes_of(text)); }), mb / best([&] { return crc32_of(bytes_of(text)); }), "MB/s");
}

void digests(std::string_view text) {
  [[maybe_unused]] const double mb = 1e-6 * static_cast<double>(text.size());
#if __has_include(<openssl/sha.h>)
  unsigned char digest[32];
  told("SHA-256", mb / best([&] { return sha256_hex(bytes_of(text)).size(); }),
       mb / best([&] { return SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest)[0]; }), "MB/s");
#endif
#if __has_include(<xxhash.h>)
  told("hash of contents", mb / best([&] { ContentHash h; h.add(bytes_of(text)); return h.value(); }), mb / best([&] { return XXH3_64bits(text.data(), text.size()); }), "MB/s");
#endif
}

#if __has_include(<png.h>)
void images() {
  constexpr size_t side = 1024;
  std::vector<uint8_t> pixels(side * side * 3);
  uint32_t state = 1;
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>((i / 3 % side + i / 3 / side) / 8 + ((state = state * 1664525 + 1013904223) >> 30));
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = side;
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr);
  std::string file(size, '\0');
  png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr);
  file.resize(size);
  if (decode_png(file)->rgb != pixels) std::printf("# differs: PNG\n");
  std::vector<uint8_t> out(pixels.size());
  told("PNG, 1024 x 1024", 1e3 * best([&] { return decode_png(file)->rgb[5]; }), 1e3 * best([&] {
         png_image in{};
         in.version = PNG_IMAGE_VERSION;
         png_image_begin_read_from_memory(&in, file.data(), file.size());
         in.format = PNG_FORMAT_RGB;
         png_image_finish_read(&in, nullptr, out.data(), 0, nullptr);
         return out[5];
       }), "ms");
}
#endif

// Every string, number and key once.
uint64_t walked(json::Value v) {
  using json::Kind;
  switch (v.kind()) {
    case Kind::string: return v.text().size();
    case Kind::integer: return static_cast<uint64_t>(v.integer());
    case Kind::number: return static_cast<uint64_t>(v.number());
    case Kind::array: {
      uint64_t sum = 0;
      for (const auto e : v.elements()) sum += walked(e);
      return sum;
    }
    case Kind::object: {
      uint64_t sum = 0;
      for (const auto [key, value] : v.members()) sum += key.size() + walked(value);
      return sum;
    }
    default: return 1;
  }
}

#if __has_include(<simdjson.h>)
uint64_t walked(simdjson::dom::element v) {
  using simdjson::dom::element_type;
  switch (v.type()) {
    case element_type::STRING: return std::string_view(v).size();
    case element_type::INT64: return static_cast<uint64_t>(int64_t(v));
    case element_type::UINT64: return uint64_t(v);
    case element_type::DOUBLE: return static_cast<uint64_t>(double(v));
    case element_type::ARRAY: {
      uint64_t sum = 0;
      for (const auto e : simdjson::dom::array(v)) sum += walked(e);
      return sum;
    }
    case element_type::OBJECT: {
      uint64_t sum = 0;
      for (const auto [key, value] : simdjson::dom::object(v)) sum += key.size() + walked(value);
      return sum;
    }
    default: return 1;
  }
}

void documents(const std::string& text) {
  const auto own = Bytes::own(text);
  const simdjson::padded_string padded(text);
  const double mb = 1e-6 * static_cast<double>(text.size());
  simdjson::dom::parser parser;
  if (walked(json::Document(own, "x").root()) != walked(parser.parse(padded).value())) std::printf("# differs: JSON\n");
  told("JSON checked", mb / best([&] { return json::Document(own, "x").root().is_array(); }), mb / best([&] { return parser.parse(padded).value().is_array(); }), "MB/s");
  told("JSON, memory beside the text", peak_mb([&] { sink = walked(json::Document(own, "x").root()); }), peak_mb([&] {
         simdjson::dom::parser fresh;
         sink = walked(fresh.parse(padded).value());
       }), "MB");
  told("JSON checked and all of it read", mb / best([&] { return walked(json::Document(own, "x").root()); }), mb / best([&] { return walked(parser.parse(padded).value()); }), "MB/s");
}
#endif

#if __has_include(<protozero/pbf_reader.hpp>)
// The nodes of a model: names of operands and operators, attributes opened.
uint64_t our_nodes(std::string_view file) {
  uint64_t sum = 0;
  pb::Reader model(file);
  while (auto f = model.next()) {
    if (f.number != 7) continue;
    auto graph = f.message();
    while (auto g = graph.next()) {
      if (g.number != 1) continue;
      auto node = g.message();
      while (auto n = node.next()) {
        if (n.number != 5) sum += n.text().size();
        else for (auto attribute = n.message(); auto a = attribute.next();) sum += a.number;
      }
    }
  }
  return sum;
}

uint64_t their_nodes(std::string_view file) {
  uint64_t sum = 0;
  protozero::pbf_reader model(file.data(), file.size());
  while (model.next()) {
    if (model.tag() != 7) { model.skip(); continue; }
    auto graph = model.get_message();
    while (graph.next()) {
      if (graph.tag() != 1) { graph.skip(); continue; }
      auto node = graph.get_message();
      while (node.next()) {
        if (node.tag() != 5) { sum += node.get_view().size(); continue; }
        for (auto attribute = node.get_message(); attribute.next(); attribute.skip()) sum += attribute.tag();
      }
    }
  }
  return sum;
}

void messages(const std::string& model) {
  const double mb = 1e-6 * static_cast<double>(model.size());
  if (our_nodes(model) != their_nodes(model)) std::printf("# differs: protobuf\n");
  told("protobuf, all nodes of a model", mb / best([&] { return our_nodes(model); }), mb / best([&] { return their_nodes(model); }), "MB/s");
}
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string document = contents(argv[1]);
#if __has_include(<re2/re2.h>)
  regular_expressions();
#endif
  unpacking();
  digests(document);
#if __has_include(<png.h>)
  images();
#endif
#if __has_include(<simdjson.h>)
  documents(document);
#endif
#if __has_include(<protozero/pbf_reader.hpp>)
  messages(contents(argv[2]));
#endif
  return 0;
}
