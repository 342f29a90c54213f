#include "formats/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "support/error.h"

namespace cameo::npy {

static std::string data_file(const char* name) { return std::string(CAMEO_SOURCE_DIR "/tests/data/formats/") + name; }

template <class T>
static std::vector<T> numbers(const Array& a) {
  std::vector<T> out(a.data.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), a.data.data(), a.data.size());
  return out;
}

template <class T>
static std::vector<T> upto(int n) {
  std::vector<T> out(static_cast<size_t>(n));
  std::iota(out.begin(), out.end(), T(0));
  return out;
}

static Array named(const std::vector<Named>& all, std::string_view name) {
  for (const auto& n : all)
    if (n.name == name) return n.array;
  ADD_FAILURE() << "no array " << name;
  return {};
}

static std::string code_of(const std::string& bytes, bool npz) {
  try {
    std::vector<Named> all;
    if (npz) all = read_npz(Bytes::own(bytes), "a");
    else all.emplace_back().array = read(Bytes::own(bytes), "a");
    for (const auto& n : all) {
      const Array p = plain(n.array);
      EXPECT_EQ(p.data.size(), element_count(p) * parse_descr(p.descr).item_bytes);
      if (const char kind = parse_descr(p.descr).kind; kind == 'U' || kind == 'S') to_strings(p);
    }
  } catch (const Error& e) {
    return e.diag().code;
  }
  return "";
}

TEST(Npy, ReadsNumPysArrays) {
  const auto all = load(data_file("arrays.npz"));
  EXPECT_EQ(all.size(), 11u);
  EXPECT_EQ(named(all, "f4").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(numbers<float>(named(all, "f4")), upto<float>(6));
  const Array fortran = named(all, "fortran");
  EXPECT_TRUE(fortran.fortran_order);
  EXPECT_EQ(numbers<double>(plain(fortran)), upto<double>(24));
  EXPECT_EQ(named(all, "big").descr, ">i4");
  EXPECT_EQ(plain(named(all, "big")).descr, "<i4");
  EXPECT_EQ(numbers<int32_t>(plain(named(all, "big"))), upto<int32_t>(6));
  EXPECT_EQ(to_strings(named(all, "text")), (std::vector<std::string>{"a", "ßé", "", "𝄞x"}));
  EXPECT_EQ(to_strings(named(all, "bytes")), (std::vector<std::string>{"ab", "c"}));
  EXPECT_EQ(named(all, "flag").descr, "|b1");
  EXPECT_EQ(numbers<float>(plain(named(all, "c8"))), (std::vector<float>{1, 2, 3, -4}));
  EXPECT_EQ(numbers<uint16_t>(named(all, "f2")), (std::vector<uint16_t>{0x3800, 0xc000}));
  EXPECT_TRUE(named(all, "scalar").shape.empty());
  EXPECT_EQ(numbers<int64_t>(plain(named(all, "scalar"))), std::vector<int64_t>{7});
  EXPECT_TRUE(named(all, "none").data.empty());
  EXPECT_EQ(named(all, "raw").descr, "|V2");
}

TEST(Npy, ReadsEachVersionAndOrder) {
  EXPECT_EQ(numbers<int32_t>(plain(load(data_file("version2.npy"))[0].array)), upto<int32_t>(3));
  const Array a = plain(load(data_file("big_fortran.npy"))[0].array);
  EXPECT_EQ(a.descr, "<i2");
  EXPECT_FALSE(a.fortran_order);
  EXPECT_EQ(numbers<int16_t>(a), upto<int16_t>(6));
}

TEST(Npy, RefusesWhatItCannotHold) {
  EXPECT_EQ(code_of(std::string(read_file(data_file("objects.npy")).text()), false), "file.unsupported");
  EXPECT_EQ(code_of(std::string(read_file(data_file("fields.npy")).text()), false), "file.unsupported");
  EXPECT_EQ(code_of("hello", false), "file.not-npy");
  EXPECT_THROW(load(data_file("objects.npy")), Error);
  EXPECT_EQ(code_of(std::string(read_file(data_file("deflated.zip")).text()), true), "file.not-npy");
  for (const char* descr : {"", "<", "f", "f3", "<f40", "c2", "M8[ns]", "x4", "f4 ", "U99999999999999999999", "-f4"})
    EXPECT_THROW(parse_descr(descr), Error) << descr;
}

TEST(Npy, WritesWhatItReads) {
  const auto all = load(data_file("arrays.npz"));
  std::string npz;
  NpzWriter w([&](std::span<const std::byte> d) { npz.append(reinterpret_cast<const char*>(d.data()), d.size()); });
  for (const auto& n : all) w.add(n.name, n.array);
  w.finish();
  const Bytes file = Bytes::own(npz);
  const auto again = read_npz(file, "again");
  ASSERT_EQ(again.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(again[i].name, all[i].name);
    EXPECT_EQ(again[i].array.descr, all[i].array.descr);
    EXPECT_EQ(again[i].array.shape, all[i].array.shape);
    EXPECT_EQ(again[i].array.data.text(), all[i].array.data.text());
    EXPECT_EQ((again[i].array.data.data() - file.data()) % 64, 0) << "aligned in the file";
  }
}

TEST(Npy, TextGoesThereAndBack) {
  const std::vector<std::string> text{"", "a", "ßé", "𝄞x"}, bytes{"\xff", "ok", "", "\xed\xa0\x80"};
  EXPECT_EQ(from_strings(text, {2, 2}).descr, "<U2");
  EXPECT_EQ(to_strings(from_strings(text, {2, 2})), text);
  EXPECT_EQ(from_strings(bytes, {4}).descr, "|S3");
  EXPECT_EQ(to_strings(from_strings(bytes, {4})), bytes);
  EXPECT_EQ(from_strings({}, {0}).descr, "<U1");
}

TEST(Npy, HeadersThatLieAreRefused) {
  Array a{.descr = "<f4", .shape = {1}, .data = Bytes::own("1234")};
  const auto file = [&](std::vector<int64_t> shape) {
    a.shape = std::move(shape);
    return header(a) + "1234";
  };
  EXPECT_EQ(code_of(file({1}), false), "");
  EXPECT_EQ(code_of(file({2}), false), "file.damaged");
  EXPECT_EQ(code_of(file({INT64_MAX, INT64_MAX, 4}), false), "file.damaged");
  EXPECT_EQ(code_of(file({INT64_MAX, 0}), false), "");
  EXPECT_EQ(code_of(file({-1}), false), "file.damaged");
  EXPECT_EQ(code_of(file(std::vector<int64_t>(65, 1)), false), "file.damaged");
  a.descr = "|S0";
  EXPECT_EQ(code_of(file({1000000000}), false), "file.damaged");
}

TEST(Npy, EveryTruncationAndBitFlipEnds) {
  for (const char* name : {"big_fortran.npy", "arrays.npz"}) {
    const bool npz = std::string_view(name).ends_with("z");
    const std::string bytes(read_file(data_file(name)).text());
    for (size_t n = 0; n < bytes.size(); ++n) code_of(bytes.substr(0, n), npz);
    std::string flipped = bytes;
    for (size_t bit = 0; bit < bytes.size() * 8; bit += npz ? 3 : 1) {
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      code_of(flipped, npz);
      flipped[bit / 8] = bytes[bit / 8];
    }
  }
}

}  // namespace cameo::npy
