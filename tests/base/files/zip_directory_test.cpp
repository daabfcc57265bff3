#include "base/files/zip_directory.h"

#include <gmock/gmock.h>

#include <fstream>

#include "archive.h"
#include "base/error.h"
#include "base/files/line_reader.h"
#include "support.h"

namespace nmt::zip_directory_test {
namespace {

using test::Archive;
using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

class ZipMembers : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& bytes) {
    std::ofstream(folder_ / "x.zip", std::ios::binary) << bytes;
    return folder_ / "x.zip";
  }
  std::vector<std::string> lines_of(const std::filesystem::path& archive, const ZipMember& member) {
    LineReader reader(archive, member);
    EXPECT_EQ(reader.path(), archive / member.name);
    std::vector<std::string> lines;
    while (const auto line = reader.next()) lines.emplace_back(*line);
    return lines;
  }
  std::string refusal(const std::string& bytes) {
    const auto archive = write(bytes);
    return message_of<Error>([&] {
      for (const auto& member : list_zip_members(archive)) lines_of(archive, member);
    });
  }
  test::TemporaryDirectory folder_;
};

TEST_F(ZipMembers, AreReadLineByLine) {
  std::string large;
  for (int i = 0; i < 100'000; ++i) large += "line " + std::to_string(i) + "\n";
  const auto archive = write(Archive()
                                 .add("folder/", "")
                                 .add("folder/stored", "one\ntwo\nthree")
                                 .add_deflated("packed", large)
                                 .add_deflated("empty", "")
                                 .bytes());
  EXPECT_TRUE(is_zip_archive(archive));
  const auto members = list_zip_members(archive);
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[0].name, "folder/stored");
  EXPECT_THAT(lines_of(archive, members[0]), ElementsAre("one", "two", "three"));
  const auto lines = lines_of(archive, members[1]);
  ASSERT_EQ(lines.size(), 100'000u);
  EXPECT_EQ(lines.back(), "line 99999");
  EXPECT_THAT(lines_of(archive, members[2]), ElementsAre());
}

// The records of ZIP64, as of archives beyond 4 GiB, by hand after the APPNOTE, and a comment that holds an end's
// signature.
TEST_F(ZipMembers, OfLargeArchivesAreFound) {
  // A member of 4 bytes, whose sizes and place stand in the extra field alone.
  using test::number;
  const std::string all = "\xFF\xFF\xFF\xFF";
  const std::string kind = number(uint16_t{45}) + number(uint16_t{0}) + number(uint16_t{0}) + number(uint32_t{0});
  const std::string sum = number(static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>("a\nb\n"), 4)));
  const std::string name = number(uint16_t{1});
  const std::string body = "PK\x03\x04" + kind + sum + all + all + name + number(uint16_t{0}) + "xa\nb\n";
  const std::string extra = number(uint16_t{9}) + number(uint16_t{1}) + "?" + number(uint16_t{1}) +
                            number(uint16_t{24}) + number(uint64_t{4}) + number(uint64_t{4}) + number(uint64_t{0});
  const std::string directory = "PK\x01\x02" + number(uint16_t{45}) + kind + sum + all + all + name +
                                number(static_cast<uint16_t>(extra.size())) + std::string(10, '\0') + all + "x" + extra;
  const std::string end64 = "PK\x06\x06" + number(uint64_t{44}) + number(uint32_t{0}) + number(uint64_t{0}) +
                            number(uint64_t{1}) + number(uint64_t{1}) + number(uint64_t{directory.size()}) +
                            number(uint64_t{body.size()});
  const std::string locator =
      "PK\x06\x07" + number(uint32_t{0}) + number(uint64_t{body.size() + directory.size()}) + number(uint32_t{1});
  const std::string comment = "PK\x05\x06 is how an end begins, of 22 bytes";
  const std::string end = "PK\x05\x06" + number(uint32_t{0}) + "\xFF\xFF\xFF\xFF" + all + all +
                          number(static_cast<uint16_t>(comment.size())) + comment;
  const auto archive = write(body + directory + end64 + locator + end);
  const auto members = list_zip_members(archive);
  ASSERT_EQ(members.size(), 1u);
  EXPECT_THAT(lines_of(archive, members[0]), ElementsAre("a", "b"));
}

TEST_F(ZipMembers, AreRefusedWhereverTheArchiveIsCut) {
  const std::string bytes = Archive().add_deflated("x", "one\ntwo\n").bytes();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(refusal(bytes.substr(0, size)), (folder_ / "x.zip").string() + ": " +
                                                  "damaged zip archive (its directory is missing); get the file anew");
}

TEST_F(ZipMembers, ThatAreNotWhatTheDirectorySaysAreRefused) {
  const std::string member = (folder_ / "x.zip" / "x").string();
  const std::string why = "damaged zip archive after line 1 (length or checksum are not what its directory says)";
  EXPECT_THAT(refusal(Archive().add("x", "one\n", {.checksum = 7}).bytes()), HasSubstr(member + ": " + why));
  EXPECT_THAT(refusal(Archive().add("x", "one\n", {.claimed = 3}).bytes()), HasSubstr(member + ": " + why));
  EXPECT_EQ(refusal(Archive().add("x", "one\n", {.method = 12}).bytes()),
            member + ": is packed by other means than deflate; unpack it first");
  std::string bytes = Archive().add("x", "one\n").bytes();
  bytes[bytes.find("PK\x01\x02") + 8] = 1;
  EXPECT_EQ(refusal(bytes), member + ": is encrypted; unpack it first");
}

TEST_F(ZipMembers, OfADirectoryThatLeadsElsewhereAreRefused) {
  const std::string bytes = Archive().add("x", "one\n").bytes();
  const size_t entry = bytes.find("PK\x01\x02"), end = bytes.find("PK\x05\x06");
  for (const size_t at : {entry, entry + 20, entry + 28, entry + 30, entry + 42, end + 12, end + 16}) {
    std::string other = bytes;
    other[at + 1] = '\x7F';
    EXPECT_THAT(refusal(other), HasSubstr("damaged zip archive (")) << at - entry;
  }
  std::string large = bytes;
  large.replace(end + 12, 4, test::number(uint32_t{2 << 20}));
  EXPECT_EQ(refusal(large),
            (folder_ / "x.zip").string() + ": a zip archive whose directory has more than 1 MiB; unpack it first");
}

TEST_F(ZipMembers, AreOfRegularFilesThatBeginAsArchivesDo) {
  EXPECT_FALSE(is_zip_archive(write("PK\x03")));
  EXPECT_FALSE(is_zip_archive(write("text\n")));
  EXPECT_FALSE(is_zip_archive(folder_.path()));
  EXPECT_FALSE(is_zip_archive(folder_ / "none"));
}

}  // namespace
}  // namespace nmt::zip_directory_test
