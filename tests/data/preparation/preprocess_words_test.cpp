// nmt-prepro with data.tokenizer words.
#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "data/preparation/preprocess_fixture.h"
#include "data/prepared_data.h"

namespace nmt::preprocess_words_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::StartsWith;

const std::string kSpecial = "<PAD>\t1000000000\n<UNK>\t1000000000\n<S>\t1000000000\n</S>\t1000000000\n";

class PrepareWords : public test::PrepareFixture {
 protected:
  PrepareWords() {
    config_.data.tokenizer = "words";
    config_.data.joint_vocabulary = false;
  }
  std::string message() {
    return message_of<Error>([&] { prepare(); });
  }
  std::string vocabulary(const std::string& language) const {
    return output().at("prepared/" + language + ".vocab.tsv");
  }
  static std::vector<int32_t> ids(std::span<const int32_t> span) { return {span.begin(), span.end()}; }
};

TEST_F(PrepareWords, CountsTheTrainingText) {
  write("train.de", "der Hund bellt\ndie Katze und der Hund\nder\n");
  write("train.en", "the dog barks\nthe cat and the dog\nthe\n");
  prepare();
  EXPECT_THAT(output(), ElementsAre(Key("prepared/de.vocab"), Key("prepared/de.vocab.tsv"), Key("prepared/en.vocab"),
                                    Key("prepared/en.vocab.tsv"), Key("prepared/manifest.json"),
                                    Key("prepared/test.bin"), Key("prepared/train.bin"), Key("prepared/valid.bin")));
  EXPECT_EQ(vocabulary("de"), kSpecial + "der\t3\nHund\t2\nbellt\t1\ndie\t1\nKatze\t1\nund\t1\n");
  EXPECT_EQ(vocabulary("en"), kSpecial + "the\t4\ndog\t2\nbarks\t1\ncat\t1\nand\t1\n");
  const PreparedData data = open_prepared_data(config_);
  EXPECT_THAT(ids(data.train->source(1)), ElementsAre(7, 8, 9, 4, 5));
  EXPECT_THAT(ids(data.train->target(0)), ElementsAre(4, 5, 6));
  EXPECT_THAT(ids(data.valid->source(0)), Not(testing::Contains(4)));
  EXPECT_THAT(log_.str(), HasSubstr("words: source, 6 different ones, a vocabulary of 10 (data.min_cnt 1"));
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate);
  config_.run.seed = 2;
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate);
}

TEST_F(PrepareWords, RareWordsAreInTheFileButUnknown) {
  write("train.de", "a b\na c\na b\n");
  write("train.en", "x y\nx z\nx y\n");
  config_.data.min_cnt = 2;
  prepare();
  EXPECT_EQ(vocabulary("de"), kSpecial + "a\t3\nb\t2\nc\t1\n");
  const PreparedData data = open_prepared_data(config_);
  EXPECT_EQ(data.codec.source().size(), 6);
  EXPECT_THAT(ids(data.train->source(1)), ElementsAre(4, 1));
  config_.data.dir = path("out/high");
  config_.data.min_cnt = 9;
  EXPECT_EQ(message(), "words of the training text: no word has a count of 9 (data.min_cnt) or more; lower it");
}

TEST_F(PrepareWords, OneVocabularyOfBothLanguages) {
  write("train.de", "a b\n");
  write("train.en", "b c\n");
  config_.data.joint_vocabulary = true;
  prepare();
  EXPECT_EQ(output().at("prepared/joint.vocab.tsv"), kSpecial + "b\t2\na\t1\nc\t1\n");
  EXPECT_TRUE(open_prepared_data(config_).codec.joint());
}

TEST_F(PrepareWords, TakesReadyVocabularies) {
  write("given.de", kSpecial + "Zahl\t9\nDie\t7\nvier.\t1\n");
  write("given.en", kSpecial + "number\t9\nThe\t7\n");
  config_.data.vocabulary1 = path("given.de");
  config_.data.vocabulary2 = path("given.en");
  prepare();
  EXPECT_EQ(vocabulary("de"), kSpecial + "Zahl\t9\nDie\t7\nvier.\t1\n");
  EXPECT_THAT(ids(open_prepared_data(config_).train->source(4)), ElementsAre(5, 4, 6));
  EXPECT_THAT(log_.str(), HasSubstr("data.vocabulary1 " + path("given.de") + ": 7 words"));
  write("given.de", kSpecial + "Zahl\t9\nDie\n");
  EXPECT_THAT(message(), HasSubstr("(data.vocabulary1 " + path("given.de") + " has changed)"));
  config_.data.dir = path("out/bad");
  EXPECT_EQ(message(), "data.vocabulary1 " + path("given.de") + ":6: no tab; a line is a word, a tab and its count");
}

TEST_F(PrepareWords, MarkupCountsWhereAsked) {
  write("train.tags.de", "<url>a.b/c</url>\nder Hund\n\n<title>der Ted</title>\n");
  write("train.tags.en", "<url>a.b/c</url>\nthe dog\nonly here\n<title>the Ted</title>\n");
  config_.data.train1 = {path("train.tags.de")};
  config_.data.train2 = {path("train.tags.en")};
  prepare();
  EXPECT_EQ(vocabulary("en"), kSpecial + "the\t1\ndog\t1\n");
  config_.data.count_markup = true;
  overwrite();
  // In the order of the file, the pair that is dropped (a side is empty) too.
  EXPECT_EQ(vocabulary("en"),
            kSpecial + "<url>a.b/c</url>\t1\nthe\t1\ndog\t1\nonly\t1\nhere\t1\n<title>the\t1\nTed</title>\t1\n");
  EXPECT_EQ(open_prepared_data(config_).train->size(), 1);
  config_.data.characters = "latin";
  overwrite();
  EXPECT_EQ(vocabulary("en"), kSpecial + "urlabcurl\t1\nthe\t1\ndog\t1\nonly\t1\nhere\t1\ntitlethe\t1\nTedtitle\t1\n");
}

TEST_F(PrepareWords, WholeFilesAreRepairedToo) {
  write("train.de", "der Hund\n");
  write("train.en", "the d\xFFg\n");
  config_.data.count_markup = config_.data.repair_utf8 = true;
  prepare();
  EXPECT_EQ(vocabulary("en"), kSpecial + "the\t1\nd\uFFFDg\t1\n");
  const PreparedData data = open_prepared_data(config_);
  EXPECT_THAT(ids(data.train->target(0)), ElementsAre(4, 5));
  config_.data.lowercase = true;  // which takes no other bytes
  overwrite();
  EXPECT_EQ(vocabulary("en"), kSpecial + "the\t1\nd\uFFFDg\t1\n");
}

TEST_F(PrepareWords, OtherCharactersGoInEverySplitButReferencesStay) {
  config_.data.characters = "latin";
  prepare();
  const PreparedData data = open_prepared_data(config_);
  EXPECT_EQ(data.train->source_text(5), "Die Zahl fünf");
  EXPECT_EQ(data.train->target_text(5), "The number five");
  EXPECT_EQ(data.valid->source_text(0), "Die Zahl drei null null");
  EXPECT_EQ(data.valid->target_text(0), "The number three zero zero.");
  EXPECT_EQ(data.codec.decode_target(data.valid->target(0)), "The number three zero zero");
  EXPECT_EQ(data.codec.encode_source("Die (Zahl) fünf!"), ids(data.train->source(5)));
}

TEST_F(PrepareWords, MarkersCountAsLength) {
  // "Die Zahl eins." is three words, "Die Zahl eins null." four and so on, up to five.
  const auto pairs = [&](const char* markers) {
    config_.data.source_markers = markers;
    config_.data.maxlen1 = 5;
    config_.data.maxlen2 = 100;
    overwrite();
    const PreparedData data = open_prepared_data(config_);
    EXPECT_EQ(data.train->source_form(), data.codec.options().source_form());
    EXPECT_EQ(data.test->source_form(), data.codec.options().source_form());
    return data.train->size();
  };
  EXPECT_EQ(pairs("end"), 100);
  EXPECT_EQ(pairs("both"), 10);
  EXPECT_EQ(pairs("none"), 300);
}

// The prepared ids are those of the text; the way in which a model reads them travels with the codec.
TEST_F(PrepareWords, ASourceThatIsReadBackwardsStandsForwardsInTheData) {
  overwrite();
  const auto before = ids(open_prepared_data(config_).train->source(5));
  config_.data.reverse_source = true;
  overwrite();
  const PreparedData data = open_prepared_data(config_);
  EXPECT_EQ(ids(data.train->source(5)), before);
  EXPECT_TRUE(data.codec.options().reverse_source);
  EXPECT_TRUE(data.train->source_form().reversed);
  config_.data.reverse_source = false;
  EXPECT_THAT(message(), HasSubstr("(data.reverse_source: true -> false)"));
}

TEST_F(PrepareWords, OverwriteReplacesVocabulariesNamedAfterOtherLanguages) {
  prepare();
  config_.data.source_language = "nds";
  overwrite();
  EXPECT_THAT(output(), testing::AllOf(testing::Contains(Key("prepared/nds.vocab.tsv")),
                                       Not(testing::Contains(Key("prepared/de.vocab.tsv"))),
                                       Not(testing::Contains(Key("prepared/de.vocab")))));
}

TEST_F(PrepareWords, AManifestOfAnOlderVersionStandsForTheDefaults) {
  config_.data.tokenizer = "sentencepiece";
  config_.data.joint_vocabulary = true;
  prepare();
  auto manifest = nlohmann::json::parse(output().at("prepared/manifest.json"));
  for (const char* name :
       {"min_cnt", "vocabulary1", "vocabulary2", "count_markup", "characters", "source_markers", "reverse_source"}) {
    ASSERT_EQ(manifest["options"].erase(name), 1u) << name;
  }
  std::ofstream(std::filesystem::path(config_.data.dir) / "manifest.json") << manifest.dump();
  EXPECT_EQ(prepare().outcome, PrepareOutcome::kUpToDate);
  config_.data.source_markers = "none";
  EXPECT_THAT(message(), HasSubstr("(data.source_markers: end -> none)"));
}

}  // namespace
}  // namespace nmt::preprocess_words_test
