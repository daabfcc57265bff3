#include "archive/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive.h"
#include "base/error.h"
#include "support.h"

namespace nmt::zip_archive_test {
namespace {

using test::Archive;
using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& bytes, const ZipLimits& limits = {}) {
  return message_of<Error>([&] { ZipArchive archive(bytes, "the file", limits); });
}

TEST(ZipArchive, ReplacesSomeEntriesAndKeepsTheOthersPacked) {
  const std::string packed = std::string(5000, 'x');
  const auto file = Archive().add("mimetype", "some/type").add_deflated("b", packed).add_deflated("a", "old").bytes();
  const ZipArchive archive(file, "the file", {});
  EXPECT_THAT(archive.names(), ElementsAre("mimetype", "b", "a"));
  EXPECT_EQ(archive.read("b"), packed);
  const auto written = archive.replaced({{"a", "new text"}});
  const ZipArchive again(written, "the file", {});
  EXPECT_THAT(again.names(), ElementsAre("mimetype", "b", "a"));
  EXPECT_EQ(again.read("a"), "new text");
  EXPECT_EQ(again.read("b"), packed);
  // The stored entry stands first, as it was; the packed one has its bytes.
  EXPECT_EQ(written.substr(30, 17), "mimetypesome/type");
  const auto entry = [](const std::string& bytes) { return bytes.substr(bytes.find("PK\x03\x04", 40) + 31, 20); };
  EXPECT_EQ(entry(written), entry(file));
  EXPECT_EQ(archive.replaced({}), file);
}

TEST(ZipArchive, RefusesBombs) {
  EXPECT_THAT(refusal(Archive().add_deflated("a", std::string(3 << 20, 'a')).bytes()),
              HasSubstr("more than 200 times"));
  EXPECT_THAT(refusal(Archive().add_deflated("a", std::string(3 << 20, 'a')).bytes(), {.unpacked_bytes = 2 << 20}),
              HasSubstr("larger than 2097152 bytes"));
  EXPECT_THAT(refusal(Archive().add("a", "aaaa", {.method = 8, .claimed = 0xFFFFFFF0u}).bytes()),
              HasSubstr("the file grows to more than"));
  Archive many;
  for (int i = 0; i < 20; ++i) many.add(std::to_string(i), "");
  EXPECT_THAT(refusal(many.bytes(), {.entries = 10}), HasSubstr("20 entries, more than 10"));
}

TEST(ZipArchive, RefusesNamesThatLeaveTheFolder) {
  for (const char* name : {"../a", "/etc/a", "a/../../b", "..", "a\\b", "C:a"})
    EXPECT_THAT(refusal(Archive().add(name, "x").bytes()), HasSubstr("leaves its folder")) << name;
  EXPECT_THAT(refusal(Archive().add("a", "x").add("a", "y").bytes()), HasSubstr("twice"));
}

TEST(ZipArchive, RefusesWhatIsDamagedOrLocked) {
  const auto file = Archive().add_deflated("a", "some text that is packed").bytes();
  EXPECT_THAT(refusal("hello"), HasSubstr("the file is no sound zip archive"));
  EXPECT_THAT(refusal(file.substr(0, file.size() / 2)), HasSubstr("no sound zip archive"));
  const auto read = [](const std::string& bytes) {
    return message_of<Error>([&] { ZipArchive(bytes, "the file", {}).read("a"); });
  };
  EXPECT_THAT(read(Archive().add("a", "xyz", {.checksum = 1}).bytes()), HasSubstr("a cannot be unpacked"));
  EXPECT_THAT(read(Archive().add("a", "not deflated", {.method = 8}).bytes()), HasSubstr("a cannot be unpacked"));
  EXPECT_THAT(message_of<Error>([&] { ZipArchive(file, "the file", {}).read("b"); }), HasSubstr("has no b"));
}

}  // namespace
}  // namespace nmt::zip_archive_test
