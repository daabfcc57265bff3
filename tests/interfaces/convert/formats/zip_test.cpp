#include "convert/formats/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive.h"
#include "base/error.h"
#include "support.h"

namespace nmt::convert::zip_test {
namespace {

using test::Archive;
using test::as_bytes_of;
using test::message_of;
using testing::HasSubstr;

std::string text_of(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

TEST(Zip, FindsStoredMembers) {
  const auto file = Archive().add("a/data.pkl", "one").add("a/data/0", "").add("a/version", "three").bytes();
  const auto members = read_zip(as_bytes_of(file), "x.bin");
  ASSERT_EQ(members.size(), 3);
  EXPECT_EQ(text_of(members.at("a/data.pkl")), "one");
  EXPECT_EQ(text_of(members.at("a/data/0")), "");
  EXPECT_EQ(text_of(members.at("a/version")), "three");
}

TEST(Zip, RefusesWhatIsCompressedOrLeavesTheFolder) {
  const auto message = [](const std::string& file) {
    return message_of<Error>([&] { read_zip(as_bytes_of(file), "x.bin"); });
  };
  EXPECT_THAT(message(Archive().add("bomb", "aaaa", {.method = 8, .claimed = 1u << 31}).bytes()),
              HasSubstr("bomb is compressed"));
  EXPECT_THAT(message(Archive().add("liar", "aaaa", {.claimed = 1u << 31}).bytes()), HasSubstr("the length of liar"));
  for (const char* name : {"../a", "/etc/a", "a/../../b", "..", "a\\b"})
    EXPECT_THAT(message(Archive().add(name, "x").bytes()), HasSubstr("leaves the folder")) << name;
  EXPECT_THAT(message(Archive().add("a", "x").add("a", "y").bytes()), HasSubstr("twice"));
  EXPECT_THAT(message(Archive().add("a", "xyz", {.checksum = 1}).bytes()), HasSubstr("checksum of a"));
}

TEST(Zip, UnpacksAMemberOfNoBytes) {
  const auto file = Archive().add("a", "stored").add_deflated("b", "").bytes();
  std::deque<std::vector<std::byte>> unpacked;
  EXPECT_EQ(text_of(read_zip(as_bytes_of(file), "x.npz", unpacked).at("b")), "");
}

// Bytes that do not shrink to less than half.
std::string noise(size_t size) {
  std::string text;
  uint32_t state = 1;
  while (text.size() < size) text += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return text;
}

TEST(Zip, UnpacksWhatWeightsShrinkTo) {
  const std::string first = noise(100'000), second = noise(300) + std::string(300, 'x');
  const auto file = Archive().add_deflated("a", first).add("b", "stored").add_deflated("c", second).bytes();
  std::deque<std::vector<std::byte>> unpacked;
  const auto members = read_zip(as_bytes_of(file), "x.npz", unpacked);
  ASSERT_EQ(members.size(), 3);
  EXPECT_EQ(text_of(members.at("a")), first);
  EXPECT_EQ(text_of(members.at("b")), "stored");
  EXPECT_EQ(text_of(members.at("c")), second);
}

TEST(Zip, UnpacksNoBombs) {
  const auto message = [](const std::string& file) {
    std::deque<std::vector<std::byte>> unpacked;
    return message_of<Error>([&] { read_zip(as_bytes_of(file), "x.npz", unpacked); });
  };
  const std::string zeros(1 << 20, '\0');
  EXPECT_THAT(message(Archive().add_deflated("bomb", zeros).bytes()), HasSubstr("more than 2 times"));
  Archive many;  // each one is small enough
  for (int i = 0; i < 40; ++i) many.add_deflated(std::to_string(i), std::string(1000, 'x'));
  EXPECT_THAT(message(many.bytes()), HasSubstr("more than 2 times"));
  // Says less, or more, than comes out.
  const auto sum = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(zeros.data()), 100));
  for (const uint32_t claimed : {100u, 200u})
    EXPECT_THAT(message(Archive().add("liar", noise(200), {.method = 8, .claimed = claimed, .checksum = sum}).bytes()),
                HasSubstr("liar does not unpack"));
  EXPECT_THAT(message(Archive().add("odd", "aaaa", {.method = 12}).bytes()), HasSubstr("odd is compressed"));
}

TEST(Zip, SeesEveryCut) {
  const auto whole = Archive().add("a", "some text").add("b", "more").bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto cut = whole.substr(0, size);
    EXPECT_THROW(read_zip(as_bytes_of(cut), "x.bin"), Error) << size;
  }
}

TEST(Zip, AnyChangedByteIsAnErrorOrHarmless) {
  const auto whole = Archive().add("a", "some text").add("b", "more").bytes();
  for (size_t i = 0; i < whole.size(); ++i)
    for (const int change : {1, 128, 255}) {
      auto damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      try {
        for (const auto& [name, data] : read_zip(as_bytes_of(damaged), "x.bin")) EXPECT_LE(data.size(), whole.size());
      } catch (const Error&) {
      }
    }
}

}  // namespace
}  // namespace nmt::convert::zip_test
