#include "compat/prepared_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "base/error.h"
#include "config/loading/schema.h"
#include "data/preparation/preprocess_fixture.h"
#include "data/prepared_data.h"

namespace nmt::compat::prepared_files_test {
namespace {

using test::message_of;
using testing::EndsWith;
using testing::HasSubstr;

class PreparedFilesTest : public test::PrepareFixture {
 protected:
  PreparedFilesTest() {
    config_.data.naming = DataNaming::kKyubyong2019;
    config_.data.drop_empty = false;
  }
  PreprocessResult prepare(Overwrite overwrite = Overwrite::kRefuse) {
    const auto files = make_prepared_files(config_.data);
    return PrepareFixture::prepare({.overwrite = overwrite, .observer = files.get()});
  }
  PreprocessResult overwrite() { return prepare(Overwrite::kReplace); }
  std::string file(const std::string& name) const { return read_file(folder_ / "out" / "prepared" / name); }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / "out" / "prepared" / name); }
  static std::string without_last_end(std::string text) {
    text.pop_back();
    return text;
  }
  /// The pieces of some lines, as the tokenizer of the prepared data cuts them.
  std::string segmented(const std::vector<std::string>& texts) const {
    const auto codec = load_codec(folder_ / "out" / "prepared");
    std::string all;
    for (const auto& text : texts) {
      std::string pieces;
      for (const int32_t id : codec.source().encode(text))
        pieces += (pieces.empty() ? "" : " ") + codec.source().piece(id);
      all += pieces + "\n";
    }
    return all;
  }
};

TEST_F(PreparedFilesTest, HoldTheTextAndItsPieces) {
  prepare();
  for (const auto& [split, begin, end] : {std::tuple("train", 0, 300), {"eval", 300, 320}, {"test", 320, 350}}) {
    for (const std::string language : {"de", "en"}) {
      EXPECT_EQ(file(fmt::format("prepro/{}.{}", split, language)), without_last_end(lines(language, begin, end)));
      const auto pieces = fmt::format("segmented/{}.{}.bpe", split, language);
      if (pieces == "segmented/test.en.bpe") {
        EXPECT_FALSE(exists(pieces)) << "he has none";
        continue;
      }
      std::vector<std::string> texts;
      for (int i = begin; i < end; ++i) texts.push_back(line(language, i));
      EXPECT_EQ(file(pieces), segmented(texts)) << pieces;
    }
  }
  EXPECT_EQ(file("prepro/train"), lines("de", 0, 300) + without_last_end(lines("en", 0, 300)));
  EXPECT_EQ(file("segmented/bpe.model"), file("spm.model"));
  EXPECT_EQ(file("segmented/bpe.vocab"), file("spm.vocab"));
  EXPECT_THAT(file("segmented/train.de.bpe"), testing::StartsWith("\xE2\x96\x81"));
}

// He filters when he trains: the files have all lines that are no markup, empty ones too.
TEST_F(PreparedFilesTest, HaveTheLinesOfDroppedPairsAndNoMarkup) {
  std::string many_words;
  for (int i = 0; i < 150; ++i) many_words += " null";
  write("train.tags.de-en.de", "<url>x</url>\n" + lines("de", 0, 300) + many_words + " \n\n<title>t</title>\n");
  write("train.tags.de-en.en", "<url>x</url>\n" + lines("en", 0, 300) + "very\n\n<title>t</title>\n");
  config_.data.train1 = {path("train.tags.de-en.de")};
  config_.data.train2 = {path("train.tags.de-en.en")};
  const auto table = prepare().table;
  EXPECT_THAT(file("prepro/train.de"), EndsWith(" null null\n")) << "white space at its end is gone";
  EXPECT_THAT(file("prepro/train.en"), EndsWith(line("en", 299) + "\nvery\n")) << "the last line is empty";
  EXPECT_EQ(file("prepro/train"), file("prepro/train.de") + "\n" + file("prepro/train.en"));
  const auto pieces = file("segmented/train.en.bpe");
  EXPECT_THAT(pieces, EndsWith("\n\n"));
  EXPECT_EQ(std::count(pieces.begin(), pieces.end(), '\n'), 302);
  EXPECT_THAT(table, HasSubstr("301")) << "the long pair is not trained on";
}

// SentencePiece writes pieces so: his vocabulary lookup makes them unknown.
TEST_F(PreparedFilesTest, WriteWhatIsUnknownAsItStands) {
  write("test.de", "Die Zahl 中国\n");
  write("test.en", "x\n");
  prepare();
  EXPECT_THAT(file("segmented/test.de.bpe"), EndsWith(" 中国\n"));
}

TEST_F(PreparedFilesTest, OfFurtherSetsBearTheirNames) {
  config_.data.eval = {{"first", config_.data.eval1, config_.data.eval2}, {"second", path("test.de"), path("test.en")}};
  config_.data.eval1.clear(), config_.data.eval2.clear();
  prepare();
  EXPECT_EQ(file("prepro/eval.second.de"), without_last_end(lines("de", 320, 350)));
  EXPECT_TRUE(exists("prepro/eval.de") && exists("segmented/eval.second.en.bpe"));
}

TEST_F(PreparedFilesTest, LeaveTheDataAsTheyAre) {
  prepare();
  const auto named = output();
  config_.data.naming = DataNaming::kPlain;
  EXPECT_THAT(message_of<Error>([&] { prepare(); }), HasSubstr("data.naming: kyubyong2019 -> plain"));
  overwrite();
  const auto plain = output();
  for (const char* name : {"prepared/train.bin", "prepared/valid.bin", "prepared/test.bin", "prepared/spm.model"})
    EXPECT_EQ(named.at(name), plain.at(name)) << name;
  EXPECT_FALSE(plain.contains("prepared/prepro/train"));
  EXPECT_EQ(named.size(), plain.size() + 14);
}

TEST_F(PreparedFilesTest, AreReplacedWithTheDataButNotWhatIsBesideThem) {
  prepare();
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate);
  config_.data.source_language = "gd";  // other names than those that stand there
  EXPECT_EQ(overwrite().outcome, PrepareOutcome::kWritten);
  EXPECT_TRUE(exists("prepro/train.gd") && !exists("prepro/train.de"));
  std::ofstream(folder_ / "out" / "prepared" / "prepro" / "mine") << "x";
  config_.data.vocab_size = 140;
  EXPECT_THAT(message_of<Error>([&] { overwrite(); }), HasSubstr("holds prepro/mine, which nmt-prepro did not make"));
}

TEST_F(PreparedFilesTest, OfOneLanguageAreNamedBySides) {
  config_.data.source_language = config_.data.target_language = "en";
  prepare();
  EXPECT_EQ(file("prepro/train.source"), without_last_end(lines("de", 0, 300)));
  EXPECT_EQ(file("prepro/train.target"), without_last_end(lines("en", 0, 300)));
}

TEST(DataNaming, IsOfOneSentencePieceVocabulary) {
  for (const char* data : {"naming: kyubyong2019, tokenizer: words", "naming: kyubyong2019, joint_vocabulary: false"}) {
    EXPECT_THAT(message_of<Error>([&] { parse_config(fmt::format("{{data: {{{}}}}}", data), "f"); }),
                testing::StartsWith("f:1: data.naming: kyubyong2019 writes files of one SentencePiece vocabulary"));
  }
}

}  // namespace
}  // namespace nmt::compat::prepared_files_test
