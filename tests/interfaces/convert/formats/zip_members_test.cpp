#include "convert/formats/zip_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "archive.h"
#include "base/error.h"
#include "support.h"

namespace nmt::convert::zip_directory_test {
namespace {

using test::Archive;
using test::as_bytes_of;
using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

ZipMembers members_of(const std::string& file) { return read_zip(as_bytes_of(file), "x.bin"); }

std::string refusal(const std::string& file) {
  return message_of<Error>([&] { members_of(file); });
}

/// Bytes that do not shrink to less than half.
std::string noise(size_t size) {
  std::string text;
  uint32_t state = 1;
  while (text.size() < size) text += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return text;
}

TEST(ZipMembers, ReadsWhatIsStoredAndWhatIsDeflated) {
  const std::string first = noise(100'000), second = noise(300) + std::string(300, 'x');
  const auto file = Archive()
                        .add_deflated("a/0", first)
                        .add("a/version", "three")
                        .add_deflated("c", second)
                        .add_deflated("d", "")
                        .add("e", "")
                        .bytes();
  EXPECT_THAT(members_of(file), ElementsAre(Pair("a/0", first), Pair("a/version", "three"), Pair("c", second),
                                            Pair("d", ""), Pair("e", "")));
}

// torch.serialization.set_crc32_options(False)
TEST(ZipMembers, ReadsAnArchiveWithoutChecksums) {
  EXPECT_THAT(members_of(Archive().add("a", "xyz", {.checksum = 0}).bytes()), ElementsAre(Pair("a", "xyz")));
  EXPECT_THAT(refusal(Archive().add("a", "xyz", {.checksum = 1}).bytes()),
              HasSubstr("x.bin is no sound zip archive: a"));
}

TEST(ZipMembers, RefusesWhatGrows) {
  const std::string zeros(1 << 20, '\0');
  EXPECT_THAT(refusal(Archive().add_deflated("bomb", zeros).bytes()), HasSubstr("x.bin is larger than"));
  Archive many;  // each one is small enough
  for (int i = 0; i < 40; ++i) many.add_deflated(std::to_string(i), std::string(1000, 'x'));
  EXPECT_THAT(refusal(many.bytes()), HasSubstr("is larger than"));
  // Says less, or more, than comes out.
  for (const uint32_t claimed : {100u, 200u})
    EXPECT_THAT(refusal(Archive().add("liar", noise(200), {.method = 8, .claimed = claimed}).bytes()),
                HasSubstr("liar cannot be unpacked"));
  EXPECT_THAT(refusal(Archive().add("liar", "aaaa", {.claimed = 1u << 31}).bytes()), HasSubstr("is larger than"));
}

TEST(ZipMembers, AnyCutAndAnyChangedByteIsAnErrorOrHarmless) {
  const auto whole = Archive().add("a", "some text").add("b", "more").bytes();
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_THROW(members_of(whole.substr(0, size)), Error) << size;
  for (size_t i = 0; i < whole.size(); ++i)
    for (const int change : {1, 128, 255}) {
      auto damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      try {
        for (const auto& [name, data] : members_of(damaged)) EXPECT_LE(data.size(), 2 * whole.size());
      } catch (const Error&) {
      }
    }
}

}  // namespace
}  // namespace nmt::convert::zip_directory_test
