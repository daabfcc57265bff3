#include "text/sentencepiece/subword_sampler.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/error.h"
#include "support.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"

namespace nmt::subword_sampler_test {
namespace {

using test::training_lines;
using Ids = std::vector<int32_t>;

SentencePieceTokenizer trained(const std::vector<std::string>& lines, const SentencePieceOptions& options) {
  return {*train_sentencepiece(lines, options), "m"};
}

Ids sample(const SubwordSampler& sampler, const Ids& plain, uint64_t key) {
  CounterRandom random({key});
  return sampler.sample(plain, random);
}

int64_t bytes_of(const SubwordSampler& sampler, const Ids& ids) {
  int64_t bytes = 0;
  for (const int32_t id : ids) bytes += sampler.length(id);
  return bytes;
}

/// How often each segmentation comes, of `count`.
std::map<Ids, double> frequencies(const SubwordSampler& sampler, const Ids& plain, int count) {
  std::map<Ids, double> found;
  for (int i = 0; i < count; ++i) found[sample(sampler, plain, i)] += 1.0 / count;
  return found;
}

std::string shown(const SentencePieceTokenizer& model, const Ids& ids) {
  std::string text;
  for (const auto id : ids) text += (text.empty() ? "" : " ") + model.piece(id);
  return text;
}

// Lines with an unknown character, a user symbol, and spaces.
std::vector<std::string> lines_to_cut() {
  auto lines = training_lines(60, 3);
  lines.insert(lines.end(), {"", "  der   ein ", "der \u4e2d\u6587 ein\u4e2d", "derhausein haus", "derder ein."});
  return lines;
}

TEST(BpeDropout, WithoutDropoutIsSentencePiecesOwn) {
  for (const bool bytes : {false, true}) {
    const auto model =
        trained(training_lines(), {.vocab_size = bytes ? 356 : 120, .byte_fallback = bytes, .user_symbols = {"haus"}});
    const auto sampler = make_bpe_dropout(model, 0);
    for (const auto& line : lines_to_cut())
      EXPECT_EQ(sample(*sampler, model.encode(line), 1), model.encode(line)) << line;
  }
}

TEST(BpeDropout, OfOneLeavesCharacters) {
  const auto model = trained(training_lines(), {.vocab_size = 120});
  const auto sampler = make_bpe_dropout(model, 1);
  EXPECT_EQ(shown(model, sample(*sampler, model.encode("der ein"), 1)), "\u2581 d e r \u2581 e i n");
}

TEST(BpeDropout, KeepsTheText) {
  const auto model = trained(training_lines(), {.vocab_size = 120, .user_symbols = {"haus"}});
  const auto sampler = make_bpe_dropout(model, 0.4);
  int changed = 0;
  for (const auto& line : lines_to_cut()) {
    const auto plain = model.encode(line), cut = sample(*sampler, plain, 7);
    EXPECT_EQ(model.decode(cut), model.decode(plain));
    EXPECT_EQ(bytes_of(*sampler, cut), bytes_of(*sampler, plain));
    EXPECT_EQ(std::count(cut.begin(), cut.end(), 4), std::count(plain.begin(), plain.end(), 4)) << "the user symbol";
    changed += cut != plain;
  }
  EXPECT_GT(changed, 40);
}

// The merges of "abc" are a chain: ab, then _ab, then _abc. Each is done with probability 1 - p, or nothing more is.
TEST(BpeDropout, HasTheProbabilitiesOfThePaper) {
  std::vector<std::string> lines(20, "ab");
  lines.insert(lines.end(), 10, "abc");
  const auto model = trained(lines, {.vocab_size = 11, .character_coverage = 1});
  ASSERT_EQ(shown(model, model.encode("abc")), "\u2581abc");
  const double p = 0.3;
  std::map<std::string, double> found;
  for (const auto& [ids, share] : frequencies(*make_bpe_dropout(model, p), model.encode("abc"), 20000))
    found[shown(model, ids)] = share;
  const std::map<std::string, double> expected = {{"\u2581abc", (1 - p) * (1 - p) * (1 - p)},
                                                  {"\u2581ab c", (1 - p) * (1 - p) * p},
                                                  {"\u2581 ab c", (1 - p) * p},
                                                  {"\u2581 a b c", p}};
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [text, share] : expected) EXPECT_NEAR(found[text], share, 0.015) << text;  // four deviations
}

TEST(BpeDropout, IsAFunctionOfTheKey) {
  const auto model = trained(training_lines(), {.vocab_size = 120});
  const auto sampler = make_bpe_dropout(model, 0.5);
  const auto plain = model.encode(training_lines()[0]);
  EXPECT_EQ(sample(*sampler, plain, 1), sample(*sampler, plain, 1));
  EXPECT_GT(frequencies(*sampler, plain, 20).size(), 10u);
}

/// Every segmentation with the score that SentencePiece gives it, from its own lists of pieces.
std::map<Ids, double> all_segmentations(const SentencePieceTokenizer& model, const std::string& text) {
  sentencepiece::SentencePieceProcessor processor;
  EXPECT_TRUE(processor.LoadFromSerializedProto(model.serialized()).ok());
  std::map<Ids, double> found;
  Ids ids;
  const std::function<void(size_t, double)> extend = [&](size_t begin, double score) {
    if (begin == text.size()) found[ids] = score;
    for (int id = 4; id < processor.GetPieceSize(); ++id) {
      if (!text.substr(begin).starts_with(processor.IdToPiece(id))) continue;
      ids.push_back(id);
      extend(begin + processor.IdToPiece(id).size(), score + processor.GetScore(id));
      ids.pop_back();
    }
  };
  extend(0, 0);
  return found;
}

void expect_probabilities(const std::map<Ids, double>& found, const std::map<Ids, double>& scores, double alpha) {
  double sum = 0;
  for (const auto& [ids, score] : scores) sum += std::exp(alpha * score);
  for (const auto& [ids, share] : found) EXPECT_TRUE(scores.contains(ids));
  for (const auto& [ids, score] : scores) {
    const double expected = std::exp(alpha * score) / sum;
    const auto place = found.find(ids);
    EXPECT_NEAR(place == found.end() ? 0 : place->second, expected, 4.5 * std::sqrt(expected / 20000) + 1e-4);
  }
}

TEST(UnigramSampler, HasTheProbabilitiesOfThePaper) {
  const auto model = trained(training_lines(), {.type = "unigram", .vocab_size = 200});
  const auto plain = model.encode("derung eingen");
  const auto scores = all_segmentations(model,
                                        "\u2581"
                                        "derung\u2581"
                                        "eingen");
  ASSERT_GE(scores.size(), 4u);
  for (const double alpha : {0.1, 0.5, 1.0})
    expect_probabilities(frequencies(*make_unigram_sampler(model, alpha, 0), plain, 20000), scores, alpha);
}

TEST(UnigramSampler, OfTheBestHasThem) {
  const auto model = trained(training_lines(), {.type = "unigram", .vocab_size = 200});
  sentencepiece::SentencePieceProcessor processor;
  ASSERT_TRUE(processor.LoadFromSerializedProto(model.serialized()).ok());
  const std::string line = "derung eingen";
  const auto all = all_segmentations(model,
                                     "\u2581"
                                     "derung\u2581"
                                     "eingen");
  std::map<Ids, double> best;
  for (const auto& ids : processor.NBestEncodeAsIds(line, 5)) best[ids] = all.at(ids);
  ASSERT_EQ(best.size(), 5u);
  expect_probabilities(frequencies(*make_unigram_sampler(model, 0.3, 5), model.encode(line), 20000), best, 0.3);
  for (const auto& text : lines_to_cut()) {
    const auto one = make_unigram_sampler(model, 0.3, 1);
    EXPECT_EQ(sample(*one, model.encode(text), 3), model.encode(text)) << "the best one is the plain one";
  }
}

TEST(UnigramSampler, KeepsTheText) {
  const auto model = trained(training_lines(), {.type = "unigram", .vocab_size = 200, .user_symbols = {"haus"}});
  const auto sampler = make_unigram_sampler(model, 0.02, 0);
  std::set<Ids> different;
  for (const auto& line : lines_to_cut()) {
    const auto plain = model.encode(line), cut = sample(*sampler, plain, 7);
    EXPECT_EQ(model.decode(cut), model.decode(plain));
    EXPECT_EQ(bytes_of(*sampler, cut), bytes_of(*sampler, plain));
    EXPECT_EQ(std::count(cut.begin(), cut.end(), 4), std::count(plain.begin(), plain.end(), 4)) << "the user symbol";
    if (cut != plain) different.insert(cut);
  }
  EXPECT_GT(different.size(), 30u);
}

TEST(SubwordSampler, WantsTheRightKindOfTokenizer) {
  const auto bpe = trained(training_lines(), {.vocab_size = 120});
  const auto unigram = trained(training_lines(), {.type = "unigram", .vocab_size = 90});
  EXPECT_EQ(test::message_of<Error>([&] { make_bpe_dropout(unigram, 0.1); }),
            "training.bpe_dropout: the tokenizer is no BPE model of SentencePiece");
  EXPECT_EQ(test::message_of<Error>([&] { make_unigram_sampler(bpe, 0.1, 0); }),
            "training.unigram_alpha: the tokenizer is no unigram model of SentencePiece");
}

}  // namespace
}  // namespace nmt::subword_sampler_test
