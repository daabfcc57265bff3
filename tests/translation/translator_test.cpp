#include "translation/translator.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "search/scripted_model.h"
#include "support.h"
#include "translation/word_tokenizer.h"

namespace nmt::translator_test {
namespace {

using test::Ids;
using test::kEnd;
using testing::ElementsAre;

const std::vector<std::string> kWords = {"a", "b", "c", "d", "x\ny"};

/// Says each word again: the next of the source with probability 0.8, </s> 0.1, "a" 0.1.
std::vector<double> echo(const Ids& source, const Ids& prefix) {
  std::vector<double> p(4 + kWords.size(), 0.0);
  p[kEnd] = 0.1;
  p[test::kA] += 0.1;
  p[prefix.size() < source.size() ? source[prefix.size()] : kEnd] += 0.8;
  return p;
}

class TranslatorTest : public testing::Test {
 protected:
  std::vector<Translation> translate(const std::vector<std::string>& lines, TranslatorOptions options = {}) {
    return Translator(model_, codec_, options).translate(lines);
  }
  std::vector<std::string> texts(const std::vector<std::string>& lines, TranslatorOptions options = {}) {
    std::vector<std::string> result;
    for (const auto& translation : translate(lines, options)) result.push_back(translation.text);
    return result;
  }

  test::ScriptedModel model_{static_cast<int64_t>(4 + kWords.size()), echo};
  TextCodec codec_ = test::word_codec(kWords);
};

TEST_F(TranslatorTest, ResultsComeInTheOrderOfTheLines) {
  const std::vector<std::string> lines = {"b", "c b d", "d d", "b c d b c d", "c"};
  EXPECT_EQ(texts(lines, {.search = {{.batch_size = 2}}}), lines);
  EXPECT_THAT(model_.started, testing::UnorderedElementsAre(2, 2, 1));
}

TEST_F(TranslatorTest, PutsTheMarkersOfTheCodecAroundSources) {
  std::vector<std::vector<int32_t>> seen;
  test::ScriptedModel model(6, [&](const auto& source, const auto&) {
    seen.push_back(source);
    return std::vector<double>{0, 0, 0, 1, 0, 0};  // ends at once
  });
  const auto words = std::make_shared<test::WordTokenizer>(kWords);
  const TextCodec both({.source_markers = SourceMarkers::kBoth}, words, words);
  Translator(model, both, {.search = {{.beam_size = 1}}}).translate(std::vector<std::string>{"b d"});
  EXPECT_THAT(seen, ElementsAre(ElementsAre(2, 5, 7)));  // </s>, which the model has checked, is left out
}

TEST_F(TranslatorTest, ReadsSourcesBackwardsWhereTheCodecSaysSo) {
  std::vector<std::vector<int32_t>> seen;
  test::ScriptedModel model(8, [&](const auto& source, const auto&) {
    seen.push_back(source);
    return std::vector<double>{0, 0, 0, 1, 0, 0, 0, 0};  // ends at once
  });
  const auto words = std::make_shared<test::WordTokenizer>(kWords);
  const TextCodec backwards({.reverse_source = true}, words, words);
  Translator(model, backwards, {.search = {{.beam_size = 1}}}).translate(std::vector<std::string>{"b c d"});
  EXPECT_THAT(seen, ElementsAre(ElementsAre(7, 6, 5)));
}

TEST_F(TranslatorTest, SortsByLengthSoThatBatchesAreEven) {
  texts({"b", "c c c c", "d", "b b b b"}, {.search = {{.beam_size = 1, .batch_size = 2}}});
  EXPECT_THAT(model_.steps, ElementsAre(2, 2, 2, 2, 2, 2, 2)) << "5 steps for the long ones, 2 for the short ones";
}

TEST_F(TranslatorTest, EmptyLinesStayEmptyAndAreNotSearched) {
  EXPECT_EQ(texts({"", "b", "  \t ", "", "\u3000"}), (std::vector<std::string>{"", "b", "", "", ""}));
  EXPECT_THAT(model_.started, ElementsAre(1));
  EXPECT_TRUE(translate({""}).front().alternatives.empty());
  EXPECT_TRUE(texts({}).empty());
}

TEST_F(TranslatorTest, CountsTokensAndGivesAlternatives) {
  const auto result = translate({"b c"}, {.search = {{.beam_size = 3, .length_penalty = 0}, 2}}).front();
  EXPECT_EQ(result.source_tokens, 2);
  EXPECT_EQ(result.target_tokens, 3);
  EXPECT_FALSE(result.split);
  ASSERT_EQ(result.alternatives.size(), 2u);
  EXPECT_EQ(result.alternatives[0].text, "b c");
  EXPECT_EQ(result.alternatives[0].tokens, 3);
  EXPECT_NEAR(result.alternatives[0].score, std::log(0.8 * 0.8 * 0.9), 1e-5);
  EXPECT_TRUE(result.alternatives[0].finished);
  EXPECT_GT(result.alternatives[0].score, result.alternatives[1].score);
}

TEST_F(TranslatorTest, LongLinesAreTranslatedInParts) {
  const TranslatorOptions options{.search = {{.length_penalty = 1}, 1}, .max_source_length = 2};
  const auto result = translate({"b", "b c d b c"}, options);
  EXPECT_FALSE(result[0].split);
  EXPECT_TRUE(result[1].split);
  EXPECT_EQ(result[1].text, "b c d b c");
  EXPECT_EQ(result[1].source_tokens, 5);
  ASSERT_EQ(result[1].alternatives.size(), 1u);
  const auto& whole = result[1].alternatives[0];
  EXPECT_GE(whole.tokens, 5 + 3) << "three parts at least, each with its end symbol";
  EXPECT_EQ(result[1].target_tokens, whole.tokens);
  EXPECT_NEAR(whole.log_probability, 5 * std::log(0.8) + (whole.tokens - 5) * std::log(0.9), 1e-4);
  EXPECT_NEAR(whole.score, whole.log_probability / ((5.0 + whole.tokens) / 6), 1e-9);
}

TEST_F(TranslatorTest, AlternativesOfPartsAreJoinedInOrder) {
  const TranslatorOptions options{.search = {{.beam_size = 2, .length_penalty = 0}, 2}, .max_source_length = 1};
  const auto parts = translate({"b", "c"}, options);
  const auto whole = translate({"b c"}, options).front();
  ASSERT_EQ(whole.alternatives.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const auto &first = parts[0].alternatives.at(i), &second = parts[1].alternatives.at(i);
    std::string expected = first.text + (first.text.empty() || second.text.empty() ? "" : " ") + second.text;
    EXPECT_EQ(whole.alternatives[i].text, expected);
    EXPECT_NEAR(whole.alternatives[i].log_probability, first.log_probability + second.log_probability, 1e-6);
  }
}

TEST_F(TranslatorTest, ATranslationIsOneLine) {
  test::ScriptedModel model(9, [](const Ids&, const Ids& prefix) {
    std::vector<double> p(9, 0.0);
    p[prefix.empty() ? 8 : kEnd] = 1;
    return p;
  });
  EXPECT_EQ(Translator(model, codec_, {}).translate(std::vector<std::string>{"a"}).front().text, "x y");
}

TEST_F(TranslatorTest, ReportsLinesThatAreDone) {
  std::vector<int64_t> reports;
  const std::vector<std::string> lines = {"b c d", "", "b", "c"};
  // Longest first in batches of one: "b c" and "d" of the first line, then the others; the empty line is done at once.
  const auto report = [&](int64_t done) { reports.push_back(done); };
  Translator(model_, codec_, {.search = {{.batch_size = 1}}, .max_source_length = 2})
      .translate(lines, {.progress = report});
  EXPECT_THAT(reports, testing::ElementsAre(2, 3, 4));
}

TEST_F(TranslatorTest, ACallerMayStopItBetweenTwoSteps) {
  const std::vector<std::string> lines(1000, "b");
  std::atomic<int> asked = 0;
  const auto stopped = [&] { return ++asked > 5; };
  const Translator translator(model_, codec_, {.search = {{.batch_size = 2}}});
  EXPECT_THROW(translator.translate(lines, {.stopped = stopped}), TranslationStopped);
  EXPECT_LE(asked, 20) << "each thread ends at its next step";
  EXPECT_EQ(translator.translate(std::span(lines).first(1)).size(), 1u) << "and may work again";
}

TEST_F(TranslatorTest, AsksForTheWeightsOnce) {
  struct CountingModel : test::ScriptedModel {
    using ScriptedModel::ScriptedModel;
    std::shared_ptr<const inference::TransformerWeights> inference_weights() override {
      ++asked;
      return ScriptedModel::inference_weights();
    }
    std::atomic<int> asked = 0;
  };
  CountingModel model(9, [](const Ids&, const Ids&) {
    std::vector<double> p(9, 0.0);
    p[kEnd] = 1;
    return p;
  });
  const Translator translator(model, codec_, {.search = {{.batch_size = 1}}});
  for (int i = 0; i < 3; ++i) translator.translate(std::vector<std::string>{"b", "c", "d"});
  EXPECT_EQ(model.asked, 1);
}

TEST_F(TranslatorTest, ProgressMayStopTheWork) {
  const std::vector<std::string> lines(1000, "b");
  const auto fail = [](int64_t) { throw std::logic_error(""); };
  EXPECT_THROW(Translator(model_, codec_, {.search = {{.batch_size = 2}}}).translate(lines, {.progress = fail}),
               std::logic_error);
  EXPECT_LE(std::ssize(model_.started), 2 * at::get_num_threads())
      << "a batch for each thread may have begun, the others must not";
}

TEST_F(TranslatorTest, LeavesTrainingModeAsItWas) {
  for (const bool training : {true, false}) {
    model_.train(training);
    texts({"a"});
    EXPECT_EQ(model_.is_training(), training);
  }
}

// ---- prefixes and phrases ----

std::vector<Translation> translate_requests(TranslationModel& model, const TextCodec& codec,
                                            const std::vector<Request>& requests, TranslatorOptions options = {}) {
  return Translator(model, codec, std::move(options)).translate(requests);
}

TEST_F(TranslatorTest, KeepsToTheConstraintsOfEachLine) {
  const auto found = translate_requests(model_, codec_,
                                        {{.source = "b c d"},
                                         {.source = "b c d", .prefix = "a a"},
                                         {.source = "b c d", .must = {"a d"}},
                                         {.source = "b c d", .must_not = {"c d"}}},
                                        {.search = {{.beam_size = 5}}});
  EXPECT_EQ(found[0].text, "b c d");
  EXPECT_EQ(found[1].text, "a a d") << "the third word of the source follows two tokens";
  EXPECT_THAT(found[2].text, testing::HasSubstr("a d"));
  EXPECT_TRUE(found[2].alternatives[0].meets_constraints);
  EXPECT_THAT(found[3].text, testing::Not(testing::HasSubstr("c d")));
}

TEST_F(TranslatorTest, SaysWhereAPhraseCannotBe) {
  const auto found = translate_requests(model_, codec_, {{.source = "b", .must = {"zebra"}}, {.source = "b"}});
  EXPECT_EQ(found[0].text, "b") << "the vocabulary cannot write it";
  EXPECT_FALSE(found[0].alternatives[0].meets_constraints);
  EXPECT_TRUE(found[1].alternatives[0].meets_constraints);
}

TEST_F(TranslatorTest, SaysWhereAPrefixCannotBe) {
  const std::vector<Request> requests = {{.source = "b", .prefix = "zebra"}, {.source = "b", .prefix = "a a"}};
  const auto found = translate_requests(model_, codec_, requests, {.search = {{.max_length = 2}}});
  EXPECT_FALSE(found[0].alternatives[0].meets_constraints) << "the vocabulary cannot write it";
  EXPECT_FALSE(found[1].alternatives[0].meets_constraints) << "it is longer than a translation may be";
  const auto whole = translate_requests(model_, codec_, {{.source = "b", .prefix = "a a", .whole_prefix = true}},
                                        {.search = {{.max_length = 2}}});
  EXPECT_TRUE(whole[0].prefix_is_cut);
  EXPECT_THAT(whole[0].alternatives, testing::IsEmpty()) << "nothing was searched";
  const auto longer = translate_requests(model_, codec_, requests, {.search = {{.max_length = 3}}});
  EXPECT_TRUE(longer[1].alternatives[0].meets_constraints);
}

TEST_F(TranslatorTest, AShortPrefixBelongsToTheFirstPart) {
  const auto found = translate_requests(model_, codec_, {{.source = "b c d b", .prefix = "a", .must_not = {"b"}}},
                                        {.max_source_length = 2});
  ASSERT_TRUE(found[0].split);
  EXPECT_EQ(found[0].alternatives[0].parts.size(), 2u);
  EXPECT_THAT(found[0].text, testing::StartsWith("a c"));
  EXPECT_THAT(found[0].text, testing::Not(testing::HasSubstr("b"))) << "bans hold for all";
}

TEST_F(TranslatorTest, BannedPhrasesHoldForEveryLine) {
  EXPECT_THAT(texts({"b c"}, {.search = {{.banned_phrases = {"b c"}}}}).front(),
              testing::Not(testing::HasSubstr("b c")));
  EXPECT_EQ(test::message_of<Error>([&] { texts({"b"}, {.search = {{.banned_phrases = {"zebra"}}}}); }),
            "banned phrase 'zebra': the vocabulary cannot write it, so no translation holds it; leave it out");
}

TEST_F(TranslatorTest, GivesPiecesAndTheirScores) {
  const auto result = translate({"b c", "d"}, {.search = {{.length_penalty = 0}}}).front().alternatives.front();
  ASSERT_EQ(result.parts.size(), 1u);
  EXPECT_THAT(result.parts[0].source, ElementsAre(5, 6));
  EXPECT_THAT(result.parts[0].target, ElementsAre(5, 6));
  ASSERT_EQ(result.token_log_probabilities.size(), 3u);
  EXPECT_NEAR(result.token_log_probabilities[0], std::log(0.8), 1e-5);
  EXPECT_NEAR(result.token_log_probabilities[2], std::log(0.9), 1e-5);
}

TEST_F(TranslatorTest, SamplesAreKeyedByTheLineInTheWholeText) {
  const TranslatorOptions options{.search = {{.beam_size = 1, .sampling = true}, 3}};
  const Translator translator(model_, codec_, options);
  const std::vector<std::string> lines(6, "b c d a");
  const auto whole = translator.translate(lines);
  const auto second_half = translator.translate(std::span(lines).subspan(3), {}, 3);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) EXPECT_EQ(whole[3 + i].alternatives[j].text, second_half[i].alternatives[j].text);
  EXPECT_NE(whole[0].alternatives[0].score, whole[0].alternatives[1].score);
}

// ---- scoring ----

TEST_F(TranslatorTest, ScoresAsTheSearchDoes) {
  const Translator translator(model_, codec_, {.search = {{.beam_size = 5, .length_penalty = 0.7}, 5}});
  const std::vector<std::string> lines = {"b c", "d", "a a b c d"};
  std::vector<TextPair> pairs;
  std::vector<const Alternative*> expected;
  const auto translations = translator.translate(lines);
  for (size_t i = 0; i < lines.size(); ++i)
    for (const auto& alternative : translations[i].alternatives) {
      pairs.push_back({lines[i], alternative.text});
      expected.push_back(&alternative);
    }
  ASSERT_GT(pairs.size(), 10u);
  const auto scores = translator.score(pairs);
  ASSERT_EQ(scores.size(), pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (!expected[i]->finished) continue;
    EXPECT_EQ(scores[i].text, pairs[i].target);
    EXPECT_EQ(scores[i].tokens, expected[i]->tokens);
    EXPECT_NEAR(scores[i].score, expected[i]->score, 1e-5) << pairs[i].target;
    EXPECT_NEAR(scores[i].log_probability, expected[i]->log_probability, 1e-5);
    EXPECT_THAT(scores[i].token_log_probabilities,
                testing::Pointwise(testing::FloatNear(1e-5f), expected[i]->token_log_probabilities));
    EXPECT_TRUE(scores[i].finished);
    EXPECT_FALSE(scores[i].shortened);
  }
}

TEST_F(TranslatorTest, ScoresWhatTheSearchWouldNotFind) {
  const Translator translator(model_, codec_,
                              {.search = {{.length_penalty = 0, .min_length = 5, .banned_phrases = {"d"}}}});
  const auto scores = translator.score(std::vector<TextPair>{{"b", "d"}, {"", ""}, {"b", ""}});
  EXPECT_LT(scores[0].score, -10) << "d has next to no probability, but a score";
  EXPECT_EQ(scores[1].score, 0);
  EXPECT_TRUE(scores[1].parts.empty());
  EXPECT_NEAR(scores[2].score, std::log(0.1), 1e-5) << "</s> at once";
}

TEST(EnsembleTranslator, ReadsEachModelsOwnPieces) {
  const auto first = test::word_codec(kWords), second = test::word_codec({"d", "c", "b", "a", "x\ny"});
  // The second codec's source ids are others; its model turns them round before it says them.
  const auto turned = [](const Ids& source, const Ids& prefix) {
    Ids back = source;
    for (auto& id : back) id = 11 - id;
    return echo(back, prefix);
  };
  test::ScriptedModel one(9, echo), two(9, turned);
  const Translator translator({{.model = &one, .codec = &first}, {.model = &two, .codec = &second, .weight = 3}}, {});
  const auto found = translator.translate(std::vector<std::string>{"b c d"}).front();
  EXPECT_EQ(found.text, "b c d");
  EXPECT_NEAR(found.alternatives[0].log_probability, 3 * std::log(0.8) + std::log(0.9), 1e-5);
  EXPECT_EQ(test::message_of<Error>([&] { Translator({{.model = &one, .codec = &first, .weight = 0}}, {}); }),
            "model weight 0: use a finite number above 0");
}

TEST_F(TranslatorTest, RefusesOptionsByName) {
  const std::vector<std::pair<TranslatorOptions, std::string>> cases = {
      {{.search = {{.batch_size = 0}}}, "batch size 0: use 1 or more sentences"},
      {{.max_source_length = 0}, "maximum source length 0: use 1 or more"},
      {{.search = {{.beam_size = -1}}}, "beam size -1: use 1 (greedy) or more"},
  };
  for (const auto& [options, message] : cases) {
    EXPECT_EQ(test::message_of<Error>([&] { Translator(model_, codec_, options); }), message);
  }
}

TEST(TranslatorOptionsOfConfig, FollowTheDecodingSection) {
  Config config;
  config.decoding = {.beam_size = 7,
                     .length_penalty = 0.25,
                     .length_penalty_form = LengthPenalty::kSimple,
                     .max_length_ratio = 1.5,
                     .max_length_offset = 9,
                     .min_length = 2,
                     .max_length = 44,
                     .stopping = Stopping::kFirst,
                     .coverage_penalty = 0.2,
                     .no_repeat_ngram_size = 3,
                     .repetition_penalty = 1.1,
                     .ban_unknown = true,
                     .banned_phrases = {"x"},
                     .diversity_groups = 7,
                     .diversity_strength = 0.9,
                     .combination = Combination::kLogLinear,
                     .alignment_layer = 2,
                     .batch_size = 11};
  const auto options = translator_options(config);
  EXPECT_EQ(options.search.beam_size, 7);
  EXPECT_EQ(options.search.length_penalty, 0.25);
  EXPECT_EQ(options.search.length_penalty_form, LengthPenalty::kSimple);
  EXPECT_EQ(options.search.max_length_ratio, 1.5);
  EXPECT_EQ(options.search.max_length_offset, 9);
  EXPECT_EQ(options.search.batch_size, 11);
  EXPECT_EQ(options.search.min_length, 2);
  EXPECT_EQ(options.search.max_length, 44);
  EXPECT_EQ(options.search.stopping, Stopping::kFirst);
  EXPECT_EQ(options.search.coverage_penalty, 0.2);
  EXPECT_EQ(options.search.no_repeat_ngram_size, 3);
  EXPECT_EQ(options.search.repetition_penalty, 1.1);
  EXPECT_TRUE(options.search.ban_unknown);
  EXPECT_THAT(options.search.banned_phrases, ElementsAre("x"));
  EXPECT_EQ(options.search.diversity_groups, 7);
  EXPECT_EQ(options.search.diversity_strength, 0.9);
  EXPECT_FALSE(options.search.sampling);
  EXPECT_EQ(options.search.combination, Combination::kLogLinear);
  EXPECT_EQ(options.search.alignment_layer, 2);
}

TEST(TranslatorOptionsOfConfig, SampleWhereAskedTo) {
  Config config;
  config.decoding = {.beam_size = 1, .sampling = true, .temperature = 0.8, .top_k = 10, .top_p = 0.9, .seed = 5};
  const auto options = translator_options(config);
  ASSERT_TRUE(options.search.sampling);
  EXPECT_EQ(options.search.temperature, 0.8);
  EXPECT_EQ(options.search.top_k, 10);
  EXPECT_EQ(options.search.top_p, 0.9);
  EXPECT_EQ(options.search.seed, 5);
}

// A model with so many positions.
class LimitedModel final : public test::ScriptedModel {
 public:
  explicit LimitedModel(LengthLimits limits, int64_t size = 4) : ScriptedModel(size, echo), limits_(limits) {}
  LengthLimits limits() const override { return limits_; }

 private:
  LengthLimits limits_;
};

TEST(LimitTo, KeepsWithinTheModelsPositions) {
  const LimitedModel model({.source = 50, .target = 50});
  const auto limited = [&](TranslatorOptions options) {
    limit_to(model, SourceMarkers::kEnd, options);
    return options;
  };
  EXPECT_EQ(limited({}).max_source_length, 49) << "and </s>";
  EXPECT_EQ(limited({}).search.max_length, 50);
  EXPECT_EQ(limited({.search = {{.max_length = 20}}}).search.max_length, 20);
  EXPECT_EQ(limited({.search = {{.max_length = 90}}}).search.max_length, 50);
  EXPECT_EQ(limited({.max_source_length = 30}).max_source_length, 30);
}

TEST(LimitTo, LeavesTargetsWhereOnlySourcesHaveAnEnd) {
  const LimitedModel model({.source = 50});
  TranslatorOptions options;
  limit_to(model, SourceMarkers::kBoth, options);
  EXPECT_EQ(options.max_source_length, 48) << "<s> and </s>";
  EXPECT_EQ(options.search.max_length, 0);
}

TEST_F(TranslatorTest, ScoresABeginningOfWhatTheModelDoesNotTake) {
  LimitedModel model({.source = 3, .target = 3}, 9);
  const Translator translator(model, codec_, {.search = {{.length_penalty = 0}}});
  const auto scores = translator.score(std::vector<TextPair>{{"b c", "b c"}, {"b c d", "b"}, {"b", "b c d a"}});
  EXPECT_FALSE(scores[0].shortened);
  EXPECT_TRUE(scores[1].shortened);
  EXPECT_TRUE(scores[2].shortened);
  EXPECT_EQ(scores[2].tokens, 3);
}

TEST_F(TranslatorTest, ScoresAreNotOfWhatASearchMayWrite) {
  const std::vector<TextPair> pairs = {{"b", "b c d a b c"}};
  const auto score = [&](const SearchOptions& search) {
    return Translator(model_, codec_, {.search = search}).score(pairs).front();
  };
  const auto whole = score({{.length_penalty = 0}});
  EXPECT_EQ(whole.tokens, 7);
  for (const auto& limited : {score({{.length_penalty = 0, .max_length = 3}}),
                              score({{.length_penalty = 0, .max_length_ratio = 0, .max_length_offset = 2}})}) {
    EXPECT_FALSE(limited.shortened);
    EXPECT_EQ(limited.tokens, 7);
    EXPECT_EQ(limited.score, whole.score);
  }
}

TEST_F(TranslatorTest, StaysWithinTheShortestModelOfAnEnsemble) {
  LimitedModel shorter({.source = 10, .target = 12});
  const Translator translator({{.model = &model_, .codec = &codec_}, {.model = &shorter, .codec = &codec_}}, {});
  EXPECT_EQ(translator.options().max_source_length, 9);
  EXPECT_EQ(translator.options().search.max_length, 12);
}

}  // namespace
}  // namespace nmt::translator_test
