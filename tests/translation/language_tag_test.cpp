// Tags of target languages at the beginning of a line (">>cs<< Dog."), of lines in one part and in several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "models/formula_weights.h"
#include "search/scripted_model.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/terms.h"
#include "text/training_lines.h"
#include "translation/aligned_texts.h"
#include "translation/lines/source_parts.h"
#include "translation/lines/word_alignment.h"
#include "translation/translator.h"
#include "translation/word_tokenizer.h"

namespace nmt::language_tag_test {
namespace {

using test::Ids;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::vector<std::string> kWords = {"a", "b", "c", ">>x<<", "Aa.", "Bb."};
constexpr int32_t kTag = 7;

std::string tag_of(const TextCodec& codec, const std::string& line) {
  return std::string(leading_tag(codec, line).text);
}

TEST(LeadingTag, IsOnePieceOfTheVocabulary) {
  const auto bytes =
      train_sentencepiece(test::training_lines(),
                          {.vocab_size = 100, .character_coverage = 1.0, .user_symbols = {">>cs<<", ">>zh_Hans<<"}});
  const auto spm = std::make_shared<SentencePieceTokenizer>(*bytes, "test");
  for (const std::string prefix : {"", "der "}) {
    const TextCodec codec({.source_prefix = prefix}, spm, spm);
    EXPECT_EQ(tag_of(codec, ">>cs<< haus"), ">>cs<< ");
    EXPECT_EQ(tag_of(codec, " >>zh_Hans<<\t haus"), ">>zh_Hans<<\t ");
    EXPECT_EQ(tag_of(codec, ">>cs<<haus"), ">>cs<<");
    EXPECT_EQ(tag_of(codec, ">>cs<< "), ">>cs<<") << "of an empty text";
    for (const char* line :
         {"", "haus", ">>de<< haus", "haus >>cs<< haus", ">> cs << haus", ">>", ">><< haus", ">>cs haus", "cs<< haus"})
      EXPECT_EQ(tag_of(codec, line), "") << line;
  }
  const TextCodec words = test::word_codec(kWords);
  EXPECT_EQ(tag_of(words, ">>x<< a"), ">>x<< ");
  EXPECT_EQ(tag_of(words, ">>x<<a"), "") << "one word, which is unknown";
  EXPECT_EQ(tag_of(words, ">>x<<"), ">>x<<");
  EXPECT_EQ(tag_of(words, ">>y<< a"), "");
}

TEST(TagCheck, IsForModelsWithSeveralTags) {
  const TextCodec one = test::word_codec(kWords), two = test::word_codec({">>x<<", ">>y<<", "a"});
  EXPECT_FALSE(TagCheck(one).problem_of("a"));
  EXPECT_TRUE(TagCheck(two).problem_of("a"));
  EXPECT_TRUE(TagCheck(two).problem_of("a >>x<<"));
  for (const char* line : {"", " ", ">>x<< a", " >>y<<"}) EXPECT_FALSE(TagCheck(two).problem_of(line)) << line;
  EXPECT_FALSE(TagCheck(two.with({.source_prefix = ">>x<< "})).problem_of("a")) << "each line has one";
}

TEST(LeadingTag, DoesNotGlueToTheWordsOfLaterParts) {
  const auto bytes = train_sentencepiece(test::training_lines(),
                                         {.vocab_size = 100, .character_coverage = 1.0, .user_symbols = {">>cs<<"}});
  const auto spm = std::make_shared<SentencePieceTokenizer>(*bytes, "test");
  const TextCodec codec({}, spm, spm);
  const TextCodec* const codecs[] = {&codec};
  const std::string_view line = ">>cs<<haus haus";
  const LanguageTag tag = leading_tag(codec, line);
  ASSERT_EQ(tag.text, ">>cs<<");
  const auto most = std::ssize(codec.encode_source(">>cs<< haus"));
  const auto parts = encode_in_parts(codecs, line.substr(tag.text.size()), most, {}, tag);
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_EQ(parts[0].pieces.front(), codec.encode_source(">>cs<<haus"));
  EXPECT_EQ(parts[1].pieces.front(), codec.encode_source(">>cs<< haus"));
}

class LanguageTagTest : public testing::Test {
 protected:
  /// The sources that the model has read, and their parts.
  std::vector<Ids> sources(const std::string& line, TranslatorOptions options) {
    options.search.beam_size = 1;
    const Translator translator(model_, codec_, std::move(options));
    result_ = translator.translate(std::vector{line}).front();
    std::vector<Ids> sources;
    if (!result_.alternatives.empty())
      for (const auto& part : result_.alternatives.front().parts) sources.push_back(part.source);
    return sources;
  }
  /// "x" stays "x": it says each word of the source but the tag.
  static std::vector<double> echo(const Ids& source, const Ids& prefix) {
    std::vector<double> p(4 + kWords.size(), 0.0);
    const size_t next = prefix.size() + (!source.empty() && source.front() == kTag ? 1 : 0);
    p[next < source.size() ? source[next] : test::kEnd] = 1;
    return p;
  }

  /// The scripted one has no attention, by which what was cut out of a line, and markup, find their places.
  static auto attentive_model() {
    return test::formula_model(test::model_config("d_model: 16, d_ff: 32, num_blocks: 1, num_heads: 2"),
                               4 + std::ssize(kWords), 4 + std::ssize(kWords));
  }

  test::ScriptedModel model_{static_cast<int64_t>(4 + kWords.size()), echo};
  TextCodec codec_ = test::word_codec(kWords);
  Translation result_;
};

TEST_F(LanguageTagTest, IsThatOfTheTargetLanguage) {
  TranslatorOptions options{.split_sentences = true};
  options.search.target_language = "x";
  EXPECT_THAT(sources("Aa. Bb.", options), ElementsAre(Ids{kTag, 8}, Ids{kTag, 9}));
  EXPECT_EQ(result_.text, "Aa. Bb.");
  options.search.target_language = "y";
  EXPECT_EQ(test::message_of<Error>([&] { sources("Aa.", options); }),
            "target language y: the model translates into x; name one of these");
}

TEST_F(LanguageTagTest, OfBothSidesIsGivenAndNotWritten) {
  const auto script = [](const Ids& source, const Ids& prefix) {
    std::vector<double> p(4 + kWords.size(), 0.0);
    p[prefix.size() < source.size() ? source[prefix.size()] : test::kEnd] = prefix.empty() ? 0 : 0.5;
    p[4] += 1e-3;
    return p;
  };
  test::ScriptedModel model{static_cast<int64_t>(4 + kWords.size()), script};
  auto options = codec_.options();
  options.tags_both_sides = true, options.source_language = options.target_language = "x";
  const TextCodec codec = codec_.with(options);
  const Translator translator(model, codec, {.search = {{.beam_size = 1, .length_penalty = 0}}});
  const Request request{.source = "b c", .prefix = "b"};
  const auto found = translator.translate(std::span(&request, 1)).at(0);
  EXPECT_EQ(found.text, "b c");
  const auto& best = found.alternatives.at(0);
  EXPECT_THAT(best.parts.at(0).source, ElementsAre(kTag, 5, 6));
  EXPECT_THAT(best.parts.at(0).target, ElementsAre(5, 6));
  EXPECT_THAT(best.token_log_probabilities, SizeIs(3));
  const double each = std::log(0.5 / 0.501);
  EXPECT_NEAR(best.log_probability, 3 * each, 1e-5) << "the tag is certain";
  EXPECT_EQ(best.tokens, 3);
  EXPECT_NEAR(translator.score(std::vector<TextPair>{{"b c", "b c"}}).at(0).log_probability, 3 * each, 1e-5);
  EXPECT_EQ(translator.score(std::vector<TextPair>{{"", ""}}).at(0).log_probability, 0);
}

TEST_F(LanguageTagTest, StandsBeforeEachSentence) {
  EXPECT_THAT(sources(">>x<< Aa. Bb. Aa.", {.split_sentences = true}),
              ElementsAre(Ids{kTag, 8}, Ids{kTag, 9}, Ids{kTag, 8}));
  EXPECT_EQ(result_.text, "Aa. Bb. Aa.");
  EXPECT_FALSE(result_.split);
  EXPECT_THAT(sources("Aa. Bb.", {.split_sentences = true}), ElementsAre(Ids{8}, Ids{9}));
  EXPECT_THAT(sources(">>y<< Aa. Bb.", {.split_sentences = true}), ElementsAre(Ids{1, 8}, Ids{9})) << "no piece";
}

TEST_F(LanguageTagTest, ARequestSaysWhetherItsSentencesAreSplit) {
  for (const bool by_default : {false, true}) {
    const Translator translator(model_, codec_, {.search = {{.beam_size = 1}}, .split_sentences = by_default});
    const Request requests[] = {{.source = "Aa. Bb."},
                                {.source = "Aa. Bb.", .split_sentences = true},
                                {.source = "Aa. Bb.", .split_sentences = false}};
    const auto parts = [&](size_t i) { return translator.translate(requests).at(i).alternatives.front().parts.size(); };
    EXPECT_EQ(parts(0), by_default ? 2u : 1u);
    EXPECT_EQ(parts(1), 2u);
    EXPECT_EQ(parts(2), 1u);
  }
}

TEST_F(LanguageTagTest, StandsBeforeEachHalf) {
  EXPECT_THAT(sources(" >>x<<  a b c a", {.max_source_length = 3}), ElementsAre(Ids{kTag, 4, 5}, Ids{kTag, 6, 4}));
  EXPECT_EQ(result_.text, "a b c a");
  EXPECT_TRUE(result_.split);
  EXPECT_THAT(sources(">>x<< a b", {.max_source_length = 3}), ElementsAre(Ids{kTag, 4, 5})) << "it fits";
  EXPECT_THAT(sources(">>x<< a b", {.max_source_length = 1}), ElementsAre(Ids{kTag}, Ids{4}, Ids{5})) << "no room";
}

TEST_F(LanguageTagTest, IsNoTextToTranslate) {
  for (const std::string line : {">>x<<", " >>x<<  "}) {
    EXPECT_THAT(sources(line, {}), IsEmpty());
    EXPECT_EQ(result_.text, "") << "as of an empty line";
    EXPECT_THAT(result_.alternatives, IsEmpty());
  }
  EXPECT_THAT(sources(">>y<<", {}), ElementsAre(Ids{1})) << "no tag";
  const auto model = attentive_model();
  const Translator translator(*model, codec_, {.search = {{.beam_size = 1}}});
  EXPECT_EQ(translate_aligned(translator, std::vector<std::string>{">>x<< "}, {}).front().text, "");
}

// Such a line without a tag has nothing for the model to read, either.
TEST_F(LanguageTagTest, AndPlaceholdersAreNoTextToTranslate) {
  const auto model = attentive_model();
  const Translator translator(*model, codec_, {.search = {{.beam_size = 1}}});
  for (const auto& [line, expected] : {std::pair(">>x<< {n}", "{n}"), {"{n}", "{n}"}, {" >>x<<  {n}: %s", "{n}: %s"}}) {
    const Request request{.source = line, .terms = {.keep_placeholders = true}};
    const auto result = translator.translate(std::vector{request}).front();
    EXPECT_EQ(result.text, expected) << line;
    EXPECT_EQ(result.source_tokens, 0) << line;
    EXPECT_THAT(result.alternatives.at(0).parts, IsEmpty()) << line;
  }
}

TEST_F(LanguageTagTest, IsNoTerm) {
  const auto glossary = std::make_shared<const Glossary>(Glossary::parse("x\tc\n", "terms"));
  const Request request{.source = ">>x<< b", .terms = {.glossary = glossary}};
  const auto result =
      Translator(model_, codec_, {.search = {{.beam_size = 1}}}).translate(std::vector{request}).front();
  EXPECT_EQ(result.text, "b");
}

TEST_F(LanguageTagTest, IsAWordOfTheFirstPartAlone) {
  const std::string line = ">>x<< a b c";
  ASSERT_THAT(sources(line, {.max_source_length = 2}), ElementsAre(Ids{kTag, 4}, Ids{kTag, 5}, Ids{kTag, 6}));
  auto& best = result_.alternatives.front();
  for (auto& part : best.parts) part.attention = {0.4F, 0.6F, 0, 0};  // of a word and </s>
  EXPECT_EQ(pharaoh_alignment(codec_, line, best), "0-0 1-0 2-1 3-2");
  const auto parts = word_attention(codec_, line, best);
  ASSERT_THAT(parts, SizeIs(3));
  EXPECT_THAT(parts[0].grid.keys, ElementsAre(">>x<<", "a"));
  EXPECT_THAT(parts[1].grid.keys, ElementsAre("b"));
  EXPECT_EQ(parts[1].first_source, 2);
}

TEST_F(LanguageTagTest, CountsForNoPartOfAPrefix) {
  const LanguageTag tag = leading_tag(codec_, ">>x<< a b c");
  const std::string rest = "a b c";
  const TextCodec* const codecs[] = {&codec_};
  const auto parts = encode_in_parts(codecs, rest, 2, {}, tag);
  ASSERT_THAT(parts, SizeIs(3));
  for (const auto& part : parts) EXPECT_EQ(part.repeated, 1);
  const auto prefixes = divide_prefix("c b a", parts, codec_);
  EXPECT_EQ(prefixes[0].text, "c") << "a word for a word";
  EXPECT_EQ(prefixes[1].text, "b");
}

TEST_F(LanguageTagTest, StandsBeforeTheSentencesOfALineWithPlaceholders) {
  const Request request{.source = ">>x<< {n} Aa. Bb. {m}", .terms = {.keep_placeholders = true}};
  const auto model = attentive_model();
  const Translator translator(*model, codec_, {.search = {{.beam_size = 1}}, .split_sentences = true});
  const auto result = translator.translate(std::vector{request}).front();
  const auto& parts = result.alternatives.at(0).parts;
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_EQ(parts[1].source, (Ids{kTag, 9}));
  EXPECT_THAT(result.text, testing::AllOf(HasSubstr("{n}"), HasSubstr("{m}")));
}

}  // namespace
}  // namespace nmt::language_tag_test
