#include "base/files/protocol_buffer.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

namespace nmt::protocol_buffer_test {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;

// Bytes of protobuf.dev, "Encoding": field 1 is 150, field 2 the text "testing", field 3 the first message.
TEST(ProtocolBuffer, EncodesAsTheFormatsDescriptionDoes) {
  ProtocolMessage message;
  message.number(1, 150).bytes(2, "testing").message(3, ProtocolMessage().number(1, 150));
  EXPECT_EQ(message.encoded(), "\x08\x96\x01\x12\x07testing\x1a\x03\x08\x96\x01"sv);
  EXPECT_EQ(ProtocolMessage().real32(1, 1.5f).real64(2, -2).encoded(), "\x0d\0\0\xC0\x3F\x11\0\0\0\0\0\0\0\xC0"sv);
  EXPECT_EQ(ProtocolMessage().packed(6, std::vector<double>{0, 2}).encoded(),
            "\x32\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40"sv);
  EXPECT_EQ(ProtocolMessage().number(1, ~uint64_t{0}).encoded(), "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv);
}

TEST(ProtocolBuffer, ReadsWhatItWrote) {
  ProtocolMessage message;
  message.number(1, 1234567).bytes(2000, "ab").real32(3, 0.5f).real64(4, 2);
  std::vector<uint64_t> ids, numbers;
  ProtocolMessage copy;
  EXPECT_TRUE(for_each_field(message.encoded(), [&](const ProtocolField& field) {
    ids.push_back(field.id);
    numbers.push_back(field.type == WireType::kNumber ? field.number : field.bytes.size());
    copy.copy(field);
  }));
  EXPECT_THAT(ids, ElementsAre(1, 2000, 3, 4));
  EXPECT_THAT(numbers, ElementsAre(1234567, 2, 4, 8));
  EXPECT_EQ(copy.encoded(), message.encoded());
}

TEST(ProtocolBuffer, StopsAtWhatIsCutOrForeign) {
  const std::string whole = ProtocolMessage().number(1, 300).bytes(2, "ab").real64(3, 1).encoded();
  for (size_t size = 1; size < whole.size(); ++size) {
    if (size == 3 || size == 7) continue;  // between fields
    EXPECT_FALSE(for_each_field(whole.substr(0, size), [](const ProtocolField&) {})) << size;
  }
  for (const std::string_view bytes : {"\x0b"sv, "\x0f"sv, "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv})
    EXPECT_FALSE(for_each_field(bytes, [](const ProtocolField&) {}));
}

}  // namespace
}  // namespace nmt::protocol_buffer_test
