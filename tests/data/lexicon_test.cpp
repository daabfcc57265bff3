#include "data/lexicon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/files/file.h"
#include "support.h"

namespace nmt::lexicon_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kVocabularies(64, 'a');

Lexicon small_lexicon() { return Lexicon({{}, {3, 1}, {}, {2, 0, 4}}, {4, 0, 1, 2, 3}, 3, kVocabularies); }

TEST(Lexicon, HoldsWhatWasWritten) {
  const test::TemporaryDirectory folder;
  small_lexicon().write(folder / kLexiconFile);
  const auto read = Lexicon::read(folder / kLexiconFile);
  EXPECT_EQ(read.source_vocabulary(), 4);
  EXPECT_EQ(read.target_vocabulary(), 5);
  EXPECT_EQ(read.max(), 3);
  EXPECT_EQ(read.vocabularies(), kVocabularies);
  EXPECT_THAT(read.best(0), IsEmpty());
  EXPECT_THAT(read.best(1), ElementsAre(3, 1));
  EXPECT_THAT(read.best(2), IsEmpty());
  EXPECT_THAT(read.best(3), ElementsAre(2, 0, 4));
  EXPECT_THAT(read.frequent(), ElementsAre(4, 0, 1, 2, 3));
}

/// Without the care of write_file_atomically(), which waits for the disk.
void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(Lexicon, RefusesEveryDamage) {
  const test::TemporaryDirectory folder;
  const auto path = folder / kLexiconFile;
  small_lexicon().write(path);
  const std::string good = read_file(path);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    write(path, bytes);
    EXPECT_THAT(message_of<Error>([&] { Lexicon::read(path); }), HasSubstr(path.string())) << "byte " << i;
    write(path, good.substr(0, i));
    EXPECT_THAT(message_of<Error>([&] { Lexicon::read(path); }), HasSubstr("make it with nmt-prepro")) << i << " bytes";
  }
  write(path, good + std::string(4, '\0'));
  EXPECT_THROW(Lexicon::read(path), Error);
}

/// The good file with one change and a right checksum: made by another program.
void expect_refused(size_t offset, char value, const std::string& why) {
  const test::TemporaryDirectory folder;
  const auto path = folder / kLexiconFile;
  small_lexicon().write(path);
  std::string bytes = read_file(path);
  bytes.resize(bytes.size() - 64);
  bytes[offset] = value;
  write(path, bytes + sha256_of_bytes(bytes));
  EXPECT_THAT(message_of<Error>([&] { Lexicon::read(path); }), HasSubstr(why));
}

TEST(Lexicon, RefusesWhatWouldBeReadOutOfRange) {
  constexpr size_t kHeader = 112, kVersion = 8, kEnds = kHeader, kIds = kEnds + 4 * sizeof(uint32_t);
  EXPECT_NO_FATAL_FAILURE(expect_refused(0, 'X', "not a lexicon of nmt-prepro"));
  EXPECT_NO_FATAL_FAILURE(expect_refused(kVersion, 2, "of format version 2, where 1 is read"));
  EXPECT_NO_FATAL_FAILURE(expect_refused(23, 1, "damaged"));                      // 2^56 source pieces
  EXPECT_NO_FATAL_FAILURE(expect_refused(kEnds, 9, "in its lists"));              // ends fall
  EXPECT_NO_FATAL_FAILURE(expect_refused(kEnds + 12, 4, "in its lists"));         // an entry too few
  EXPECT_NO_FATAL_FAILURE(expect_refused(kIds, 5, "in its lists"));               // there are targets 0 to 4
  EXPECT_NO_FATAL_FAILURE(expect_refused(kIds + 3, char(0x80), "in its lists"));  // negative
  EXPECT_NO_FATAL_FAILURE(expect_refused(kIds + 5 * 4, 5, "in its lists"));       // among the frequent ones
}

TEST(Lexicon, SaysThatTheFileIsMissing) {
  EXPECT_THAT(message_of<Error>([] { Lexicon::read("/nowhere/shortlist.bin"); }), HasSubstr("/nowhere/shortlist.bin"));
}

}  // namespace
}  // namespace nmt::lexicon_test
