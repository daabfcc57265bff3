#include <gmock/gmock.h>

#include "archive.h"
#include "base/error.h"
#include "support.h"
#include "text/files.h"
#include "text/pairs/corpus_reader.h"

namespace nmt::moses_zip_test {
namespace {

using test::Archive;
using test::message_of;
using test::write_text;
using testing::ElementsAre;
using testing::Pair;

class MosesZip : public testing::Test {
 protected:
  std::vector<std::pair<std::string, std::string>> read(const Archive& archive, const std::string& source,
                                                        const std::string& target, bool is_alone = false) {
    const auto path = write_text(folder_ / "x.zip", archive.bytes());
    CorpusReader reader({path, is_alone ? "" : path, "data.train1", "data.train2"},
                        {.source_language = source, .target_language = target});
    std::vector<std::pair<std::string, std::string>> pairs;
    for (TextPair pair; reader.next(pair);) pairs.emplace_back(pair.source, pair.target);
    description_ = reader.description();
    notes_ = reader.notes().size();
    return pairs;
  }
  std::string refusal(const Archive& archive, const std::string& source = "de", const std::string& target = "en") {
    return message_of<Error>([&] { read(archive, source, target); });
  }
  std::string path(const std::string& member) const { return (folder_ / "x.zip" / member).string(); }

  test::TemporaryDirectory folder_;
  std::string description_;
  size_t notes_ = 0;
};

// As https://opus.nlpl.eu has them.
Archive opus() {
  return Archive()
      .add("README", "Corpus\n")
      .add_deflated("LICENSE", "Free\n")
      .add_deflated("Books.de_AT-en.de_AT", "Guten Tag.\r\n<url>Ja</url>\n")
      .add("Books.de_AT-en.en", "Good day.\nYes\n")
      .add("Books.de_AT-en.xml", "<?xml?>\n");
}

TEST_F(MosesZip, HoldsASideInEachMember) {
  EXPECT_THAT(read(opus(), "de", "en"), ElementsAre(Pair("Guten Tag.", "Good day."), Pair("<url>Ja</url>", "Yes")));
  EXPECT_EQ(description_, (folder_ / "x.zip/Books.de_AT-en.de_AT").string() + " (plain text), " +
                              (folder_ / "x.zip/Books.de_AT-en.en").string() + " (plain text)");
  EXPECT_EQ(notes_, 0u);
  EXPECT_EQ(read(opus(), "en", "de")[0].first, "Good day.") << "also in the other direction";
  EXPECT_EQ(read(opus(), "de", "en", true).size(), 2u) << "also where it stands alone";
}

TEST_F(MosesZip, TakesTheVeryLanguageFirst) {
  const auto archive = Archive().add("a.pt", "pt\n").add("a.pt_BR", "br\n").add("a.en", "en\n");
  EXPECT_THAT(read(archive, "pt-BR", "en"), ElementsAre(Pair("br", "en")));
  EXPECT_THAT(read(archive, "pt", "en"), ElementsAre(Pair("pt", "en")));
}

TEST_F(MosesZip, IsRefusedWhereNobodyKnowsTheSides) {
  EXPECT_EQ(
      refusal(opus(), "de", "fr"),
      "data.train2 " + (folder_ / "x.zip").string() +
          ": a zip archive without a member whose name ends with the source's or target's language, .fr (README, "
          "LICENSE, Books.de_AT-en.de_AT, Books.de_AT-en.en, Books.de_AT-en.xml); name the languages as the archive "
          "does, or unpack it");
  EXPECT_EQ(refusal(Archive().add("a.de", "a\n").add("b.de", "b\n").add("a.en", "a\n")),
            "data.train1 " + (folder_ / "x.zip").string() +
                ": a zip archive with several texts of 'de' (a.de, b.de); unpack it, and name the files");
}

TEST_F(MosesZip, NamesTheMemberInWhatItRefuses) {
  EXPECT_EQ(refusal(Archive().add("a.de", "eins\nzwei\n").add("a.en", "one\n")),
            "data.train2 " + path("a.en") + ": 1 sentences, " + path("a.de") + " has 2; align the files");
  EXPECT_EQ(refusal(Archive().add("a.de", "eins\n").add("a.en", "one\xFF\n")),
            "data.train2 " + path("a.en") +
                ":1: byte 4 (0xFF) is not UTF-8; correct or convert the file (iconv), or set data.repair_utf8: true");
  EXPECT_EQ(refusal(Archive().add("a.de", "eins\n").add("a.en", "one\n", {.checksum = 1})),
            "data.train2 " + path("a.en") +
                ": damaged zip archive after line 1 (length or checksum are not what its directory says); get the file "
                "anew");
}

}  // namespace
}  // namespace nmt::moses_zip_test
