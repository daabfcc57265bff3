#include "interop/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive.h"
#include "base/error.h"
#include "support.h"

namespace nmt::interop {
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
  EXPECT_THAT(message(Archive().add("liar", "aaaa", {.claimed = 1u << 31}).bytes()), HasSubstr("liar is compressed"));
  for (const char* name : {"../a", "/etc/a", "a/../../b", "..", "a\\b"})
    EXPECT_THAT(message(Archive().add(name, "x").bytes()), HasSubstr("leaves the folder")) << name;
  EXPECT_THAT(message(Archive().add("a", "x").add("a", "y").bytes()), HasSubstr("twice"));
  EXPECT_THAT(message(Archive().add("a", "xyz", {.checksum = 1}).bytes()), HasSubstr("checksum of a"));
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
}  // namespace nmt::interop
