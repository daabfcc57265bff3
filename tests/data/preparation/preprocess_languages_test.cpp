#include <gmock/gmock.h>

#include "base/error.h"
#include "data/lexicon.h"
#include "data/preparation/preprocess_fixture.h"
#include "data/prepared_corpus.h"
#include "data/prepared_data.h"
#include "text/codec/language_tags.h"

namespace nmt::preprocess_languages_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// German to English as text, and both directions from one file of JSON lines.
class PrepareLanguages : public test::PrepareFixture {
 protected:
  PrepareLanguages() {
    std::string json;
    for (int i = 0; i < 100; ++i) json += R"({"de": ")" + line("de", i) + R"(", "en": ")" + line("en", i) + "\"}\n";
    write("both.jsonl", json);
    config_.data.train1 = {path("train.de"), path("both.jsonl"), path("both.jsonl")};
    config_.data.train2 = {path("train.en"), path("both.jsonl"), path("both.jsonl")};
    config_.data.languages = {"de-en", "de-en", "en-de"};
    config_.data.tags = LanguageTags::kTarget;
    config_.data.test = {{"forth", path("test.de"), path("test.en")},
                         {"back", path("test.en"), path("test.de"), "en-de"}};
    config_.data.test1.clear(), config_.data.test2.clear();
  }
};

std::string first_piece(const PreparedData& data, const PreparedCorpus& corpus, int64_t pair) {
  return data.codec.source().piece(corpus.source(pair).front()).substr(kSpaceMark.size());
}

TEST_F(PrepareLanguages, EachSourceHasTheTagOfItsTarget) {
  prepare();
  const auto data = open_prepared_data(config_);
  EXPECT_THAT(target_languages(data.codec), ElementsAre("en", "de"));
  EXPECT_EQ(data.codec.prefix_length(), 0);
  ASSERT_EQ(data.train->size(), 500);
  for (const int64_t pair : {0, 299, 300, 399}) EXPECT_EQ(first_piece(data, *data.train, pair), ">>en<<") << pair;
  for (const int64_t pair : {400, 499}) EXPECT_EQ(first_piece(data, *data.train, pair), ">>de<<") << pair;
  EXPECT_EQ(data.train->source_text(400), line("en", 0)) << "read from the other side, and without a tag";
  EXPECT_EQ(data.train->target_text(400), line("de", 0));
  EXPECT_EQ(first_piece(data, *data.valid, 0), ">>en<<");
  EXPECT_EQ(first_piece(data, *data.test, 0), ">>en<<");
  EXPECT_EQ(first_piece(data, *data.more_test.at(0).corpus, 0), ">>de<<");
}

TEST_F(PrepareLanguages, TagsHaveNoLinksAndNoTranslations) {
  config_.data.alignment = true;
  config_.data.shortlist = 5;
  prepare();
  const auto tagged = open_prepared_data(config_);
  for (int32_t id = 0; id < tagged.codec.source().size(); ++id)
    if (tagged.codec.source().piece(id).find(">>") != std::string::npos) {
      EXPECT_TRUE(tagged.lexicon->best(id).empty());
    }
  for (int64_t pair = 0; pair < 500; ++pair)
    for (const auto& link : tagged.alignment->of(pair)) EXPECT_GT(link.source, 0) << pair;
}

TEST_F(PrepareLanguages, OnlyTheSourceKnowsTags) {
  config_.data.joint_vocabulary = false;
  config_.model.tie_embeddings = TiedEmbeddings::kNone;
  prepare();
  const auto data = open_prepared_data(config_);
  EXPECT_THAT(target_languages(data.codec), ElementsAre("en", "de"));
  for (int32_t id = 0; id < data.codec.target().size(); ++id)
    EXPECT_THAT(data.codec.target().piece(id), testing::Not(HasSubstr(">>")));
}

TEST_F(PrepareLanguages, TheTestSetIsFoundInBothDirections) {
  write("more.jsonl", R"({"de": ")" + line("de", 305) + R"(", "en": ")" + line("en", 305) + "\"}\n");
  config_.data.train1.push_back(path("more.jsonl"));
  config_.data.train2.push_back(path("more.jsonl"));
  config_.data.languages.push_back("en-de");
  config_.data.drop_test_overlap = true;
  prepare();
  EXPECT_EQ(open_prepared_data(config_).train->size(), 500) << "line 305 is of the validation set, de-en";
}

// German that is taken for English has letters that English lacks, and the other way round.
TEST_F(PrepareLanguages, CleaningKnowsTheLanguagesOfTheCorpus) {
  write("ru.en", lines("en", 0, 50));
  std::string russian;
  for (int i = 0; i < 50; ++i) russian += "Это число " + std::to_string(i) + " и ещё немного слов.\n";
  write("ru.ru", russian);
  config_.data.train1.push_back(path("ru.ru"));
  config_.data.train2.push_back(path("ru.en"));
  config_.data.languages.push_back("ru-en");
  config_.data.clean.append("letters");
  prepare();
  EXPECT_EQ(open_prepared_data(config_).train->size(), 550);
  config_.data.languages.back() = "de-en";
  overwrite();
  EXPECT_EQ(open_prepared_data(config_).train->size(), 500);
  config_.data.uncleaned = {"ru"};
  overwrite();
  EXPECT_EQ(open_prepared_data(config_).train->size(), 550) << "a corpus that the rules leave alone";
}

}  // namespace
}  // namespace nmt::preprocess_languages_test
