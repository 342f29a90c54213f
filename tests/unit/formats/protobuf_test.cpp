#include "formats/protobuf.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace cameo::pb {

static void walk(Reader in, int depth) {
  while (auto f = in.next()) {
    std::vector<int64_t> ints;
    std::vector<float> floats;
    if (f.wire == Wire::varint) f.append_to(ints);
    if (f.number == 3) f.append_to(ints);
    if (f.number == 4) f.append_to(floats);
    if (f.number == 7 && depth < 20) walk(f.message(), depth + 1);
    if (f.number == 8) (void)f.text().size();
  }
}

static std::string sample() {
  Writer w;
  w.int64(1, -5);
  w.float32(2, 1.5f);
  w.packed(3, std::vector<int64_t>{1, -1, 300});
  w.packed(4, std::vector<float>{0.5f, -2.f});
  w.float64(5, 2.25);
  w.packed(6, std::vector<double>{1, 2});
  const auto outer = w.begin(7);
  const auto inner = w.begin(7);
  w.text(8, std::string(200, 'x'));
  w.end(inner);
  w.text(8, "after");
  w.end(outer);
  return w.take();
}

TEST(Protobuf, ReadsWhatItWrites) {
  const std::string bytes = sample();
  Reader in(bytes);
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::string text;
  while (auto f = in.next()) switch (f.number) {
      case 1:
        EXPECT_EQ(f.int64(), -5);
        EXPECT_EQ(f.int32(), -5);
        EXPECT_EQ(f.offset(), 0u);
        break;
      case 2: EXPECT_EQ(f.float32(), 1.5f); break;
      case 3: f.append_to(ints); break;
      case 4: f.append_to(floats); break;
      case 5: EXPECT_EQ(f.float64(), 2.25); break;
      case 6: f.append_to(doubles); break;
      case 7: {
        Reader outer = f.message();
        Reader inner = outer.next().message();
        text = inner.next().text();
        EXPECT_EQ(outer.next().text(), "after");
        break;
      }
    }
  in.throw_if_fault("sample");
  EXPECT_EQ(ints, (std::vector<int64_t>{1, -1, 300}));
  EXPECT_EQ(floats, (std::vector<float>{0.5f, -2.f}));
  EXPECT_EQ(doubles, (std::vector<double>{1, 2}));
  EXPECT_EQ(text, std::string(200, 'x'));
}

TEST(Protobuf, RepeatedNumbersMayBeUnpacked) {
  Writer w;
  w.int64(3, 7);
  w.int64(3, -8);
  w.float32(4, 1);
  w.float32(4, 2);
  Reader in(w.buffer());
  std::vector<int64_t> ints;
  std::vector<float> floats;
  while (auto f = in.next()) f.number == 3 ? f.append_to(ints) : f.append_to(floats);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(ints, (std::vector<int64_t>{7, -8}));
  EXPECT_EQ(floats, (std::vector<float>{1, 2}));
}

TEST(Protobuf, FaultsNameOffsetAndPath) {
  std::string bytes = sample();
  // The inner text claims one byte more than its message has.
  bytes[bytes.find("xxx") - 2] = static_cast<char>(0x80 | (201 & 0x7f));
  Reader in(bytes);
  walk(in, 0);
  ASSERT_TRUE(in.fault());
  EXPECT_EQ(in.fault()->path, (std::vector<uint32_t>{7, 7}));
  EXPECT_FALSE(in.next());
  try {
    in.throw_if_fault("m.onnx");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.diag().code, "file.damaged");
    EXPECT_EQ(e.diag().where.offset, in.fault()->offset);
    EXPECT_EQ(e.diag().because, "inside fields 7.7");
  }
}

TEST(Protobuf, WrongWireTypesAreFaultsNotCrashes) {
  Writer w;
  w.int64(1, 5);
  Reader in(w.buffer());
  const auto f = in.next();
  EXPECT_EQ(f.text(), "");
  EXPECT_EQ(f.float32(), 0.f);
  EXPECT_FALSE(f.message().next());
  EXPECT_EQ(in.fault()->what, "field 1 holds a varint where a run of bytes belongs");
}

TEST(Protobuf, DepthAndCountAreBounded) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    Writer w;
    w.bytes(7, bytes);
    bytes = w.take();
  }
  Reader deep(bytes, {.depth = 10});
  walk(deep, 0);
  EXPECT_EQ(deep.fault()->what, "messages are nested too deep");
  std::string many;
  for (int i = 0; i < 100; ++i) many += std::string("\x3a\x00", 2);
  Reader wide(many, {.messages = 50});
  walk(wide, 0);
  EXPECT_EQ(wide.fault()->what, "there are too many messages");
  const std::string opened(400, '\x0b');
  Reader groups(opened);
  EXPECT_FALSE(groups.next());
  EXPECT_EQ(groups.fault()->what, "groups are nested too deep");
}

TEST(Protobuf, UnknownGroupsAreSkipped) {
  const std::string bytes("\x0b\x10\x01\x13\x14\x0c\x18\x05", 8);  // 1 { 2: 1  2 {} }  3: 5
  Reader in(bytes);
  EXPECT_EQ(in.next().wire, Wire::group);
  EXPECT_EQ(in.next().int64(), 5);
  EXPECT_TRUE(in.ok());
}

TEST(Protobuf, EveryTruncationAndBitFlipEnds) {
  const std::string bytes = sample();
  for (size_t n = 0; n < bytes.size(); ++n) walk(Reader(std::string_view(bytes).substr(0, n)), 0);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    walk(Reader(flipped), 0);
  }
}

TEST(Protobuf, SizesAreComputedAsWritten) {
  for (const uint64_t length : {0ull, 127ull, 128ull, 1ull << 20}) {
    Writer w;
    w.header(16, length);
    EXPECT_EQ(w.size() + length, field_size(16, length));
  }
}

}  // namespace cameo::pb
