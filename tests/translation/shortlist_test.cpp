#include "translation/shortlist.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "models/formula_weights.h"
#include "support.h"
#include "translation/translator.h"
#include "translation/word_tokenizer.h"

namespace nmt::shortlist_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int32_t> range(int32_t size) {
  std::vector<int32_t> ids(size);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

std::vector<std::string> words(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("w{}", i));
  return names;
}

/// w0 (4) goes to 9, 8 and 7, w1 (5) to 6; 7 and then 4 are the most frequent.
std::shared_ptr<const Lexicon> small_lexicon() {
  std::vector<std::vector<int32_t>> best(10);
  best[4] = {9, 8, 7};
  best[5] = {6};
  return std::make_shared<const Lexicon>(best, std::vector<int32_t>{7, 4, 5, 6, 8, 9, 0, 1, 2, 3}, 3, "");
}

TEST(Shortlist, JoinsFrequentPiecesAndTheBestOfEachSourcePiece) {
  const auto source = std::make_shared<test::WordTokenizer>(words(6)),
             target = std::make_shared<test::WordTokenizer>(words(6));
  const TextCodec codec({}, source, target);
  const Shortlist two(small_lexicon(), codec, 2, 1);
  EXPECT_THAT(two.candidates(std::vector<int32_t>{}), ElementsAre(0, 1, 2, 3, 7));
  EXPECT_THAT(two.candidates(std::vector<int32_t>{4}), ElementsAre(0, 1, 2, 3, 7, 8, 9));
  EXPECT_THAT(two.candidates(std::vector<int32_t>{4, 5, 4}), ElementsAre(0, 1, 2, 3, 6, 7, 8, 9));
  EXPECT_THAT(two.candidates(std::vector<int32_t>{9}), ElementsAre(0, 1, 2, 3, 7)) << "nothing known of it";
  EXPECT_THAT(Shortlist(small_lexicon(), codec, 1, 2).candidates(std::vector<int32_t>{4}),
              ElementsAre(0, 1, 2, 3, 4, 7, 9));
  EXPECT_THAT(Shortlist(small_lexicon(), codec, 1, 1000).candidates(std::vector<int32_t>{}).size(), 10);
}

TEST(Shortlist, OfAJointVocabularyHoldsTheSourceItself) {
  EXPECT_THAT(Shortlist(small_lexicon(), test::word_codec(words(6)), 1, 1).candidates(std::vector<int32_t>{4, 8}),
              ElementsAre(0, 1, 2, 3, 4, 7, 8, 9));
}

TEST(Shortlist, HoldsAllBytes) {
  const auto codec = test::word_codec({"a", "b", "<0x00>", "<0xFF>", "<0xFF", "x"});
  EXPECT_THAT(Shortlist(small_lexicon(), codec, 1, 1).candidates(std::vector<int32_t>{}),
              ElementsAre(0, 1, 2, 3, 6, 7));
}

TEST(Shortlist, NeedsALexiconWithSoManyCandidates) {
  EXPECT_EQ(message_of<Error>([] { Shortlist(small_lexicon(), test::word_codec(words(6)), 4, 1); }),
            "decoding.shortlist 4: the model's lexicon holds 3 candidates of a source piece; use so many, or make it "
            "anew with a higher data.shortlist");
}

/// A model over 100 words, and a lexicon with 5 candidates for each of them.
class ShortlistedTranslator : public testing::Test {
 protected:
  static constexpr int kWords = 100, kSize = kWords + 4;
  ShortlistedTranslator() {
    std::vector<std::vector<int32_t>> best(kSize);
    for (int32_t piece = 0; piece < kSize; ++piece)
      for (int32_t i = 0; i < 5; ++i) best[piece].push_back(4 + (piece * 13 + i * 7) % kWords);
    lexicon_ = std::make_shared<const Lexicon>(best, range(kSize), 5, "");
    for (int i = 0; i < 64; ++i) {
      std::string& line = lines_.emplace_back();
      for (int k = 0; k <= i * 5 % 8; ++k) line += fmt::format("w{} ", (i * 11 + k * 29) % kWords);
    }
  }
  Translator translator(TranslatorOptions options) {
    return Translator({{.model = model_.get(), .codec = &codec_, .lexicon = lexicon_}}, std::move(options));
  }
  std::vector<std::string> texts(TranslatorOptions options) {
    std::vector<std::string> result;
    for (const auto& one : translator(std::move(options)).translate(lines_)) result.push_back(one.text);
    return result;
  }

  std::shared_ptr<TranslationModel> model_ = test::formula_model(
      test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2, tie_embeddings: none"), kSize, kSize);
  TextCodec codec_ = test::word_codec(words(kWords));
  std::shared_ptr<const Lexicon> lexicon_;
  std::vector<std::string> lines_;
};

TEST_F(ShortlistedTranslator, GivesTheSameTextInEveryBatch) {
  const auto alone = texts({.search = {{.batch_size = 1, .shortlist = 3, .shortlist_frequent = 10}}});
  EXPECT_EQ(texts({.search = {{.batch_size = 7, .shortlist = 3, .shortlist_frequent = 10}}}), alone);
  EXPECT_EQ(texts({.search = {{.batch_size = 64, .shortlist = 3, .shortlist_frequent = 10}}}), alone);
  EXPECT_NE(texts({}), alone);
}

TEST_F(ShortlistedTranslator, OfAllPiecesIsTheSearchWithoutIt) {
  EXPECT_EQ(texts({.search = {{.shortlist = 1, .shortlist_frequent = kSize}}}), texts({}));
}

TEST_F(ShortlistedTranslator, WritesCandidatesAndWhatIsAskedFor) {
  const TranslatorOptions options{.search = {{.shortlist = 2, .shortlist_frequent = 10}}};
  const Shortlist shortlist(lexicon_, codec_, 2, 10);
  std::vector<Request> requests;
  for (const auto& line : lines_) requests.push_back({.source = line, .prefix = "w77", .must = {"w91"}});
  const auto found = translator(options).translate(requests);
  for (size_t i = 0; i < lines_.size(); ++i) {
    EXPECT_TRUE(found[i].text.starts_with("w77")) << found[i].text;
    auto allowed = shortlist.candidates(codec_.encode_source(lines_[i]));
    allowed.insert(allowed.end(), {4 + 77, 4 + 91});
    for (const int32_t id : codec_.encode_target(found[i].text))
      EXPECT_THAT(allowed, testing::Contains(id)) << found[i].text;
  }
}

TEST_F(ShortlistedTranslator, RefusesWhatItCannotDo) {
  const std::vector<TextPair> pairs = {{.source = "w1", .target = "w2"}};
  EXPECT_THAT(message_of<Error>([&] { translator({.search = {{.shortlist = 2}}}).score(pairs); }),
              HasSubstr("leave out --shortlist"));
  EXPECT_NO_THROW(translator({}).score(pairs));
  lexicon_ = nullptr;
  EXPECT_THAT(message_of<Error>([&] { translator({.search = {{.shortlist = 2}}}); }),
              HasSubstr("the model has no lexicon"));
  EXPECT_NO_THROW(translator({}));
  EXPECT_THAT(message_of<Error>([&] { translator({.search = {{.shortlist = -1}}}); }), HasSubstr("shortlist -1"));
}

}  // namespace
}  // namespace nmt::shortlist_test
